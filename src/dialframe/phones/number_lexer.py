"""Text to digits, plus and extension: a table of states and byte classes, and a compiled walk over bytes.

It is phonenumbers' own front half (skip to the first digit or plus, trim what trails, cut a second
number, take an extension off, spell letters on the keypad) for the shapes that lists have. Where a
shape needs more than a table can know, the state is `hand`, and phonenumbers itself looks at it.

    lead     before the number            xt       the same with an x or t
    plus     just behind its plus         label    just behind `x`, `ext` or `#`
    open     plus and punctuation         gap      punctuation behind a label
    one      one digit so far             ext      digits of an extension
    two      two digits so far            done     punctuation behind an extension
    body     digits and punctuation       comma    commas that may begin an extension
    slashed  the same behind a `/`        tail     what no number has: trimmed at the end...
    words    letters of a vanity number   never    ...and otherwise the text is no number
    semi     a semicolon that may be one  auto     digits behind it, an extension if they are all
    pause    punctuation behind those
"""

from __future__ import annotations

from typing import Final

import numba
import numpy as np
from numpy.typing import NDArray

from dialframe.phones.vectorized import FIRST_EMOJI, LAST_EMOJI, wide_characters

#: Classes of characters, the columns of the table; `param` is `;ext=`, `beyond` what is not in the basic plane.
CLASSES: Final = (
    "digit", "space", "dash", "dot", "mark", "slash", "plus", "label", "letter", "xt", "hash",
    "comma", "colon", "junk", "odd", "semi", "alien", "param", "beyond",
)  # fmt: skip

#: An `x` or a `t` may be (the end of) a label, so digits behind one are looked at by phonenumbers.
#: Three digits come first: behind fewer, only an `x` may be punctuation.
_SPEC: Final = """
         digit   space   dash    dot     mark    slash   plus  letter xt    label hash  comma colon junk  odd  semi alien param
lead     one     lead    lead    lead    lead    lead    plus  lead   lead  lead  lead  lead  lead  lead  lead hand lead  hand
plus     one     open    open    open    open    open    plus  hand   hand  hand  hand  hand  hand  hand  hand hand hand  hand
open     one     open    open    open    open    open    hand  hand   hand  hand  hand  hand  hand  hand  hand hand hand  hand
one      two     one     one     one     one     slashed tail  never  hand  hand  never comma tail  tail  hand semi never hand
two      body    two     two     two     two     slashed tail  never  hand  hand  never comma tail  tail  hand semi never hand
body     body    body    body    body    body    slashed tail  words  xt    label label comma tail  tail  hand semi never label
slashed  slashed slashed slashed slashed slashed slashed tail  hand   hand  hand  hand  hand  tail  tail  hand hand hand  hand
words    words   words   words   words   words   hand    tail  words  xt    hand  hand  hand  tail  tail  hand hand never hand
xt       hand    xt      xt      xt      xt      hand    tail  xt     xt    hand  hand  hand  hand  tail  hand hand hand  hand
label    ext     gap     gap     gap     hand    hand    hand  hand   hand  hand  hand  gap   gap   hand  hand hand hand  hand
gap      ext     gap     gap     hand    hand    hand    hand  hand   hand  hand  hand  gap   hand  hand  hand hand hand  hand
ext      ext     done    done    done    done    hand    tail  hand   hand  hand  hand  hand  tail  tail  hand hand hand  hand
done     hand    done    done    done    done    hand    tail  hand   hand  hand  hand  hand  tail  tail  hand hand hand  hand
comma    auto    comma   hand    hand    tail    hand    tail  hand   hand  label label comma hand  tail  hand hand hand  hand
semi     auto    semi    hand    hand    tail    hand    tail  hand   hand  hand  hand  hand  hand  tail  hand hand hand  hand
auto     auto    pause   pause   pause   pause   hand    hand  hand   hand  hand  hand  hand  hand  hand  hand hand hand  hand
pause    never   pause   pause   pause   pause   hand    hand  hand   hand  hand  hand  hand  hand  hand  hand hand hand  hand
tail     never   tail    tail    tail    tail    hand    tail  never  never never never tail  tail  tail  hand hand never hand
never    never   never   never   never   never   hand    never never  never never never never never never hand hand never hand
"""

_HEADER, *_ROWS = (line.split() for line in _SPEC.strip().splitlines())

#: States, the rows of the table; `hand` is the last and has none.
STATES: Final = (*(row[0] for row in _ROWS), "hand")


def table() -> NDArray[np.uint8]:
    """Next state by state and class."""
    steps = np.full((len(STATES) - 1, len(CLASSES)), STATES.index("hand"), np.uint8)
    for name, *targets in _ROWS:
        for column, target in zip(_HEADER, targets, strict=True):
            steps[STATES.index(name), CLASSES.index(column)] = STATES.index(target)
    return steps


def byte_classes() -> NDArray[np.uint8]:
    """Class of each ASCII byte; bytes of wider characters are `odd` until `WIDE` knows better."""
    classes = np.full(256, CLASSES.index("junk"), np.uint8)
    members = {
        "digit": "0123456789",
        "space": " ",
        "dash": "-",
        "dot": ".",
        "mark": "()[]",
        "slash": "/",
        "plus": "+",
        "letter": "abcdefghijklmnopqrsuvwyzABCDEFGHIJKLMNOPQRSUVWYZ",
        "xt": "xtXT",
        "hash": "#",
        "comma": ",\t",
        "colon": ":",
        "semi": ";",
        # Waiting for a tone, short codes, and what may begin a second number.
        "odd": "~*\\",
    }
    for name, characters in members.items():
        classes[list(characters.encode())] = CLASSES.index(name)
    classes[128:] = CLASSES.index("odd")
    return classes


def keypad() -> NDArray[np.uint8]:
    """Digit of each ASCII letter on a telephone's keypad (ITU-T E.161)."""
    keys = np.zeros(256, np.uint8)
    for letter, digit in zip(
        "ABCDEFGHIJKLMNOPQRSTUVWXYZ", "22233344455566677778889999", strict=True
    ):
        keys[[ord(letter), ord(letter.lower())]] = int(digit)
    return keys


#: The text needs more than the table knows.
HANDED: Final = -1
#: Digits that are an extension behind a label or a comma, and behind a semicolon; more may be one behind some labels.
_BEHIND_LABEL: Final = 9
EXTENSION_ROOM: Final = 15
#: Longer texts are handed over.
SCANNED_BYTES: Final = 120
#: Digits before anything else that make a text a number.
VIABLE: Final = 3

#: Added to the digits of letters, and of other scripts, until it is known whether they are meant.
_LETTER: Final = 16
_WIDE: Final = 32
_VALUE: Final = 15

_KEY = keypad()
_WIDE_CLASS = np.full(1 << 16, CLASSES.index("odd"), np.uint8)
_WIDE_DIGIT = np.zeros(1 << 16, np.uint8)
for _character, (_name, _value) in wide_characters().items():
    _WIDE_CLASS[ord(_character)] = CLASSES.index(_name)
    _WIDE_DIGIT[ord(_character)] = _WIDE + _value

(DIGIT, SPACE, DASH, DOT, MARK, SLASH, PLUS, LABEL, LETTER, XT, HASH, COMMA, COLON, JUNK, ODD, SEMICOLON, ALIEN, PARAMETER,
 BEYOND) = range(len(CLASSES))  # fmt: skip
(LEAD, AT_PLUS, OPEN, ONE, TWO, BODY, SLASHED, WORDS, AT_XT, AT_LABEL, GAP, EXT, DONE, AT_COMMA, SEMI, AUTO, PAUSE, TAIL,
 NEVER, HAND) = range(len(STATES))  # fmt: skip

#: Next state by state (shifted by `_SHIFT`) and class, with what to do on the way: keep a digit, or something rarer.
_SHIFT: Final = 5
_STATE: Final = (1 << _SHIFT) - 1
_KEPT: Final = 5
_RARE: Final = 1 << 6
_STEP = np.full(1 << 2 * _SHIFT, HAND | _RARE, np.uint8)
_steps = _STEP.reshape(1 << _SHIFT, 1 << _SHIFT)
_steps[:HAND, : len(CLASSES)] = table()
_steps[np.isin(_steps, (HAND, AT_PLUS))] |= _RARE
_steps[:AT_XT, DIGIT] |= np.where(_steps[:AT_XT, DIGIT] <= WORDS, 1 << _KEPT, 0).astype(np.uint8)
_steps[AT_LABEL:DONE, DIGIT] |= _RARE
for _letters in (LETTER, XT):
    _steps[np.isin(_steps[:, _letters], (WORDS, AT_XT)), _letters] |= _RARE

#: Classes of bytes; what may begin the label of an extension is marked.
_MAY_LABEL: Final = 1 << 5
_CLASS = byte_classes()
_CLASS[list(b"xXeE;")] |= _MAY_LABEL
#: Bytes that are skipped before a number.
_LEADS = (_STEP[LEAD << _SHIFT | (_CLASS & _STATE)] == LEAD) & (np.arange(256) < 128)

#: For the pass without branches: 0 a digit, 1 a separator that is skipped, 2 anything else.
_PLAIN = np.full(256, 2, np.uint8)
_PLAIN[list(b"0123456789")] = 0
_PLAIN[list(b" -.()[]/")] = 1

_PLAIN_BYTES: Final = 40
_ASCII: Final = 128
_BASIC: Final = 1 << 16
_ZERO: Final = 48
_PLUS_SIGN: Final = 43
_SPACE, _COMMA, _SEMICOLON = b" ,;"
_VANITY: Final = 3


@numba.njit(inline="always")
def plain(data, start, stop, digits):
    """Pack the digits of a text that is digits and separators; hands over all others."""
    plus = data[start] == _PLUS_SIGN
    start += np.intp(plus)
    count, odd = 0, np.uint8(0)
    if stop - start > _PLAIN_BYTES:
        return HANDED, False, 0, 0
    for at in range(start, stop):
        byte = data[at]
        digits[count] = byte - _ZERO
        count += np.intp(_PLAIN[byte] == 0)
        odd |= _PLAIN[byte]
    if odd > 1 or count < VIABLE:
        return HANDED, False, 0, 0
    return count, plus, 0, 0


@numba.njit
def scan(data, start, stop, digits):
    """Walk the scanner's table; returns digits kept, plus, extension and its length."""
    if stop - start > SCANNED_BYTES:
        return HANDED, False, 0, 0
    at, kept, letters, ext, ext_digits = start, np.uintp(0), 0, 0, 0
    plus = wide = False
    state = np.uintp(LEAD)
    while at < stop and _LEADS[data[at]]:
        at += 1
    while at < stop:
        byte = data[at]
        if byte < _ASCII:
            cls, width, digit = np.uintp(_CLASS[byte]), 1, byte - np.uint8(_ZERO)
            if cls & _MAY_LABEL:
                cls, width = _labeled(data, at, stop, cls & np.uintp(_STATE))
        else:
            char, width = _decoded(data, at, stop)
            cls, digit = _wide(char)
            wide = True
            if AT_LABEL <= state <= PAUSE and cls != SPACE:
                return HANDED, False, 0, 0
        step = np.uintp(_STEP[state << np.uintp(_SHIFT) | cls])
        state = step & np.uintp(_STATE)
        digits[kept] = digit
        kept += step >> np.uintp(_KEPT) & np.uintp(1)
        if step & np.uintp(_RARE):
            if state == HAND:
                return HANDED, False, 0, 0
            if state == AT_PLUS:
                plus = True
            elif cls == DIGIT:
                ext = at if ext_digits == 0 else ext
                ext_digits += 1
            else:
                digits[kept] = _LETTER + _KEY[byte]
                kept += np.uintp(1)
                letters += 1
        at += width
    if state == NEVER:
        return 0, plus, 0, 0
    if state == AUTO:
        ext, ext_digits, most = _dialed_on(data, stop)
        if most < 0:
            return HANDED, False, 0, 0
        if ext_digits > most:
            return 0, plus, 0, 0
    elif state in (AT_LABEL, GAP, PAUSE) or ext_digits > _BEHIND_LABEL:
        return HANDED, False, 0, 0
    count = np.intp(kept)
    if letters > 0 or wide:
        count = _spelled(digits, count, letters >= _VANITY)
    if count == 2:
        # Two digits are a number only if nothing stands between and around them.
        if ext_digits > 0:
            return HANDED, False, 0, 0
        if plus or not _has_pair(data, start, stop):
            count = 0
    return count, plus, ext, ext_digits


@numba.njit
def _has_pair(data, start, stop):
    """Whether the first digit has another one just behind it."""
    at, is_digit = start, False
    while at < stop:
        before = is_digit
        _, is_digit, width = character(data, at, stop)
        if before:
            return is_digit
        at += width
    return False


@numba.njit
def _dialed_on(data, stop):
    """Where the digits at the end begin, how many, and how many one comma or semicolon lets be an extension; -1 of others."""
    at, marks, most = stop, 0, -1
    while _CLASS[data[at - 1]] == DIGIT:
        at -= 1
    first = at
    while data[at - 1] >= _ASCII or data[at - 1] in (_SPACE, _COMMA, _SEMICOLON):
        at -= 1
        if data[at] in (_COMMA, _SEMICOLON):
            marks += 1
            most = _BEHIND_LABEL if data[at] == _COMMA else EXTENSION_ROOM
    return first, stop - first, most if marks == 1 else -1


@numba.njit(inline="always")
def _spelled(digits, kept, vanity):
    """Turn letters into digits, or drop them where they are too few to be meant so.

    Where they are meant so, digits of other scripts are what phonenumbers drops.
    """
    count = 0
    for at in range(kept):
        digit = digits[at]
        if digit < _LETTER or vanity == (digit < _WIDE):
            digits[count] = digit & _VALUE
            count += 1
    return count


@numba.njit(inline="always")
def character(data, at, stop):
    """The character that begins here, whether it is a decimal digit of any script, and its bytes."""
    byte = np.uint32(data[at])
    if byte < _ASCII:
        return byte, _ZERO <= byte < _ZERO + 10, 1
    char, width = _decoded(data, at, stop)
    return char, char < _BASIC and _WIDE_CLASS[char] == DIGIT, width


@numba.njit(inline="always")
def _decoded(data, at, stop):
    """The character beyond ASCII that begins here, and its bytes; of broken ones the last of all characters."""
    byte, left = np.uint32(data[at]), stop - at
    if byte < 0xE0 and left > 1:
        return (byte & 0x1F) << 6 | (data[at + 1] & 0x3F), 2
    if byte < 0xF0 and left > 2:
        return (byte & 0xF) << 12 | np.uint32(data[at + 1] & 0x3F) << 6 | (data[at + 2] & 0x3F), 3
    if byte >= 0xF0 and left > 3:
        char = (byte & 0x7) << 18 | np.uint32(data[at + 1] & 0x3F) << 12
        return char | np.uint32(data[at + 2] & 0x3F) << 6 | (data[at + 3] & 0x3F), 4
    return np.uint32(0x10FFFF), 1


@numba.njit(inline="always")
def _wide(char):
    """Class and digit of a character beyond ASCII."""
    if char < _BASIC:
        return np.uintp(_WIDE_CLASS[char]), _WIDE_DIGIT[char]
    return np.uintp(JUNK if FIRST_EMOJI <= char <= LAST_EMOJI else BEYOND), np.uint8(0)


@numba.njit
def _labeled(data, at, stop, cls):
    """Class and bytes of the label of an extension, or of the one character, that begins here."""
    if cls == SEMICOLON:
        width = _parameter(data, at, stop)
        return (np.uintp(PARAMETER), width) if width > 0 else (cls, 1)
    width = _label(data, at, stop)
    if width > 0:
        behind = at + width
        after = np.uintp(_CLASS[data[behind]] & _STATE)
        if data[behind] >= _ASCII:
            after, _ = _wide(_decoded(data, behind, stop)[0])
        if not LABEL <= after <= HASH and after != ODD:
            return np.uintp(LABEL), width
    return cls, 1


@numba.njit
def _parameter(data, at, stop):
    """Bytes of `;ext=` with a digit behind it; 0 for none."""
    width = 0
    for letter in b";ext=":
        if at + width + 1 >= stop or data[at + width] != letter:
            return 0
        width += 1
    return width if _CLASS[data[at + width]] == DIGIT else 0


@numba.njit
def _label(data, at, stop):
    """Bytes of `x`, `ext`, `extn` or `extension` with something behind it; 0 for none."""
    if data[at] | 0x20 == 120:
        return 1 if at + 1 < stop else 0
    width = 0
    for letter in b"extension":
        if at + width >= stop or data[at + width] | 0x20 != letter:
            break
        width += 1
    if width < 9:
        if width < 3:
            return 0
        width = 3
        if at + 3 < stop and data[at + 3] | 0x20 == 110:
            width = 4
    return width if at + width < stop else 0

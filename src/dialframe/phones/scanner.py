"""Text to digits, plus and extension: a table of states and byte classes, and a compiled walk over bytes.

It is phonenumbers' own front half (skip to the first digit or plus, trim what trails, cut a second
number, take an extension off, spell letters on the keypad) for the shapes that lists have. Where a
shape needs more than a table can know, the state is `hand`, and phonenumbers itself looks at it.

    lead     before the number            label    just behind `x`, `ext` or `#`
    plus     just behind its plus         gap      punctuation behind a label
    open     plus and punctuation         ext      digits of an extension
    body     digits and punctuation       done     punctuation behind an extension
    slashed  the same behind a `/`        comma    commas that may begin an extension
    words    letters of a vanity number   tail     what no number has: trimmed at the end...
    xt       the same with an x or t      never    ...and otherwise the text is no number
    semi     a semicolon that may be one  auto     digits behind it, an extension if they are all
    pause    punctuation behind those
"""

from __future__ import annotations

import unicodedata
from typing import Final

import numba
import numpy as np
from numpy.typing import NDArray

#: Classes of characters, the columns of the table.
CLASSES: Final = (
    "digit", "space", "dash", "dot", "mark", "slash", "plus", "label", "letter", "xt", "hash",
    "comma", "colon", "junk", "odd", "semi", "alien",
)  # fmt: skip

#: An `x` or a `t` may be (the end of) a label, so digits behind one are looked at by phonenumbers.
_SPEC: Final = """
         digit   space   dash    dot     mark    slash   plus  letter xt    label hash  comma colon junk  odd  semi alien
lead     body    lead    lead    lead    lead    lead    plus  lead   lead  lead  lead  lead  lead  lead  lead hand lead
plus     body    open    open    open    open    open    plus  hand   hand  hand  hand  hand  hand  hand  hand hand hand
open     body    open    open    open    open    open    hand  hand   hand  hand  hand  hand  hand  hand  hand hand hand
body     body    body    body    body    body    slashed tail  words  xt    label label comma tail  tail  hand semi never
slashed  slashed slashed slashed slashed slashed slashed tail  hand   hand  hand  hand  hand  tail  tail  hand hand hand
words    words   words   words   words   words   hand    tail  words  xt    hand  hand  hand  tail  tail  hand hand never
xt       hand    xt      xt      xt      xt      hand    tail  xt     xt    hand  hand  hand  hand  tail  hand hand hand
label    ext     gap     gap     gap     hand    hand    hand  hand   hand  hand  hand  gap   gap   hand  hand hand hand
gap      ext     gap     gap     hand    hand    hand    hand  hand   hand  hand  hand  gap   hand  hand  hand hand hand
ext      ext     done    done    done    done    hand    tail  hand   hand  hand  hand  hand  tail  tail  hand hand hand
done     hand    done    done    done    done    hand    tail  hand   hand  hand  hand  hand  tail  tail  hand hand hand
comma    auto    comma   hand    hand    tail    hand    tail  hand   hand  label label comma hand  tail  hand hand hand
semi     auto    semi    hand    hand    tail    hand    tail  hand   hand  hand  hand  hand  hand  tail  hand hand hand
auto     auto    pause   pause   pause   pause   hand    hand  hand   hand  hand  hand  hand  hand  hand  hand hand hand
pause    never   pause   pause   pause   pause   hand    hand  hand   hand  hand  hand  hand  hand  hand  hand hand hand
tail     never   tail    tail    tail    tail    hand    tail  never  never never never tail  tail  tail  hand hand never
never    never   never   never   never   never   hand    never never  never never never never never never hand hand never
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


def wide_characters() -> dict[str, tuple[str, int]]:
    """Class and digit of every character of the basic plane beyond ASCII.

    A letter or numeral of another script is `alien`: before a number it is skipped, and behind one
    it makes no number of it. What is neither is `junk`, which is trimmed. What may be punctuation
    of a number and something else, or the label of an extension, stays `odd`: U+30FC is one of
    them, which phonenumbers holds for punctuation and for a letter.
    """
    known: dict[str, tuple[str, int]] = {}
    for char in map(chr, (*range(0x80, 0xD800), *range(0xE000, 0x10000))):
        if char.isdecimal():
            known[char] = ("digit", unicodedata.decimal(char))
        else:
            known[char] = ("alien" if char.isalnum() else "junk", 0)
    marks = "\u00a0\u00ad\u200b\u2060\u3000\u2212（）－．／" + "".join(
        map(chr, range(0x2010, 0x2016))
    )
    known |= dict.fromkeys(marks, ("mark", 0))
    known |= dict.fromkeys(_ODD, ("odd", 0))
    known["＋"] = ("plus", 0)
    return known


#: Other punctuation of numbers, letters of labels of extensions in any case, and letters that are
#: an ASCII letter to a pattern that ignores case.
_ODD: Final = (
    "\u30fc［］\u2053\u223c～＃\u0301óÓ\u0434\u043e\u0431\u0414\u041e\u0411\u1c82"
    "ｅｘｔｎｉＥＸＴＮＩ\u017f\u212a\u0130\u0131"
)


#: The text needs more than the table knows.
HANDED: Final = -1
#: Digits of an extension that are taken; longer ones are handed over.
EXTENSION_ROOM: Final = 9
#: Longer texts are handed over.
SCANNED_BYTES: Final = 120
#: Digits before anything else that make a text a number.
VIABLE: Final = 3

_NEXT, _CLASS, _KEY = table(), byte_classes(), keypad()
_WIDE_CLASS = np.full(1 << 16, CLASSES.index("odd"), np.uint8)
_WIDE_DIGIT = np.zeros(1 << 16, np.uint8)
for _character, (_name, _value) in wide_characters().items():
    _WIDE_CLASS[ord(_character)] = CLASSES.index(_name)
    _WIDE_DIGIT[ord(_character)] = _value

(
    DIGIT,
    SPACE,
    DASH,
    DOT,
    MARK,
    SLASH,
    PLUS,
    LABEL,
    LETTER,
    XT,
    HASH,
    COMMA,
    COLON,
    JUNK,
    ODD,
    SEMICOLON,
    ALIEN,
) = range(len(CLASSES))
(LEAD, AT_PLUS, OPEN, BODY, SLASHED, WORDS, AT_XT, AT_LABEL, GAP, EXT, DONE, AT_COMMA, SEMI, AUTO, PAUSE, TAIL, NEVER,
 HAND) = range(len(STATES))  # fmt: skip

#: For the pass without branches: 0 a digit, 1 a separator that is skipped, 2 anything else.
_PLAIN = np.full(256, 2, np.uint8)
_PLAIN[list(b"0123456789")] = 0
_PLAIN[list(b" -.()[]/")] = 1

_PLAIN_BYTES: Final = 40
_ASCII: Final = 128
#: Emoji, U+1F300 to U+1FAFF, are F0 9F 8C to F0 9F AB.
_FOUR_BYTES: Final = 0xF0
_EMOJI: Final = 0x9F
_FIRST_EMOJI: Final = 0x0C
_LAST_EMOJI: Final = 0x2B
#: What a text has beyond ASCII: anything, digits, letters or numerals of other scripts.
_HAS_WIDE: Final = 1
_HAS_WIDE_DIGIT: Final = 2
_HAS_ALIEN: Final = 4
_ZERO: Final = 48
_PLUS_SIGN: Final = 43
_SEMICOLON: Final = 59
_VANITY: Final = 3
#: Added to the digits of letters until it is known whether they are meant.
_LETTER: Final = 16


@numba.njit(inline="always")
def plain(data, start, stop, digits):
    """Pack the digits of a text that is digits and separators; hands over all others."""
    plus = data[start] == _PLUS_SIGN
    start += np.intp(plus)
    count, odd = 0, np.uint8(0)
    if stop - start > _PLAIN_BYTES:
        return HANDED, False, 0, 0, 0
    for at in range(start, stop):
        byte = data[at]
        digits[count] = byte - _ZERO
        count += np.intp(_PLAIN[byte] == 0)
        odd |= _PLAIN[byte]
    if odd > 1 or count < VIABLE:
        return HANDED, False, 0, 0, 0
    return count, plus, 0, 0, 0


@numba.njit
def scan(data, start, stop, digits):
    """Walk the scanner's table; returns digits kept, plus, what is beyond ASCII, extension and its length."""
    if stop - start > SCANNED_BYTES:
        return HANDED, False, 0, 0, 0
    state, at, kept, letters, ext, ext_digits = LEAD, start, 0, 0, 0, 0
    plus = False
    wide = 0
    last = before_last = np.intp(-9)
    while at < stop:
        cls, width, digit = _token(data, at, stop)
        if data[at] >= _ASCII:
            wide |= _HAS_WIDE
            if cls == DIGIT:
                wide |= _HAS_WIDE_DIGIT
            elif cls == ALIEN:
                wide |= _HAS_ALIEN
            if AT_LABEL <= state <= PAUSE or (cls == ODD and data[at] >= _FOUR_BYTES):
                return HANDED, False, 0, 0, 0
        if cls == LABEL and data[at] == _SEMICOLON and state != BODY:
            return HANDED, False, 0, 0, 0
        if state == BODY and kept < VIABLE and LABEL <= cls <= HASH:
            # Three digits come first; only an `x` may be punctuation among them.
            state = NEVER if cls in (LETTER, HASH) else HAND
        else:
            state = _NEXT[state, cls]
        if state == HAND:
            return HANDED, False, 0, 0, 0
        if state == AT_PLUS:
            plus = True
        elif cls == DIGIT and state <= WORDS:
            digits[kept] = digit
            kept += 1
            before_last, last = last, np.intp(at)
        elif cls == DIGIT and state == EXT:
            ext = at if ext_digits == 0 else ext
            ext_digits += 1
        elif cls in (LETTER, XT) and state in (WORDS, AT_XT):
            digits[kept] = _LETTER + _KEY[data[at]]
            kept += 1
            letters += 1
        at += width
    if state == NEVER:
        return 0, plus, wide, 0, 0
    if (
        state in (AT_LABEL, GAP, AUTO, PAUSE)
        or ext_digits > EXTENSION_ROOM
        or (letters >= _VANITY and wide & _HAS_WIDE_DIGIT != 0)
    ):
        return HANDED, False, 0, 0, 0
    if letters > 0:
        kept = _spelled(digits, kept, letters >= _VANITY)
    if kept == 2:
        # Two digits are a number only if nothing stands between and around them.
        if wide != 0 or ext_digits > 0:
            return HANDED, False, 0, 0, 0
        if plus or last - before_last != 1:
            kept = 0
    return kept, plus, wide, ext, ext_digits


@numba.njit(inline="always")
def _spelled(digits, kept, vanity):
    """Turn letters into digits, or drop them where they are too few to be meant so."""
    count = 0
    for at in range(kept):
        letter = digits[at] >= _LETTER
        if vanity or not letter:
            digits[count] = digits[at] - _LETTER if letter else digits[at]
            count += 1
    return count


@numba.njit
def _token(data, at, stop):
    """Class, bytes and digit of the character, or of the label of an extension, that begins here."""
    byte = data[at]
    if byte >= _ASCII:
        if byte < 0xE0 and at + 1 < stop:
            char = np.intp(byte & 0x1F) << 6 | np.intp(data[at + 1] & 0x3F)
            return np.intp(_WIDE_CLASS[char]), 2, np.intp(_WIDE_DIGIT[char])
        if byte < 0xF0 and at + 2 < stop:
            char = np.intp(byte & 0xF) << 12 | np.intp(data[at + 1] & 0x3F) << 6
            char |= np.intp(data[at + 2] & 0x3F)
            return np.intp(_WIDE_CLASS[char]), 3, np.intp(_WIDE_DIGIT[char])
        if byte == _FOUR_BYTES and at + 3 < stop and data[at + 1] == _EMOJI:
            char = np.intp(data[at + 2] & 0x3F)
            return (JUNK if _FIRST_EMOJI <= char <= _LAST_EMOJI else ODD), 4, 0
        return ODD, 1, 0
    cls = np.intp(_CLASS[byte])
    if cls == SEMICOLON:
        width = _parameter(data, at, stop)
        return (LABEL, width, 0) if width > 0 else (SEMICOLON, 1, 0)
    if cls == XT or (cls == LETTER and byte | 0x20 == 101):
        width = _label(data, at, stop)
        if width > 0:
            after = np.intp(_CLASS[data[at + width]])
            if not LABEL <= after <= HASH and after != ODD:
                return LABEL, width, 0
    return cls, 1, np.intp(byte) - _ZERO


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

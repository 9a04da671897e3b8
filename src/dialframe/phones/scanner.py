"""How the digits of a phone number are found in text, as a table of states and byte classes.

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

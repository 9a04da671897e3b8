"""How the digits of a phone number are found in text, as a table of states and byte classes; knows no plan.

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

from typing import Final

import numpy as np
from numpy.typing import NDArray

#: Classes of characters, the columns of the table.
CLASSES: Final = (
    "digit", "space", "dash", "dot", "mark", "slash", "plus", "label", "letter", "xt", "hash",
    "comma", "colon", "junk", "odd", "semi",
)  # fmt: skip

#: An `x` or a `t` may be (the end of) a label, so digits behind one are looked at by phonenumbers.
_SPEC: Final = """
         digit   space   dash    dot     mark    slash   plus  letter xt    label hash  comma colon junk  odd  semi
lead     body    lead    lead    lead    lead    lead    plus  lead   lead  lead  lead  lead  lead  lead  hand hand
plus     body    open    open    open    open    open    plus  hand   hand  hand  hand  hand  hand  hand  hand hand
open     body    open    open    open    open    open    hand  hand   hand  hand  hand  hand  hand  hand  hand hand
body     body    body    body    body    body    slashed tail  words  xt    label label comma tail  tail  hand semi
slashed  slashed slashed slashed slashed slashed slashed tail  hand   hand  hand  hand  hand  tail  tail  hand hand
words    words   words   words   words   words   hand    tail  words  xt    hand  hand  hand  tail  tail  hand hand
xt       hand    xt      xt      xt      xt      hand    tail  xt     xt    hand  hand  hand  hand  tail  hand hand
label    ext     gap     gap     gap     hand    hand    hand  hand   hand  hand  hand  gap   gap   hand  hand hand
gap      ext     gap     gap     hand    hand    hand    hand  hand   hand  hand  hand  gap   hand  hand  hand hand
ext      ext     done    done    done    done    hand    tail  hand   hand  hand  hand  hand  tail  tail  hand hand
done     hand    done    done    done    done    hand    tail  hand   hand  hand  hand  hand  tail  tail  hand hand
comma    auto    comma   hand    hand    tail    hand    tail  hand   hand  label label comma hand  tail  hand hand
semi     auto    semi    hand    hand    tail    hand    tail  hand   hand  hand  hand  hand  hand  tail  hand hand
auto     auto    pause   pause   pause   pause   hand    hand  hand   hand  hand  hand  hand  hand  hand  hand hand
pause    never   pause   pause   pause   pause   hand    hand  hand   hand  hand  hand  hand  hand  hand  hand hand
tail     never   tail    tail    tail    tail    hand    tail  never  never never never tail  tail  tail  hand hand
never    never   never   never   never   never   hand    never never  never never never never never never hand hand
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
    """Class and digit of the characters beyond ASCII that lists have; all others are odd.

    U+30FC is missing on purpose: phonenumbers holds it for punctuation and for a letter.
    """
    known: dict[str, tuple[str, int]] = {}
    for zero in "٠۰０":
        known |= {chr(ord(zero) + digit): ("digit", digit) for digit in range(10)}
    marks = "\u00a0\u00ad\u200b\u2060\u3000\u2212（）－．／" + "".join(
        map(chr, range(0x2010, 0x2016))
    )
    known |= dict.fromkeys(marks, ("mark", 0))
    invisible = "\u200e\u200f\ufeff" + "".join(map(chr, range(0x202A, 0x202F)))
    known |= dict.fromkeys(invisible, ("junk", 0))
    known["＋"] = ("plus", 0)
    return known

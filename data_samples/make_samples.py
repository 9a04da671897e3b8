"""Writes the sample lead files of `data_samples/leads`: the same files each time, no chance, no clock.

    python data_samples/make_samples.py [FOLDER]

Every person and every place is invented. Every phone number is one that is reserved for fiction:
North America `555-01xx`, Ofcom's `020 7946 0xxx`, Germany's `030 23125xxx`, France's
`01 99 00 xx xx`, Australia's `02 5550 xxxx` and `0491 570 006`.
"""

from __future__ import annotations

import csv
import gzip
import io
import json
import sys
import zipfile
from collections.abc import Callable, Iterable, Sequence
from pathlib import Path
from xml.sax.saxutils import escape

FIRST = (
    *("Ada", "Ben", "Carla", "Dev", "Elena", "Frank", "Grace", "Hugo", "Ines", "Jonas", "Kira"),
    *("Liam", "Mona", "Nils", "Olga", "Priya", "Quinn", "Rosa", "Sven", "Tara", "Uma", "Victor"),
)
LAST = (
    *("Abbott", "Barnes", "Castillo", "Dunn", "Ellis", "Foster", "Grant", "Hobbs", "Ibarra"),
    *("Jensen", "Keller", "Lowell", "Marsh", "Novak", "Ortiz", "Pratt", "Quigley", "Reyes", "Stone"),
)
#: Area codes of one time zone each, with a place.
AREAS = (
    ("212", "New York", "NY", "10001"),
    ("312", "Chicago", "IL", "60601"),
    ("713", "Houston", "TX", "77002"),
    ("206", "Seattle", "WA", "98101"),
    ("617", "Boston", "MA", "02108"),
    ("404", "Atlanta", "GA", "30303"),
)
SHAPES = (
    "({a}) 555-{n}",
    "{a}-555-{n}",
    "{a}.555.{n}",
    "{a}555{n}",
    "+1{a}555{n}",
    "+1 ({a}) 555-{n}",
    "1-{a}-555-{n}",
    "{a} 555 {n}",
    "{a}555{n}.0",
    " {a}-555-{n} ",
)
SOURCES = ("Trade fair", "Web form", "Partner list", "Referral", "Autumn mailing")

US_HEADER = (
    *("Lead ID", "First Name", "Last Name", "Mobile", "Home Phone", "E-mail", "City", "State"),
    *("Zip", "Lead Source", "Do Not Call", "Notes"),
)
#: Row (0-based) of the campaign list to the cells that are not what follows from its place.
US_CHANGED: dict[int, dict[str, str]] = {
    4: {"Notes": 'Said "call after lunch", then hung up'},
    9: {"First Name": "Renée", "Last Name": "O’Dowd"},
    12: {"Mobile": "(212) 555-0102 ext. 14"},
    15: {"Notes": "Asked for a brochure\nand a second one for her sister"},
    17: {"Mobile": "404-555-0102 x207"},
    20: {"Mobile": ""},
    23: {"Mobile": "n/a", "Home Phone": "404-555-0193"},
    26: {"Mobile": "2.12555E+09"},
    31: {"Do Not Call": "Yes"},
    34: {"Mobile": "617-555-01"},
    38: {"Mobile": "0000000000"},
    41: {"E-mail": "no-at-sign.example.com"},
    44: {"Do Not Call": "TRUE"},
    47: {"Mobile": "404-555-0107 / 404-555-0187"},
    52: {"Mobile": "3.12555E+09"},
    55: {"Mobile": "-"},
    58: {"Do Not Call": "x"},
    61: {"Notes": '=HYPERLINK("http://example.com","click")'},
    63: {"Mobile": "(555) 555-0123"},
    66: {"Mobile": '="2125550111"'},
    70: {"Do Not Call": "Y"},
    74: {"Mobile": "9999999999"},
    77: {"Mobile": "4045550112345"},
    80: {"Mobile": "7.13555E+09"},
    83: {"Mobile": "ask the office"},
    88: {"Do Not Call": "only e-mail"},
    91: {"E-mail": "mailto:mona.foster91@example.com"},
    95: {"Mobile": ""},
    99: {"Mobile": "+44 20 7946 0018"},
    104: {"Mobile": "1234567890"},
    107: {"Mobile": "4.04555E+09"},
    111: {"Do Not Call": "1"},
    116: {"Mobile": "", "Home Phone": "713-555-0194"},
    119: {"Mobile": "555-0119"},
    122: {"Mobile": ""},
    126: {"Do Not Call": "Yes"},
    133: {"Mobile": "312-555-0122 ext 9"},
    140: {"Mobile": "713-555-0123 or 713-555-0183"},
    148: {"E-mail": "two@example.com; names@example.com"},
    155: {"Mobile": "none"},
    163: {"Do Not Call": "opt out"},
    170: {"Mobile": "2.125550128E+09"},
    177: {"Mobile": "206-555-012"},
    185: {"Mobile": "2.06555E+09"},
    192: {"Mobile": ""},
    199: {"Do Not Call": "yes"},
    208: {"Mobile": "713-555-0134 x1"},
    215: {"Mobile": "0000000000"},
    222: {"Mobile": "(999) 555-0137"},
    230: {"Mobile": "713-555-0138 (mobile)"},
    238: {"Mobile": ""},
    246: {"First Name": "", "Last Name": ""},
    255: {"E-mail": ""},
    263: {"Mobile": "Tel. 404-555-0143"},
    271: {"Mobile": "unknown"},
    280: {"Lead ID": "AC-0001"},
}
#: Row to the earlier row whose number it repeats in another shape.
US_REPEATS = {
    *(),
} and {} or {45: 3, 67: 10, 89: 31, 101: 2, 118: 46, 135: 46, 150: 0, 166: 25, 181: 100, 203: 7, 219: 150, 241: 16, 259: 30, 288: 276}
#: Row to what happened to its line.
US_DAMAGED: dict[int, Callable[[str], str]] = {
    110: lambda line: line.replace("No,", "No,call, or write,"),
    173: lambda line: line.replace(",", ',"', 1),
    250: lambda line: line.rstrip("\r\n").rsplit(",", 4)[0] + "\r\n",
}

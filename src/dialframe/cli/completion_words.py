"""Offers the words that fit what is being typed, loading nothing heavy.

The shell starts this program for each Tab, so what may be typed comes from tables that are plain words, and from the text of the rules.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Final

import dialframe


def _words(text: str) -> tuple[str, ...]:
    return tuple(text.split())


#: Tables that a sync brings.
SYNCED: Final = _words(
    "calls leads campaigns callbacks appointments dispositions sms_reports webhooks events"
)

#: Tables of the store.
TABLES: Final = _words(
    "calls leads campaigns callbacks appointments dispositions dnc_checks events sms_reports webhooks"
)

#: Tables that are about persons.
PERSONAL: Final = _words("calls leads callbacks appointments events dnc_checks")

#: Sizes of the synthetic account.
SIZES: Final = _words("empty tiny small medium large")

#: Why a record of a lead file is not clean.
REASONS: Final = _words(
    """
    blank footer repeated_header opt_out deceased undecodable unclosed_quote too_many_cells
    no_consent opt_out_unclear on_dnc suppressed opt_out_elsewhere row_too_large missing_phone fax_only
    phone_precision_lost wrong_number phone_of_another phone_placeholder
    phone_ambiguous_region phone_too_short phone_too_long invalid_phone phone_line_type
    phone_reserved blocked_country external_id_length name_length email_invalid email_length
    field_rule duplicate_in_file duplicate_external_id duplicate_in_request
    duplicate_in_campaign not_stored unknown_source unrecognised
    """
)

#: What may be added to a clean list from the number alone.
ADDITIONS: Final = _words("line_type country state time_zone")

#: Scrubbing services whose result codes are known.
SCRUBBERS: Final = _words(
    "dncscrub realphonevalidation blacklist_alliance data8_tps dncscrub_litigator"
)

#: Regions of telephone numbers.
REGIONS: Final = _words(
    """
    AC AD AE AF AG AI AL AM AO AR AS AT AU AW AX AZ BA BB BD BE BF BG BH BI BJ BL BM BN BO
    BQ BR BS BT BW BY BZ CA CC CD CF CG CH CI CK CL CM CN CO CR CU CV CW CX CY CZ DE DJ DK
    DM DO DZ EC EE EG EH ER ES ET FI FJ FK FM FO FR GA GB GD GE GF GG GH GI GL GM GN GP GQ
    GR GT GU GW GY HK HN HR HT HU ID IE IL IM IN IO IQ IR IS IT JE JM JO JP KE KG KH KI KM
    KN KP KR KW KY KZ LA LB LC LI LK LR LS LT LU LV LY MA MC MD ME MF MG MH MK ML MM MN MO
    MP MQ MR MS MT MU MV MW MX MY MZ NA NC NE NF NG NI NL NO NP NR NU NZ OM PA PE PF PG PH
    PK PL PM PR PS PT PW PY QA RE RO RS RU RW SA SB SC SD SE SG SH SI SJ SK SL SM SN SO SR
    SS ST SV SX SY SZ TA TC TD TG TH TJ TK TL TM TN TO TR TT TV TW TZ UA UG US UY UZ VA VC
    VE VG VI VN VU WF WS XK YE YT ZA ZM ZW
    """
)

#: Encodings that lists are often written in; others are taken, too.
ENCODINGS: Final = _words(
    "utf-8 utf-8-sig utf-16 cp1252 iso-8859-1 iso-8859-15 cp1250 cp1251 shift_jis gb18030 big5 euc-kr"
)


Complete = Callable[[str], list[str]]


def of(words: Sequence[str]) -> Complete:
    """Completes one of some words, in either case."""

    def complete(incomplete: str) -> list[str]:
        typed = incomplete.lower()
        fitting = [word for word in words if word.lower().startswith(typed)]

        # Whoever types small letters goes on with them: the shell keeps what stands there.
        return [word.lower() if incomplete and incomplete == typed else word for word in fitting]

    return complete


def listed(words: Sequence[str]) -> Complete:
    """Completes the last of several words with commas between; none is offered twice."""

    def complete(incomplete: str) -> list[str]:
        # The shell replaces the whole word, so what stands before the comma is offered again.
        before, comma, last = incomplete.rpartition(",")
        taken = set(before.split(","))
        return [
            f"{before}{comma}{word}"
            for word in words
            if word.startswith(last) and word not in taken
        ]

    return complete


def rules(incomplete: str) -> list[str]:
    """Completes jurisdictions and rule ids of the book, with commas between."""
    jurisdictions = [jurisdiction.lower() for jurisdiction in _in_book("jurisdiction")]
    return listed(("all", "us-*", *jurisdictions, *_in_book("id")))(incomplete)


def rule_kinds(incomplete: str) -> list[str]:
    """Completes a kind of rules of the book."""
    return of(_in_book("kind"))(incomplete)


def _in_book(field: str) -> list[str]:
    """What a field of the packaged rules says, each once; read as text, for the rule book loads pandas."""
    # A file with another form offers nothing, and breaks nothing.
    book = Path(dialframe.__file__).parent / "compliance" / "rules" / "book"
    text = "\n".join(file.read_text(encoding="utf-8") for file in sorted(book.glob("*.toml")))
    values = re.findall(rf'^{field} = "([^"]+)"', text, flags=re.M)
    return list(dict.fromkeys(values))

"""How dialers and networks spell outcomes, from code to class, as `code_tables.toml` has it."""

from __future__ import annotations

import tomllib
from dataclasses import dataclass
from importlib import resources
from typing import Final, Literal

Field = Literal["status", "hangup_cause", "disposition"]
Preset = Literal["vicidial", "freeswitch", "asterisk", "generic-en"]

FIELDS: Final[tuple[Field, ...]] = ("status", "hangup_cause", "disposition")
PRESETS: Final[tuple[Preset, ...]] = ("vicidial", "freeswitch", "asterisk", "generic-en")


@dataclass(frozen=True, slots=True)
class Spelling:
    """Codes of one field that mean one outcome class, in one preset."""

    preset: Preset
    field: Field
    outcome: str
    codes: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Cause:
    """One Q.850 cause: number, outcome class, FreeSWITCH's names and Asterisk's names."""

    number: int
    outcome: str
    freeswitch: tuple[str, ...] = ()
    asterisk: tuple[str, ...] = ()


_TABLES: Final = tomllib.loads(
    resources.files(__package__).joinpath("code_tables.toml").read_text(encoding="utf-8")
)

#: ITU-T Q.850 causes; Asterisk uses FreeSWITCH's name unless it is given its own.
CAUSES: Final[tuple[Cause, ...]] = tuple(
    Cause(
        int(number),
        row["outcome"],
        names := tuple(row.get("freeswitch", ())),
        tuple(row.get("asterisk", names)),
    )
    for number, row in _TABLES["q850"].items()
)

#: Final SIP answers (RFC 3261, section 21). Any other 5xx is a failure of the network: see `SIP_5XX`.
SIP: Final[dict[int, str]] = {
    number: outcome
    for outcome, numbers in _TABLES["sip"].items()
    for number in numbers
    if number != "5xx"
}
SIP_5XX: Final[str] = next(name for name, row in _TABLES["sip"].items() if "5xx" in row)

#: Words, by preset and field. Case, blanks, dashes and underscores do not matter.
SPELLINGS: Final[tuple[Spelling, ...]] = tuple(
    Spelling(preset, field, outcome, tuple(codes))
    for preset in PRESETS
    for field in FIELDS
    for outcome, codes in _TABLES[preset].get(field, {}).items()
)

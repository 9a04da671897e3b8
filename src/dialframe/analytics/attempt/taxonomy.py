"""What can come of a call: the classes of `outcomes.toml`, and the codes of `code_tables.toml` in any spelling."""

from __future__ import annotations

import hashlib
import json
import re
import tomllib
from collections.abc import Mapping
from dataclasses import dataclass
from difflib import get_close_matches
from functools import cached_property
from importlib import resources
from pathlib import Path
from typing import Any, Final, Literal, cast

from dialframe.errors import ConfigError

When = Literal["answered", "unanswered", "either"]
Family = Literal["human", "machine", "unknown", "not_connected", "no_attempt"]

#: Answered, and nothing known says by whom.
CONNECTED_UNKNOWN: Final = "connected_unknown"
#: Not answered, and nothing known says why.
UNANSWERED_UNKNOWN: Final = "unanswered_unknown"


@dataclass(frozen=True, slots=True)
class Outcome:
    """One class of outcome.

    Attributes:
        name: Name in results.
        meaning: What happened, in a few words.
        when: Whether the call must have been answered for this to be possible.
        human: A person answered; None where that is not known.
        right_party: The person wanted answered; None where that is not known.
        positive: Interest, an appointment or a conversion.
        appointment: An appointment was agreed.
        conversion: The aim of the campaign was reached.
        dnc_request: The person asked not to be called.
        machine: An answering machine or mailbox answered.
        attempt: Somebody was dialed and the call is over; False rows enter no rate.
        final: The lead needs no further call.
        redial: What a dialer usually does next.
    """

    name: str
    meaning: str
    when: When
    human: bool | None = False
    right_party: bool | None = False
    positive: bool = False
    appointment: bool = False
    conversion: bool = False
    dnc_request: bool = False
    machine: bool = False
    attempt: bool = True
    final: bool = False
    redial: str = "yes"

    @property
    def family(self) -> Family:
        """The coarse kind, for pictures."""
        if not self.attempt:
            return "no_attempt"
        if self.human is None:
            return "unknown"
        if self.human:
            return "human"
        return "machine" if self.when == "answered" else "not_connected"


def _toml(name: str) -> dict[str, Any]:
    """A table of this package."""
    return tomllib.loads(resources.files(__package__).joinpath(name).read_text(encoding="utf-8"))


_WORDS: Final[dict[str, Any]] = _toml("outcomes.toml")

#: Every class. The order is the order of tables and pictures: from not reached to reached.
OUTCOMES: Final[tuple[Outcome, ...]] = tuple(
    Outcome(name, **(row | {flag: None for flag, value in row.items() if value == "unknown"}))
    for name, row in _WORDS["outcomes"].items()
)

#: Every class by name.
BY_NAME: Final[dict[str, Outcome]] = {outcome.name: outcome for outcome in OUTCOMES}
#: Place of each class in `OUTCOMES`, by name.
PLACE: Final = {outcome.name: place for place, outcome in enumerate(OUTCOMES)}


#: Group of the leads that have no value in the column that a funnel is split by.
NO_GROUP: Final = "(none)"


@dataclass(frozen=True, slots=True)
class Stage:
    """One stage: name in results, label for people, definition, what a sentence says of its leads."""

    name: str
    label: str
    definition: str
    says: str


@dataclass(frozen=True, slots=True)
class Rate:
    """One rate: flags above and below the line (all attempts without one), words, and whether it is compared."""

    above: str
    below: str = ""
    definition: str = ""
    compared: bool = False


#: In order. A lead is in a stage only if it is in every stage before.
STAGES: Final[tuple[Stage, ...]] = tuple(
    Stage(name, **row) for name, row in _WORDS["stages"].items()
)
#: What calls take leads to: the flag of each goal, and words that follow a share of leads.
GOALS: Final[dict[str, str]] = {name: row["flag"] for name, row in _WORDS["goals"].items()}
GOAL_WORDS: Final[dict[str, str]] = {name: row["words"] for name, row in _WORDS["goals"].items()}
#: Rates of flagged calls by name.
RATES: Final[dict[str, Rate]] = {name: Rate(**row) for name, row in _WORDS["rates"].items()}
#: What `loaded` means where refusals cannot be known, or cannot be told apart by group.
LOADED: Final[dict[str, str]] = _WORDS["loaded"]
#: Reasons to set a call aside, in the order in which they are looked for, with what they mean.
REASONS: Final[dict[str, str]] = _WORDS["reasons"]
#: Words for the notes under a result.
NOTES: Final[dict[str, str]] = _WORDS["notes"]


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


_TABLES: Final = _toml("code_tables.toml")

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

#: Edition of the tables in this package; the hash behind it tells what a user added.
EDITION: Final = "1"

#: A cause value has seven bits (ITU-T Q.850); final answers of SIP begin at 200 (RFC 3261, section 21).
Q850_MAX: Final = 127

_ALIASES: Final[dict[str, Preset]] = {"generic": "generic-en"}

_IGNORED = re.compile(r"[\s_\-\u2010-\u2015]+")
_PREFIX = re.compile(r"^(?:ast|switch|q850)?cause(?=[a-z])")
_SIP = re.compile(r"^sip(?:/2\.0)?[\s_\-]*[;:]?\s*(?:cause\s*=\s*)?(\d{3})(?!\d)")
_Q850 = re.compile(r"^(?:q\.?850|isdn|cause)\s*[;:=]?\s*(?:cause\s*=\s*)?(\d{1,3})(?!\d)")
_NUMBER = re.compile(r"^(\d{1,3})(?:\.0+)?\+?(?=$|[\s(:;,\-])")


def code_key(field: Field, code: str) -> str:
    """One spelling of a code, for all its spellings.

    Case, blanks, dashes and underscores do not matter. A hangup cause may be a number (`16`,
    `16.0`, `Q.850;cause=16`, `SIP 603`, `603+ Network Blocked`) or a name with or without the
    prefix of its switch (`NORMAL_CLEARING`, `AST_CAUSE_NORMAL_CLEARING`). A bare number up to 127
    is a Q.850 cause, a greater one a SIP answer.
    """
    text = code.strip().casefold()
    if field != "hangup_cause":
        return _IGNORED.sub("", text)
    # SIP before Q.850 before bare numbers: `SIP 486` and `486` are one, `cause 17` and `17` too.
    if match := _SIP.match(text):
        return f"sip:{match[1]}"
    if match := _Q850.match(text):
        return f"q850:{int(match[1])}"
    if match := _NUMBER.match(text):
        number = int(match[1])
        return f"q850:{number}" if number <= Q850_MAX else f"sip:{number}"
    return _PREFIX.sub("", _IGNORED.sub("", text))


@dataclass(frozen=True)
class Taxonomy:
    """What each code means.

    Attributes:
        name: Which presets it was made of.
        codes: Field, spelling (as `code_key` gives it) and outcome class, sorted.
    """

    name: str
    codes: tuple[tuple[Field, str, str], ...]

    @classmethod
    def of(cls, *presets: Preset | Literal["generic"]) -> Taxonomy:
        """The taxonomy of some presets, with the numbers of Q.850 and SIP.

        Args:
            presets: Of `vicidial`, `freeswitch`, `asterisk`, `generic-en` (also `generic`), in
                any case; all of them if none is named.

        Raises:
            ConfigError: A preset is not known.
        """
        plain = (cast(Preset, preset.casefold()) for preset in presets)
        chosen = tuple(_ALIASES.get(preset, preset) for preset in plain) or PRESETS
        for preset in chosen:
            if preset not in PRESETS:
                raise ConfigError(
                    f"taxonomy preset {preset!r} is not known; use {', '.join(PRESETS)}"
                )
        table: dict[tuple[Field, str], str] = {
            **{("hangup_cause", f"q850:{cause.number}"): cause.outcome for cause in CAUSES},
            **{("hangup_cause", f"sip:{number}"): outcome for number, outcome in SIP.items()},
        }
        # Where presets give one code two meanings, the last one counts.
        for preset in chosen:
            for row in SPELLINGS:
                if row.preset == preset:
                    for code in row.codes:
                        table[row.field, code_key(row.field, code)] = row.outcome
            for cause in CAUSES:
                names = {"freeswitch": cause.freeswitch, "asterisk": cause.asterisk}
                for name in names.get(preset, ()):
                    table["hangup_cause", code_key("hangup_cause", name)] = cause.outcome
        # Sorted, so that two taxonomies of the same codes are equal and have one hash.
        return cls("+".join(chosen), _sort_rows(table))

    def __repr__(self) -> str:
        # Every signature shows its default: 300 codes there would bury what `help()` has to say.
        return f"Taxonomy({self.name}, {len(self.codes)} codes, version {self.version})"

    @property
    def version(self) -> str:
        """Edition of the tables and the hash, such as `1-3f9a0c21d4be`."""
        return f"{EDITION}-{self.hash}"

    @cached_property
    def hash(self) -> str:
        """Twelve digits that change with any code or flag."""
        content = [list(row) for row in self.codes], [repr(outcome) for outcome in OUTCOMES]
        digest = hashlib.sha256(json.dumps(content).encode()).hexdigest()
        return digest[:12]

    def outcome(self, field: Field, code: str) -> str | None:
        """Name of the class of a code, or None where the taxonomy does not have it.

        >>> DEFAULT.outcome("hangup_cause", "USER_BUSY")
        'busy'

        Args:
            field: The field that the code stands in.
            code: The code as it was written.
        """
        key = code_key(field, code)
        # Of the 5xx answers few have a name (RFC 3261, section 21.5); all are failures of a server.
        if field == "hangup_cause" and key.startswith("sip:5"):
            return self._table[field].get(key, SIP_5XX)
        return self._table[field].get(key)

    def with_codes(
        self,
        dispositions: Mapping[str, str] | None = None,
        *,
        causes: Mapping[str, str] | None = None,
        statuses: Mapping[str, str] | None = None,
    ) -> Taxonomy:
        """A taxonomy with further codes, or with other meanings for codes that it has.

        Args:
            dispositions: Code to outcome class.
            causes: The same for hangup causes.
            statuses: The same for call statuses.

        Raises:
            ConfigError: A class is not one of `OUTCOMES`, a code is empty, or two spellings of
                one code are given two classes.
        """
        added: tuple[tuple[Field, Mapping[str, str]], ...] = (
            ("disposition", dispositions or {}),
            ("hangup_cause", causes or {}),
            ("status", statuses or {}),
        )
        table = {(field, key): outcome for field, key, outcome in self.codes}
        for field, codes in added:
            table |= _own(field, codes)
        # Whoever reads a result sees that the codes are not those of the package alone.
        name = self.name if self.name.endswith("+own") else f"{self.name}+own"
        return Taxonomy(name, _sort_rows(table))

    def with_file(self, path: str | Path) -> Taxonomy:
        """A taxonomy with the codes of a small TOML file.

        The file has a table for each field that it speaks of, `[disposition]`, `[hangup_cause]`
        or `[status]`, with lines such as `"ZZTOP" = "callback"`; `unmapped` writes them ready.

        Args:
            path: The file.

        Raises:
            ConfigError: The file cannot be read, names a field or class that is not known, or
                gives two spellings of one code two classes.
        """
        try:
            text = Path(path).read_text(encoding="utf-8-sig")
        except (OSError, UnicodeDecodeError) as error:
            raise ConfigError(f"the taxonomy file {path} cannot be read: {error}") from None
        return self.with_toml(text, where=str(path))

    def with_toml(self, text: str, *, where: str = "the mapping") -> Taxonomy:
        """The same from TOML text.

        Args:
            text: TOML.
            where: Name of its source, for errors.

        Raises:
            ConfigError: As `with_file`, or it is not TOML.
        """
        try:
            tables = tomllib.loads(text)
        except tomllib.TOMLDecodeError as error:
            raise ConfigError(f"{where} is not TOML: {error}") from None
        for field, codes in tables.items():
            if field not in FIELDS or not isinstance(codes, dict):
                raise ConfigError(
                    f"{where}: [{field}] is not a table of codes; use [disposition], "
                    '[hangup_cause] or [status] with lines such as "ZZTOP" = "callback"'
                )
        own_tables = cast(dict[Field, dict[str, str]], tables)
        try:
            return self.with_codes(
                own_tables.get("disposition"),
                causes=own_tables.get("hangup_cause"),
                statuses=own_tables.get("status"),
            )
        except ConfigError as error:
            raise ConfigError(f"{where}: {error}") from None

    def differences(self, other: Taxonomy) -> list[tuple[Field, str, str | None, str | None]]:
        """Codes that two taxonomies do not agree on: field, spelling, class here, class there.

        Args:
            other: The taxonomy to compare with.
        """
        ours = {(field, key): outcome for field, key, outcome in self.codes}
        others = {(field, key): outcome for field, key, outcome in other.codes}
        return [
            (field, key, ours.get((field, key)), others.get((field, key)))
            for field, key in sorted(ours.keys() | others.keys())
            if ours.get((field, key)) != others.get((field, key))
        ]

    @cached_property
    def _table(self) -> dict[Field, dict[str, str]]:
        table: dict[Field, dict[str, str]] = {field: {} for field in FIELDS}
        for field, key, outcome in self.codes:
            table[field][key] = outcome
        return table


def _sort_rows(table: Mapping[tuple[Field, str], str]) -> tuple[tuple[Field, str, str], ...]:
    return tuple(sorted((field, key, outcome) for (field, key), outcome in table.items()))


def _own(field: Field, codes: Mapping[str, str]) -> dict[tuple[Field, str], str]:
    """A user's codes of one field; what cannot be meant is refused rather than guessed."""
    spellings: dict[str, str] = {}
    own_codes: dict[tuple[Field, str], str] = {}
    for code, outcome in codes.items():
        key = code_key(field, code)
        if not key:
            raise ConfigError(f"code {code!r} is empty; name the {field} that is meant")
        if own_codes.setdefault((field, key), _check_outcome(code, outcome)) != outcome:
            raise ConfigError(
                f"codes {spellings[key]!r} and {code!r} are one {field} (case, blanks and dashes do not "
                "matter) and are given two classes; keep one of them"
            )
        spellings[key] = code
    return own_codes


def _check_outcome(code: str, outcome: object) -> str:
    if not isinstance(outcome, str) or outcome not in BY_NAME:
        near = get_close_matches(str(outcome).casefold(), BY_NAME, n=1)
        raise ConfigError(
            f"code {code!r} is given the outcome class {outcome!r}, which is not known; "
            + (f"did you mean {near[0]!r}? There are " if near else "use one of ")
            + ", ".join(BY_NAME)
        )
    return outcome


#: Every preset together.
DEFAULT: Final = Taxonomy.of()

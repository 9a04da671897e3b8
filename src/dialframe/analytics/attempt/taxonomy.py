"""What can come of a call: outcome classes with their flags, and the codes of `code_tables.toml` in any spelling."""

from __future__ import annotations

import hashlib
import json
import re
import tomllib
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from difflib import get_close_matches
from functools import cached_property
from importlib import resources
from pathlib import Path
from typing import Final, Literal, cast

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


#: Every class. The order is the order of tables and pictures: from not reached to reached.
OUTCOMES: Final[tuple[Outcome, ...]] = (
    Outcome("no_answer", "it rang and nobody answered", "unanswered"),
    Outcome("busy", "the line was busy", "unanswered", redial="after 30 minutes"),
    Outcome("disconnected", "the number is not in service or not a number", "either", final=True,
            redial="no"),
    Outcome("temp_unavailable", "out of reach for now", "either", redial="after 1 day"),
    Outcome("network_fail", "the network could not put the call through", "either"),
    Outcome("blocked_or_rejected", "rejected by the person or blocked on the way", "unanswered",
            redial="with caution"),
    Outcome(UNANSWERED_UNKNOWN, "not answered, and nothing says why", "unanswered"),
    Outcome("machine", "an answering machine or mailbox answered", "answered", machine=True,
            redial="at another time of day"),
    Outcome("fax", "a fax answered", "answered", final=True, redial="no"),
    Outcome(CONNECTED_UNKNOWN, "answered, and nothing says by whom", "answered", human=None,
            right_party=None, redial="review"),
    Outcome("early_hangup", "a person hung up at once", "answered", human=True),
    Outcome("dead_air", "answered and silent", "answered", human=True),
    Outcome("dropped_by_us", "a person answered and no agent was there", "answered", human=True,
            redial="after 72 hours"),
    Outcome("gatekeeper_third_party", "somebody else answered", "answered", human=True),
    Outcome("wrong_number", "the number belongs to somebody else", "answered", human=True,
            final=True, redial="no"),
    Outcome("right_party_neutral", "spoke to the person wanted, without a result", "answered",
            human=True, right_party=True, redial="depends"),
    Outcome("not_interested", "the person said no", "answered", human=True, right_party=True,
            final=True, redial="no"),
    Outcome("callback", "the person wants to be called again", "answered", human=True,
            right_party=True, redial="as agreed"),
    Outcome("positive", "the person is interested", "answered", human=True, right_party=True,
            positive=True, final=True, redial="no"),
    Outcome("appointment", "an appointment was agreed", "answered", human=True, right_party=True,
            positive=True, appointment=True, final=True, redial="no"),
    Outcome("conversion", "sold, or whatever the campaign is for", "answered", human=True,
            right_party=True, positive=True, conversion=True, final=True, redial="no"),
    Outcome("dnc_request", "the person asked not to be called", "answered", human=True,
            right_party=True, dnc_request=True, final=True, redial="never"),
    Outcome("dnc_screened", "held back by a Do-Not-Call list; nobody was dialed", "unanswered",
            attempt=False, final=True, redial="never"),
    Outcome("in_progress", "not over yet", "either", attempt=False, redial="not yet"),
    Outcome("system_noise", "a dialer's own state, not an outcome", "either", attempt=False,
            redial="review"),
)  # fmt: skip

#: Every class by name.
BY_NAME: Final[dict[str, Outcome]] = {outcome.name: outcome for outcome in OUTCOMES}
#: Place of each class in `OUTCOMES`, by name.
PLACE: Final = {outcome.name: place for place, outcome in enumerate(OUTCOMES)}


#: Group of the leads that have no value in the column that a funnel is split by.
NO_GROUP: Final = "(none)"


@dataclass(frozen=True, slots=True)
class Stage:
    """One stage: name in results, label for people, definition."""

    name: str
    label: str
    definition: str


#: In order. A lead is in a stage only if it is in every stage before.
STAGES: Final[tuple[Stage, ...]] = (
    Stage(
        "loaded",
        "Loaded",
        "records that imports received: the accepted leads and the rows that imports refused",
    ),
    Stage("accepted", "Accepted", "leads that the account holds"),
    Stage(
        "attempted",
        "Attempted",
        "leads with at least one counted call: outbound, over, of a campaign, and matched to the "
        "lead by number",
    ),
    Stage(
        "connected",
        "Connected",
        "attempted leads with a counted call that was answered, by a person or a machine",
    ),
    Stage(
        "human",
        "Reached a person",
        "connected leads with a counted call that a person answered, going by its outcome class",
    ),
    Stage(
        "right_party",
        "Right person",
        "of these, leads with a counted call on which the person wanted was spoken to",
    ),
    Stage(
        "positive",
        "Positive",
        "of these, leads with a counted call that ended in interest, an appointment or a conversion",
    ),
    Stage(
        "appointment",
        "Appointment",
        "of these, leads with a counted call that ended in an appointment, or with an appointment "
        "booked for the number after a counted call; kept or not",
    ),
)


#: What `loaded` means where refusals cannot be known.
LOADED_WITHOUT_LEDGER: Final = (
    "equals accepted: no import ledger was given, so what imports refused is unknown"
)


#: What `loaded` means in groups that refused rows cannot be told apart by.
LOADED_WITHOUT_GROUPS: Final = (
    "equals accepted: the import ledger does not say which group a refused row is of"
)


#: Words for the notes under a funnel.
NOTES: Final[dict[str, str]] = {
    "number_only": "counted, and matched by number alone: the campaign of call and lead differ",
    "unmapped": "counted, with a code that the taxonomy does not have: as an attempt, and as "
    "connected where answered, but not as a person",
    "answered_by_unknown": "counted, answered, and nothing says by whom: connected, but not as a "
    "person",
    "not_logged_yet": "counted, of the last days, in which many answered calls have no outcome yet: not compared "
    "where something is judged",
    "conflict": "counted, with a disposition or cause that contradicts the call; the network's "
    "word stands",
    "match_number_only": "counted, and matched by number alone: the campaign of call and lead differ",
    "match_ambiguous": "counted, for several leads with the number and none of the campaign: given "
    "to none of them",
    "match_none": "counted, and no lead has the number",
    "imported_after_window": "left out: the lead is newer than the window",
    "censored": "left out: the lead's time to go through the stages is not over yet",
    "refused": "rows that imports refused, in `loaded`",
    "import_unknown": "rows of imports whose outcome is not known, in no stage",
    "accepted_elsewhere": "rows that imports accepted as a lead that is not in the leads frame, "
    "in no stage",
    "booked_outside_window": "left out: booked before `since`, or at or after `until`",
    "no_call_before": "left out: no counted call to the number before the appointment was booked",
    "not_positive": "booked after a counted call, on a lead without a positive outcome: not in the "
    "stage, since a lead is in a stage only if it is in every stage before",
}


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
    if field == "hangup_cause":
        number = _numeric_cause(text)
        if number:
            return number
        return _PREFIX.sub("", _IGNORED.sub("", text))
    return _IGNORED.sub("", text)


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
        for field, code, outcome in (row for preset in chosen for row in _spellings(preset)):
            table[field, code_key(field, code)] = outcome
        return cls("+".join(chosen), _sorted(table))

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
        name = self.name if self.name.endswith("+own") else f"{self.name}+own"
        return Taxonomy(name, _sorted(table))

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


def _numeric_cause(text: str) -> str | None:
    if match := _SIP.match(text):
        return f"sip:{match[1]}"
    if match := _Q850.match(text):
        return f"q850:{int(match[1])}"
    if match := _NUMBER.match(text):
        number = int(match[1])
        return f"q850:{number}" if number <= Q850_MAX else f"sip:{number}"
    return None


def _spellings(preset: Preset) -> Iterator[tuple[Field, str, str]]:
    for row in SPELLINGS:
        if row.preset == preset:
            yield from ((row.field, code, row.outcome) for code in row.codes)
    for cause in CAUSES:
        names = {"freeswitch": cause.freeswitch, "asterisk": cause.asterisk}.get(preset, ())
        yield from (("hangup_cause", name, cause.outcome) for name in names)


def _sorted(table: Mapping[tuple[Field, str], str]) -> tuple[tuple[Field, str, str], ...]:
    return tuple(sorted((field, key, outcome) for (field, key), outcome in table.items()))


def _own(field: Field, codes: Mapping[str, str]) -> dict[tuple[Field, str], str]:
    """A user's codes of one field; what cannot be meant is refused rather than guessed."""
    spellings: dict[str, str] = {}
    own_codes: dict[tuple[Field, str], str] = {}
    for code, outcome in codes.items():
        key = code_key(field, code)
        if not key:
            raise ConfigError(f"code {code!r} is empty; name the {field} that is meant")
        if own_codes.setdefault((field, key), _known(code, outcome)) != outcome:
            raise ConfigError(
                f"codes {spellings[key]!r} and {code!r} are one {field} (case, blanks and dashes do not "
                "matter) and are given two classes; keep one of them"
            )
        spellings[key] = code
    return own_codes


def _known(code: str, outcome: object) -> str:
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

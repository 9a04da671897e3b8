"""Reads the rows of files of evidence: each comes to records of the log, or to a reason why it does not."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Any, Final, NamedTuple

from dialframe.compliance import rulebook
from dialframe.compliance.rules.rule_model import FreshnessRule
from dialframe.errors import ConfigError
from dialframe.evidence.record import Kind
from dialframe.flows.call_load import Reader, Rows, numbers_in, zone_of
from dialframe.phones.zones import place
from dialframe.profiles import Profile

#: Reasons to refuse a row, in words.
REASONS: Final = {
    "no_number": "no number that can be read",
    "no_time": "no time that can be read, and none was given for the file",
    "no_result": "a result that says neither listed nor not listed",
    "which_list": "listed, but on which of the lists the row does not say",
    "no_list": "no list of the rule book covers the number",
    "no_line_type": "a line type that is none of mobile, landline or business",
    "no_answer": "an answer that is none of yes, no and no data",
    "no_kind": "a kind that is not known",
    "no_record": "nothing that shows it: no record, reference or source",
    "future": "its time lies in the future",
    "repeated": "the same row stands earlier in the file",
    "unreadable": "a record that cannot be read whole",
}
_DAY: Final = timedelta(days=1)
_TICK: Final = timedelta(microseconds=1)


@dataclass(frozen=True, slots=True)
class Job:
    """What a file of evidence does not say of itself.

    Attributes:
        region: ISO 3166 region of numbers that name no country.
        zone: IANA zone of times that name none, and of days; None: the profile's, else UTC.
        at: When a scrub, a look-up or a download was made, where its rows do not say.
        lists: Do-Not-Call lists that a scrub was made against: names of the rule book, or jurisdictions (`us`, `us-tx`).
        prefixes: Beginnings of the numbers that a registry download covers (`+1212`); none: those of its rows.
        subscription: Account number at the registry.
    """

    region: str | None = None
    zone: str | None = None
    at: datetime | None = None
    lists: Sequence[str] = ()
    prefixes: Sequence[str] = ()
    subscription: str = ""


NOTHING_SAID: Final = Job()


def lists(names: Sequence[str]) -> list[str]:
    """Do-Not-Call lists by their names in the rule book, or by their jurisdictions.

    Raises:
        ConfigError: A name is none of them.
    """
    rules = _list_rules()
    by_name = {rule.parameters.registry.casefold(): rule.parameters.registry for rule in rules}
    chosen: dict[str, None] = {}
    for name in names:
        of_place = [
            r.parameters.registry
            for r in rules
            if r.jurisdiction.casefold() == name.strip().casefold()
        ]
        found = of_place or (
            [by_name[name.strip().casefold()]] if name.strip().casefold() in by_name else []
        )
        if not found:
            known = "; ".join(dict.fromkeys(rule.parameters.registry for rule in rules))
            raise ConfigError(
                f"{name!r} is no list of the rule book; use a jurisdiction such as us or us-tx, or one of {known}"
            )
        chosen |= dict.fromkeys(found)
    return list(chosen)


@dataclass(frozen=True, slots=True)
class EvidenceFile:
    """A file of evidence while its rows are read.

    Attributes:
        reader: Its cells by their roles.
        profile: What its columns hold.
        job: What it does not say of itself.
        rows: Its rows.
    """

    reader: Reader
    profile: Profile
    job: Job
    rows: Rows

    def numbers(self) -> list[str | None]:
        """Number of each row, E.164."""
        column = self.reader.columns.get("phone")
        if column is None:
            raise ConfigError(f"profile {self.profile.name} names no column of numbers")
        cells = self.reader.cells("phone")
        if column.before is not None:
            cells = [
                f"{area}{cell}"
                for area, cell in zip(self.rows.column(column.before), cells, strict=True)
            ]
        return numbers_in(cells, self.profile.constants.get("region") or self.job.region)

    def times(self, role: str, *, job: bool = False) -> list[datetime | None]:
        """Instants of a role; a day without a time counts as its end, so that no call of the day came after it."""
        zone = zone_of(self.job.zone or self.profile.zone or "UTC")
        times = self.reader.instants(role, lambda: zone)
        cells = self.reader.cells(role)
        ends = [
            at + _DAY - _TICK if at is not None and ":" not in cell and "T" not in cell else at
            for at, cell in zip(times, cells, strict=True)
        ]
        if job and self.job.at is not None:
            return [self.job.at if not cell else at for at, cell in zip(ends, cells, strict=True)]
        return ends

    def days(self, role: str) -> list[datetime | None]:
        """Instants of a role; a day without a time counts as its begin."""
        zone = zone_of(self.job.zone or self.profile.zone or "UTC")
        return self.reader.instants(role, lambda: zone)

    def said(self, role: str) -> list[str]:
        """Cells of a role."""
        return self.reader.cells(role)


class Fact(NamedTuple):
    """A record without its source and run; `kind` where it is another than that of the file."""

    at: datetime
    number: str | None
    list: str | None
    detail: dict[str, Any]
    kind: Kind | None = None


#: A row: the reason to refuse it, or the records that it comes to.
Row = str | list[Fact]


def _scrub(file: EvidenceFile) -> Iterator[Row]:
    """Numbers held against lists: by a column of each list, by a list in each row, or by one result for all."""
    kinds, since = file.said("line_type"), file.days("listed_on")
    rows = zip(
        file.numbers(), file.times("at", job=True), _answers(file), kinds, since, strict=True
    )
    for number, at, answers, kind, listed_on in rows:
        has_type = kind in _LINE_TYPES
        if number is None or at is None:
            yield "no_number" if number is None else "no_time"
        # What kind of line it is counts where the lists say nothing; a listing on nobody knows which counts for nothing.
        elif isinstance(answers, str) and (answers == "which_list" or not has_type):
            yield answers
        else:
            said = {} if isinstance(answers, str) else answers
            records = [
                Fact(
                    at,
                    number,
                    name,
                    {"listed": listed}
                    | ({"listed_on": _iso(listed_on)} if listed and listed_on else {}),
                )
                for name, listed in said.items()
            ]
            yield [
                *records,
                *([Fact(at, number, None, {"line_type": kind}, "line_type")] if has_type else []),
            ]


_LINE_TYPES: Final = ("wireless", "residential", "business")
#: What a row of a scrub says: list to whether the number stands on it, or the reason why it says nothing.
_Answers = dict[str, bool] | str


def _answers(file: EvidenceFile) -> Iterator[_Answers]:
    of_columns: Mapping[str, str] = file.profile.settings.get("lists", {})
    if of_columns:
        return _by_columns(file, of_columns)
    if "list" in file.reader.columns:
        return _by_row(file)
    constant = file.profile.constants.get("list")
    given = lists([*file.job.lists, *([constant] if constant else [])])
    if not given:
        raise ConfigError(
            "the file does not say against which lists it was scrubbed; name them with --list us --list us-tx"
        )
    return _by_result(file, given)


def _by_columns(file: EvidenceFile, of_columns: Mapping[str, str]) -> Iterator[_Answers]:
    """A column for each list; `state` is the list of the number's own state."""
    named_lists = {of: lists([of])[0] for of in of_columns.values() if of != "state"}
    roles = {column.header: column for column in file.profile.columns}
    states = _state_lists(file.numbers())
    cells = {
        name: file.rows.column(next((h for h in file.rows.header if h.casefold() == name), None))
        for name in of_columns
    }
    for row, state in enumerate(states):
        answers: dict[str, bool] = {}
        for name, of in of_columns.items():
            named = state if of == "state" else named_lists[of]
            listed = _LISTED.get(roles[name].meaning(cells[name][row]) or "")
            if named is not None and listed is not None:
                answers[named] = answers.get(named, False) or listed
        yield answers or "no_result"


_LISTED: Final = {"listed": True, "clean": False}


def _by_row(file: EvidenceFile) -> Iterator[_Answers]:
    """Each row names the list that its result is of."""
    for named, result in zip(_list_names(file, "list"), file.said("result"), strict=True):
        listed = _LISTED.get(result)
        yield "no_list" if not named else "no_result" if listed is None else {named[0]: listed}


def _by_result(file: EvidenceFile, given: Sequence[str]) -> Iterator[_Answers]:
    """One result for all lists of the job; where the number is listed a column may name on which."""
    on_lists = (
        _list_names(file, "lists")
        if "lists" in file.reader.columns
        else [[]] * len(file.rows.cells)
    )
    for on, result in zip(on_lists, file.said("result"), strict=True):
        if result == "clean":
            yield dict.fromkeys(given, False)
        elif result != "listed":
            yield "no_result"
        elif not on and len(given) > 1:
            yield "which_list"
        else:
            yield {**dict.fromkeys(given, False), **dict.fromkeys(on or given, True)}


def _list_names(file: EvidenceFile, role: str) -> list[list[str]]:
    """The lists that the cells of a column name, by the profile's words for them or by their own names."""
    column = file.reader.columns[role]
    known = {r.parameters.registry.casefold(): r.parameters.registry for r in _list_rules()}
    for text, of in column.values.items():
        known[text.casefold()] = lists([of])[0]
    return [
        list(dict.fromkeys(
            name
            for part in cell.split(column.separator or "\0")
            for text, name in known.items()
            if part.strip().casefold().startswith(text)
        ))
        for cell in file.rows.column(column.header)
    ]  # fmt: skip


def _list_rules() -> Sequence[FreshnessRule]:
    return rulebook.load().of_kind(FreshnessRule)


def _state_lists(numbers: Sequence[str | None]) -> list[str | None]:
    """The list of each number's own state, by its area code; None where the rule book has none."""
    import numpy as np

    by_place = {
        r.jurisdiction: r.parameters.registry for r in _list_rules() if "-" in r.jurisdiction
    }
    placed = place(
        np.array([int(number[1:]) if number else 0 for number in numbers], dtype="int64")
    )
    of_kind = [
        {by_place[region] for region in zones.regions if region in by_place}
        for zones in placed.kinds
    ]
    return [
        next(iter(of_kind[code])) if len(of_kind[code]) == 1 else None for code in placed.codes
    ]


def _line_types(file: EvidenceFile) -> Iterator[Row]:
    kinds, ported = file.said("line_type"), file.days("ported_at")
    has_kind = "line_type" in file.reader.columns or "line_type" in file.profile.constants
    for number, at, kind, moved in zip(
        file.numbers(), file.times("at", job=True), kinds, ported, strict=True
    ):
        when = at or moved
        if number is None or when is None:
            yield "no_number" if number is None else "no_time"
        elif has_kind and kind not in _LINE_TYPES and moved is None:
            yield "no_line_type"
        else:
            detail = {"line_type": kind} if kind in _LINE_TYPES else {}
            yield [
                Fact(
                    when,
                    number,
                    None,
                    detail | ({"ported_at": moved.isoformat()} if moved else {}),
                )
            ]


def _reassigned_rows(file: EvidenceFile) -> Iterator[Row]:
    for number, at, answer in zip(
        file.numbers(), file.times("at", job=True), file.said("result"), strict=True
    ):
        if number is None or at is None:
            yield "no_number" if number is None else "no_time"
        elif answer not in ("yes", "no", "no data"):
            yield "no_answer"
        else:
            yield [Fact(at, number, None, {"result": answer})]


def _consents(file: EvidenceFile) -> Iterator[Row]:
    granted, expires, revoked = (
        file.days("granted_at"),
        file.days("expires_at"),
        file.days("revoked_at"),
    )
    kinds, campaigns, records = file.said("kind"), file.said("revoked_for"), file.said("record")
    has_kind = "kind" in file.reader.columns or "kind" in file.profile.constants
    for row, number in enumerate(file.numbers()):
        at = granted[row]
        if number is None or at is None:
            yield "no_number" if number is None else "no_time"
        elif has_kind and kinds[row] not in ("written", "express", "any", ""):
            yield "no_kind"
        else:
            detail = {"kind": kinds[row], "record": records[row], "revoked_for": campaigns[row],
                      "expires_at": _iso(expires[row]), "revoked_at": _iso(revoked[row])}  # fmt: skip
            yield [
                Fact(at, number, None, {name: value for name, value in detail.items() if value})
            ]


def _relationships(file: EvidenceFile) -> Iterator[Row]:
    begins, ends = file.days("from_at"), file.times("until_at")
    kinds, campaigns, records = file.said("kind"), file.said("campaign"), file.said("record")
    for row, number in enumerate(file.numbers()):
        at = begins[row]
        if number is None or at is None:
            yield "no_number" if number is None else "no_time"
        elif kinds[row] not in ("purchase", "inquiry"):
            yield "no_kind"
        elif not records[row]:
            yield "no_record"
        else:
            detail = {
                "kind": kinds[row],
                "record": records[row],
                "campaign": campaigns[row],
                "until_at": _iso(ends[row]),
            }
            yield [
                Fact(at, number, None, {name: value for name, value in detail.items() if value})
            ]


def _registry(file: EvidenceFile) -> Iterator[Row]:
    """Numbers of a registry's own file: all that stand on it, or those that came and went."""
    given = lists(
        [
            *file.job.lists,
            *([file.profile.constants["list"]] if "list" in file.profile.constants else []),
        ]
    )
    if len(given) != 1:
        raise ConfigError("the file does not say which registry it is of; name it with --list")
    has_changes = "change" in file.reader.columns
    if file.job.at is None:
        raise ConfigError(
            "say when the registry was downloaded, with --made; its age counts from then"
        )
    numbers, changes = file.numbers(), file.said("change")
    changed = file.times("changed_at")
    first = True
    for row, number in enumerate(numbers):
        if number is None:
            yield "no_number"
        elif has_changes and changes[row] not in ("add", "delete"):
            yield "no_result"
        else:
            gone = changes[row] == "delete"
            detail: dict[str, Any] = {"listed": not gone}
            if changed[row] is not None:
                detail["changed_at"] = _iso(changed[row])
            records = [Fact(file.job.at, number, given[0], detail)]
            if first:
                # The version itself, once: which numbers it speaks of, and by whose subscription it was got.
                first = False
                covers = sorted(file.job.prefixes or {_prefix(n) for n in numbers if n})
                version = {"version": "changes" if has_changes else "full", "covers": covers}
                records.append(
                    Fact(
                        file.job.at,
                        None,
                        given[0],
                        version | {"subscription": file.job.subscription},
                    )
                )
            yield records


def _prefix(number: str) -> str:
    """What a registry is subscribed to by: the area code in North America, else the country."""
    return number[:5] if number.startswith("+1") else number[:3]


def _iso(at: datetime | None) -> str | None:
    return None if at is None else at.isoformat()


#: Kind of a profile to what reads its rows.
MAKERS: Final[Mapping[str, Callable[[EvidenceFile], Iterator[Row]]]] = {
    "scrub": _scrub, "line_types": _line_types, "reassigned": _reassigned_rows, "consents": _consents,
    "relationships": _relationships, "registry": _registry,
}  # fmt: skip

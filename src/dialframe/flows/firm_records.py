"""What a firm and its account bring to an audit and to the gate: files of records, and what its own tables say."""

from __future__ import annotations

import hashlib
import json
import re
import tomllib
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime
from functools import partial
from pathlib import Path
from typing import Final

import pandas as pd

from dialframe import compliance, frames, instants, leads, profiles
from dialframe.account import Account
from dialframe.analytics import DEFAULT, Taxonomy
from dialframe.compliance import Declared, Practice, Question, RuleBook, rulebook
from dialframe.compliance.practice import (
    Conduct,
    dialing_of,
    practice_of,
    read_practice,
    speaks_artificially,
)
from dialframe.compliance.rules import overrides
from dialframe.compliance.rules.overrides import read_declared
from dialframe.compliance.rules.rule_model import FreshnessRule
from dialframe.errors import ConfigError, StoreError
from dialframe.evidence import Record
from dialframe.firm import Firm
from dialframe.flows import evidence_files, evidence_views
from dialframe.flows.evidence_rows import REASONS, Job
from dialframe.flows.suppression_import import lines_named
from dialframe.phones import normalize
from dialframe.phones.zones import unknown_states
from dialframe.privacy import E164
from dialframe.suppression import SuppressionList

#: Outcome class that means "do not call me again".
REQUEST_CLASS = "dnc_request"
_PERSONS: Final = (
    "early_hangup", "dead_air", "gatekeeper_third_party", "wrong_number", "right_party_neutral",
    "not_interested", "callback", "positive", "appointment", "conversion", "dnc_request",
)  # fmt: skip
#: Outcome class to who was heard. Dropped is a call that was answered while no representative was there
#: within two seconds of the greeting (16 CFR 310.4(b)(1)(iv)).
_HEARD: Final = {
    "dropped_by_us": "dropped", "machine": "machine", "fax": "machine", **dict.fromkeys(_PERSONS, "live"),
}  # fmt: skip
#: No row is as young as this.
_NEVER: Final = datetime(9000, 1, 1, tzinfo=UTC)
_REQUEST_EVENT: Final = "disposition.logged"


def empty_question() -> Question:
    """A question of a firm that brings nothing; its moment is that of the account, once it is read."""
    return Question(now=_NEVER)


@dataclass(frozen=True, slots=True)
class Scope:
    """What an audit asks, beside the account.

    Attributes:
        question: Period, rules, practice and records of the firm; what the account knows is added.
        inputs: Name of every file that was given to the SHA-256 of its content.
        options: Further options of the run, for the manifest of its pack.
        taxonomy: What dispositions mean: requests not to be called, dropped calls, machines.
        state_field: Custom field that names the called party's state or ZIP code; None: the fields that look like it.
        evidence: Records of the files of evidence that the firm names, beside those of the log.
    """

    question: Question = field(default_factory=empty_question)
    inputs: Mapping[str, str] = field(default_factory=dict)
    options: Mapping[str, object] = field(default_factory=dict)
    taxonomy: Taxonomy = DEFAULT
    state_field: str | None = None
    evidence: Sequence[Record] = ()


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class Evidence:
    """Everything that an account and its firm have on record, as an audit and the gate take it.

    Attributes:
        leads: Frame of the leads table.
        calls: Frame of the calls table.
        checks: Ledger of Do-Not-Call checks.
        callbacks: Frame of the callbacks table.
        campaigns: Frame of the campaigns table.
        events: Frame of the events table.
        question: What is asked, with what the account says: the moment, requests, outcomes, states.
        state_fields: Custom fields of the leads that the states were read from.
    """

    leads: pd.DataFrame
    calls: pd.DataFrame
    checks: pd.DataFrame
    callbacks: pd.DataFrame
    campaigns: pd.DataFrame
    events: pd.DataFrame
    question: Question
    state_fields: tuple[str, ...] = ()

    @property
    def at(self) -> datetime:
        """The moment up to which records count."""
        return self.question.now

    @property
    def tables(self) -> dict[str, pd.DataFrame]:
        """Name to frame of every table of the account."""
        return {
            "calls": self.calls, "leads": self.leads, "dnc_checks": self.checks,
            "callbacks": self.callbacks, "campaigns": self.campaigns, "events": self.events,
        }  # fmt: skip


def gather(
    account: Account,
    scope: Scope,
    *,
    now: Callable[[], datetime],
    as_of: datetime | None = None,
    before_checks: Callable[[pd.DataFrame, pd.DataFrame], None] | None = None,
) -> Evidence:
    """Read what is on record of an account.

    Args:
        account: The account.
        scope: What the firm brings.
        now: The clock; asked once the tables are there, for nothing later counts.
        as_of: The store as it was then, in place of the clock; None: as it is.
        before_checks: Called with leads and calls before the ledger of checks is read.

    Raises:
        StoreError: Calls or leads were never read, or not by that moment.
    """
    leads, calls = account.leads(as_of=as_of), account.calls(as_of=as_of)
    require_read(leads, calls)
    if as_of is not None and not len(calls) and len(account.calls()):
        raise StoreError(
            f"calls as of {as_of:%Y-%m-%dT%H:%M:%SZ}: nothing had been read by then, so nothing can "
            "be said of them; name a moment after the first sync"
        )
    if before_checks is not None:
        before_checks(leads, calls)
    # After the checks were asked for: an answer that came later would not count.
    moment = now() if as_of is None else as_of
    taxonomy = scope.taxonomy
    campaigns = account.campaigns(as_of=as_of)
    callbacks, events = account.callbacks(as_of=as_of), account.events(as_of=as_of)
    began = campaigns["created_at"].min()
    states, fields = find_states(leads, scope.state_field)
    question = replace(
        scope.question, now=moment, states=states, dnc_codes=request_codes(calls, taxonomy),
        known_codes=partial(is_known_code, taxonomy),
        practice=add_dialing_modes(scope.question.practice or Practice(), campaigns), outcomes_of=outcome_words(calls["disposition"].dropna().unique(), taxonomy),
        events=both(scope.question.events, requests_frame(read_logged_requests(events, taxonomy))),
        began_at=None if pd.isna(began) else began.to_pydatetime(), taxonomy=taxonomy.version,
    )  # fmt: skip

    def asked() -> list[str]:
        return [*leads["phone"].dropna(), *calls["to_number"].dropna()]

    def rows() -> set[str]:
        return {id_ for frame in (leads, calls, events) for id_ in frame["id"]}

    logged = evidence_views.tables_of(
        account.evidence, asked, until=moment, rows=rows, more=scope.evidence
    )
    question = with_logged(question, logged)
    checks = account.dnc_checks(as_of=as_of)
    return Evidence(leads, calls, checks, callbacks, campaigns, events, question, fields)


def with_logged(question: Question, logged: evidence_views.Logged) -> Question:
    """A question with what the evidence log says; what is given with the question itself goes before."""
    practice = question.practice or Practice()
    return replace(
        question,
        events=both(question.events, logged.requests), recorded_consents=logged.recorded,
        scrubs=both(question.scrubs, logged.scrubs), consents=both(question.consents, logged.consents),
        look_ups=both(question.look_ups, logged.look_ups), exemptions=both(question.exemptions, logged.relationships),
        practice=replace(practice, line_types={**logged.line_types, **practice.line_types}),
    )  # fmt: skip


def both(*given: pd.DataFrame | None) -> pd.DataFrame | None:
    """Rows of all tables; None where there is none."""
    frames_given = [frame for frame in given if frame is not None]
    return pd.concat(frames_given, ignore_index=True) if frames_given else None


def require_read(*frames_read: pd.DataFrame, advice: str = "run `dialframe sync` first") -> None:
    """Refuse to say anything of what was never read: no finding in no data is no result.

    Raises:
        StoreError: A table was never synced.
    """
    for frame in frames_read:
        freshness = frame.attrs["dialframe"]
        if freshness["synced_at"] is None:
            raise StoreError(
                f"{freshness['table']} were never read, so nothing can be said of them: {advice}"
            )


def outcome_words(dispositions: Iterable[object], taxonomy: Taxonomy) -> dict[str, str] | None:
    """Disposition to `dropped`, `live` or `machine`; None where none says any of the three."""
    meaning = {
        code: _HEARD[named]
        for code in dispositions
        if isinstance(code, str) and (named := taxonomy.outcome("disposition", code)) in _HEARD
    }
    return meaning or None


def requests_frame(given: Iterable[_Request]) -> pd.DataFrame | None:
    """Requests not to be called as an audit takes them; None without any."""
    rows = list(given)
    if not rows:
        return None
    requests = pd.DataFrame(rows, columns=["phone", "at", "ref", "code", "source"])
    requests["at"] = pd.to_datetime(requests["at"], utc=True).astype("datetime64[us, UTC]")
    return requests


#: Phone, instant, reference, code or reason, and source of a request.
_Request = tuple[str, datetime, str, str, str]


def read_logged_requests(events: pd.DataFrame, taxonomy: Taxonomy) -> Iterator[_Request]:
    """Those among the events of the account."""
    for event in events[events["type"] == _REQUEST_EVENT].itertuples(index=False):
        content = json.loads(event.data) if isinstance(event.data, str) else {}
        code, phone = content.get("disposition_code"), content.get("phone")
        if isinstance(code, str) and isinstance(phone, str) and _is_request(code, taxonomy):
            at = pd.to_datetime(content.get("logged_at"), utc=True, errors="coerce")
            # The instant at which the wish was logged; else when the event was made.
            at = event.created_at if pd.isna(at) else at
            yield phone, at, content.get("call_id") or event.id, code, "event"


def find_suppressed(account: Account, numbers: Sequence[str]) -> dict[str, str]:
    """Those of some numbers that the firm's own list holds, for whatever reason, with the reason in words."""
    phones = [number for number in numbers if E164.fullmatch(number)]
    listed = SuppressionList.beside(account.store.folder.parent)
    return {
        phone: f"on the firm's own list since {entry.on}: {entry.reason}"
        for phone, entry in zip(phones, listed.check(phones), strict=True)
        if entry is not None
    }


def find_held_numbers(account: Account, *frames_read: pd.DataFrame) -> frozenset[str]:
    """Numbers of leads and calls that something known of them prohibits."""
    barred = SuppressionList.beside(account.store.folder.parent).barred()
    columns = [frame[name].dropna() for frame in frames_read for name in _NUMBERS if name in frame]
    numbers = {number for column in columns for number in column.unique()}
    return frozenset(each for each in numbers if E164.fullmatch(each) and int(each) in barred)


#: Columns of a number that was or would be called.
_NUMBERS: Final = ("phone", "to_number")


def worth_checking(leads: pd.DataFrame, calls: pd.DataFrame) -> list[str]:
    """Numbers that are callable or were called, each once, in order."""
    # Of the five statuses of a lead (contract, Lead) these two are not called again.
    open_leads = leads.loc[~leads["status"].isin(["dnc", "completed"]), "phone"]
    called = calls.loc[calls["direction"] == "outbound", "to_number"]
    return sorted({*open_leads.dropna(), *called.dropna()})


#: Names of custom fields that say where a person lives; letters alone are compared.
_STATE_FIELDS: Final = frozenset(
    {"state", "usstate", "statecode", "homestate", "addressstate", "mailingstate", "billingstate", "leadstate",
     "zip", "zipcode", "postalcode", "postcode", "homezip", "addresszip", "mailingzip", "billingzip"}
)  # fmt: skip
#: Leads whose fields are looked through for such names.
_LOOKED_THROUGH: Final = 2_000


def state_fields(leads: pd.DataFrame) -> tuple[str, ...]:
    """Custom fields of the leads that name a state or ZIP code."""
    names: dict[str, None] = {}
    for text in leads["custom_fields"].dropna().head(_LOOKED_THROUGH):
        values = json.loads(text) if isinstance(text, str) else text
        names |= dict.fromkeys(str(name) for name in values) if isinstance(values, dict) else {}
    return tuple(n for n in names if re.sub(r"[^a-z]", "", n.casefold()) in _STATE_FIELDS)


def find_states(
    leads: pd.DataFrame, state_field: str | None
) -> tuple[pd.Series | None, tuple[str, ...]]:
    """State or ZIP code of each number where a lead's custom field names it, every lead's for itself, and these fields."""
    fields = state_fields(leads) if state_field is None else (state_field,)
    named = [
        frames.custom_field(leads, name).set_axis(pd.Index(leads["phone"])) for name in fields
    ]
    named = [each[each.notna().to_numpy() & each.index.notna()] for each in named]
    # A field that names no state of the United States, such as one of Australia, says nothing here.
    if state_field is None:
        pairs = [
            (n, s)
            for n, s in zip(fields, named, strict=True)
            if len(s) and len(unknown_states(s)) < s.nunique()
        ]
        fields, named = (
            tuple(n for n, _ in pairs),
            [s[~s.isin(unknown_states(s))] for _, s in pairs],
        )
    return (pd.concat(named) if named else None), fields


def own_codes(path: Path | None) -> Taxonomy:
    """Every preset, with the codes of a mapping file of one's own where there is one.

    Raises:
        ConfigError: The file cannot be read, or says what cannot be meant.
    """
    return DEFAULT if path is None else DEFAULT.with_file(path)


def request_codes(calls: pd.DataFrame, taxonomy: Taxonomy) -> Sequence[str]:
    """Dispositions of the account that its taxonomy takes for a request not to be called."""
    used = calls["disposition"].dropna().unique()
    # Codes that are known for refusals, and those of the firm's own taxonomy that mean the same.
    return sorted({*compliance.dnc.REQUEST_CODES, *(c for c in used if _is_request(c, taxonomy))})


def is_known_code(taxonomy: Taxonomy, code: str) -> bool:
    """Whether a taxonomy says what a disposition means."""
    return taxonomy.outcome("disposition", code) is not None


def add_dialing_modes(practice: Practice, campaigns: pd.DataFrame) -> Practice:
    """The practice with how each campaign is dialed and whether an AI speaks, where the service's mode says so."""
    # What the firm declares goes before what a mode suggests.
    modes = [(str(c), m) for c, m in zip(campaigns["id"], campaigns["dialer_mode"], strict=True)]
    # The values of `dialer_mode` are not shown (contract, Campaign): an unknown one says nothing.
    dialings = {name: how for name, mode in modes if (how := dialing_of(mode))}
    voices = {
        name: Conduct(artificial_voice=True) for name, mode in modes if speaks_artificially(mode)
    }
    conducts = dict(practice.conducts)
    for name, voice in voices.items():
        conducts[name] = conducts.get(name, Conduct()).over(voice)
    return replace(practice, dialings={**dialings, **practice.dialings}, conducts=conducts)


def _is_request(code: str, taxonomy: Taxonomy) -> bool:
    return taxonomy.outcome("disposition", code) == REQUEST_CLASS


def table(path: Path | None) -> pd.DataFrame | None:
    """A CSV file as a frame: names that end in `_at` are instants, all else text.

    Raises:
        ConfigError: The file is no CSV, or an instant cannot be read; the line is named.
        OSError: The file cannot be read.
    """
    if path is None:
        return None
    try:
        # Text as it stands: a cell `NA` may be Namibia.
        frame = pd.read_csv(path, dtype="str", keep_default_na=False, na_values=[""])
    except (pd.errors.ParserError, pd.errors.EmptyDataError, UnicodeDecodeError) as error:
        raise ConfigError(f"{path} is no CSV file: {error}; correct it") from None
    if not isinstance(frame.index, pd.RangeIndex):
        # pandas takes the first cells for names of rows then, and every column for the next one.
        raise ConfigError(f"{path} is no CSV file: its records have more cells than its header")
    for name in frame.columns:
        if not str(name).endswith("_at"):
            continue
        values = []
        for line, text in enumerate(frame[name], start=2):
            cell = None if pd.isna(text) else str(text)
            values.append(instants.instant(f"{path}, line {line}, {name}", cell))
        frame[name] = pd.Series(values, dtype="datetime64[us, UTC]")
    return frame


#: The profile that knows the columns of each table, and its roles that an audit names otherwise.
_PROFILES: Final[Mapping[str, tuple[str, Mapping[str, str]]]] = {
    "consents": ("consents", {}), "look-ups": ("reassigned", {"at": "checked_at"}), "requests": ("requests", {}),
}  # fmt: skip
_NEEDED: Final = {"consents": "granted_at", "look-ups": "checked_at", "requests": "requested_at"}


@dataclass(frozen=True, slots=True)
class Records:
    """A firm's table of records, read.

    Attributes:
        frame: The columns that were found, by the names that an audit knows.
        left: Headers of columns that nothing was read from.
    """

    frame: pd.DataFrame | None
    left: tuple[str, ...] = ()


def records(path: Path | None, what: str, *, region: str | None = None) -> Records:
    """A firm's table of consents, look-ups or requests, in any format and with any header that lead files have.

    Every row counts or the file is refused: a record that is left out in silence would be evidence lost.

    Args:
        path: The file; None: not given.
        what: `consents`, `look-ups` or `requests`.
        region: Country of numbers that are written without one; None: as the file itself shows.

    Returns:
        The frame as `compliance.audit` takes it, numbers in E.164.

    Raises:
        ConfigError: A column is missing or there are two of it, or a cell cannot be read; the line is named.
        LeadFileError: The file cannot be read.

    Example:
        records(Path("opt-ins.xlsx"), "consents", region="US").frame
    """
    if path is None:
        return Records(None)
    # By the same reader as lists of leads: encodings, delimiters and header rows are found in one place.
    file = leads.read(path)
    _require_whole(file, path)
    texts = file.frame
    header_names = [str(name) for name in texts.columns]
    profile, renamed = _PROFILES[what]
    known = profiles.load(profile).matched(header_names)
    columns: dict[str, str] = {}
    for header, column in known.items():
        name = renamed.get(column.role, column.role)
        if name in columns and header != name:
            raise ConfigError(
                f"{path}: {columns[name]!r} and {header!r} both read as {name}; name one of them {name}, "
                "and the other otherwise"
            )
        columns[name] = header
    # A consent without a day proves nothing about the calls before it.
    if _NEEDED[what] not in columns:
        raise ConfigError(
            f"{path}: no column of {what} is {_NEEDED[what]}; there are {', '.join(header_names)}. "
            f"Name the one that says when {_NEEDED[what]}"
        )
    columns["phone"] = _phone_column(file, path, region)
    read = {"phone": _numbers_of(file, columns["phone"], path, region)}
    for name, header in columns.items():
        if name != "phone":
            read[name] = _cells(file, known[header], name, path)
    frame = pd.DataFrame(read)
    # Said, so that a column with another name does not go unread in silence.
    used = set(columns.values())
    return Records(frame, tuple(header for header in header_names if header not in used))


def _require_whole(file: leads.LeadFile, path: Path) -> None:
    """Every record has to be read: none is broken, and none was set aside."""
    skipped = file.skipped[file.skipped["_row"].notna()]
    lines = sorted(
        {*(int(file.lines[row]) for row in file.faults), *(int(n) for n in skipped["_line"])}
    )
    if lines:
        raise ConfigError(
            f"{path}: {lines_named(lines)}: no whole record; correct it, or take it out"
        )


def _phone_column(file: leads.LeadFile, path: Path, region: str | None) -> str:
    if "phone" in file.frame.columns:
        return "phone"
    mapped = leads.decide(file, region=region).columns
    names = () if mapped is None else mapped.phone
    if len(names) != 1:
        raise ConfigError(
            f"{path}: {'no column' if not names else 'more than one column'} holds numbers "
            f"({', '.join(map(str, file.frame.columns))}); name one of them phone"
        )
    return str(names[0])


def _numbers_of(file: leads.LeadFile, header: str, path: Path, region: str | None) -> pd.Series:
    cells = file.frame[header].str.strip()
    region = region or leads.decide_region(file).region
    e164 = normalize(cells, region=region)["e164"].astype("str")
    odd = e164.isna().to_numpy()
    if odd.any():
        lines = [int(line) for line in file.lines[odd]]
        raise ConfigError(
            f"{path}: {lines_named(lines)}: no phone number that can be read"
            + ("" if region else "; name the country of numbers without one with --region")
            + ". Correct the cell or take the row out: a record that is not read is a record that is ignored"
        )
    return e164


def _cells(file: leads.LeadFile, column: profiles.Column, name: str, path: Path) -> pd.Series:
    """The cells of a column: instants for names that end in `_at`, words for kinds, else text."""
    values: list[object] = []
    header = column.header
    for line, text in zip(file.lines, file.frame[header], strict=True):
        cell = text.strip() if isinstance(text, str) else ""
        where = f"{path}, line {line}, {header}"
        if not cell:
            values.append(None)
        elif name.endswith("_at"):
            values.append(instants.instant(where, cell))
        elif name == "kind":
            kind = column.meaning(cell)
            if kind is None:
                raise ConfigError(
                    f"{where}: {cell!r} is no kind of consent; use written, express or any"
                )
            values.append(kind)
        else:
            values.append(cell)
    return pd.Series(values, dtype="datetime64[us, UTC]" if name.endswith("_at") else "str")


def declared(path: Path | None) -> Declared:
    """Declared days of a file; none without one.

    Raises:
        ConfigError: The file does not fit its schema.
        OSError: The file cannot be read.
    """
    if path is None:
        return Declared()
    return read_declared(path.read_text(encoding="utf-8"), name=str(path))


def scope_of(
    folder: Path, question: Question, *, practice: Path | None = None
) -> tuple[Scope, dict[str, tuple[str, ...]]]:
    """What the firm file of a folder brings to an audit or the gate: practice, own rules, codes, records.

    Args:
        folder: Where the firm file is looked for.
        question: The moment, the period, and jurisdictions or rule ids; without rules, those of the firm file, else all.
        practice: Another firm file, or a file of the practice alone, in its place.

    Returns:
        The scope, and the columns of each table of records that were not read.

    Raises:
        ConfigError: A file cannot be read or does not fit its schema, or a jurisdiction is not in the book.

    Example:
        scope, left = scope_of(Path.cwd(), Question(now=datetime.now(UTC), rules=["us", "us-*"]))
    """
    firm = Firm.find(folder)
    if practice is not None and _is_firm_file(practice):
        firm, practice = Firm.read(practice), None
    return firm_scope(firm, question, practice=practice)


def firm_scope(
    firm: Firm, question: Question, *, practice: Path | None = None
) -> tuple[Scope, dict[str, tuple[str, ...]]]:
    """What a firm file brings, as `scope_of`; an empty firm asks every rule and brings nothing.

    Raises:
        ConfigError: A file cannot be read or does not fit its schema, or a jurisdiction is not in the book.
    """
    try:
        return _read_scope(firm, question, practice)
    except OSError as error:
        raise ConfigError(
            f"{firm.path}: {error.filename}: {error.strerror}; correct the path"
        ) from None


def _read_scope(
    firm: Firm, question: Question, practice: Path | None
) -> tuple[Scope, dict[str, tuple[str, ...]]]:
    book, names, region = rulebook.load(), firm.audit, firm.lists.region
    if names.own_rules is not None:
        book = overrides.apply(
            book, names.own_rules.read_text(encoding="utf-8"), name=str(names.own_rules)
        )
    for each in names.confirmed:
        book = overrides.confirm(book, each.rules, by=each.by, on=each.on)
    rules = question.rules if question.rules is not None else (list(names.rules) or None)
    question = replace(question, rules=rules, rulebook=book)
    # A place that the book does not have is an error before any record is read.
    _ = question.book
    left: dict[str, tuple[str, ...]] = {}
    tables: dict[str, pd.DataFrame | None] = {}
    for what, paths in (
        ("consents", firm.evidence.consents),
        ("look-ups", firm.evidence.reassigned),
        ("requests", firm.evidence.requests),
    ):
        read = [records(path, what, region=region) for path in paths]
        left |= {str(path): each.left for path, each in zip(paths, read, strict=True) if each.left}
        tables[what] = both(*(each.frame for each in read))
    facts, refused = _facts(firm, question.now)
    files = {
        "own": names.own_rules, "declared": names.declared, "exemptions": names.exemptions,
        "practice": practice or (firm.path if firm.practice else None), "codes": names.codes,
        **{
            f"{what}{'' if number == 0 else f' {number + 1}'}": path
            for what, paths in firm.evidence for number, path in enumerate(paths)
        },
    }  # fmt: skip
    question = replace(
        question,
        practice=(
            firm_practice(firm, book)
            if practice is None
            else read_practice(practice.read_text(encoding="utf-8"), registries(book), name=str(practice))
        ),
        exemptions=table(names.exemptions), declared=declared(names.declared),
        consents=tables["consents"], look_ups=tables["look-ups"], events=_read_requests(tables["requests"]),
    )  # fmt: skip
    scope = Scope(
        question, inputs=digests(files), options={"region": region},
        taxonomy=own_codes(names.codes), state_field=names.state_field, evidence=facts,
    )  # fmt: skip
    return scope, left | refused


def _facts(firm: Firm, now: datetime) -> tuple[list[Record], dict[str, tuple[str, ...]]]:
    """Records of the files that source profiles read, and of each file the rows that are none, in words."""
    job = Job(region=firm.lists.region, zone=firm.lists.time_zone)
    facts: list[Record] = []
    refused: dict[str, tuple[str, ...]] = {}
    named = firm.evidence
    for path in (*named.scrubs, *named.line_types, *named.relationships, *named.registries):
        try:
            file = evidence_files.read(path, job=job, now=now)
        except ConfigError as error:
            # What a file does not say of itself, such as the day of a download, has no place in the firm file.
            raise ConfigError(
                f"{path}: {error}; dialframe evidence add says what a file does not say of itself"
            ) from None
        facts += file.records
        if file.refused:
            refused[str(path)] = tuple(
                f"{lines_named(lines)} ({REASONS[reason]})"
                for reason, lines in file.refused.items()
            )
    return facts, refused


def _read_requests(table_of: pd.DataFrame | None) -> pd.DataFrame | None:
    """Requests of a file as an audit takes them."""
    if table_of is None:
        return None
    rows = table_of.reindex(columns=["phone", "requested_at", "record"])
    return requests_frame(
        (row.phone, row.requested_at, _cell(row.record), "request", "suppression")
        for row in rows.itertuples(index=False)
    )


def _cell(value: object) -> str:
    return value if isinstance(value, str) else ""


def _is_firm_file(path: Path) -> bool:
    """Whether a file has sections of a firm file; else it is a practice, whose reader says what is wrong with it."""
    try:
        sections = set(tomllib.loads(path.read_text(encoding="utf-8")))
    except tomllib.TOMLDecodeError:
        return False
    return bool(sections & (set(Firm.model_fields) - {"path"}))


def registries(book: RuleBook | None = None) -> list[str]:
    """Names of the Do-Not-Call lists that the rules speak of, in the order of the book."""
    rules = (rulebook.load() if book is None else book).of_kind(FreshnessRule)
    return list(dict.fromkeys(rule.parameters.registry for rule in rules))


def firm_practice(firm: Firm, book: RuleBook | None = None) -> Practice:
    """What the firm file of a folder declares; nothing where it has no practice.

    Raises:
        ConfigError: The practice has an unknown field, or names a list that no rule speaks of.
    """
    if not firm.practice:
        return Practice()
    return practice_of(firm.practice, registries(book), name=str(firm.path))


def digests(files: Mapping[str, Path | None]) -> dict[str, str]:
    """Name of every file that was given to the SHA-256 of its content."""
    return {
        name: hashlib.sha256(path.read_bytes()).hexdigest()
        for name, path in files.items()
        if path is not None
    }

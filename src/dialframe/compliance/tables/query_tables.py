"""Builds the tables that the queries of an audit read, in one DuckDB database.

The frames of an account go in as they are (`calls_in`, `leads_in`, `checks_in` ...); what Python
knows better than SQL (where a number may be, the clocks of zones, the calendars and the rules) is
laid beside them as small tables; `calls.sql`, `evidence.sql`, `cases.sql` and `law.sql` put the
two together. Nothing is graded here.
"""

from __future__ import annotations

import math
import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import date, datetime, timedelta
from functools import cached_property
from typing import Final

import numpy as np
import pandas as pd
import phonenumbers
import pyarrow as pa

from dialframe import opt_outs
from dialframe.compliance.practice import Practice
from dialframe.compliance.rules import rulebook
from dialframe.compliance.rules.calendars import Declared
from dialframe.compliance.rules.rule_model import ConsentRule, HolidayRule
from dialframe.compliance.rules.rule_parameters import CONSENT_KINDS
from dialframe.compliance.rules.rulebook import RuleBook
from dialframe.compliance.tables import Database, query, utc_offsets
from dialframe.compliance.tables.intake import (
    moment,
    take_consents,
    take_events,
    take_exemptions,
    take_look_ups,
    take_scrubs,
    without_rows,
)
from dialframe.compliance.tables.law import Law
from dialframe.errors import ConfigError
from dialframe.evidence import REQUEST_CODES
from dialframe.phones.zones import KEY_SQL, Zones, place

#: Causes and outcomes with which a call never left the caller's own network, or was never dialed.
#: Figures are the causes of ITU-T Q.850, words their names in FreeSWITCH and Asterisk.
NEVER_DIALED: Final = (
    "2", "3", "34", "38", "41", "42", "44", "47", "58", "63", "65", "66", "79", "127",
    "NO_ROUTE_TRANSIT_NET", "NO_ROUTE_DESTINATION", "NORMAL_CIRCUIT_CONGESTION",
    "NETWORK_OUT_OF_ORDER", "NORMAL_TEMPORARY_FAILURE", "SWITCH_CONGESTION", "ACCESS_INFO_DISCARDED",
    "REQUESTED_CHAN_UNAVAIL", "RESOURCE_UNAVAILABLE", "FACILITY_NOT_SUBSCRIBED",
    "BEARERCAPABILITY_NOTAVAIL", "SERVICE_UNAVAILABLE", "CHAN_NOT_IMPLEMENTED",
    "FACILITY_NOT_IMPLEMENTED", "SERVICE_NOT_IMPLEMENTED", "GATEWAY_DOWN", "CONGESTION",
    "NETWORK_FAIL", "CHANUNAVAIL", "DNCL", "DNCC",
)  # fmt: skip


@dataclass(frozen=True, slots=True, eq=False)
class Taken:
    """Rows of a table of the account that were checked before (`take`)."""

    rows: pa.Table

    def __len__(self) -> int:
        return len(self.rows)


#: Name of a table of the account to its rows: a frame, an Arrow table, or the text of a query.
Tables = Mapping[str, pd.DataFrame | pa.Table | str]
NOTHING_DECLARED: Final = Declared()
_NO_CONSENTS: Final = without_rows("consents")
_NO_LOOK_UPS: Final = without_rows("look_ups")
#: How old a check may be where no rule of the place says: as long as under the federal rules of the US
#: (16 CFR 310.4(b)(3)(iv), 47 CFR 64.1200(c)(2)(i)(D)).
DEFAULT_AGE: Final = timedelta(days=31)

#: What a record of a call has for a caller who shows no number.
_WITHHELD: Final = frozenset(
    {"", "anonymous", "private", "restricted", "unavailable", "unknown", "withheld", "blocked"}
)
#: RFC 3261, 21.5: the server failed, and no telephone rang.
_SERVER_ERROR: Final = re.compile(r"(?i)\s*(?:SIP\s*)?5\d\d\b.*")
#: Calendars and zones are looked up for these years alone; an instant outside of them is a slip.
_FIRST_YEAR, _LAST_YEAR = date(1971, 1, 1), date(2099, 1, 1)


@dataclass(frozen=True, eq=False, repr=False, kw_only=True)
class Question:
    """What is asked of the tables of an account, and what the firm brings to it: the arguments of `audit`, and more.

    Attributes:
        now: The moment of the audit; nothing later counts.
        outcomes_of: Disposition to `dropped`, `live` or `machine`, in place of `outcomes`.
        known_outcomes: Outcomes that any call of the account has; None: those of `outcomes`.
        tells_answers: Whether the account's calls say when they were answered; None: as these do.
        plain_age: If given, no rule is asked about lists: every check this young is fresh.
        ahead: How far beyond the last call clocks and holidays are looked up.
    """

    now: datetime
    since: datetime | None = None
    until: datetime | None = None
    rulebook: RuleBook | None = None
    rules: Sequence[str] | str | None = None
    states: Mapping[str, str] | pd.Series | None = None
    dnc_codes: Sequence[str] = REQUEST_CODES
    known_codes: Callable[[str], bool] | None = None
    grace: timedelta = timedelta(0)
    practice: Practice | None = None
    exemptions: pd.DataFrame | None = None
    declared: Declared = NOTHING_DECLARED
    consents: pd.DataFrame | None = None
    recorded_consents: pd.DataFrame | None = None
    look_ups: pd.DataFrame | None = None
    scrubs: pd.DataFrame | None = None
    outcomes: Mapping[str, str] | pd.Series | None = None
    outcomes_of: Mapping[str, str] | None = None
    events: pd.DataFrame | None = None
    began_at: datetime | None = None
    taxonomy: str = ""
    data_version: str = ""
    known_outcomes: frozenset[str] | None = None
    tells_answers: bool | None = None
    plain_age: timedelta | None = None
    ahead: timedelta = timedelta(0)

    @cached_property
    def every(self) -> RuleBook:
        """The book, whole."""
        return rulebook.load() if self.rulebook is None else self.rulebook

    @cached_property
    def book(self) -> RuleBook:
        """The rules that are asked.

        Raises:
            ConfigError: The period ends before it begins, a rule is not known, or a file of
                declared days names one that is not.
        """
        since, until = self.since, self.until
        # An empty period is a slip of the pen: no finding in it would be no result.
        if since is not None and until is not None and moment(until) <= moment(since):
            raise ConfigError(
                f"the period ends at {until:%Y-%m-%d %H:%M}, not after its begin at "
                f"{since:%Y-%m-%d %H:%M}; exchange the two"
            )
        # A misspelled rule in a file of declared days would let calls on these days pass.
        books = (rulebook.load(), self.every)
        known = {rule.id for book in books for rule in book.of_kind(HolidayRule)}
        odd = sorted(set(self.declared.days) - known)
        if odd:
            raise ConfigError(
                f"declared days: {odd[0]!r} is no rule on holidays; `dialframe rules list --kind "
                "holiday` shows them"
            )
        rules = self.rules.split(",") if isinstance(self.rules, str) else self.rules
        return self.every.select(None if rules is None else [name.strip() for name in rules])

    @cached_property
    def law(self) -> Law:
        """The rules behind their numbers, for calls of the firm's practice."""
        return Law(self.every, self.book, self.practice or Practice(), self.declared)

    def by_codes(self) -> Question:
        """The same asked of the voluntary codes alone."""
        codes = self.book.codes()
        return replace(self, rulebook=codes, rules=None, taxonomy="", data_version="")


def prepare(db: Database, question: Question) -> tuple[Zones, ...]:
    """Build every table from `calls_in`, `leads_in` and `checks_in`, which are there.

    Returns:
        The places where numbers may be, in the order of `places`.

    Raises:
        ConfigError: A zone of the rules is not in the zone database.
    """
    _settings(db, question)
    _words(db, question)
    _put_firm_records(db, question)
    db.run(query("calls"))
    db.run(query("evidence"))
    law = question.law
    for name, columns, rows in law.tables():
        db.load(name, columns, rows)
    db.run(query("law_tables"))
    db.load("consent_given", {"rule": "text", "missing": "text"}, _consent_given(db, law))
    kinds = _places(db, question.states)
    _firm(db, question)
    db.run(query("lifted"))
    db.run(query("places"))
    first, last = _clocks(db, question.ahead)
    db.run(query("cases"))
    db.run(query("reach"))
    # Calendars are dear: days are looked up for rules that reach any call.
    reached = {rule for (rule,) in db.rows("select distinct rule from circumstance_rules")}
    days = {"rule": "text", "day": "day", "closed": "flag", "name": "text", "part": "text"}
    db.load("special_days", days, law.special_days(first, last, reached))
    db.run(query("law"))
    # The last instant for each request and revocation, by every rule and zone that it may fall under.
    wanted = db.rows("from wanted_deadlines order by all")
    deadlines = {"rule": "text", "zone": "text", "day": "day", "ends_at": "instant"}
    db.load("deadlines", deadlines, law.deadlines(wanted))
    _conduct(db, law.practice)
    _measures(db)
    for name in ("conduct", "records", "requests", "spoken", "after_events", "on_record"):
        db.run(query(name))
    return kinds


def _measures(db: Database) -> None:
    """By how much calls may differ and be graded alike: `grain`, the oldest age and the covers that any rule tells apart."""
    times = db.rows("""
        select opens from hours union select closes from hours where closes < time '24:00:00'""")
    offsets = db.rows("""
        select distinct utc_offset from offsets union select utc_offset from fixed_clocks""")
    seconds = [
        timedelta(hours=t.hour, minutes=t.minute, seconds=t.second, microseconds=t.microsecond)
        for (t,) in times
    ]
    spans = [timedelta(days=1), timedelta(minutes=15), *seconds, *(abs(o) for (o,) in offsets)]
    grain = math.gcd(*(span // timedelta(microseconds=1) for span in spans))
    ages = db.rows("select max(max_age), coalesce(bool_or(by_quarter), false) from registries")
    oldest = max(
        ages[0][0] or timedelta(0),
        DEFAULT_AGE,
        *(a for (a,) in db.rows("select coalesce(plain_age, interval 0 day) from settings")),
    )
    covers = db.rows("""
        select check_since from registries where check_since is not null
        union select screen_since from registries where screen_since is not null""")
    measures = {
        "grain": "span",
        "oldest_days": "int",
        "by_quarter": "flag",
        "cover_days": "instants",
    }
    db.load("measures", measures, [
        (timedelta(microseconds=grain), oldest.days + 1, ages[0][1], sorted({utc_offsets.ALWAYS, *(c for (c,) in covers)}))
    ])  # fmt: skip
    db.con.execute(
        "create or replace table settings as select s.*, m.* from settings s cross join measures m"
    )


def bare(at: datetime | pd.Timestamp | None) -> datetime | None:
    """An aware instant as DuckDB keeps it: UTC, without a zone."""
    if at is None or pd.isna(at):
        return None
    moment = at.to_pydatetime() if isinstance(at, pd.Timestamp) else at
    return moment.astimezone(utc_offsets.zone("UTC")).replace(tzinfo=None)


def arrow(frame: pd.DataFrame) -> pa.Table:
    """A frame as an Arrow table whose instants are UTC without a zone, and whose text is `string`."""
    table = pa.Table.from_pandas(frame, preserve_index=False)
    fields = [
        pa.timestamp("us") if pa.types.is_timestamp(f.type)
        else pa.large_string() if pa.types.is_null(f.type) else f.type
        for f in table.schema
    ]  # fmt: skip
    arrays = [
        column.cast(pa.timestamp("us", tz="UTC")).cast(kind) if pa.types.is_timestamp(kind) and column.type != kind
        else column.cast(kind)
        for column, kind in zip(table.columns, fields, strict=True)
    ]  # fmt: skip
    return pa.table(arrays, names=table.column_names)


def _settings(db: Database, question: Question) -> None:
    # Where no call says when it was answered, an unanswered one is not known from it.
    tells_answers = question.tells_answers
    if tells_answers is None:
        query_ = "select coalesce(bool_or(answered_at is not null), false) from calls_in"
        ((tells_answers,),) = db.con.execute(query_).fetchall()
    db.load(
        "settings",
        {"as_of": "instant", "since": "instant", "until": "instant", "grace": "span",
         "default_age": "span", "plain_age": "span", "began_at": "instant",
         "oldest_at": "instant", "tells_answers": "flag"},
        [(bare(question.now), bare(question.since), bare(question.until), question.grace, DEFAULT_AGE,
          question.plain_age, bare(question.began_at), None, tells_answers)],
    )  # fmt: skip


def _words(db: Database, question: Question) -> None:
    """What each distinct disposition, status and hang-up cause of the calls means."""
    # Case, blanks and dashes do not matter: systems write one code in many ways.
    requests = {plain(code) for code in question.dnc_codes}
    known = question.known_codes or (lambda _: False)
    rows = []
    for name in ("disposition", "status", "hangup_cause"):
        for (word,) in db.con.execute(
            f"select distinct {name} from calls_in where {name} is not null order by 1"
        ).fetchall():
            # A status and a cause are the network's words, never a person's.
            is_request = name == "disposition" and plain(word) in requests
            like = (
                name == "disposition" and not is_request
                and not known(word) and opt_outs.is_refusal(word)
            )  # fmt: skip
            never = plain(word) in _SILENT or (
                name == "hangup_cause" and _SERVER_ERROR.fullmatch(word) is not None
            )
            mapped = name != "disposition" or is_request or known(word)
            rows.append((name, word, is_request, like, never, mapped))
    kinds = {
        "field": "text", "word": "text", "is_request": "flag", "like_refusal": "flag",
        "never_dialed": "flag", "is_mapped": "flag",
    }  # fmt: skip
    db.load("words", kinds, rows)


def plain(code: str) -> str:
    """A code as it is compared: case, blanks, dashes and underscores do not matter."""
    return re.sub(r"[\W_]+", "", code).casefold()


_SILENT: Final = frozenset(plain(code) for code in NEVER_DIALED)


def _put_firm_records(db: Database, question: Question) -> None:
    """Outcomes, requests, consents and look-ups as the firm gives them."""
    outcomes = (
        pd.Series(dtype="str") if question.outcomes is None else pd.Series(question.outcomes)
    )
    outcomes = outcomes[~outcomes.index.duplicated(keep="last")]
    by_call = pd.DataFrame(
        {"call_id": outcomes.index.astype("str"), "outcome": outcomes.astype("str").to_numpy()}
    )
    db.put("outcomes_in", arrow(by_call))
    if question.outcomes_of:
        # An outcome without an answer is a slip, but for a call that we dropped ourselves.
        db.load(
            "outcome_words",
            {"disposition": "text", "outcome": "text"},
            list(question.outcomes_of.items()),
        )
        db.con.execute("""
            create or replace table outcomes_in as
            select id as call_id, arg_min(w.outcome, call) as outcome from calls_in join outcome_words w using (disposition)
            where id is not null and (answered_at is not null or w.outcome = 'dropped') group by id""")
    if question.known_outcomes is None:
        db.run(
            "create or replace table known_outcomes as select distinct outcome from outcomes_in"
        )
    else:
        db.load(
            "known_outcomes", {"outcome": "text"}, [(o,) for o in sorted(question.known_outcomes)]
        )
    db.put("requests_in", arrow(take_events(question.events)))
    consents, recorded = (
        take_consents(question.consents),
        take_consents(question.recorded_consents),
    )
    both = [arrow(table) for table in (consents, recorded) if table is not None]
    kinds = ", ".join(f"'{kind}'" for kind in CONSENT_KINDS)
    db.put(
        "consents_given",
        pa.concat_tables(both, promote_options="default") if both else arrow(_NO_CONSENTS),
        f"""row_number() over () - 1 as consent, phone as number, (list_position([{kinds}], kind) - 1)::bigint as strength,
        granted_at, expires_at, revoked_at, revoked_for, record""",
    )
    look_ups = take_look_ups(question.look_ups)
    db.put(
        "look_ups_given",
        arrow(_NO_LOOK_UPS if look_ups is None else look_ups),
        "row_number() over () - 1 as look_up, phone as number, checked_at, result, ported_at",
    )
    db.put("scrubs_given", arrow(take_scrubs(question.scrubs)))
    db.run(query("given"))
    inputs = [
        name
        for name, frame in (
            ("consents", consents),
            ("recorded_consents", recorded),
            ("look_ups", look_ups),
        )
        if frame is not None
    ]
    db.load("inputs", {"name": "text"}, [(name,) for name in inputs])


def _consent_given(db: Database, law: Law) -> Iterator[tuple[str, str | None]]:
    """Rules on consent, each with the table without which it cannot be held against any call."""
    given = {name for (name,) in db.con.execute("select name from inputs").fetchall()}
    for rule, each in law.of_kind(ConsentRule):
        asks, missing = each.parameters.check, None
        if each.parameters.waived_by_check:
            pass
        elif asks == "ported_number_grace":
            missing = None if "look_ups" in given else "the day on which the number was ported"
        elif asks == "reassigned_number":
            missing = None if given else "a table of look-ups of reassigned numbers"
        elif not given & {"consents", "recorded_consents"}:
            missing = "a table of consents"
        yield rule, missing


def _firm(db: Database, question: Question) -> None:
    """Campaigns of which the firm says something alone, line types, and records that lift rules."""
    practice = question.practice or Practice()
    campaigns = sorted(
        {*practice.purposes, *practice.dialings, *practice.campaign_sectors, *practice.conducts}
    )
    settings: dict[str, str] = {
        "campaign_id": "text", "purpose": "text", "dialing": "text", "sectors": "texts",
        "campaign_names_sector": "flag", "artificial_voice": "flag",
    }  # fmt: skip
    # The row without a campaign is what the firm says of all others.
    db.load("campaign_settings", settings, [
        (campaign, practice.purposes.get(campaign, practice.purpose), practice.dialings.get(campaign, practice.dialing),
         list(practice.campaign_sectors.get(campaign, practice.sectors)), campaign in practice.campaign_sectors,
         bool(practice.conducts.get(campaign, practice.conduct).over(practice.conduct).artificial_voice))
        for campaign in ("", *campaigns)
    ])  # fmt: skip
    # A caller in California is one in the United States too.
    places = dict.fromkeys(part for place in practice.callers_in for part in (place[:2], place))
    db.load("callers", {"place": "text", "is_place": "flag"}, [(p, p in practice.callers_in) for p in places])  # fmt: skip
    lines = [(int(p[1:]), kind) for p, kind in practice.line_types.items() if p[1:].isdigit()]
    # A setting may name a number twice as text; the number counts once.
    db.load("line_types", {"phone": "int", "line_type": "text"}, list(dict(lines).items()))
    exemptions = take_exemptions(question.exemptions, question.book)
    db.put("exemptions", arrow(exemptions), "call_id, phone, campaign_id, from_at, until_at, code")


def _conduct(db: Database, practice: Practice) -> None:
    """What the firm says of recordings and voices, and what is known of each number that was shown."""
    rows = [("", practice.conduct)]
    rows += [(c, own.over(practice.conduct)) for c, own in sorted(practice.conducts.items())]
    db.load("conduct",
         {"campaign_id": "text", "recorded": "flag", "recording_announced": "flag", "recording_agreed": "flag",
          "artificial_voice": "flag", "voice_announced": "flag"},
         [(c, d.recorded, d.recording_announced, d.recording_agreed, d.artificial_voice, d.voice_announced) for c, d in rows])  # fmt: skip
    shown = db.con.execute(
        "select distinct from_number from calls where from_number is not null order by 1"
    ).fetchall()
    # What the firm did not name is not known to be another's.
    caller_ids = practice.caller_ids
    db.load("caller_numbers",
         {"from_number": "text", "own": "flag", "form": "text", "plan": "text", "mobile": "flag"},
         [(n, None if caller_ids is None else n.strip() in caller_ids, *_form(n)) for (n,) in shown])  # fmt: skip


def _form(shown: str) -> tuple[str, str | None, bool]:
    """What a number that was shown is (`valid`, `unknown`, `impossible`, `withheld`), its calling code (`+34`), and whether it is mobile."""
    if plain(shown) in _WITHHELD:
        return "withheld", None, False
    if not shown.strip().startswith("+"):
        return "unknown", None, False
    try:
        number = phonenumbers.parse(shown)
    except phonenumbers.NumberParseException:
        return "impossible", None, False
    code = f"+{number.country_code}"
    if not phonenumbers.is_possible_number(number):
        return "impossible", code, False
    # In North America nobody can tell a mobile number from another one.
    mobile = phonenumbers.number_type(number) == phonenumbers.PhoneNumberType.MOBILE
    return "valid" if phonenumbers.is_valid_number(number) else "unknown", code, mobile


def _places(db: Database, states: Mapping[str, str] | pd.Series | None) -> tuple[Zones, ...]:
    """Candidate zones of every number in the tables: by its first digits, or by the state that is known of it."""
    db.con.execute(f"create or replace macro place_key(phone) as {KEY_SQL}")
    every = """
        select phone from outbound where phone is not null union all select phone from leads where phone is not null
        union all select phone from requests"""
    heads = db.con.execute(
        f"select place_key(phone) as key, min(phone) as phone from ({every}) group by 1 order by 2"
    ).fetchnumpy()
    by_key = place(heads["phone"].astype("int64"))
    given = set() if states is None else {str(phone) for phone in states.keys()}  # noqa: SIM118 - a series too
    named = sorted(int(phone[1:]) for phone in given if phone[1:].isdigit())
    phones = np.array(named, dtype="int64")
    if named:
        db.put("known_states", pa.table({"phone": phones}))
        known = f"select distinct phone from ({every}) where phone in (from known_states)"
        phones = db.con.execute(f"{known} order by 1").fetchnumpy()["phone"].astype("int64")
    # A state adds the zones and rules of its own, and takes none away.
    by_state = place(phones, states)
    kinds = {zones: number for number, zones in enumerate(by_key.kinds)}
    numbers = [kinds.setdefault(zones, len(kinds)) for zones in by_state.kinds]
    db.put("place_keys", pa.table({"key": heads["key"], "place": by_key.codes.astype("int64")}))
    named_places = [(int(p), numbers[c]) for p, c in zip(phones, by_state.codes, strict=True)]
    db.load("named_places", {"phone": "int", "place": "int"}, named_places)
    db.load("places",
         {"place": "int", "zones": "text", "source": "text", "confidence": "text", "missing": "text",
          "reason": "text", "regions": "texts", "parts": "texts",
          "doubtful": "texts", "line_type": "text"},
         [(n, "; ".join(z.names) or None, z.source, z.confidence, z.missing, z.reason, list(z.regions), list(z.parts),
           list(z.doubtful), z.line_type)
          for n, z in enumerate(kinds)])  # fmt: skip
    db.load("place_zones", {"place": "int", "ord": "int", "zone": "text"},
         [(n, order, name) for n, z in enumerate(kinds) for order, name in enumerate(z.names)])  # fmt: skip
    return tuple(kinds)


def _clocks(db: Database, ahead: timedelta) -> tuple[date, date]:
    """Offsets of zones, and the period of law that each day is in.

    Returns:
        The first and the last day that counts.
    """
    first, last = db.con.execute("""
        select min(at_utc)::date, max(at_utc)::date from (
          select at_utc from outbound union all select at_utc from requests
          union all select revoked_at from consents)
        where at_utc is not null""").fetchone() or (None, None)
    # Two days more on either side: a local day may begin before its day of UTC, or end after it.
    low, high = (
        (first or _FIRST_YEAR) - timedelta(days=2),
        (last or _FIRST_YEAR) + timedelta(days=2) + ahead,
    )
    db.con.execute("""
        create or replace table law_days as
        select d::date as day, (select max(period) from periods where starts_on <= d::date) as period
        from range(?::timestamp, ?::timestamp, interval 1 day) r(d)""", [low, high + timedelta(days=1)])  # fmt: skip
    low, high = max(low, _FIRST_YEAR), min(high, _LAST_YEAR)
    zones = [
        z
        for (z,) in db.con.execute("select distinct zone from place_clocks order by 1").fetchall()
    ]
    db.load("offsets", {"zone": "text", "since": "instant", "until": "instant", "utc_offset": "span"},
         utc_offsets.offsets(zones, low, high))  # fmt: skip
    return low, high

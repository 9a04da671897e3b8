"""Do-Not-Call: how far checks reach, which calls went to listed numbers, and what to check next, by our own records alone.

A check too old, or none, does not say that a number must not be called. It says that these records
do not show the safe harbor's condition. A lead's import is told apart from a check: the service
screened the number and kept no answer.

    covered = dnc.coverage(leads, calls, checks, now=now)
    dnc.dashboard(covered, leads, calls).by
    dnc.listed_calls(calls, leads, checks, now=now)
"""

from __future__ import annotations

import math
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Final

import pandas as pd
import pyarrow as pa

from dialframe.compliance import findings
from dialframe.compliance.checks import BY_NAME, CLEAR, INDETERMINATE, NO_LIST_RULE, PROVEN
from dialframe.compliance.engine import Engine
from dialframe.compliance.findings import frame, shaped
from dialframe.compliance.result import Coverage, Parts
from dialframe.compliance.rules.rulebook import RuleBook, load
from dialframe.compliance.tables import FRAMES
from dialframe.compliance.tables.intake import moment
from dialframe.compliance.tables.query_tables import DEFAULT_AGE, Question, Tables
from dialframe.contract import limits
from dialframe.errors import ConfigError
from dialframe.evidence import REQUEST_CODES
from dialframe.frames import LEADS, custom_field, from_records
from dialframe.phones.zones import place

__all__ = ["REQUEST_CODES", "Coverage", "Dashboard", "coverage", "dashboard", "listed_calls"]


def __dir__() -> list[str]:
    """The names that the room exports."""
    return sorted(__all__)


SUMMARY_COLUMNS: Final = FRAMES["coverage_summary"]
POPULATIONS: Final = ("callable", "called", "callable or called")
FRESH, SCREENED, OLD, UNCHECKED = "fresh", "screened at import", "stale", "never checked"

_ZEROS: Final = dict.fromkeys(("numbers", "fresh", "screened", "stale", "never", "listed"), 0)

SEVERAL: Final = "several"
NONE: Final = "none"

BY_COLUMNS: Final = FRAMES["coverage_by"]
NEXT_COLUMNS: Final = FRAMES["next_checks"]


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class Dashboard:
    """Coverage by group, and the numbers to check next.

    Attributes:
        by: Counts of each view and group, columns `BY_COLUMNS`.
        next: Numbers without a fresh check, those that may be called first, columns `NEXT_COLUMNS`;
            `account.check_dnc(dashboard.next["phone"])` closes the gap.
        requests: Requests that checking them takes.
        minutes: Minutes that it takes at the service's rate for one key.
    """

    by: pd.DataFrame
    next: pd.DataFrame
    requests: int
    minutes: float


def coverage(
    leads: pd.DataFrame,
    calls: pd.DataFrame,
    checks: pd.DataFrame,
    *,
    now: datetime,
    max_age_days: int | None = None,
    by: str | None = None,
    rulebook: RuleBook | None = None,
    states: Mapping[str, str] | pd.Series | None = None,
    scrubs: pd.DataFrame | None = None,
) -> Coverage:
    """Numbers and calls held against the Do-Not-Call checks on record.

    The same query as the audit's: with the same rules the two say the same.

    Args:
        leads: Frame of the leads table. A number is callable if a lead of it is neither `dnc`
            nor `completed`.
        calls: Frame of the calls table, of the period that is of interest.
        checks: Ledger of checks, frame of the dnc_checks table.
        now: The moment at which numbers are judged; later calls and checks are left out.
        max_age_days: How old a record may be, in days of 24 hours, whatever the rules say; None:
            as the rules of each number's place say, and 31 days where they say nothing.
        by: Column of the leads (`campaign_id`, or one that was added) to count by.
        rulebook: The rules; by default those of the package.
        states: Number to US state or ZIP code, where the account knows it.
        scrubs: Numbers that were held against a list by name, columns `phone, list, checked_at, listed`.

    Returns:
        Numbers, calls and counts.

    Raises:
        ConfigError: A frame lacks a column, an instant or `now` has no time zone.

    Example:
        covered = dnc.coverage(account.leads(), account.calls(), account.dnc_checks(), now=now)
        covered.summary
    """
    if by is not None and by not in leads.columns:
        raise ConfigError(f"compliance: the leads frame has no column {by}; add it first")
    book = load() if rulebook is None else rulebook
    # An age that the caller gives stands for every rule of every place.
    age = None if max_age_days is None else timedelta(days=max_age_days)
    rules = book if age is None else _without_rules(book)
    question = Question(
        now=moment(now).to_pydatetime(),
        rulebook=rules,
        states=states,
        plain_age=age,
        scrubs=scrubs,
    )
    engine = Engine({"leads": leads, "calls": calls, "dnc_checks": checks}, question)
    engine.run(("scrub_at_call", "scrub_coverage"))
    of_numbers = numbers(engine)
    frames = {
        "numbers": of_numbers, "calls": in_time(engine),
        "summary": summary(of_numbers, people(leads, now, by), dialed(engine), by=by),
    }  # fmt: skip
    # 16 CFR 310.4(b)(3)(iv): 31 days, where no rule of the place says another number.
    days = DEFAULT_AGE.days if max_age_days is None else max_age_days
    return Coverage(
        frames=Parts(frames), as_of=question.now, max_age_days=days,
        last_looked_at=last_looked_at({"leads": leads, "calls": calls, "dnc_checks": checks}),
    )  # fmt: skip


def last_looked_at(tables: Mapping[str, pd.DataFrame]) -> dict[str, str | None]:
    """When every row of each table had been read from the service, as the frames of an account say; None: unknown."""
    return {
        name: frame.attrs.get("dialframe", {}).get("last_looked_at")
        for name, frame in tables.items()
    }


def _without_rules(book: RuleBook) -> RuleBook:
    """The book without its rules, where the age that the caller gives stands for them all."""
    return RuleBook(book.version, book.generated_on, book.sha256, book.scope, ())


def in_time(engine: Engine) -> pd.DataFrame:
    """Every graded call against the records of its number, columns `FRAMES["scrub_at_call"]`."""
    check = BY_NAME["scrub_at_call"]
    rows = findings.rows(engine, check, "true")
    # The lists stand in the findings; here the age alone is said, and why nobody can trust the rule.
    of_age = f"""
        select * exclude (reason, lists_named),
          case when lists_named is null then reason else replace(reason, lists_named, '') end as reason
        from ({rows}) order by call"""
    return frame(engine, of_age, check.columns)


#: The query of every number that is callable or was called, with its newest record.
NUMBERS: Final = """
    select number as phone, lead_id, callable, called, case newest when 'check' then check_at when 'scrub' then scrub_at else screen_at end as checked_at,
      case when check_at is not null or screen_at is not null or newest = 'scrub' then newest end as source,
      case newest when 'check' then k.ref when 'import screen' then i.ref end as ref,
      case newest when 'check' then listed when 'scrub' then scrub_listed when 'import screen' then false end as listed,
      (epoch_us(as_of) - epoch_us(checked_at)) / 86400000000 as age_days,
      date_diff('day', timestamp '2000-01-01', timestamp '2000-01-01' + max_age) as max_age_days, state
    from coverage c left join check_refs k on k.phone = c.phone and k.at_utc = c.check_at
    left join screens i on i.phone = c.phone and i.at_utc = c.screen_at order by lead_place nulls last, call_place"""


def numbers(engine: Engine) -> pd.DataFrame:
    """Every number that is callable or was called, columns `FRAMES["scrub_coverage"]`."""
    return frame(engine, NUMBERS, FRAMES["scrub_coverage"])


def frame_of(tables: Tables, name: str) -> pd.DataFrame:
    """A table of the account as a frame; without rows where it is not a frame or not there."""
    rows = tables.get(name)
    if isinstance(rows, pd.DataFrame):
        return rows
    return rows.to_pandas() if isinstance(rows, pa.Table) else from_records(LEADS, [])


def ledger_rows(engine: Engine) -> int:
    """Rows of the ledger of checks."""
    ((rows,),) = engine.db.rows("select count(*) from checks_in")
    return int(rows)


def people(leads: pd.DataFrame, now: datetime, by: str | None = None) -> pd.DataFrame:
    """Leads that existed at the moment and have a number."""
    names = ["phone", "status", "campaign_id"]
    names += [by] if by is not None and by not in names else []
    # A lead of later says nothing of the moment of the audit.
    kept = leads["phone"].notna() & ~(leads["created_at"] > moment(now))
    return leads.loc[kept.to_numpy(dtype=bool), names].reset_index(drop=True)


def dialed(engine: Engine) -> pd.DataFrame:
    """Calls that went to a number: `to_number`, `campaign_id`."""
    return engine.frame("""
        select to_number, campaign_id from calls
        where graded and is_outbound and to_number is not null order by call""")


def callable_leads(leads: pd.DataFrame) -> pd.Series:
    """Whether each lead is neither dnc nor completed."""
    # Contract, Lead: the statuses in which nobody dials it any more.
    return ~leads["status"].str.strip().str.lower().isin(("dnc", "completed"))


def summary(
    numbers: pd.DataFrame, leads: pd.DataFrame, called: pd.DataFrame, *, by: str | None = None
) -> pd.DataFrame:
    """Counts with their denominators, columns `SUMMARY_COLUMNS`."""
    # A number counts once in each group that it belongs to, so that groups do not add up to all numbers.
    pairs = _groups(leads, called, by)
    both = pairs.assign(how="callable or called").drop_duplicates()
    every = pd.concat([pairs, both], ignore_index=True).merge(numbers, on="phone", how="left")
    # No group at all still gives its three rows, so that nothing counted reads as nothing.
    groups = sorted(every["group"].dropna().unique())
    groups += [None] if every["group"].isna().any() or not groups else []
    wanted = pd.DataFrame(
        [(group, how) for group in groups for how in POPULATIONS], columns=["group", "how"]
    ).astype("str")
    counted = wanted.merge(_count_states(every, ["group", "how"]), how="left")
    return shaped(counted.rename(columns={"how": "population"}).fillna(_ZEROS), SUMMARY_COLUMNS)


def _count_states(numbers: pd.DataFrame, by: list[str]) -> pd.DataFrame:
    """Numbers of each group by the state of their newest record, and the share of fresh ones."""
    # Four states, of which each number has one: they add up to all numbers.
    states = {"fresh": FRESH, "screened": SCREENED, "stale": OLD, "never": UNCHECKED}
    flags = {name: (numbers["state"] == state).astype("int64") for name, state in states.items()}
    listed = numbers["listed"].fillna(value=False).astype("int64")
    table = numbers[by].assign(numbers=1, listed=listed, **flags)
    counted = table.groupby(by, dropna=False).sum().reset_index()
    return counted.assign(share=counted["fresh"] / counted["numbers"])


def _groups(leads: pd.DataFrame, called: pd.DataFrame, by: str | None) -> pd.DataFrame:
    """Pairs of number and group, with how the number belongs to it: columns phone, group, how."""
    # An unknown status counts as open: leaving it out would flatter the share.
    open_ = leads[callable_leads(leads).to_numpy(dtype=bool)]
    parts = [_pairs(open_["phone"], None if by is None else open_[by], "callable")]
    if by is None or by in called.columns:
        parts.append(_pairs(called["to_number"], None if by is None else called[by], "called"))
    else:
        known = called[["to_number"]].merge(
            leads[["phone", by]], left_on="to_number", right_on="phone", how="left"
        )
        parts.append(_pairs(known["to_number"], known[by], "called"))
    return pd.concat(parts, ignore_index=True).drop_duplicates()


def _pairs(phones: pd.Series, groups: pd.Series | None, how: str) -> pd.DataFrame:
    # One group for all where none was asked for.
    names = pd.Series(None, index=phones.index, dtype="str") if groups is None else groups
    return pd.DataFrame(
        {"phone": phones.astype("str"), "group": names.astype("str"), "how": how}
    ).astype({"how": "str"})


def listed_calls(
    calls: pd.DataFrame,
    leads: pd.DataFrame,
    checks: pd.DataFrame,
    *,
    now: datetime,
    dnc_codes: Sequence[str] = REQUEST_CODES,
    grace: timedelta = timedelta(0),
) -> pd.DataFrame:
    """Outbound calls to numbers that anything on record speaks against, graded without any rule.

    A number is looked at if a check said that it is listed, if a lead of it has status `dnc`, or
    if a call with it ended with a disposition that means "do not call me again".

    Args:
        calls: Frame of the calls table; a request on an inbound call counts for its caller.
        leads: Frame of the leads table.
        checks: Ledger of checks, frame of the dnc_checks table.
        now: The moment of the audit; later calls, leads and checks are left out.
        dnc_codes: Dispositions that are requests; case, blanks, dashes and underscores do not
            matter. The account's own codes belong here.
        grace: Calls this long after a request are indeterminate instead of proven. 47 CFR
            64.1200(d)(3) allows a reasonable time of at most 10 business days, 16 CFR
            310.4(b)(1)(iii)(A) names none; hence 0.

    Returns:
        One row per outbound call to such a number, in the order given, columns `FRAMES["listed_number"]`. The
        service does not say which list a number is on, nor of which day its copy of it is.

    Raises:
        ConfigError: A frame lacks a column, an instant or `now` has no time zone.

    Example:
        dnc.listed_calls(account.calls(), account.leads(), account.dnc_checks(), now=now)
    """
    question = Question(
        now=moment(now).to_pydatetime(), rulebook=_without_rules(load()), dnc_codes=dnc_codes,
        # Codes that read like a refusal are for an audit to doubt: here the caller says which there are.
        known_codes=lambda _: True, grace=grace, plain_age=DEFAULT_AGE,
    )  # fmt: skip
    engine = Engine({"leads": leads, "calls": calls, "dnc_checks": checks}, question)
    engine.run(("scrub_at_call", "listed_number"))
    return speaking(engine)


def speaking(engine: Engine) -> pd.DataFrame:
    """Calls to numbers that something speaks against, in their order, columns `FRAMES["listed_number"]`."""
    check = BY_NAME["listed_number"]
    rows = findings.rows(engine, check, "c.is_outbound and c.phone in (from spoken)")
    # This frame speaks of lists, and has words of its own for its grades. Where no rule is asked a record that says
    # not listed is all that can clear a call. A listing after a request is the request's doing.
    return frame(engine, f"""
        select t.* exclude (grade, basis), case
            when grade = 'violation' then '{PROVEN}' when grade = 'uncertain' then '{INDETERMINATE}'
            when grade = 'not evaluable' and not (missing = '{NO_LIST_RULE}' and ((at_check_at is not null and not by_check)
              or (following_at is not null and not following_listed))) then 'not evaluable' else '{CLEAR}' end as grade,
          case when basis = 'nothing' and following_listed and following_at > requested_at then 'request' else basis end as basis,
          case when requested_at < created_at then (epoch_us(created_at) - epoch_us(requested_at)) / 86400000000 end as days_after_request,
          case when requested_at < created_at then weekdays(requested_at::date, created_at::date) end as weekdays_after_request
        from ({rows}) t order by call""", check.columns)  # fmt: skip


def dashboard(
    covered: Coverage,
    leads: pd.DataFrame,
    calls: pd.DataFrame,
    *,
    source_field: str = "lead_source",
    campaigns: Mapping[str, str] | None = None,
    held: Collection[str] = (),
) -> Dashboard:
    """Coverage by campaign, source, state and week, and what is to be checked next.

    Every number counts once in each view: one of several groups is in a group of its own, so that
    the groups of a view add up to all numbers.

    Args:
        covered: Coverage of an audit, or of `dnc.coverage`.
        leads: Frame of the leads table.
        calls: Frame of the calls table.
        source_field: Custom field of the leads that names where they came from.
        campaigns: Campaign id to its name.
        held: Numbers that must not be called by what else is known of them: they are not callable, and checked last.
    """
    numbers = covered.numbers
    dialed = calls[(calls["direction"] == "outbound").to_numpy(dtype=bool)]
    pairs = pd.concat(
        [
            leads[["phone", "campaign_id"]],
            dialed[["to_number", "campaign_id"]].rename(columns={"to_number": "phone"}),
        ],
        ignore_index=True,
    )
    names = dict(campaigns or {})
    # People know campaigns by their names; an unknown one keeps its id.
    pairs["campaign_id"] = pairs["campaign_id"].map(lambda each: names.get(each, each))
    source = custom_field(leads, source_field).to_numpy()
    views = {
        "campaign": _single(pairs["phone"], pairs["campaign_id"]),
        "source": _single(leads["phone"], pd.Series(source, dtype="str")),
        "state": _states(numbers["phone"]),
        "week": _single(dialed["to_number"], _weeks(dialed["created_at"])),
    }
    parts = [_by_group(view, numbers, groups) for view, groups in views.items()]
    whole = pd.concat(parts, ignore_index=True)
    todo = numbers[numbers["state"] != FRESH].copy()
    todo["callable"] &= ~todo["phone"].isin(held)
    # What may be dialed next is checked first, and of that what was never checked.
    todo = todo.sort_values(
        ["callable", "age_days", "phone"], ascending=[False, False, True], na_position="first"
    )
    requests, minutes = cost(len(todo))
    return Dashboard(
        by=shaped(whole, BY_COLUMNS),
        next=shaped(todo, NEXT_COLUMNS),
        requests=requests,
        minutes=minutes,
    )


def cost(numbers: int) -> tuple[int, float]:
    """Requests and minutes that checking so many numbers takes, at the service's rate for one key."""
    requests = math.ceil(numbers / limits.PHONES_PER_DNC_CHECK)
    # The bucket of one key is the smallest of the four that a request passes (contract, Limits).
    return requests, requests / limits.BUCKETS[0].rate_per_s / 60


def _single(phones: pd.Series, groups: pd.Series) -> pd.Series:
    """Group of each number, `several` where there are more."""
    pairs = pd.DataFrame({"phone": phones.to_numpy(), "group": groups.to_numpy()}, dtype="str")
    pairs = pairs[pairs["phone"].notna() & pairs["group"].notna()].drop_duplicates()
    # In one group alone, so that the groups of a view add up.
    pairs.loc[pairs["phone"].duplicated(keep=False), "group"] = SEVERAL
    return pairs.drop_duplicates("phone").set_index("phone")["group"]


def _states(phones: pd.Series) -> pd.Series:
    """State or country of each number by its prefix."""
    # Of several regions the last is the narrowest: the state, else the country.
    placed = place(phones)
    regions = [zones.regions[-1] if zones.regions else NONE for zones in placed.kinds]
    return pd.Series([regions[code] for code in placed.codes], index=pd.Index(phones), dtype="str")


def _weeks(at: pd.Series) -> pd.Series:
    """Monday (UTC) of the week of each call."""
    day = at.dt.floor("D")
    codes, days = pd.factorize(day - pd.to_timedelta(day.dt.day_of_week, unit="D"))
    return pd.Series(
        days.strftime("%Y-%m-%d").astype("str").take(codes, fill_value=None, allow_fill=True),
        dtype="str",
    )


def _by_group(view: str, numbers: pd.DataFrame, groups: pd.Series) -> pd.DataFrame:
    named = groups.reindex(pd.Index(numbers["phone"])).to_numpy(dtype="object")
    group = pd.Series(named, index=numbers.index, dtype="str").fillna(NONE)
    return _count_states(numbers.assign(group=group), ["group"]).assign(view=view)

"""The gate before the call: which numbers may be called at an instant, by the queries of the audit.

Each number is a call that would be made at that instant, answered at once, and is graded with what is on record
until then. Only a call that passes every check may be made: uncertain, not evaluable and not asked all hold the
number, since in doubt nobody is dialed. Checks of what a record holds after the call, and of sums over many calls,
are the audit's alone.

A verdict holds until something that decides about its number changes: a quarter of an hour begins, or a span that a
rule counts from one of its records ends. So a gate that stays open grades the numbers around one that is asked for
together with it, and remembers.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, fields, replace
from datetime import UTC, datetime, timedelta
from typing import Any, Final

import pandas as pd
import pyarrow as pa
import pyarrow.compute as pc

from dialframe.compliance import findings
from dialframe.compliance.checks import CHECKS, GRADES
from dialframe.compliance.engine import Engine
from dialframe.compliance.findings import shaped
from dialframe.compliance.practice import Practice
from dialframe.compliance.tables import FRAMES, law_of, open_database, query, steps
from dialframe.compliance.tables.intake import moment, take
from dialframe.compliance.tables.query_tables import Question, Tables, Taken, arrow
from dialframe.errors import ConfigError
from dialframe.frames import CALLBACKS, CALLS, DNC_CHECKS, LEADS, from_records
from dialframe.phones.zones import KEY_SQL
from dialframe.privacy import E164

HELD: Final = "held"
MAY_BE_CALLED: Final = "may be called"
#: The firm's own list holds a number whatever the rules say.
SUPPRESSION: Final = "suppression"
VERDICTS: Final = FRAMES["verdicts"]

#: What a record of a call holds shows only once there is one.
_BEFORE: Final = tuple(c.name for c in CHECKS if c.by_call and c.name != "records")
#: How far ahead the next instant is looked for at which a call is permitted.
_AHEAD: Final = timedelta(days=31)
#: Clocks and calendars are known for these years.
_YEARS: Final = (1971, 2099)
#: Verdicts that are remembered; beyond them all are forgotten.
_REMEMBERED: Final = 200_000
_TABLES: Final = (CALLS, LEADS, DNC_CHECKS, CALLBACKS)
_NUMBERS: Final = {
    "calls": ("to_number", "from_number"),
    "leads": ("phone",),
    "dnc_checks": ("phone",),
}

#: A verdict by the columns `VERDICTS`, and `grades`, every check's grade.
Verdict = dict[str, Any]


@dataclass(frozen=True, slots=True)
class _Remembered:
    """A verdict, and between which instants it holds beside that for which it was made."""

    verdict: Verdict
    at: datetime
    after: datetime
    before: datetime

    def holds(self, at: datetime) -> bool:
        return at == self.at or self.after < at < self.before


class Gate:
    """A gate on the records of an account: laid out once, asked again and again.

    Args:
        tables: Tables of the account, as `audit` takes them; calls as far back as the records go.
        question: Which rules are asked, with which records of the firm; its period and moment are not asked.
        block: How many numbers of the account are graded together with one that is asked for.

    Raises:
        ConfigError: A table lacks a column, or an instant has no time zone.

    Example:
        gate = compliance.Gate({"leads": leads, "calls": calls, "dnc_checks": checks}, compliance.Question(now=now))
        gate.ask(["+12125550142"], at=now)
    """

    def __init__(self, tables: Tables, question: Question, *, block: int = 1) -> None:
        self._question, self._block = question, block
        self._rows = {
            table.name: arrow(take(table, _frame(tables.get(table.name)))) for table in _TABLES
        }
        self._memory: dict[tuple[str | None, str | None, str], _Remembered] = {}
        # Those of one campaign stand together, for they are asked about together.
        leads = self._rows["leads"].sort_by("campaign_id")
        stored = _texts(leads, "phone"), _texts(self._rows["calls"], "to_number")
        self._numbers = list(dict.fromkeys(number for some in stored for number in some))
        self._place_of = {number: n for n, number in enumerate(self._numbers)}
        self._on_record = {*self._numbers, *_numbers_in_question(question), *_texts(self._rows["calls"], "from_number"),
                           *_texts(self._rows["dnc_checks"], "phone")}  # fmt: skip
        self._keys = open_database(1)
        self._keys.execute(f"create macro place_key(phone) as {KEY_SQL}")

    def ask(
        self, numbers: Sequence[str | None], *, at: datetime, campaign: str | None = None,
        caller_id: str | None = None, suppressed: Mapping[str, str] | None = None,
    ) -> list[Verdict]:  # fmt: skip
        """The verdict on each number, in their order.

        Args:
            numbers: Numbers, E.164; what is none is held.
            at: The instant of the calls; nothing later counts.
            campaign: Campaign that would call.
            caller_id: Number that would be shown; without it rules on the number shown hold the call.
            suppressed: Number to the reason why the firm's own list holds it.

        Returns:
            Dictionaries by the columns `VERDICTS`; `grades` has every check's grade.

        Raises:
            ConfigError: The instant has no time zone, or a year of which no clock is known.
        """
        at = moment(at).to_pydatetime()
        if not _YEARS[0] <= at.year < _YEARS[1]:
            raise ConfigError(
                f"nobody is called in {at.year}: an instant lies between {_YEARS[0]} and {_YEARS[1]}"
            )
        alike = {number: self._alike(str(number), caller_id) for number in dict.fromkeys(numbers)}
        lacking = [
            str(number)
            for number, like in alike.items()
            if self._recall_verdict(campaign, caller_id, like, at) is None
        ]
        if lacking:
            around = dict.fromkeys(each for n in lacking for each in (n, *self._near(n)))
            if len(self._memory) + len(around) > _REMEMBERED:
                self._memory.clear()
                around |= dict.fromkeys(map(str, numbers))
            for number, each in self._grade_numbers(list(around), at, campaign, caller_id):
                self._memory[campaign, caller_id, self._alike(number, caller_id)] = each
        answers = []
        for given in numbers:
            known = self._memory[campaign, caller_id, alike[given]]
            reason = (suppressed or {}).get(str(given))
            verdict = (
                known.verdict if reason is None else _suppressed_verdict(known.verdict, reason)
            )
            answers.append(_as_of({**verdict, "number": given}, at))
        return answers

    def _alike(self, number: str, caller_id: str | None) -> str:
        """The number, or, where nothing is on record of it, the place that it shares with others."""
        if number in self._on_record or number == caller_id or not E164.fullmatch(number):
            return number
        ((key,),) = self._keys.execute("select place_key(?::bigint)", [int(number[1:])]).fetchall()
        return f"place {key}"

    def _recall_verdict(
        self, campaign: str | None, caller_id: str | None, number: str, at: datetime
    ) -> _Remembered | None:
        known = self._memory.get((campaign, caller_id, number))
        return known if known is not None and known.holds(at) else None

    def _near(self, number: str) -> list[str]:
        """Numbers of the account that stand beside one."""
        place = self._place_of.get(number) if self._block > 1 else None
        start = 0 if place is None else place // self._block * self._block
        return [] if place is None else self._numbers[start : start + self._block]

    def _grade_numbers(
        self, numbers: Sequence[str], at: datetime, campaign: str | None, caller_id: str | None
    ) -> Iterable[tuple[str, _Remembered]]:
        """Each number with its verdict, by one run of the checks."""
        asked = self._asked(numbers, at)
        # A would-be call stands behind all that were made: caps count them, requests bind it. Every query goes by
        # number, so that other rows change no grade.
        rows = {
            name: _of_numbers(table, numbers, _NUMBERS.get(name, ()))
            for name, table in self._rows.items()
        }
        first = len(rows["calls"])
        given = [None if n in ("None", "nan") else n for n in numbers]
        would_be = arrow(take(CALLS, from_records(CALLS, _calls(given, at, campaign, caller_id))))
        rows["calls"] = pa.concat_tables([rows["calls"], would_be.cast(rows["calls"].schema)])
        run = Engine({name: Taken(table) for name, table in rows.items()}, asked)
        run.con.execute("create or replace table would_be as select ?::timestamp as at_utc, ?::bigint as first_call, ?::interval as ahead",
                        [at.replace(tzinfo=None), first, _AHEAD])  # fmt: skip
        run.run(_BEFORE)
        facts, held = _facts(run), _held(run, first)
        for call, number in enumerate(numbers, start=first):
            after, before, fact = facts[call]
            grades, rows_held = held.get(call, ({}, []))
            yield number, _Remembered(_verdict(rows_held, fact, grades), at, after, before)

    def _asked(self, numbers: Sequence[str], at: datetime) -> Question:
        """The question of calls to some numbers at an instant, with what the firm has on record of them alone."""
        whole = self._question
        wanted = list(map(str, numbers))
        records = {
            name: frame[frame["phone"].isin(wanted) | frame["phone"].isna()]
            for name, frame in _records_of(whole)
        }
        practice = whole.practice or Practice()
        types = practice.line_types
        own = replace(practice, line_types={n: types[n] for n in wanted if n in types})
        states = whole.states
        if states is not None:
            named = pd.Series(states) if isinstance(states, Mapping) else states
            states = named[named.index.isin(wanted)]
        asked = replace(
            whole,
            now=at,
            since=at,
            until=None,
            ahead=_AHEAD,
            practice=own,
            states=states,
            **records,
        )
        # The rules are read once for as long as the gate is open.
        vars(asked).update({name: getattr(whole, name) for name in ("every", "book", "law")})
        return asked


def may_call(
    numbers: Sequence[str | None] | pd.Series,
    *,
    at: datetime,
    tables: Tables | None = None,
    question: Question | None = None,
    campaign: str | None = None,
    caller_id: str | None = None,
    suppressed: Mapping[str, str] | None = None,
) -> pd.DataFrame:
    """Which numbers may be called at an instant; in doubt a number is held.

    Without the account's records nothing is shown to be permitted, so that every number is held.
    `dialframe.may_call(account, numbers, at=...)` gathers them.

    Args:
        numbers: Numbers, E.164; what is none is held.
        at: The instant of the calls; nothing later counts.
        tables: Tables of the account, as `audit` takes them; calls as far back as the records go.
        question: Which rules are asked, with which records of the firm; its period and moment are not asked.
        campaign: Campaign that would call.
        caller_id: Number that would be shown; without it rules on the number shown hold the call.
        suppressed: Number to the reason why the firm's own list holds it.

    Returns:
        One row per number, in their order, columns `VERDICTS`. `attrs["grades"]` has every check's grade of each
        number: `number, check, grade`.

    Raises:
        ConfigError: A table lacks a column, an instant has no time zone, or a jurisdiction is not in the book.

    Example:
        verdicts = compliance.may_call(numbers, at=now, tables={"leads": leads, "calls": calls, "dnc_checks": checks})
        verdicts[verdicts["verdict"] == "may be called"]
    """
    gate = Gate(tables or {}, question or Question(now=at))
    given = [None if pd.isna(number) else str(number) for number in numbers]
    return framed(
        gate.ask(given, at=at, campaign=campaign, caller_id=caller_id, suppressed=suppressed)
    )


def framed(verdicts: Sequence[Verdict]) -> pd.DataFrame:
    """Verdicts as a frame, columns `VERDICTS`, with `attrs["grades"]`."""
    frame = shaped(pd.DataFrame(verdicts), VERDICTS)
    frame.attrs["grades"] = [
        {"number": each["number"], "check": check, "grade": grade}
        for each in verdicts
        for check, grade in each["grades"].items()
    ]
    return frame


def _frame(rows: object) -> pd.DataFrame | None:
    return rows.to_pandas() if hasattr(rows, "to_pandas") else rows


def _numbers_in_question(question: Question) -> Iterable[str]:
    """Numbers of which the firm itself says something."""
    for _, records in _records_of(question):
        yield from records["phone"].dropna().astype("str")
    if question.states is not None:
        yield from map(str, question.states.keys())
    if question.practice is not None:
        yield from question.practice.line_types


def _records_of(question: Question) -> Iterable[tuple[str, pd.DataFrame]]:
    """The firm's records of numbers: whatever it holds, so that one of a new kind is never overlooked."""
    for field in fields(question):
        records = getattr(question, field.name)
        if isinstance(records, pd.DataFrame) and "phone" in records:
            yield field.name, records


def _texts(table: pa.Table, column: str) -> list[str]:
    return [text for text in pc.unique(table[column]).to_pylist() if text is not None]


def _of_numbers(table: pa.Table, numbers: Sequence[str], columns: Sequence[str]) -> pa.Table:
    """Rows that belong to some numbers."""
    if not columns:
        return table
    wanted = pa.array(numbers, pa.string())
    masks = [pc.is_in(table[name].cast(pa.string()), wanted) for name in columns]
    return table.filter(masks[0] if len(masks) == 1 else pc.or_(*masks))


def _calls(
    numbers: Sequence[str | None], at: datetime, campaign: str | None, caller_id: str | None
) -> list[dict[str, object]]:
    """A call to each number that somebody answers: rules on what is said to a person have to be kept."""
    return [
        {
            "id": f"call_that_would_be_made_{row}", "direction": "outbound", "to_number": number,
            "from_number": caller_id, "campaign_id": campaign, "created_at": at, "answered_at": at,
        }
        for row, number in enumerate(numbers)
    ]  # fmt: skip


#: What holds a call: grade, check, rule ids, citations, missing input, reason.
_Row = tuple[str, str, str | None, str | None, str | None, str | None]


def _held(run: Engine, first: int) -> dict[int, tuple[dict[str, str], list[_Row]]]:
    """Every check's grade of each call, and what holds it, in the order of a report."""
    result: dict[int, tuple[dict[str, str], list[_Row]]] = {}
    for check in (each for each in CHECKS if each.name in run.ran):
        of = f"{run.calls_of(check.name)} m join {check.name}_grades g using (question)"
        grades = run.db.rows(f"select m.call, g.grade::varchar from {of} where m.call >= {first}")
        for call, grade in grades:
            result.setdefault(call, ({}, []))[0][check.name] = grade
        named = {grade for _, grade in grades}
        if named - {"pass", "not asked"}:
            words = findings.rows(
                run, check, f"g.grade > 'not asked'::grade and m.call >= {first}"
            )
            for call, *row in run.db.rows(
                f"select call, grade, rule_id, citation, missing, reason from ({words})"
            ):
                result[call][1].append((row[0], check.name, *row[1:]))
        if "not asked" in named:
            for call, reason in run.db.rows(f"""
                select m.call, 'rules of ' || array_to_string(n.jurisdictions, ', ') || ' were not asked'
                from {of} join not_asked n on n.case_id = g.case_id and n.check_name = '{check.name}' where m.call >= {first} and g.grade = 'not asked'"""):
                result[call][1].append(("not asked", check.name, None, None, None, reason))
    return result


def _facts(run: Engine) -> dict[int, tuple[datetime, datetime, Verdict]]:
    """What else a dialer may ask of each would-be call, and between which instants its verdict holds."""
    left = "(select null::bigint as call, null::bigint as attempts_left where false)"
    if "attempt_caps" in run.ran:
        reached = "select call from calls where call >= (select first_call from would_be) and case_id in (select case_id from reach where check_name = 'attempt_caps')"
        run.ask(next(c for c in CHECKS if c.name == "attempt_caps"), reached, "attempts_left")
        counted = dict(steps(law_of("attempt_caps")[1]))["counted"]
        run.con.execute(
            f"create or replace table attempts_left as select call, greatest(min(allowed - attempts) + 1, 0) as attempts_left from ({counted}) group by call"
        )
        left = "attempts_left"
    for name in ("next_allowed", "steady"):
        run.db.run(query(name))
    rows = run.db.rows(f"""
        select c.call, s.after_at, s.before_at, n.next_allowed_at, l.attempts_left, r.check_at, u.consent_until
        from calls c join steady s using (call) left join next_allowed n using (circumstance) left join {left} l using (call)
        left join records_around r using (call) left join (
          select phone, max(expires_at) as consent_until from consents cross join would_be
          where granted_at <= at_utc and coalesce(revoked_at > at_utc, true) group by phone having bool_and(expires_at is not null)
        ) u on u.phone = c.phone where c.call >= (select first_call from would_be)""")
    return {
        call: (_aware(after), _aware(before), {
            "next_allowed_at": _aware(next_at), "attempts_left": attempts, "checked_at": _aware(checked), "consent_until": _aware(until),
        }) for call, after, before, next_at, attempts, checked, until in rows
    }  # fmt: skip


def _aware(at: datetime | None) -> Any:
    return at if at is None else at.replace(tzinfo=UTC)


def _verdict(rows: Sequence[_Row], facts: Verdict, grades: Mapping[str, str]) -> Verdict:
    """One verdict; the gravest check is named first, of equal ones the first in the order of a report."""
    # In doubt nobody is dialed: whatever is no pass holds the number.
    ordered = sorted(rows, key=lambda row: -GRADES.index(row[0]))
    grade, check, rule_id, citation, missing, reason = ordered[0] if ordered else (None,) * 6
    return {
        "verdict": HELD if ordered else MAY_BE_CALLED, "check": check, "grade": grade, "rule_id": rule_id,
        "citation": citation, "missing": missing, "reason": reason,
        "held_by": ", ".join(dict.fromkeys(row[1] for row in ordered)) or None, **facts, "grades": dict(grades),
    }  # fmt: skip


def _suppressed_verdict(verdict: Verdict, reason: str) -> Verdict:
    """A verdict on a number that the firm's own list holds."""
    # 47 CFR 64.1200(d)(6), 16 CFR 310.4(b)(1)(iii)(A): who asked the firm is not called, whatever else is on record.
    others = [SUPPRESSION, *(verdict["held_by"] or "").split(", ")]
    return {
        **verdict, "verdict": HELD, "check": SUPPRESSION, "grade": "violation", "rule_id": None, "citation": None,
        "missing": None, "reason": reason, "held_by": ", ".join(filter(None, others)),
    }  # fmt: skip


def _as_of(verdict: Verdict, at: datetime) -> Verdict:
    """A remembered verdict with what depends on the instant itself."""
    checked, next_at = verdict["checked_at"], verdict["next_allowed_at"]
    verdict["check_age_days"] = None if checked is None else (at - checked) / timedelta(days=1)
    # One that was permitted when it was graded is permitted at this instant of the same quarter of an hour.
    verdict["next_allowed_at"] = next_at if next_at is None else max(next_at, at)
    return verdict

"""What each missing input is worth: how many calls get an answer once it is given, found by asking the queries with it granted."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import datetime
from typing import Final

from dialframe.compliance.checks import BY_NAME
from dialframe.compliance.engine import Engine, script
from dialframe.compliance.practice import DIALING_MODE, LINE_TYPE
from dialframe.compliance.tables import law_of, query

__all__ = ["Never", "Worth", "never_settled", "worth"]

_LISTS: Final = ("scrub_at_call", "listed_number")


@dataclass(frozen=True, slots=True)
class Worth:
    """An input and what it decides.

    Attributes:
        input: What is to be given, in words.
        key: What a program calls it: `covers`, `scrubs`, `caller_ids`, `dialing`, `line_types`, `recording`,
            `recording_agreed`, `artificial_voice`, `consents`, `look_ups`, `emergencies`, `confirmed`.
        calls: Calls that get an answer by one check at least, where no other input is given; of a file of records at most so
            many, where it has one for each number.
        checks: Check to the calls that it decides.
    """

    input: str
    key: str
    calls: int
    checks: dict[str, int]


@dataclass(frozen=True, slots=True)
class Never:
    """Calls that no input that can still be made settles.

    Attributes:
        check: The check.
        calls: How many.
        why: Why, in words.
        provable_from: The first instant from which calls can be proven; None: not yet.
        from_now_on: What to do so that later calls can be.
    """

    check: str
    calls: int
    why: str
    provable_from: datetime | None
    from_now_on: str


@dataclass(frozen=True, slots=True)
class _Grant:
    """An input that is granted for a moment: its words, what it changes, and the checks that then answer otherwise.

    Calls wait for it whose grade names one of `missing`, whose answer is one of `answers`, or (`weak`) which nothing
    but a rule that rests on one voice holds back.
    """

    key: str
    input: str
    missing: tuple[str, ...]
    checks: tuple[str, ...]
    give: Callable[[Engine], None]
    answers: tuple[str, ...] = ()
    weak: bool = False


def _sql(text: str) -> Callable[[Engine], None]:
    return lambda engine: engine.db.run(text)


#: Which rules reach which calls, asked again.
_REACH: Final = f"{query('reach')}{query('law')}"

_GRANTS: Final = (
    _Grant("covers", "which lists the service's check covers", ("which lists the service covers",), _LISTS, _sql("""
        update registries set check_since = timestamp '0001-01-01', refreshed = interval 0 day where check_since is null;
        update registries set screen_since = timestamp '0001-01-01' where screen_since is null;""")),
    _Grant("scrubs", "files of scrub results", ("Do-Not-Call check",), _LISTS, _sql("""
        -- As much as such files can decide: each number was held against each list a day before each call, and stood on none.
        insert into scrubs_around by name
        select distinct c.call, lower(g.registry) as registry, c.at_utc - interval 1 day as scrub_at, false as listed
        from calls c join reach k using (case_id) join registries g using (rule)
        where c.call in (select call from scrub_at_call_asked union select call from listed_number_asked)
          and not exists (select 1 from scrubs_around z where z.call = c.call and z.registry = lower(g.registry));"""),
        answers=("scrub too old", "stale", "screened at import")),
    _Grant("caller_ids", "the firm's own caller IDs", ("caller_ids",), ("caller_id",), _sql(
        "update caller_numbers set own = true where own is null;")),
    _Grant("consents", "a file of consents", ("a table of consents",), ("consent", "artificial_voice"), _sql("""
        insert into inputs values ('consents');
        -- As much as such a file can decide: it has a consent in writing for each number of which there is no record.
        insert into consents by name select distinct c.phone, -1 as consent, 2 as strength, s.oldest_at - interval 1 day as granted_at
        from calls c cross join settings s where c.phone is not null and c.phone not in (select n.phone from consents n where n.phone is not null);
        update consent_given set missing = null where missing = 'a table of consents';""")),
    _Grant("look_ups", "a file of reassigned-number look-ups", ("look-ups of reassigned",), ("consent",), _sql("""
        insert into inputs values ('look_ups');
        update consent_given set missing = null where missing like '%look-ups%';""")),
    _Grant("dialing", "how campaigns are dialed", (DIALING_MODE,), tuple(BY_NAME), _sql(f"""
        update campaign_settings set dialing = 'manual' where dialing is null;
        {_REACH}""")),
    _Grant("line_types", "a file of line types", (LINE_TYPE,), tuple(BY_NAME), _sql(f"""
        update circumstances set line_type = 'wireless' where line_type = '';
        {_REACH}""")),
    _Grant("recording", "whether calls are recorded, and announced", ("calls are recorded", "recordings are announced"),
           ("recording_consent",), _sql("""
        update conduct set recording_announced = coalesce(recording_announced, true), recorded = coalesce(recorded, false);""")),
    _Grant("recording_agreed", "whether who is recorded agrees to it first", (), ("recording_consent",), _sql("""
        update conduct set recording_agreed = true where recording_announced;"""), answers=("announced alone",)),
    _Grant("artificial_voice", "whether an artificial voice speaks", ("artificial voice",), ("artificial_voice",), _sql("""
        update conduct set voice_announced = coalesce(voice_announced, true), artificial_voice = coalesce(artificial_voice, false);""")),
    _Grant("emergencies", "a file of declared emergencies", ("declared emergencies",), ("emergency",), _sql(
        "update emergency_rules set declared = true;")),
    # Who reads the text of a rule that rests on one voice settles what passes by it.
    _Grant("confirmed", "whether counsel confirmed the rules that rest on a single source", (), tuple(BY_NAME), _sql(
        "update rules set weak = false; update reach set weak = false;"), weak=True),
)  # fmt: skip


def worth(engine: Engine) -> tuple[Worth, ...]:
    """What each missing input is worth, the most first; those that decide nothing are left out.

    Args:
        engine: The audit, with its checks run.
    """
    found = []
    for grant in _GRANTS:
        checks = [name for name in engine.ran if name in grant.checks and BY_NAME[name].by_call]
        waiting = [name for name in checks if _waits(engine, name, grant)]
        if not waiting:
            continue
        with _grant_input(engine, grant):
            # Some rules on consent ask what the check said, of every call.
            if "consent" in waiting and "scrub_at_call" in checks:
                engine.db.run(script(BY_NAME["scrub_at_call"]))
            for name in waiting:
                _ask_again(engine, name)
            decided = {name: _count_decided(engine, name) for name in waiting}
        decided = {name: number for name, number in decided.items() if number > 0}
        if decided:
            found.append(Worth(grant.input, grant.key, max(decided.values()), decided))
    return tuple(sorted(found, key=lambda each: -each.calls))


@contextmanager
def _grant_input(engine: Engine, grant: _Grant) -> Iterator[None]:
    """The tables with an input granted; afterwards they are as they were."""
    engine.con.execute("begin")
    try:
        grant.give(engine)
        yield
    finally:
        engine.con.execute("rollback")


def _waits(engine: Engine, name: str, grant: _Grant) -> bool:
    waits = [f"grade = 'not evaluable' and missing like '%{each}%'" for each in grant.missing]
    waits += [f"grade = 'uncertain' and answer = '{each}'" for each in grant.answers]
    if grant.weak:
        waits.append(
            "grade = 'uncertain' and list_has_any(rules, (select list(rule) from rules where weak))"
        )
    return bool(engine.db.rows(f"select 1 from {name}_grades where {' or '.join(waits)} limit 1"))


def _ask_again(engine: Engine, name: str) -> None:
    """Ask the law of a check once more of the calls that it did not decide."""
    engine.con.execute(f"""
        create or replace table {name}_asked as select * from {name}_asked
        where question in (select question from {name}_grades where grade in ('not evaluable', 'uncertain'))""")
    engine.db.run(law_of(name)[0])
    engine.grade(BY_NAME[name], name)


def _count_decided(engine: Engine, name: str) -> int:
    ((number,),) = engine.db.rows(
        f"select coalesce(sum(calls), 0)::bigint from {name}_grades where grade in ('pass', 'violation')"
    )
    return int(number)


def never_settled(engine: Engine) -> tuple[Never, ...]:
    """Calls without a check on record before them: nothing that is made from now on proves anything of them.

    Args:
        engine: The audit, with its checks run.
    """
    if "scrub_at_call" not in engine.ran:
        return ()
    ((calls, first),) = engine.db.rows("""
        select (select coalesce(sum(calls), 0)::bigint from scrub_at_call_grades where answer in ('only after', 'never')),
          (select min(next_at) from records_around where check_at is null)""")
    if not calls:
        return ()
    return (
        Never(
            "scrub_at_call", int(calls),
            "no check on record came before the call; a check made now proves nothing of it, and only a scrub file of that time would",
            first, "check numbers before they are called: dialframe audit --max-age 31d, or account.check_dnc, before each run of a list",
        ),
    )  # fmt: skip

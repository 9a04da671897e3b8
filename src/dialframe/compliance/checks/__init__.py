"""The checks of an audit: what each counts, its words, and how the answers of its rules become one grade.

The law of a check is the last statement of its file `NAME.sql`. It is a query over one call of each kind
(`asked`): calls that are the same in everything that decides (the view `NAME_alike`) are graded alike, so that one
of them is asked for all. Asked of every call, the law gives the same grades; `why` asks it of one.
"""

from __future__ import annotations

import tomllib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from functools import cache
from importlib import resources
from typing import Final

from dialframe.compliance.tables import FRAMES
from dialframe.frames import Column

# A grade speaks of one check on one row, in the light of the data that was given. There is no grade
# that says more than `pass`.

#: The data shows that the condition of the check was met.
PASSED: Final = "pass"
#: A rule that would reach it was left out of the audit.
NOT_ASKED: Final = "not asked"
#: An input is missing; the reason names it.
NOT_EVALUABLE: Final = "not evaluable"
#: Met in one reading of the data and not in another.
UNCERTAIN: Final = "uncertain"
#: The data shows that it was not met, wherever the number may be.
VIOLATION: Final = "violation"
#: Grades in order of severity, as the type `grade` of the tables has them.
GRADES: Final = (PASSED, NOT_ASKED, NOT_EVALUABLE, UNCERTAIN, VIOLATION)

#: A call to a number that was known to be listed, or after a request not to be called.
PROVEN: Final = "proven"
#: A call in the time in which the number became listed; when in it, nobody knows.
INDETERMINATE: Final = "indeterminate"
#: A call that nothing in the data speaks against.
CLEAR: Final = "clear"

NO_LIST_RULE: Final = "a rule on Do-Not-Call lists for the place of the number"


@dataclass(frozen=True, slots=True)
class Texts:
    """What `words.toml` says of a check; its fields are explained there."""

    title: str
    short: str
    finding: str
    advice: str
    reasons: Mapping[str, str] = field(default_factory=dict)


@cache
def texts() -> Mapping[str, Texts]:
    """What `words.toml` says of each check, by its name, gravest first."""
    text = (resources.files("dialframe.compliance") / "words" / "words.toml").read_text("utf-8")
    return {name: Texts(**values) for name, values in tomllib.loads(text).items()}


@dataclass(frozen=True, slots=True)
class Check:
    """One check: the name of its query, and what it counts.

    Attributes:
        name: Name of the query's file, of its tables, and of its columns in `FRAMES`.
        unit: What it counts, in the singular.
        by_call: Whether its rows are calls.
        always: Whether it is reported whether or not a rule asks for it.
        no_rule: SQL of the input that is missing where no rule reaches a call; None: such a call is not counted.
        own_facts: Whether its sentences name facts of the call itself, so that the law is asked of each call that is shown.
    """

    name: str
    unit: str = "call"
    by_call: bool = True
    always: bool = False
    no_rule: str | None = None
    own_facts: bool = False

    @property
    def columns(self) -> tuple[Column, ...]:
        """Columns of its frame."""
        return FRAMES.get(self.name, FRAMES["of_call"])

    @property
    def title(self) -> str:
        """What it asks."""
        return texts()[self.name].title

    def grading(self, into: str) -> str:
        """The query that makes one grade of the answers by rule: the gravest counts.

        Neither a source that nobody read nor a rule that was left out of the audit lets a call pass.

        Args:
            into: Prefix of the tables `_asked` and `_by_rule` that it reads.
        """
        if self.no_rule is None:
            missing = "a.missing_input" if self.name == "attempt_caps" else "null::varchar"
            no_rule = f"""
            case when {missing} is not null then 'not evaluable' end::grade as no_rule_grade, {missing} as no_rule_missing"""
        else:
            # A record that lifts every rule lets a call pass; else what is missing is said.
            lacking = "a.missing_input is not null"
            if self.name == "calling_hours":
                lacking += " or z.place is null"
            no_rule = f"""
            case when l.case_id is not null and not ({lacking}) then 'pass' else 'not evaluable' end::grade as no_rule_grade,
            case when no_rule_grade = 'not evaluable' then coalesce(a.missing_input, {self.no_rule}) end as no_rule_missing"""
        # Of the rules on lists those on numbers that are listed ask for no check.
        ages = (
            " and rule in (select rule from registries where asks = 'age')"
            if self.name == "scrub_at_call"
            else ""
        )
        # The rules on lists answer together.
        answers = f"""
          select question, grade::grade as grade, rules, b as answer from {into}_by_rule b""" if self.name == "listed_number" else f"""
          -- Of several rules of one grade the first of the book speaks.
          select b.question, w.grade, list(b.rule order by r.place) as rules, arg_min(b, coalesce(r.place, 0)) as answer
          from (select question, max(grade::grade) as grade from {into}_by_rule group by question) w
          join {into}_by_rule b on b.question = w.question and b.grade::grade = w.grade
          left join rules r using (rule) group by b.question, w.grade"""  # fmt: skip
        return f"""
        with answers as ({answers}
        ), weak as (
          select case_id, list(rule order by book_order) as rules from reach
          where weak and not lifted and check_name = '{self.name}' group by case_id
        ), lifted as (
          select distinct case_id from reach where lifted and check_name = '{self.name}'{ages}
        ), without_rule as (
          select a.*, {no_rule} from {into}_asked a left join lifted l using (case_id)
          left join calls c on c.call = a.call left join places p on p.place = c.place
          left join (select distinct place from place_zones) z on z.place = c.place
        ), by_query as (
          select a.* exclude (no_rule_grade, no_rule_missing), w.answer as said, coalesce(w.rules, []) as query_rules,
            coalesce(w.grade, no_rule_grade) as by_query, case when w.grade is null then no_rule_missing else w.answer.missing end as missing
          from without_rule a left join answers w using (question)
        )
        select q.*, said.answer as answer,
          case when q.by_query = 'pass' and k.case_id is not null then k.rules else q.query_rules end as rules,
          case when q.by_query = 'pass' and k.case_id is not null then 'uncertain'
            when q.by_query = 'violation' and q.query_rules <> [] and list_has_all(k.rules, q.query_rules) then 'uncertain'
            when n.case_id is not null and (coalesce(q.by_query, 'pass') = 'pass' or (q.by_query = 'not evaluable' and q.query_rules = []))
              then 'not asked' else q.by_query end::grade as grade
        from by_query q left join weak k using (case_id)
        left join not_asked n on n.case_id = q.case_id and n.check_name = '{self.name}'
        where q.by_query is not null or n.case_id is not null"""


#: Every check, in the order of a report.
CHECKS: Final[tuple[Check, ...]] = (
    Check("calling_hours", always=True, no_rule="case when z.place is null then p.missing else 'a rule in force on the day' end"),
    Check("scrub_at_call", always=True, no_rule=f"'{NO_LIST_RULE}'", own_facts=True),
    Check("scrub_coverage", "number", by_call=False, always=True),
    Check("listed_number", always=True, no_rule=f"'{NO_LIST_RULE}'", own_facts=True),
    Check("attempt_caps"),
    Check("emergency"), Check("internal_dnc", "request", by_call=False),
    Check("abandonment", "campaign period", by_call=False), Check("consent"),
    Check("records"), Check("retention", "rule", by_call=False), Check("sector_ban"),
    Check("caller_id"), Check("recording_consent"), Check("artificial_voice"),
)  # fmt: skip
BY_NAME: Final = {check.name: check for check in CHECKS}


def named(names: Sequence[str]) -> tuple[Check, ...]:
    """Checks by their names, in the order of a report."""
    return tuple(check for check in CHECKS if check.name in names)

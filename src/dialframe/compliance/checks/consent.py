"""Consent, revocation and reassigned numbers in words."""

from __future__ import annotations

from typing import Any, Final

import pandas as pd

from dialframe.compliance.checks.check_results import (
    GRADES,
    PASSED,
    UNCERTAIN,
    VIOLATION,
    Check,
    View,
    graded,
    shaped,
)
from dialframe.compliance.rules.rule_model import ConsentRule
from dialframe.frames import Column

COLUMNS: Final = (
    Column("rule_id", "text", "the rule"),
    Column("citation", "text", "its citation"),
    Column("call_id", "text", "call id"),
    Column("to_number", "text", "called number, E.164"),
    Column("campaign_id", "text", "campaign of the call"),
    Column("created_at", "instant", "the call was started, UTC"),
    Column("grade", "text", "pass, violation, uncertain or not evaluable"),
    Column("evidence", "text", "the record that it rests on"),
    Column("missing", "text", "the input that is missing when not evaluable"),
    Column("reason", "text", "why this grade"),
)
NO_CONSENTS: Final = "a table of consents"
NO_LOOK_UPS: Final = "a table of look-ups of reassigned numbers"
NO_PORTING: Final = "the day on which the number was ported"


def words(rows: pd.DataFrame, view: View) -> pd.DataFrame:
    """What the records show, and what the rule asks for."""
    memory: dict[tuple[Any, ...], str] = {}
    reasons = []
    names = ("rules", "answer", "kind_asked", "missing", "severity")
    for numbers, answer, kind, missing, severity in zip(*(rows[n] for n in names), strict=True):
        key = (int(numbers[0]) if len(numbers) else -1, answer, kind, missing, int(severity))
        if key not in memory:
            law = view.law.by_number.get(key[0])
            memory[key] = _reason(law, answer, kind, missing)
            if law is not None and law.ceiling_reason and GRADES[int(severity)] == UNCERTAIN:
                memory[key] += f"; {law.ceiling_reason}"
        reasons.append(memory[key])
    return rows.assign(reason=pd.Series(reasons, index=rows.index, dtype="object"))


def table(view: View) -> pd.DataFrame:
    """Every call that a rule on consent reaches, once per rule, columns `COLUMNS`."""
    requests = view.frame("""
        select r.* exclude (call), [r.rule] as rules, c.call_id, c.to_number, c.campaign_id, c.at_utc as created_at
        from consent_by_rule r join calls c using (call)
        union all by name
        select k.rule, [k.rule] as rules, null as evidence, k.kind_asked, 'not given' as answer, 2 as severity, g.missing,
          c.call_id, c.to_number, c.campaign_id, c.at_utc as created_at
        from calls c join case_rules k using (case_id) join consent_given g using (rule)
        where c.graded and not k.lifted and g.missing is not null and c.call not in (select call from consent_asked)
        order by rule, call_id""")
    weak = [view.law.by_number[int(rule)].confidence == "low" for rule in requests["rule"]]
    decided = requests["severity"].isin([GRADES.index(PASSED), GRADES.index(VIOLATION)])
    doubted = decided & pd.Series(weak, index=requests.index, dtype="bool")
    requests["by_query"] = requests["severity"]
    requests["severity"] = requests["severity"].mask(doubted, GRADES.index(UNCERTAIN))
    return shaped(graded(requests, view, words), COLUMNS)


def _reason(law: Any, answer: Any, kind: Any, missing: Any) -> str:
    if not isinstance(law, ConsentRule):
        return ""
    p = law.parameters
    within = f"within the {p.max_days} {p.day_type} days that the rule allows"
    means = f" by {p.method}" if p.method else ""
    refresh, fields = p.refresh_days or 30, " and ".join(p.query_fields).replace("_", " ")
    sentence = {
        "none": f"no consent of the kind asked for ({kind}) is on record before the call",
        "revoked": "consent was revoked before the call",
        "run out": "consent had run out before the call",
        "revoked elsewhere": "consent on record before the call, and taken back since in another record or for another campaign",
        "on record": "consent on record before the call",
        "never revoked": "no revocation on record before the call",
        "revoked and in time": f"called after consent was revoked{means}, {within}",
        "revoked and late": f"called after consent was revoked{means} and the time allowed had run out",
        "reassigned": "the database said that the number was reassigned",
        "not reassigned": f"looked up within {refresh} days before the call, not reassigned",
        "no look-up": f"no look-up of the number{f' by {fields}' if fields else ''} before the call",
        "look-up too old": f"the look-up is more than {refresh} days old, or had no answer",
        "rested": f"consent is younger than the {p.aging_days} days for which a number rests",
        "within grace": f"moved to a mobile line within {p.grace_days} days before the call",
        "grace over": f"moved to a mobile line more than {p.grace_days} days before: the defense is over, consent decides",
        "not ported": f"{NO_PORTING} was not given",
        "waived": "not asked for: a check in time said that it was not listed",
    }.get(str(answer), f"{missing} was not given")
    if answer in ("none", "revoked", "run out"):
        sentence += f"; asked for: {p.trigger}" if p.trigger else ""
        sentence += f"; the {p.burden_of_proof} has to prove it" if p.burden_of_proof else ""
        if kind == "presumed":
            sentence += (
                "; towards a business presumed consent is enough, and that is not in the data"
            )
    return sentence


CHECK: Final = Check(
    "consent", "call", words, COLUMNS, whole=(NO_CONSENTS, NO_LOOK_UPS, NO_PORTING)
)

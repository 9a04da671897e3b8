"""Consent, revocation and reassigned numbers, by call and rule."""

from __future__ import annotations

from typing import Final

import pandas as pd

from dialframe.compliance.checks.check_results import (
    GRADES,
    PASSED,
    UNCERTAIN,
    VIOLATION,
    Check,
    View,
    shaped,
)

CHECK: Final = Check("consent", values=lambda row, _: {"presumed": row.kind_asked == "presumed"})


def table(view: View) -> pd.DataFrame:
    """Every call that a rule on consent reaches, once per rule, columns `FRAMES["consent"]`."""
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
    return shaped(CHECK.worded(requests, view), CHECK.columns)

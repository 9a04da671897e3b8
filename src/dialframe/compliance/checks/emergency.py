"""Declared emergencies in words."""

from __future__ import annotations

from typing import Final

import pandas as pd

from dialframe.compliance.checks.check_results import Check, View, call_columns
from dialframe.compliance.rules.rule_model import HolidayRule

NO_DECLARED: Final = "the file of declared emergencies"
_OPEN, _UNCERTAIN = 2, 3


def words(rows: pd.DataFrame, view: View) -> pd.DataFrame:
    """Whether an emergency was declared for the day of each call."""
    reasons = []
    for numbers, severity in zip(rows["rules"], rows["severity"], strict=True):
        law = next(iter(view.rules(numbers)), None)
        area = law.parameters.area if isinstance(law, HolidayRule) else ""
        url = law.parameters.url if isinstance(law, HolidayRule) else ""
        if severity == _OPEN:
            sentence = "no file says whether an emergency was declared"
            sentence += f"; declarations: {url}" if url else ""
        elif severity <= 1:
            sentence = "no emergency was declared for that day"
        else:
            sentence = "an emergency was declared for that day"
            if severity == _UNCERTAIN:
                sentence += (
                    f", for {area}; whether the number is there is not known"
                    if area
                    else ", in some zone"
                )
        reasons.append(sentence)
    return rows.assign(reason=pd.Series(reasons, index=rows.index, dtype="object"))


CHECK: Final = Check("emergency", "call", words, call_columns(), whole=(NO_DECLARED,))

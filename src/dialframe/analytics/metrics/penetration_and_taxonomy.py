"""Penetration of lists by every name in use, and what another taxonomy does to every metric."""

from __future__ import annotations

from typing import Final, Unpack

import numpy as np
import pandas as pd

from dialframe.analytics.analysis_result import Result, result_of
from dialframe.analytics.attempt.argument_checks import CampaignSelection, analysis
from dialframe.analytics.attempt.attempt_table import count_attempts
from dialframe.analytics.attempt.frames_to_arrays import Mask
from dialframe.analytics.attempt.lead_match import lead_groups, of_campaign
from dialframe.analytics.attempt.taxonomy import Taxonomy
from dialframe.analytics.claims_and_tables import plural, share, table, table_of_rows
from dialframe.analytics.metrics import computed
from dialframe.analytics.metrics.lead_and_call_metrics import (
    completed_penetration,
    inventory_penetration,
    leads_with,
    list_penetration,
    list_saturation,
    phone_penetration,
)
from dialframe.analytics.metrics.metric_types import Choices, Inputs, Measure
from dialframe.instants import When, instant

#: Penetration and saturation by every name that is in use, with whose name it is and what it divides.
PENETRATIONS: Final = (
    ("list_penetration", "leads with an attempt / leads loaded", list_penetration),
    ("list_saturation", "attempts / leads loaded; 5 means five each", list_saturation),
    ("phone_penetration", "distinct numbers dialed / distinct numbers loaded", phone_penetration),
    ("inventory_penetration", "leads no longer dialed / leads loaded", inventory_penetration),
    ("completed_penetration", "leads completed or at the cap / leads loaded", completed_penetration),
    ("contact_ratio", "leads that a person answered for / leads loaded", leads_with("human")),
)  # fmt: skip


@analysis
def penetration(
    calls: pd.DataFrame,
    leads: pd.DataFrame,
    *,
    by: str | None = None,
    attempt_cap: int | None = None,
    recycle_contacted: bool = False,
    **selection: Unpack[CampaignSelection],
) -> Result:
    """How far each list is worked through, by every definition in use; they disagree by design.

    Args:
        by: Column or custom field to split by.
        attempt_cap: Attempts after which a lead is given up, where there is such a rule.
        recycle_contacted: Whether leads of status `contacted` are still dialed.
        campaign: Leads and calls of this campaign only.

    Returns:
        One row per group and variant: `group`, `variant`, `value`, `numerator`, `denominator`,
        `low`, `high`, `definition`.
    """
    choices = Choices(attempt_cap=attempt_cap, recycle_contacted=recycle_contacted)
    code, names = lead_groups(leads, by)
    whole = count_attempts(calls, leads, **selection)
    rows: list[tuple[str, str, str, Measure]] = []
    for i in sorted(range(len(names)), key=lambda i: names[i]):
        inputs = Inputs.of(calls, leads, choices, selection)
        in_group = of_campaign(leads, whole.campaign) & (code == i)
        # What is gathered once is put in the place of what each group would gather for itself.
        inputs.__dict__["loaded"] = in_group
        inputs.__dict__["attempts"] = whole.only(np.append(in_group, False)[whole.lead])
        rows += [(names[i], name, words, measure(inputs)) for name, words, measure in PENETRATIONS]
    numbers = ("value", "numerator", "denominator", "low", "high")
    frame = table_of_rows(
        {"group": str, "variant": str, **dict.fromkeys(numbers, float), "definition": str},
        [(group, variant, *(getattr(measured, name) for name in numbers), words)
         for group, variant, words, measured in rows],
    )  # fmt: skip
    first = frame.head(2)
    sentence = (
        "There are no leads" if not len(frame) or frame["denominator"].isna().all()
        or not frame["denominator"].max()
        else f"{first['group'].iloc[0]}: {share(first['value'].iloc[0])} of leads dialed, "
        f"{first['value'].iloc[1]:.2f} attempts each"
    )  # fmt: skip
    return result_of(
        whole, "penetration", sentence, frame, "Penetration and saturation by every name in use",
        parameters={"by": by, "attempt_cap": attempt_cap, "recycle_contacted": recycle_contacted},
    )  # fmt: skip


@analysis
def taxonomy_effect(
    calls: pd.DataFrame,
    leads: pd.DataFrame | None,
    *,
    before: Taxonomy,
    after: Taxonomy,
    as_of: When | None = None,
) -> Result:
    """What another taxonomy does to every metric.

    Args:
        before: The taxonomy in use.
        after: The one to be compared with it.

    Returns:
        One row per metric that changes: `metric`, `before`, `after`, `change`. Table `codes` has
        the codes that the two do not agree on: `field`, `code`, `before`, `after`.

    Example:
        result = analytics.taxonomy_effect(
            calls, leads, before=analytics.Taxonomy.of("vicidial"), after=analytics.Taxonomy.of("generic")
        )
    """
    inputs = Inputs(calls, leads, taxonomy=before, as_of=instant("as_of", as_of))
    old = computed(inputs).table
    changed = inputs.under(after)
    same = np.array_equal(inputs.attempts.classes.case, changed.attempts.classes.case)
    new = old if same else computed(changed).table
    both = old[["metric", "value"]].merge(new[["metric", "value"]], on="metric")
    values = [both[name].to_numpy(float, na_value=np.nan) for name in ("value_x", "value_y")]
    # A number that was worked out in another order may differ in its last digit, and has not changed.
    moved: Mask = ~np.isclose(values[0], values[1], rtol=1e-12, atol=0, equal_nan=True)
    frame = table(
        {
            "metric": list(both["metric"][moved]),
            "before": values[0][moved],
            "after": values[1][moved],
            "change": values[1][moved] - values[0][moved],
        }
    )
    differing = dict.fromkeys(("field", "code", "before", "after"), str)
    codes = table_of_rows(differing, before.differences(after))
    attempts = changed.attempts
    return Result(
        "taxonomy_effect",
        f"{plural(len(codes), 'code')} {'differs' if len(codes) == 1 else 'differ'}; {plural(len(frame), 'metric')} of {len(both)} change",
        frame, f"Every metric under taxonomy {before.version} and under {after.version}",
        attempts.balance(), after, attempts.as_of, {"codes": codes}, {"before": before.version},
        attempts.warnings,
    )  # fmt: skip

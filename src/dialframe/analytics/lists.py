"""Lists and where they come from: sources, penetration and saturation."""

from __future__ import annotations

from datetime import datetime
from typing import Final

import numpy as np
import pandas as pd

from dialframe.analytics.columns import Floats, Ints, Mask, numbered
from dialframe.analytics.dials import Dials, dials
from dialframe.analytics.groups import lead_groups
from dialframe.analytics.intervals import rates
from dialframe.analytics.metrics.inputs import Choices, Inputs
from dialframe.analytics.metrics.measures import Measure
from dialframe.analytics.metrics.reaching import (
    completed_penetration,
    contact_per_lead,
    inventory_penetration,
    list_penetration,
    list_saturation,
    phone_penetration,
)
from dialframe.analytics.mix import SOURCE
from dialframe.analytics.result import Result
from dialframe.analytics.tabled import ratio, sums, table
from dialframe.analytics.taxonomy import DEFAULT, Taxonomy
from dialframe.analytics.wording import share

#: Penetration and saturation by every name that is in use, with whose name it is and what it divides.
PENETRATIONS: Final = (
    ("list_penetration", "leads with an attempt / leads loaded", list_penetration),
    ("list_saturation", "attempts / leads loaded; 5 means five each", list_saturation),
    ("phone_penetration", "distinct numbers dialled / distinct numbers loaded", phone_penetration),
    ("inventory_penetration", "leads no longer dialled / leads loaded", inventory_penetration),
    ("completed_penetration", "leads completed or at the cap / leads loaded", completed_penetration),
    ("contact_ratio", "leads that a person answered for / leads loaded", contact_per_lead),
)  # fmt: skip

#: Outcomes per lead that a source is judged by: column, flag or class.
_JUDGED: Final = (
    ("reached", "human"), ("right_party", "right_party"), ("positive", "positive"),
    ("appointments", "appointment"), ("conversions", "conversion"),
)  # fmt: skip


def scorecard(
    leads: pd.DataFrame,
    calls: pd.DataFrame,
    *,
    by: str = SOURCE,
    imports: pd.DataFrame | None = None,
    taxonomy: Taxonomy = DEFAULT,
    as_of: datetime | None = None,
    campaign: str | None = None,
) -> Result:
    """What each source of leads is worth: bad numbers, requests not to be called, reach, appointments.

    Args:
        leads: Frame of the leads table.
        calls: Frame of the calls table.
        by: Column or custom field that names the source.
        imports: The import ledger; with its column `by`, refusals are given to sources.
        taxonomy: What the codes mean.
        as_of: When the data was read.
        campaign: Leads and calls of this campaign only.

    Returns:
        One row per source: the column `by`, `leads`, `attempted`, `attempts`, then leads with a bad
        number (`invalid`), `wrong` number, `dnc` request, `reached`, `right_party`, `positive`,
        `appointments`, `conversions`; `reach_rate` of attempted leads, `low`, `high`;
        `invalid_rate`, `appointments_per_1000` leads with `appt_low`, `appt_high`; `refused`
        records of imports (null where not known); `verdict` against all other sources together:
        `better`, `worse`, `no certain difference`, `too few` (reach, 95 % intervals apart).

    Raises:
        ConfigError: A column is missing, `by` names nothing, or the campaign is unknown.
    """
    found = dials(calls, leads, taxonomy=taxonomy, as_of=as_of, campaign=campaign)
    here = _here(leads, campaign)
    code, names = lead_groups(leads, by)
    code, size = np.where(here, code, -1), len(names)
    tried = _leads_with(found, np.ones(len(found), dtype=bool))
    flags = {
        "invalid": _leads_with(found, found.is_class("disconnected")),
        "wrong": _leads_with(found, found.is_class("wrong_number")),
        "dnc": _leads_with(found, found.classes.dnc_request[found.rows]),
        **{column: _leads_with(found, found.flag(name)) for column, name in _JUDGED},
    }
    counts = {name: sums(np.where(mask, code, -1), size) for name, mask in flags.items()}
    loaded, attempted = sums(code, size), sums(np.where(tried, code, -1), size)
    reach, appt = rates(counts["reached"], attempted), rates(counts["appointments"], loaded)
    lead = found.lead
    frame = table(
        {
            by: names,
            "leads": loaded,
            "attempted": attempted,
            "attempts": sums(np.append(code, -1)[lead], size),
            **counts,
            "reach_rate": reach["rate"].array,
            "low": reach["low"].array,
            "high": reach["high"].array,
            "invalid_rate": ratio(counts["invalid"], attempted),
            "appointments_per_1000": 1000 * ratio(counts["appointments"], loaded),
            "appt_low": (1000 * appt["low"]).array,
            "appt_high": (1000 * appt["high"]).array,
            "refused": _refused(imports, by, names),
            "verdict": _verdicts(counts["reached"], attempted),
        }
    )
    frame = frame.sort_values(["appointments_per_1000", "leads"], ascending=False, kind="stable",
                              ignore_index=True)  # fmt: skip
    return Result(
        "scorecard", _best(frame, by), frame,
        "Leads by source, and of these the leads with at least one counted call of each outcome; "
        "rates of attempted leads, appointments of leads loaded",
        found.balance(), taxonomy, found.as_of, {}, {"by": by}, found.warnings,
    )  # fmt: skip


def penetration(
    leads: pd.DataFrame,
    calls: pd.DataFrame,
    *,
    by: str | None = None,
    attempt_cap: int | None = None,
    recycle_contacted: bool = False,
    taxonomy: Taxonomy = DEFAULT,
    as_of: datetime | None = None,
    campaign: str | None = None,
) -> Result:
    """How far each list is worked through, by every definition in use; they disagree by design.

    Args:
        leads: Frame of the leads table.
        calls: Frame of the calls table.
        by: Column or custom field to split by.
        attempt_cap: Attempts after which a lead is given up, where there is such a rule.
        recycle_contacted: Whether leads of status `contacted` are still dialled.
        taxonomy: What the codes mean.
        as_of: When the data was read.
        campaign: Leads and calls of this campaign only.

    Returns:
        One row per group and variant: `group`, `variant`, `value`, `numerator`, `denominator`,
        `low`, `high`, `definition`.

    Raises:
        ConfigError: A column is missing, or the campaign is unknown.
    """
    choices = Choices(attempt_cap=attempt_cap, recycle_contacted=recycle_contacted)
    code, names = (
        (np.zeros(len(leads), np.int64), ["all"]) if by is None else lead_groups(leads, by)
    )
    whole = dials(calls, leads, taxonomy=taxonomy, as_of=as_of, campaign=campaign)
    rows: list[tuple[str, str, str, Measure]] = []
    for i in sorted(range(len(names)), key=lambda i: names[i]):
        inputs = Inputs(
            calls, leads, None, None, None, None, None, None, taxonomy, as_of, campaign, None, None,
            include_no_campaign=False, choices=choices,
        )  # fmt: skip
        here = _here(leads, campaign) & (code == i)
        # What is gathered once is put in the place of what each group would gather for itself.
        inputs.__dict__["loaded"] = here
        inputs.__dict__["dials"] = whole.only(np.append(here, False)[whole.lead])
        rows += [(names[i], name, words, measure(inputs)) for name, words, measure in PENETRATIONS]
    frame = table(
        {
            "group": [row[0] for row in rows],
            "variant": [row[1] for row in rows],
            **{
                name: np.array([_number(getattr(row[3], name)) for row in rows], dtype=float)
                for name in ("value", "numerator", "denominator", "low", "high")
            },
            "definition": [row[2] for row in rows],
        }
    )
    first = frame.head(2)
    said = (
        "There are no leads" if not len(frame) or frame["denominator"].isna().all()
        or not frame["denominator"].max()
        else f"{first['group'].iloc[0]}: {share(first['value'].iloc[0])} of leads dialled, "
        f"{first['value'].iloc[1]:.2f} attempts each"
    )  # fmt: skip
    return Result(
        "penetration", said, frame,
        "Penetration and saturation by every name in use", whole.balance(), taxonomy, whole.as_of,
        {}, {"by": by, "attempt_cap": attempt_cap, "recycle_contacted": recycle_contacted},
        whole.warnings,
    )  # fmt: skip


def _here(leads: pd.DataFrame, campaign: str | None) -> Mask:
    if campaign is None:
        return np.ones(len(leads), dtype=bool)
    return np.asarray((leads["campaign_id"] == campaign).fillna(value=False), dtype=bool)


def _leads_with(found: Dials, hit: Mask) -> Mask:
    reached = np.zeros(len(found.leads) + 1, dtype=bool)
    reached[found.lead[hit]] = True
    return reached[:-1]


def _refused(imports: pd.DataFrame | None, by: str, names: list[str]) -> Floats:
    if imports is None or by not in imports.columns:
        return np.full(len(names), np.nan)
    status = imports["status"].astype("str").str.casefold()
    out = imports[by][(~status.isin(["accepted", "unknown"]) & status.notna()).to_numpy(bool)]
    code, there = numbered(out)
    counts = dict(zip(there, sums(code, len(there)), strict=True))
    return np.array([float(counts.get(name, 0)) for name in names])


def _verdicts(reached: Ints, attempted: Ints) -> list[str]:
    rest = rates(
        np.maximum(reached.sum() - reached, 0), np.maximum(attempted.sum() - attempted, 0)
    )
    mine = rates(reached, attempted)
    said = []
    for i, n in enumerate(attempted):
        if n < 30 or attempted.sum() - n < 30:
            said.append("too few")
        elif mine["low"].iloc[i] > rest["high"].iloc[i]:
            said.append("better")
        elif mine["high"].iloc[i] < rest["low"].iloc[i]:
            said.append("worse")
        else:
            said.append("no certain difference")
    return said


def _best(frame: pd.DataFrame, by: str) -> str:
    judged = frame[frame["verdict"] != "too few"]
    if not len(judged):
        return f"No {by} has enough attempted leads to be judged"
    reach = judged.sort_values("reach_rate", ascending=False, kind="stable")
    top, last = reach.iloc[0], reach.iloc[-1]
    return (
        f"{top[by]} reaches {share(top['reach_rate'])} of its attempted leads, {last[by]} "
        f"{share(last['reach_rate'])}"
    )


def _number(value: float | None) -> float:
    return float("nan") if value is None else float(value)

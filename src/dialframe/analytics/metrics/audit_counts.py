"""Metrics of the law, read in the counts of an audit; nothing is judged a second time here."""

from __future__ import annotations

from collections.abc import Callable
from typing import Final

from dialframe.analytics.metrics.metric_types import Audited, Inputs, Measure

_OPEN: Final = ("uncertain", "not_evaluable", "not_asked")
_AGES: Final = {
    "screened": "screened_at_import",
    "stale": "check_too_old",
    "never": "never_checked",
}


def dnc_coverage(inputs: Inputs) -> Measure:
    """Callable and called numbers that have a check which is recent enough."""
    audit = _of(inputs)
    if isinstance(audit, str):
        return Measure(None, None, None, why_null=audit)
    summary = audit.coverage.summary
    row = summary[(summary["population"] == "callable or called").to_numpy(dtype=bool)].iloc[0]
    fresh, numbers = int(row["fresh"]), int(row["numbers"])
    return Measure(
        fresh / numbers if numbers else None, fresh, numbers,
        excluded={words: int(row[name]) for name, words in _AGES.items()}, audited_at=audit.as_of,
    )  # fmt: skip


def _share(check: str, grade: str) -> Callable[[Inputs], Measure]:
    """Share of one grade among all that a check of the audit looked at."""

    def measure(inputs: Inputs) -> Measure:
        audit = _of(inputs)
        if isinstance(audit, str):
            return Measure(None, None, None, why_null=audit)
        rows = audit.checks[(audit.checks["check"] == check).to_numpy(dtype=bool)]
        if not len(rows):
            why = f"the audit has no check {check}: none of its rules asks for it"
            return Measure(None, None, None, why_null=why, audited_at=audit.as_of)
        row = rows.iloc[0]
        part, whole = int(row[grade]), int(row["checked"])
        left = {name: int(row[name]) for name in _OPEN}
        judged = whole - left["not_evaluable"] - left["not_asked"]
        why = (
            "" if judged or not whole else f"the audit could judge none of {whole:,} {row['unit']}"
        )
        value = part / whole if judged else None
        return Measure(
            value, part, whole, excluded=left, why_null=why, audited_at=audit.as_of
        )  # fmt: skip

    return measure


def _of(inputs: Inputs) -> Audited | str:
    """The audit, or why it cannot answer for these inputs: it counts an account and its own period."""
    audit = inputs.audit
    assert audit is not None  # noqa: S101 - `measured` has seen to it
    if inputs.campaign is not None:
        return "an audit counts the whole account, not one campaign: see its findings by campaign"
    if inputs.since is not None or inputs.until is not None:
        return "an audit has a period of its own: pass since= and until= to dialframe.audit alone"
    if inputs.asked_as_of is not None and inputs.asked_as_of < audit.as_of:
        return (
            f"the audit is of {audit.as_of:%Y-%m-%d %H:%M} UTC, which is after as_of: pass as_of= to "
            "dialframe.audit too"
        )
    return audit


#: Calls to numbers that were listed or had asked, and calls at a wrong hour or too often.
dnc_risk: Final = _share("listed_number", "violation")
calling_hours: Final = _share("calling_hours", "violation")
frequency: Final = _share("attempt_caps", "violation")
#: Requests that were honored in time.
dnc_honor: Final = _share("internal_dnc", "pass")

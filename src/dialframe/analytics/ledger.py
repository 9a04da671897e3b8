"""What imports refused, from their ledger; knows records sent, not how they were sent."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import pandas as pd

from dialframe.analytics.columns import require
from dialframe.analytics.counting import Notes
from dialframe.analytics.stages import (
    LOADED_WITHOUT_GROUPS,
    LOADED_WITHOUT_LEDGER,
    NO_GROUP,
    STAGES,
)


@dataclass(frozen=True, slots=True, eq=False)
class Refused:
    """How many rows imports refused per group, what `loaded` therefore means, and notes."""

    per_group: dict[str, int]
    definition: str
    notes: Notes


def refusals(
    imports: pd.DataFrame | None, leads: pd.DataFrame, campaign: str | None, by: str | None
) -> Refused:
    """Count the rows that imports refused, per group where the ledger can say so.

    Args:
        imports: One row per record sent, with column `status`; None where nothing is known.
        leads: Frame of the leads table.
        campaign: Only rows of this campaign.
        by: Column to group by; without that column in `imports` no row is given to any group.

    Raises:
        ConfigError: A column is missing.
    """
    if imports is None:
        return Refused({}, LOADED_WITHOUT_LEDGER, {})
    require(imports, ("status",) if campaign is None else ("status", "campaign_id"), "imports")
    rows = imports if campaign is None else imports[imports["campaign_id"] == campaign]
    status = rows["status"].astype("str").str.casefold()
    unknown = np.asarray(status.isna() | (status == "unknown"), dtype=bool)
    accepted = np.asarray(status == "accepted", dtype=bool)
    refused = rows[~unknown & ~accepted]
    notes: Notes = {
        ("refused", "records"): len(refused),
        ("import_unknown", "records"): int(unknown.sum()),
    }
    if "lead_id" in rows.columns:
        absent = ~np.asarray(rows["lead_id"].isin(leads["id"]), dtype=bool)
        notes["accepted_elsewhere", "records"] = int((accepted & absent).sum())
    if by is None:
        return Refused({"": len(refused)}, STAGES[0].definition, notes)
    if by not in rows.columns:
        return Refused({}, LOADED_WITHOUT_GROUPS, notes)
    sizes = refused[by].astype("str").fillna(NO_GROUP).value_counts()
    per_group = {str(name): int(size) for name, size in sizes.items()}
    return Refused(per_group, STAGES[0].definition, notes)

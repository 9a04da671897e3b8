"""Numbers that several leads have, and what imports refused; knows leads and the import ledger."""

from __future__ import annotations

from datetime import datetime

import numpy as np
import pandas as pd

from dialframe.analytics.columns import require
from dialframe.analytics.counting import latest
from dialframe.analytics.dials import dials
from dialframe.analytics.result import Result
from dialframe.analytics.tabled import sums, table
from dialframe.analytics.taxonomy import DEFAULT, Taxonomy
from dialframe.analytics.wording import plural
from dialframe.errors import ConfigError
from dialframe.frames import CALLS, empty


def duplicates(
    leads: pd.DataFrame,
    calls: pd.DataFrame | None = None,
    *,
    campaigns: pd.DataFrame | None = None,
    running_only: bool = False,
    taxonomy: Taxonomy = DEFAULT,
    as_of: datetime | None = None,
) -> Result:
    """Numbers that are leads of several campaigns, or several leads of one: who is dialled too much.

    Args:
        leads: Frame of the leads table.
        calls: Frame of the calls table, for the attempts on each number.
        campaigns: Frame of the campaigns table, for `running_only`.
        running_only: Only leads of campaigns that are running.
        taxonomy: What the codes mean.
        as_of: When the data was read.

    Returns:
        One row per number: `phone`, `campaigns` (distinct), `leads`, `attempts` (counted calls, those
        outside campaigns too; null without calls), `campaign_ids` (joined by blanks), most campaigns first. Table `spread` counts
        numbers by campaigns.

    Raises:
        ConfigError: A column is missing, or `running_only` is asked for without campaigns.
    """
    require(leads, ("phone", "campaign_id"), "leads")
    here = leads[leads["phone"].notna()]
    if running_only:
        if campaigns is None:
            raise ConfigError("running_only needs the campaigns frame; pass campaigns=")
        running = campaigns["id"][(campaigns["status"] == "running").fillna(value=False)]
        here = here[here["campaign_id"].isin(running)]
    again = here[here["phone"].duplicated(keep=False)]
    # Only numbers that come twice can be in two campaigns: the rest need no look.
    many = again.groupby("phone", sort=True)["campaign_id"].agg(
        campaigns="nunique", leads="size", campaign_ids=lambda v: " ".join(sorted(set(v.dropna())))
    ) if len(again) else pd.DataFrame({"campaigns": [], "leads": [], "campaign_ids": []})  # fmt: skip
    single = here[~here["phone"].duplicated(keep=False)]["campaign_id"].notna().astype(int)
    spread_code = np.concatenate(
        [many["campaigns"].to_numpy(dtype=int), single.to_numpy(dtype=int)]
    )
    twice = many
    found = dials(calls if calls is not None else _no_calls(), leads, taxonomy=taxonomy,
                  as_of=as_of or latest(leads, calls), include_no_campaign=True)  # fmt: skip
    dialled = None
    if calls is not None:
        numbers = calls["to_number"].iloc[found.rows]
        dialled = numbers[numbers.isin(twice.index)].value_counts()
    frame = table(
        {
            "phone": [str(phone) for phone in twice.index],
            "campaigns": twice["campaigns"].to_numpy(dtype=int),
            "leads": twice["leads"].to_numpy(dtype=int),
            "attempts": np.array(
                [np.nan if dialled is None else dialled.get(p, 0) for p in twice.index],
                dtype=float,
            ),
            "campaign_ids": [str(ids) for ids in twice["campaign_ids"]],
        }
    ).sort_values(["campaigns", "leads"], ascending=False, kind="stable", ignore_index=True)
    frame["attempts"] = frame["attempts"].astype("Int64")
    size = int(spread_code.max(initial=0)) + 1
    spread = table({"campaigns": np.arange(1, size), "numbers": sums(spread_code, size)[1:]})
    across = int((frame["campaigns"] > 1).sum())
    return Result(
        "duplicates",
        f"{plural(across, 'number')} of {len(spread_code):,} {'is' if across == 1 else 'are'} in more "
        "than one campaign; "
        f"{int((frame['campaigns'] < 2).sum()):,} are twice in one",
        frame,
        "Numbers that more than one lead has; attempts are counted calls of any campaign and of none",
        found.balance(), taxonomy, found.as_of,
        {"spread": spread}, {"running_only": running_only},
    )  # fmt: skip


def import_outcomes(imports: pd.DataFrame, *, taxonomy: Taxonomy = DEFAULT) -> Result:
    """What imports accepted and why they refused the rest.

    Args:
        imports: The import ledger: `status`, and where it has them `reason` and `field`.
        taxonomy: Not used, named in the result like everywhere.

    Returns:
        One row per status, reason and field: `status`, `reason`, `field`, `records`,
        `denominator`, `share`, `fixable` (another try with a corrected record can be accepted).

    Raises:
        ConfigError: A column is missing.
    """
    require(imports, ("status",), "imports")
    keys = ["status", "reason", "field"]
    plain = imports.reindex(columns=keys).astype(dict.fromkeys(keys, "str"))
    frame = plain.groupby(keys, dropna=False).size().reset_index(name="records")
    frame = frame.astype({**dict.fromkeys(keys, "str"), "records": "Int64"})
    frame = frame.sort_values("records", ascending=False, kind="stable", ignore_index=True)
    frame["denominator"] = pd.array([len(imports)] * len(frame), dtype="Int64")
    frame["share"] = frame["records"].astype("Float64") / max(len(imports), 1)
    fixable = frame["status"].isin(["invalid", "failed"]).to_numpy(bool)
    frame["fixable"] = pd.array(fixable, dtype="boolean")
    accepted = int(frame["records"][(frame["status"] == "accepted").fillna(value=False)].sum())
    again = int(frame["records"][fixable].sum())
    none = dials(_no_calls(), None, taxonomy=taxonomy)
    return Result(
        "import_outcomes",
        f"{accepted:,} of {plural(len(imports), 'record')} were accepted; {again:,} can be tried "
        "again once corrected",
        frame, "Records that imports sent, by the service's answer", none.balance(), taxonomy,
    )  # fmt: skip


def _no_calls() -> pd.DataFrame:
    return empty(CALLS)

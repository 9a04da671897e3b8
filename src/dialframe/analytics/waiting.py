"""How long until a lead is reached: Kaplan-Meier, and with what comes between."""

from __future__ import annotations

import warnings
from datetime import datetime
from typing import Final

import numpy as np
import pandas as pd

from dialframe.analytics.columns import NO_TIME, Floats, Ints, Mask, micros, require
from dialframe.analytics.dials import Dials, dials
from dialframe.analytics.groups import lead_groups
from dialframe.analytics.result import Result
from dialframe.analytics.survival import curves
from dialframe.analytics.tabled import sums, table
from dialframe.analytics.taxonomy import DEFAULT, Taxonomy
from dialframe.analytics.wording import plural, share
from dialframe.errors import ConfigError

_DAY_US: Final = 86_400_000_000


_NEVER: Final = int(np.iinfo(np.int64).max)


#: What ends the wait for a first contact.
ENDINGS: Final = ("contact", "dnc", "invalid")


def time_to_contact(
    leads: pd.DataFrame,
    calls: pd.DataFrame,
    *,
    by: str | None = None,
    entry: str = "first_dial",
    taxonomy: Taxonomy = DEFAULT,
    as_of: datetime | None = None,
    campaign: str | None = None,
) -> Result:
    """How long until a lead is reached: Kaplan-Meier, and with what comes between.

    A lead waits from its entry until a person answers, the number proves invalid, or it asks not to
    be called (of the last two, whichever was first); else it is censored at `as_of`. Kaplan-Meier
    takes the competing ends for censoring, so it says what would be without them; the cumulative
    incidence of Aalen and Johansen says what was.

    Args:
        leads: Frame of the leads table.
        calls: Frame of the calls table.
        by: Column or custom field to split by.
        entry: `first_dial` or `import`.
        taxonomy: What the codes mean.
        as_of: When the data was read.
        campaign: Leads and calls of this campaign only.

    Returns:
        One row per group and day: `group`, `day`, `at_risk`, `reached` (1 minus Kaplan-Meier),
        `low`, `high`, and the incidence of `contact`, `dnc`, `invalid`. Table `groups` has `leads`,
        `contact`, `dnc`, `invalid`, `censored`, `median_days` (null where under half are reached).

    Raises:
        ConfigError: A column is missing, the campaign is unknown, or `entry` is another word.
    """
    require(leads, ("id", "created_at", "campaign_id"), "leads")
    found = dials(calls, leads, taxonomy=taxonomy, as_of=as_of, campaign=campaign)
    days, ending, here = _waits(found, leads, entry, campaign)
    code, names = (
        (np.zeros(len(leads), np.int64), ["all"]) if by is None else lead_groups(leads, by)
    )
    parts, rows = [], []
    for i, name in sorted(enumerate(names), key=lambda pair: pair[1]):
        mine = here & (code == i)
        if not mine.any():
            continue
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            curve, middle = curves(days[mine], ending[mine])
        parts.append(curve.assign(group=pd.array([name] * len(curve), dtype="str")))
        count = sums(ending[mine], len(ENDINGS) + 1)
        rows.append((name, int(mine.sum()), *count[1:].tolist(), int(count[0]), middle))
    columns = ["group", "day", "at_risk", "reached", "low", "high", *ENDINGS]
    empty = curves(np.zeros(0), np.zeros(0, dtype=np.int64))[0].assign(
        group=pd.array([], dtype="str")
    )
    frame = pd.concat(parts or [empty], ignore_index=True)[columns]
    groups = table(
        {
            "group": [row[0] for row in rows],
            **{
                name: np.array([row[i] for row in rows], dtype=int)
                for i, name in enumerate(("leads", *ENDINGS, "censored"), 1)
            },
            "median_days": np.array([row[6] for row in rows], dtype=float),
        }
    )
    reached, total = int(groups["contact"].sum()), int(groups["leads"].sum())
    said = f" ({share(reached / total)})" if total else ""
    return Result(
        "time_to_contact",
        f"{reached:,} of {plural(total, 'lead')} were reached{said}; "
        f"{int(groups['censored'].sum()):,} are still waiting",
        frame,
        f"Days from {entry.replace('_', ' ')} to the first call that a person answered; competing "
        "ends: a request not to be called, a number that is not in service",
        found.balance({("not_entered", "leads"): int((~here).sum())},
                      {"not_entered": "not dialled, of another campaign, or without a date"}),
        taxonomy, found.as_of, {"groups": groups}, {"by": by, "entry": entry}, found.warnings,
    )  # fmt: skip


def _waits(
    found: Dials, leads: pd.DataFrame, entry: str, campaign: str | None
) -> tuple[Floats, Ints, Mask]:
    """Days waited by each lead, what ended it (0: nothing, else 1 + place in `ENDINGS`), and who waits."""
    if entry not in ("first_dial", "import"):
        raise ConfigError(f"entry={entry!r} is not known; use first_dial or import")
    size = len(leads) + 1
    ends = 0 if found.as_of is None else round(found.as_of.timestamp() * 1e6)
    at, lead = found.when, found.lead
    marks = [
        found.flag("human"),
        found.classes.dnc_request[found.rows],
        found.is_class("disconnected"),
    ]
    firsts = []
    for mask in [np.ones(len(found), dtype=bool), *marks]:
        first = np.full(size, _NEVER)
        np.minimum.at(first, lead[mask], at[mask])
        firsts.append(first[:-1])
    start = firsts[0] if entry == "first_dial" else micros(leads["created_at"])
    entered = (start != _NEVER) & (start != NO_TIME)
    # A request is made by a person who answered: it is the end where no contact came before it.
    contact, asked, bad = firsts[1:]
    first_end = np.minimum(np.minimum(contact, asked), bad)
    ending = np.select(
        [first_end == _NEVER, asked == first_end, contact == first_end], [0, 2, 1], default=3
    )
    over = np.where(first_end == _NEVER, ends, first_end)
    days = np.where(entered, over - np.where(entered, start, 0), -1) / _DAY_US
    here = entered & (days >= 0)
    if campaign is not None:
        here &= np.asarray((leads["campaign_id"] == campaign).fillna(value=False), dtype=bool)
    return days, ending, here

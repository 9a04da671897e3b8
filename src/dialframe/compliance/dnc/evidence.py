"""What is on record about a number and Do-Not-Call lists, in order of time; draws no conclusion.

Four kinds of record, and what each is worth:

- a *check*: the service's answer to a question that we asked, listed or not, at the time that we
  asked. It names no list and no date of that list;
- an *import screen*: the service screens each lead against Do-Not-Call when it is imported or
  added, and stores none that is listed, so the lead's creation says "not listed" at that time.
  Weaker than a check, since no answer is kept: it never outweighs a check that said "listed";
- a *request*: a call after which the agent logged that the person does not wish to be called;
- a *flag*: a lead whose status is `dnc`. Its last change is the latest time at which it was set.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Final, Literal

import pandas as pd

from dialframe.compliance.clock import Flags
from dialframe.compliance.intake import holds, look_up

CHECK: Final = "check"
IMPORT_SCREEN: Final = "import screen"

#: Outcomes that mean "do not call me again". Codes for numbers that the dialer itself held back
#: (VICIdial's DNCL, DNCC) are no requests: nobody was spoken to.
REQUEST_CODES: Final = ("DNC", "REMOVE", "STOP", "DO NOT CALL", "DNC REQUEST", "OPT OUT")

_COLUMNS: Final = ["phone", "at", "listed", "source", "ref"]


def records(
    leads: pd.DataFrame, checks: pd.DataFrame, *, import_screen_counts: bool
) -> pd.DataFrame:
    """Checks and import screens as one table.

    Returns:
        Columns `phone`, `at` (UTC), `listed` (bool), `source` (`check` or `import screen`) and
        `ref` (request id or lead id), sorted by time; of two at one instant the listed one last.
    """
    asked = pd.DataFrame(
        {
            "phone": checks["phone"],
            "at": checks["checked_at"],
            "listed": checks["listed"].astype(bool),
            "source": pd.Series(CHECK, index=checks.index, dtype="str"),
            "ref": checks["request_id"],
        }
    )
    screened = leads[was_screened(leads)] if import_screen_counts else leads.iloc[:0]
    silent = pd.DataFrame(
        {
            "phone": screened["phone"],
            "at": screened["created_at"],
            "listed": pd.Series(data=False, index=screened.index, dtype=bool),
            "source": pd.Series(IMPORT_SCREEN, index=screened.index, dtype="str"),
            "ref": screened["id"],
        }
    )
    both = pd.concat([asked, silent], ignore_index=True)
    return both.sort_values(["at", "listed"], kind="stable", ignore_index=True)[_COLUMNS]


def requests(
    calls: pd.DataFrame, codes: Sequence[str], events: pd.DataFrame | None = None
) -> pd.DataFrame:
    """The first request of each number not to be called, on a call of either direction.

    Args:
        calls: Calls of both directions; the customer's number is `to_number` of an outbound and
            `from_number` of an inbound call.
        codes: Dispositions that are requests; case, blanks, dashes and underscores do not matter.
        events: Requests that came in another way: columns `phone`, `at`, `ref`, `code`.

    Returns:
        Columns `phone`, `began_at` (the call started), `at` (it ended, or started when the end is
        unknown), `call_id`, `code`; one row per number.
    """
    asked = calls[is_request(calls["disposition"], codes)]
    inbound = asked["direction"].str.strip().str.lower() == "inbound"
    began = asked["created_at"]
    found = pd.DataFrame(
        {
            "phone": asked["to_number"].where(~inbound, asked["from_number"]),
            "began_at": began,
            "at": asked["ended_at"].where(asked["ended_at"] > began, began),
            "call_id": asked["id"],
            "code": asked["disposition"],
        }
    )
    if events is not None and len(events):
        told = pd.DataFrame(
            {
                "phone": events["phone"].astype("str"),
                "began_at": events["at"],
                "at": events["at"],
                "call_id": events["ref"].astype("str"),
                "code": events["code"].astype("str"),
            }
        )
        found = pd.concat([found, told], ignore_index=True)
    found = found[found["phone"].notna() & found["began_at"].notna()]
    found = found.sort_values("began_at", kind="stable")
    return found.drop_duplicates("phone").reset_index(drop=True)


def is_request(dispositions: pd.Series, codes: Sequence[str]) -> Flags:
    """Whether each disposition is one of the codes."""
    meant = {_plain(code) for code in codes}
    return holds(dispositions, lambda code: _plain(code) in meant)


def flags(leads: pd.DataFrame, asked: pd.DataFrame, *, now: pd.Timestamp) -> pd.DataFrame:
    """Leads with status `dnc` that no request explains, the earliest of each number.

    A request at or before the flag's last change explains it: the request is then what counts.

    Returns:
        Columns `phone`, `at` (the flag was set by then; `now` where the lead does not say) and
        `lead_id`; one row per number.
    """
    flagged = leads[closed(leads)]
    found = pd.DataFrame(
        {
            "phone": flagged["phone"],
            "at": flagged["updated_at"].fillna(now).astype("datetime64[us, UTC]"),
            "lead_id": flagged["id"],
        }
    )
    began = look_up(found["phone"], asked.set_index("phone")["began_at"])
    explained = (began <= found["at"]).to_numpy(dtype=bool)
    return (
        found[~explained]
        .sort_values("at", kind="stable")
        .drop_duplicates("phone")
        .reset_index(drop=True)
    )


def closed(leads: pd.DataFrame) -> Flags:
    """Whether each lead's status says that it is not to be called."""
    return holds(leads["status"], lambda status: status.strip().lower() == "dnc")


def nearest(
    calls: pd.DataFrame,
    table: pd.DataFrame,
    direction: Literal["backward", "forward"],
    *,
    exact: bool,
) -> pd.DataFrame:
    """For each call the record of its number that is next to it in time.

    Args:
        calls: Columns `to_number` and `created_at`; rows with a null in either find nothing.
        table: Records, sorted by time as `records` sorts them.
        direction: `backward` for the newest before the call, `forward` for the oldest after it.
        exact: Whether a record at the very instant of the call counts.

    Returns:
        The records' columns on the index of `calls`, null where there is none. Where a number has
        two records at that instant the listed one is taken.
    """
    keys = calls[["to_number", "created_at"]].dropna().assign(row=lambda frame: frame.index)
    if direction == "forward" and "listed" in table.columns:
        table = table.sort_values(["at", "listed"], ascending=[True, False], kind="stable")
    if keys.empty or table.empty:  # pandas does not join a text column without rows
        return table.reset_index(drop=True).reindex([-1] * len(calls)).set_axis(calls.index)
    pairs = pd.merge_asof(
        keys.sort_values("created_at", kind="stable"),
        table,
        left_on="created_at",
        right_on="at",
        left_by="to_number",
        right_by="phone",
        direction=direction,
        allow_exact_matches=exact,
    )
    return pairs.set_index("row")[list(table.columns)].reindex(calls.index)


def was_screened(leads: pd.DataFrame) -> pd.Series:
    """A lead that was flagged from its first moment was not accepted as clean."""
    flagged = pd.Series(closed(leads), index=leads.index)
    untouched = leads["updated_at"].isna() | (leads["updated_at"] <= leads["created_at"])
    return leads["created_at"].notna() & ~(flagged & untouched)


def _plain(code: str) -> str:
    return re.sub(r"[\W_]+", "", code).casefold()

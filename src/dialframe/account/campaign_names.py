"""Finds a campaign by what a person calls it: its name, in any case, or its id."""

from __future__ import annotations

import difflib
from contextlib import suppress
from typing import TYPE_CHECKING, Any

from dialframe.contract.models.base_models import kind_of
from dialframe.errors import ConfigError, DialframeError
from dialframe.frames.frame_schemas import CALLBACKS, CALLS, CAMPAIGNS, LEADS
from dialframe.store import Store

if TYPE_CHECKING:
    from dialframe.client import Client

#: Names that a refusal lists.
_NAMES: int = 5


def campaign_id(given: str, store: Store, client: Client) -> str:
    """The id of the campaign that is meant by an id or a name; see `Account.campaign_id`."""
    wanted = given.strip()
    rows = store.arrow(CAMPAIGNS, columns=["id", "name"]).to_pylist()
    is_id = kind_of(wanted) == "campaign"
    # Resources, Campaign: archived ones are not listed, and their calls and leads are.
    if is_id and (not rows or wanted in store.campaign_ids(CAMPAIGNS, LEADS, CALLS, CALLBACKS)):
        return wanted
    matches = _matches(wanted, rows)
    if not matches:
        # It may be younger than the last sync.
        with suppress(DialframeError):
            rows = [{"id": row.id, "name": row.name} for row in client.campaigns.list()]
            matches = _matches(wanted, rows)
    if not matches:
        raise ConfigError(f"there is no campaign {wanted!r}: {_nearest(wanted, rows)}")
    if len(matches) > 1:
        raise ConfigError(
            f"{len(matches)} campaigns are called {wanted!r}: give one of their ids, {', '.join(sorted(matches))}"
        )
    return matches[0]


def _matches(wanted: str, rows: list[dict[str, Any]]) -> list[str]:
    """Ids of the campaigns of this id, this name, or else this name in another case."""
    exact = [row["id"] for row in rows if wanted in (row["id"], row["name"])]
    folded = wanted.casefold()
    return exact or [row["id"] for row in rows if str(row["name"]).casefold() == folded]


def _nearest(given: str, rows: list[dict[str, Any]]) -> str:
    names = {str(row["name"]).casefold(): str(row["name"]) for row in rows}
    near = difflib.get_close_matches(given.casefold(), names, n=_NAMES, cutoff=0.4)
    if near:
        return f"did you mean {', '.join(repr(names[name]) for name in near)}?"
    listed = sorted(names.values())[:_NAMES]
    shown = f"there are {', '.join(map(repr, listed))}" if listed else "the account has none"
    return f"{shown}; dialframe campaigns lists them"

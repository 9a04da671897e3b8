"""Finds a campaign by what a person calls it: its name, in any case, or its id."""

from __future__ import annotations

import difflib
from typing import TYPE_CHECKING, Any

from dialframe.contract.models.base_models import kind_of
from dialframe.errors import ConfigError
from dialframe.frames.frame_schemas import CALLBACKS, CALLS, CAMPAIGNS, LEADS
from dialframe.store import Store

if TYPE_CHECKING:
    from dialframe.client import Client

#: Names that a refusal lists.
_NAMES: int = 5


def campaign_id(given: str, store: Store, client: Client) -> str:
    """The id of the campaign that is meant by an id or a name; see `Account.campaign_id`."""
    rows = store.arrow(CAMPAIGNS, columns=["id", "name"]).to_pylist()
    if not rows:
        # Nothing to compare an id with: whoever gives one knows what it is.
        if kind_of(given) == "campaign":
            return given
        rows = [{"id": campaign.id, "name": campaign.name} for campaign in client.campaigns.list()]
    ids = {row["id"] for row in rows}
    if kind_of(given) == "campaign":
        # Resources, Campaign: archived ones are not listed, and their calls and leads are.
        if given in ids or given in store.campaign_ids(CAMPAIGNS, LEADS, CALLS, CALLBACKS):
            return given
        raise ConfigError(f"there is no campaign {given}: {_nearest(given, rows)}")
    wanted = given.strip()
    matches = [row["id"] for row in rows if row["name"] == wanted] or [
        row["id"] for row in rows if str(row["name"]).casefold() == wanted.casefold()
    ]
    if len(matches) > 1:
        raise ConfigError(
            f"{len(matches)} campaigns are called {wanted!r}: give one of their ids, {', '.join(sorted(matches))}"
        )
    if not matches:
        raise ConfigError(f"there is no campaign {wanted!r}: {_nearest(wanted, rows)}")
    return str(matches[0])


def _nearest(given: str, rows: list[dict[str, Any]]) -> str:
    names = {str(row["name"]).casefold(): str(row["name"]) for row in rows}
    near = difflib.get_close_matches(given.casefold(), names, n=_NAMES, cutoff=0.4)
    if near:
        return f"did you mean {', '.join(repr(names[name]) for name in near)}?"
    listed = sorted(names.values())[:_NAMES]
    shown = f"there are {', '.join(map(repr, listed))}" if listed else "the account has none"
    return f"{shown}; dialframe campaigns lists them"

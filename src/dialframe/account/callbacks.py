"""Callbacks, which are listed campaign by campaign: which campaigns are asked, and how many at once."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from datetime import UTC, datetime
from threading import Event
from typing import Final

from dialframe.account.freshness import covered
from dialframe.account.lists import LeftOpen, Part, Tally, Work, bring_up, is_due
from dialframe.account.ports import Source
from dialframe.account.threads import side_by_side
from dialframe.account.walk import SOON, SOON_PAGES, Mark, Rule, State, Walk
from dialframe.config import OnProgress
from dialframe.frames.columns import CALLBACKS, CALLS, CAMPAIGNS, LEADS, Table
from dialframe.store import Checkpoint

NO_CAMPAIGNS: Final = "campaigns are not up to date, so callbacks of some may be missing"
_NEVER: Final = datetime.min.replace(tzinfo=UTC)


def bring_up_callbacks(table: Table, source: Source, work: Work, rule: Rule, tally: Tally) -> None:
    """Each campaign's list; those of campaigns that are over or archived only when due.

    A sync that comes within a minute of the last one reads three campaigns at work, those read
    longest ago; the table is then as fresh as the campaign that was read longest ago.

    Raises:
        LeftOpen: Campaigns are not up to date, or a list was left open.
        DialframeError: The service or the store failed.
    """
    started_at = work.now()
    states = _states(table, work)
    own = states.pop(table.name, State())
    # Open until the end: whoever finds it so knows that the last reading was interrupted.
    work.store.save(Checkpoint(table.name, State(own.mark, Walk()).as_json()))
    campaigns = work.store.frame(CAMPAIGNS)
    at_work = set(campaigns.loc[campaigns["status"] != "completed", "id"])
    every = sorted(at_work | work.store.campaign_ids(CAMPAIGNS, LEADS, CALLS, CALLBACKS))
    parts = {campaign: _part(campaign, table, source, rule) for campaign in every}
    wanted = [
        campaign
        for campaign, part in parts.items()
        if is_due(part, states.get(part.name, State()), work.now())
        or (own.walk is not None and campaign in at_work)
    ]
    wanted += _in_turn(at_work.difference(wanted), parts, states, work.now())
    side_by_side(
        [_job(parts[campaign], work, tally) for campaign in wanted],
        work.tell,
        stopped=work.stopped,
    )
    listed_at = covered(CAMPAIGNS, work.store).synced_at
    if listed_at is None or listed_at < work.began_at:
        raise LeftOpen(NO_CAMPAIGNS)
    work.store.save(
        Checkpoint(table.name, State(_whole(table, work, at_work, started_at)).as_json())
    )


def _states(table: Table, work: Work) -> dict[str, State]:
    return {name: State.from_json(value) for name, value in work.store.states(table.name).items()}


def _part(campaign: str, table: Table, source: Source, rule: Rule) -> Part:
    return Part(
        name=f"{table.name}/{campaign}",
        table=table,
        listing=lambda: source.callbacks.list(campaign_id=campaign),
        rule=rule,
        campaign=campaign,
    )


def _in_turn(
    campaigns: set[str], parts: Mapping[str, Part], states: Mapping[str, State], now: datetime
) -> list[str]:
    """Campaigns to be looked at though none is due: all after a minute, else the next three."""
    ended = {one: states[parts[one].name].mark.finished_at or _NEVER for one in campaigns}
    oldest_first = sorted(campaigns, key=lambda one: (ended[one], one))
    rested = [one for one in oldest_first if not now - SOON < ended[one] <= now]
    return oldest_first[: max(SOON_PAGES, len(rested))]


def _job(part: Part, work: Work, tally: Tally) -> Callable[[OnProgress, Event], None]:
    def bring(tell: OnProgress, stopped: Event) -> None:
        del stopped  # it is the one that the work has
        bring_up(part, work.telling(tell), tally)

    return bring


def _whole(table: Table, work: Work, at_work: set[str], started_at: datetime) -> Mark:
    """The table as a whole has been looked at, also where no campaign has a callback."""
    states = _states(table, work)
    read = [
        state.mark.synced_at
        for name, state in states.items()
        if name.partition("/")[2] in at_work and state.mark.synced_at is not None
    ]
    return Mark(synced_at=min([started_at, *read]), reconciled_at=started_at)

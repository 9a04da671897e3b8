"""A look at the campaign for leads whose batch the service could not answer for; sends nothing.

What is in the campaign under the lead's number was taken; under another `external_id` it was there
already. What is not there counts as not taken only when the key is too old to bring an answer any more:
until then it stays unknown.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from datetime import datetime, timedelta
from typing import Any, Final

from dialframe.contract import limits
from dialframe.contract.models.leads import Lead
from dialframe.errors import DialframeError
from dialframe.flows.ledger import Entry, Journal, Standing
from dialframe.flows.outcomes import results

#: Leads of the campaign that were created since an instant.
Look = Callable[[datetime], Iterable[Lead]]

#: How long a key is asked with. The service forgets keys after 24 hours; the minutes are for the way.
_KEY_LIFE: Final = timedelta(hours=limits.IDEMPOTENCY_RETENTION_HOURS) - timedelta(minutes=2)
#: How far the service's clock may be behind this one, where its instants are compared with ours.
_CLOCKS_APART: Final = timedelta(hours=1)


def expired(standing: Standing, now: datetime) -> bool:
    """Whether the service may have forgotten the key, so that asking with it would be a new write."""
    return standing.sent_at is not None and now - standing.sent_at >= _KEY_LIFE


def settle(book: Journal, look: Look, *, leave: Collection[int], now: datetime) -> None:
    """Write down what the campaign shows of the leads of which nothing is known.

    Args:
        book: The journal.
        look: Leads of the campaign created since an instant.
        leave: Batches to leave alone: a later run asks the service about them first.
        now: The present.
    """
    unknown = {
        number: places
        for number in book.sizes
        if number not in leave and (places := _unknown(book, number))
    }
    begins = [book.standing(number).sent_at for number in unknown]
    since = min((at for at in begins if at is not None), default=None)
    if since is None:
        return
    seen: dict[str, list[Lead]] = {}
    try:
        for lead in look(since - _CLOCKS_APART):
            seen.setdefault(lead.phone, []).append(lead)
    except DialframeError:
        return  # What cannot be looked at stays unknown; the next run looks again.
    for number, places in unknown.items():
        _settle(book, number, places, seen, now)


def _unknown(book: Journal, number: int) -> list[int]:
    """Places, among the leads sent, of those of which nothing is known."""
    if book.standing(number).outcome not in ("answer", "unknown", "found"):
        return []
    told = results(book.sent(number), book.facts(number))
    return [at for at, result in enumerate(told) if "status" not in result]


def _settle(
    book: Journal,
    number: int,
    places: Sequence[int],
    seen: Mapping[str, Sequence[Lead]],
    now: datetime,
) -> None:
    standing, facts, sent = book.standing(number), book.facts(number), book.sent(number)
    dead = expired(standing, now)
    shown = [(at, sent[at], seen.get(sent[at]["body"]["phone"], ())) for at in places]
    new = [_result(at, lead, leads) for at, lead, leads in shown if dead or leads]
    if not new:
        return
    kept = [told for told in facts.get("results", ()) if told["index"] not in places]
    book.append(
        "found",
        now,
        {
            "batch": number,
            "key": standing.key,
            "request_id": facts.get("request_id"),
            "results": kept + new,
            "complete": len(new) == len(places),
            "why": facts.get("why", "no_result"),
        },
    )


def _result(index: int, sent: Entry, leads: Sequence[Lead]) -> dict[str, Any]:
    """A result in the service's words, from what the campaign shows."""
    wanted = sent["body"].get("external_id")
    result = {"index": index, "external_id": wanted, "field": None, "lead_id": None}
    if not leads:
        return {**result, "status": "failed", "reason": "not_in_campaign"}
    own = next((lead for lead in leads if lead.external_id == wanted), None)
    if own is None:
        return {**result, "status": "duplicate", "reason": "duplicate_in_campaign"}
    return {**result, "status": "accepted", "reason": None, "lead_id": own.id}

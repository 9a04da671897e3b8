"""Every metric counted anew in plain loops over what happened, from the text of its definition.

Nothing here asks the analyses: rates are what `truth` knows, counted one call, one lead and one
number at a time.
"""

from __future__ import annotations

import statistics
from collections.abc import Callable

from analytics.books import Books, Counted
from analytics.reckoning_rules import missing_disposition, quick_first_dial, speed_to_lead
from analytics.truth import SECOND, Call

Reckoning = Callable[[Books], Counted]


def list_saturation(b: Books) -> Counted:
    """Attempts per lead loaded."""
    k = sum(len(b.by_lead.get(i, ())) for i in b.leads)
    return b.share(k, len(b.leads), **b.unmatched())


def _leads_with(b: Books, true: Callable[[Call], bool]) -> Counted:
    k = sum(any(true(c) for c in b.by_lead.get(i, ())) for i in b.leads)
    return b.share(k, len(b.leads), **b.unmatched())


def _won(b: Books, call: Call) -> bool:
    codes = {"conversion": "SALE", "appointment": "APPT"}
    return call.readable and call.code in {
        codes[name] for name in b.choice("conversions", ("conversion",))
    }


def _first_wins(b: Books) -> int:
    return sum(any(_won(b, c) for c in mine) for mine in b.tries)


def conversion_per_contact(b: Books) -> Counted:
    """First conversions of calls with a person."""
    return b.share(_first_wins(b), sum(c.person for c in b.calls))


def conversion_per_lead(b: Books) -> Counted:
    """Leads converted of leads loaded."""
    return _leads_with(b, lambda c: _won(b, c))


def conversion_per_dial(b: Books) -> Counted:
    """First conversions of attempts."""
    return b.share(_first_wins(b), len(b.calls))


def attempts_to_contact(b: Books) -> Counted:
    """Median attempt of the first person, of leads with one."""
    first = []
    for calls in b.by_lead.values():
        places = [n for n, c in enumerate(calls, 1) if c.person]
        first += places[:1]
    never = len(b.by_lead) - len(first)
    value = statistics.median(first) if first else None
    return Counted(None, len(first), value, b.excluded(never_reached=never, **b.unmatched()))


def talk_time(b: Books) -> Counted:
    """Seconds from answer to end, of answered calls with a length."""
    talks = [c.talk for c in b.calls if c.talk is not None]
    without = sum(c.answered is not None and c.talk is None for c in b.calls)
    return b.share(sum(talks) / SECOND, len(talks), no_length=without)


def short_call_share(b: Books) -> Counted:
    """Talks of a few seconds, of answered calls with a length."""
    limit = b.choice("short_call_s", 6) * SECOND
    talks = [c.talk for c in b.calls if c.talk is not None]
    without = sum(c.answered is not None and c.talk is None for c in b.calls)
    return b.share(sum(t <= limit for t in talks), len(talks), no_length=without)


def ring_time(b: Books) -> Counted:
    """Seconds of ringing, without impossible and queueing ones."""
    rings = [c.ring for c in b.calls]
    known = [r for r in rings if r is not None]
    kept = [r for r in known if 0 <= r <= 120 * SECOND]
    value = statistics.median(kept) / SECOND if kept else None
    return Counted(None, len(kept), value, b.excluded())


Whether = Callable[[Call], bool]


def _any(call: Call) -> bool:
    return True


def _answered(call: Call) -> bool:
    return call.answered is not None


def _bad(call: Call) -> bool:
    return call.code == "ADC"


_OPEN: dict[str, Whether] = {"answered_by_unknown": lambda c: c.unknown}
#: Shares of calls: which are above the line, which below, and which are noted beside it.
OF_CALLS: dict[str, tuple[Whether, Whether, dict[str, Whether]]] = {
    "connection_rate": (_answered, _any, {}),
    # The generator's rejections are blocked on the way.
    "network_effectiveness": (
        lambda c: _answered(c) or c.code in ("B", "NA"), _any,
        {"blocked_on_the_way": lambda c: c.code == "BLOCKED"},
    ),
    "human_contact_rate": (lambda c: c.person, _any, _OPEN),
    "human_contact_rate_valid": (lambda c: c.person, lambda c: not _bad(c), _OPEN | {"bad_number": _bad}),
    "right_party_rate": (lambda c: c.wanted, _any, _OPEN),
    "right_party_per_human": (lambda c: c.wanted, lambda c: c.person, _OPEN),
    "machine_share": (lambda c: c.machine, _any, _OPEN),
    "machine_share_of_answered": (lambda c: c.machine, _answered, _OPEN),
    "bad_number_ratio": (_bad, _any, {}),
}  # fmt: skip
#: Shares of the leads loaded: which of their calls is enough.
OF_LEADS: dict[str, Whether] = {
    "list_penetration": _any,
    "contact_rate": lambda c: c.person,
    "right_party_per_lead": lambda c: c.wanted,
}


def _calls_of(name: str) -> Reckoning:
    above, below, noted = OF_CALLS[name]
    return lambda b: b.share(
        sum(map(above, b.calls)), sum(map(below, b.calls)),
        **{note: sum(map(of, b.calls)) for note, of in noted.items()},
    )  # fmt: skip


def _leads_of(name: str) -> Reckoning:
    return lambda b: _leads_with(b, OF_LEADS[name])


#: Every metric by name.
RECKONINGS: dict[str, Reckoning] = {
    **{name: _calls_of(name) for name in OF_CALLS},
    **{name: _leads_of(name) for name in OF_LEADS},
    **{f.__name__: f for f in (
        list_saturation, conversion_per_contact, conversion_per_lead, conversion_per_dial, attempts_to_contact,
        talk_time, short_call_share, ring_time, speed_to_lead, quick_first_dial, missing_disposition,
    )},
}  # fmt: skip

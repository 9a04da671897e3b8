"""Every metric counted anew in plain loops over what happened, from the text of its definition.

Nothing here asks the analyses: rates are what `truth` knows, counted one call, one lead and one
number at a time.
"""

from __future__ import annotations

import statistics
from collections import Counter
from collections.abc import Callable

from analytics.books import Books, Counted
from analytics.reckoning_rules import (
    abandon_rate_ftc,
    abandon_rate_ofcom,
    appointment_show,
    callback_kept,
    caller_id_answer_drop,
    caller_ids_alerted,
    in_window,
    local_presence_lift,
    missing_disposition,
    quick_first_dial,
    report_delta,
    speed_to_lead,
)
from analytics.truth import SECOND, Call

Reckoning = Callable[[Books], Counted]


def import_acceptance(b: Books) -> Counted:
    """Accepted of received, records whose outcome nobody knows apart."""
    here = [r for r in b.imports if in_window(b, r["created_at"].value // 1_000_000)]
    mine = [r["status"] for r in here if b.campaign in (None, r["campaign_id"])]
    known = [s for s in mine if s != "unknown"]
    refused = Counter(f"refused_{s}" for s in known if s != "accepted")
    unknown = len(mine) - len(known)
    return b.share(known.count("accepted"), len(known), import_unknown=unknown, **refused)


def list_saturation(b: Books) -> Counted:
    """Attempts per lead loaded."""
    k = sum(len(b.by_lead.get(i, ())) for i in b.leads)
    return b.share(k, len(b.leads), **b.unmatched())


def phone_penetration(b: Books) -> Counted:
    """Distinct numbers dialed of distinct numbers loaded."""
    loaded = {b.world.leads[i]["phone"] for i in b.leads}
    return b.share(len(loaded & set(b.by_number)), len(loaded), no_phone=0)


def inventory_penetration(b: Books) -> Counted:
    """Loaded less still dialable, of loaded."""
    cap, going = b.choice("attempt_cap", None), {"new", "callback"}
    if b.choice("recycle_contacted", False):
        going.add("contacted")
    rows = [b.world.leads[i] for i in b.leads]
    open_ = sum(r["status"] in going and (cap is None or r["attempts"] < cap) for r in rows)
    return b.share(len(rows) - open_, len(rows))


def completed_penetration(b: Books) -> Counted:
    """Completed or at the cap, of loaded."""
    cap, rows = b.choice("attempt_cap", None), [b.world.leads[i] for i in b.leads]
    done = [r["status"] == "completed" or (cap is not None and r["attempts"] >= cap) for r in rows]
    return b.share(sum(done), len(rows))


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


def conversion_per_right_party(b: Books) -> Counted:
    """First conversions of calls with the person wanted."""
    return b.share(_first_wins(b), sum(c.wanted for c in b.calls))


def conversion_per_contact(b: Books) -> Counted:
    """First conversions of calls with a person."""
    return b.share(_first_wins(b), sum(c.person for c in b.calls))


def conversion_per_lead(b: Books) -> Counted:
    """Leads converted of leads loaded."""
    return _leads_with(b, lambda c: _won(b, c))


def conversion_per_dial(b: Books) -> Counted:
    """First conversions of attempts."""
    return b.share(_first_wins(b), len(b.calls))


def pass_contact_rate(b: Books) -> Counted:
    """Leads with a person on attempt k, of leads loaded."""
    k = b.choice("pass_number", 1)
    mine = [b.by_lead.get(i, ()) for i in b.leads]
    hit = sum(len(calls) >= k and calls[k - 1].person for calls in mine)
    return b.share(hit, len(b.leads), **b.unmatched())


def pass_hazard(b: Books) -> Counted:
    """Leads first reached on attempt k, of leads that had one and were not reached before."""
    k = b.choice("pass_number", 1)
    waiting = [calls for calls in b.by_lead.values()
               if len(calls) >= k and not any(c.person for c in calls[: k - 1])]  # fmt: skip
    return b.share(sum(c[k - 1].person for c in waiting), len(waiting), **b.unmatched())


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


def duration_meaning(b: Books) -> Counted:
    """Answered calls whose duration is the talk, of those whose duration can tell."""
    talk = whole = unclear = without = 0
    for c in b.calls:
        if c.answered is None:
            continue
        if c.talk is None or c.duration is None or c.ring is None:
            without += 1
            continue
        to_talk = abs(c.duration * SECOND - c.talk)
        to_whole = abs(c.duration * SECOND - c.talk - c.ring)
        if abs(to_talk - to_whole) <= 1_500:
            unclear += 1
        elif to_talk < to_whole:
            talk += 1
        else:
            whole += 1
    return b.share(talk, talk + whole, no_duration=without, both_fit=unclear)


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
    return b.share(sum(kept) / SECOND, len(kept), ring_unknown=len(rings) - len(known),
                   ring_negative=sum(r < 0 for r in known),
                   ring_over_120_s=sum(r > 120 * SECOND for r in known))  # fmt: skip


def bad_number_ratio_numbers(b: Books) -> Counted:
    """Numbers found not in service, of numbers dialed."""
    bad = sum(any(c.code == "ADC" for c in calls) for calls in b.by_number.values())
    return b.share(bad, len(b.by_number))


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
        import_acceptance, list_saturation, phone_penetration, inventory_penetration,
        completed_penetration, conversion_per_right_party, conversion_per_contact, conversion_per_lead,
        conversion_per_dial, pass_contact_rate, pass_hazard, attempts_to_contact, talk_time,
        duration_meaning, short_call_share, ring_time, bad_number_ratio_numbers,
        caller_id_answer_drop, caller_ids_alerted, local_presence_lift, abandon_rate_ftc,
        abandon_rate_ofcom, callback_kept, speed_to_lead, quick_first_dial, appointment_show,
        missing_disposition, report_delta,
    )},
}  # fmt: skip

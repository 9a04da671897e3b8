"""Metrics of caller IDs, rules, promises and trust, counted anew in plain loops over what happened."""

from __future__ import annotations

import statistics
from collections import Counter, defaultdict
from typing import Any

import numpy as np

from analytics.books import Ask, Books, Counted, clock, source, stratum
from analytics.truth import DAY, HOUR, MINUTE, SECOND


def expected_people(b: Books) -> list[float]:
    """The chance that campaign, hour, weekday, attempt, source and local presence give each call.

    Main effects that multiply, fitted here by turns: each level's factor is what it reached over
    what the others let expect (Deming and Stephan, Ann. Math. Stat. 11 (1940) 427-444).
    """
    number = {id(c): n for calls in b.tries for n, c in enumerate(calls, 1)}
    rows = [
        (c.campaign, source(b, c), min(number[id(c)], 8), *clock(b, c), c.ours[:5] == c.theirs[:5])
        for c in b.calls
    ]
    if not rows:
        return []
    codes = [np.unique([str(row[i]) for row in rows], return_inverse=True)[1] for i in range(6)]
    person = np.array([c.person for c in b.calls], dtype=float)
    chance = np.ones(len(rows))
    for _ in range(60):
        for code in codes:
            reached, meant = np.bincount(code, person), np.bincount(code, chance)
            chance *= (reached / np.where(meant > 0, meant, 1.0))[code]
    return [float(value) for value in chance]


def caller_id_answer_drop(b: Books) -> Counted:
    """People that the worst caller ID reached lately, of those that its own past gives reason for."""
    since = b.as_of - b.choice("recent_days", 7) * DAY
    least = b.choice("min_calls", 200)
    tally: dict[str, list[float]] = defaultdict(lambda: [0.0] * 5)
    for c, chance in zip(b.calls, expected_people(b), strict=True):
        mine = tally[c.ours]
        side = 0 if (c.created or 0) > since else 2
        mine[side] += c.person
        mine[side + 1] += chance
        mine[4] += side == 0
    before = {n: sum(c.ours == n and (c.created or 0) <= since for c in b.calls) for n in tally}
    judged = {
        n: (t[0], t[1] * t[2] / t[3]) for n, t in tally.items()
        if t[4] >= least and before[n] >= least and t[2]
    }  # fmt: skip
    few = {"too_few_dials": len(tally) - len(judged)}
    if not judged:
        return Counted(None, None, None, b.excluded(**few))
    k, meant = min(judged.values(), key=lambda pair: pair[0] / pair[1])
    return Counted(k, meant, k / meant, b.excluded(**few))


def caller_ids_alerted(b: Books) -> Counted:
    """The caller ID that was shown as spam, where it made calls enough to be judged."""
    number, since, _ = b.world.flagged
    dials = Counter(c.ours for c in b.calls)
    judged = {n for n, count in dials.items() if count >= b.choice("min_calls", 200)}
    shown = sum(c.ours == number and (c.created or 0) >= since for c in b.calls)
    enough = number in judged and shown >= 200
    return b.share(int(enough), len(judged), too_few_dials=len(dials) - len(judged))


def local_presence_lift(b: Books) -> Counted:
    """Rate with a local caller ID less the rate without, inside source, attempt and local hour."""
    cells: dict[Any, list[list[bool]]] = defaultdict(lambda: [[], []])
    for calls in b.tries:
        for n, c in enumerate(calls, 1):
            cells[stratum(b, c, n)][c.ours[:5] == c.theirs[:5]].append(c.person)
    total = near = far = 0.0
    for others, matched in cells.values():
        if not others or not matched:
            continue
        weight = len(matched) * len(others) / (len(matched) + len(others))
        total += weight
        near += weight * sum(matched) / len(matched)
        far += weight * sum(others) / len(others)
    if not total:
        return Counted(None, None, None, b.excluded())
    return Counted(near / total, far / total, (near - far) / total, b.excluded())


def abandon_rate_ftc(b: Books) -> Counted:
    """Drops of people who answered, in the last days."""
    since = b.as_of - b.choice("abandon_days", 30) * DAY
    recent = [(c.created or 0) > since for c in b.calls]
    people = sum(c.person and new for c, new in zip(b.calls, recent, strict=True))
    if not b.ask.drops:
        return Counted(None, people, None, b.excluded())
    drops = sum(c.code == "HUP" and new for c, new in zip(b.calls, recent, strict=True))
    return b.share(drops, people, older=recent.count(False))


def abandon_rate_ofcom(b: Books) -> Counted:
    """Drops less the machines' part of them, of live answers and these."""
    people = sum(c.person for c in b.calls)
    if not b.ask.drops:
        return Counted(None, people, None, b.excluded())
    drops = sum(c.code == "HUP" for c in b.calls)
    live, machines = people - drops, sum(c.machine for c in b.calls)
    adjusted = drops * (1 - machines / (live + machines))
    return b.share(adjusted, live + adjusted)


def callback_kept(b: Books) -> Counted:
    """Callbacks dialed about their time, of those due and not cancelled; any campaign's call counts."""
    early = b.choice("callback_early_min", 15) * MINUTE
    late = b.choice("callback_late_min", 60) * MINUTE
    everywhere = Books(b.world, Ask(no_campaign=True, as_of=b.ask.as_of), [], [])
    fates = Counter[str]()
    at = {row["id"]: i for i, row in enumerate(b.world.leads)}
    read = everywhere.as_of
    for row in b.world.tables["callbacks"]:
        due = row["scheduled_at"] // 1_000
        if b.campaign not in (None, row["campaign_id"]) or not in_window(b, due):
            continue
        number = b.world.leads[at[row["lead_id"]]]["phone"]
        times = [c.created or 0 for c in everywhere.by_number.get(number, ())]
        if row["status"] == "cancelled":
            fates["cancelled"] += 1
        elif any(due - early <= t <= due + late for t in times):
            fates["kept"] += 1
        elif due + late > read:
            fates["not_due"] += 1
        else:
            fates["missed"] += 1
    return b.share(fates["kept"], fates["kept"] + fates["missed"], not_due=fates["not_due"],
                   cancelled=fates["cancelled"], no_number=0)  # fmt: skip


def in_window(b: Books, at: int) -> bool:
    """Whether an instant, milliseconds, is in the window that is looked at."""
    return (b.ask.since or 0) <= at < (b.ask.until or 2**60)


def _waits(b: Books) -> tuple[list[float], int, int]:
    """Milliseconds to the first dial of each lead, how many had none, and how many too early a one."""
    waits, none, early = [], 0, 0
    for i in b.leads:
        calls = b.by_lead.get(i)
        if not calls:
            none += 1
            continue
        wait = (calls[0].created or 0) - b.world.leads[i]["created_at"] // 1_000
        if wait < 0:
            early += 1
        else:
            waits.append(wait)
    return waits, none, early


def speed_to_lead(b: Books) -> Counted:
    """Median seconds from arrival to first attempt."""
    waits, none, early = _waits(b)
    value = statistics.median(waits) / SECOND if waits else None
    more = {"not_dialed": none, "dialed_before_arrival": early}
    return Counted(None, len(waits), value, b.excluded(**more))


def quick_first_dial(b: Books) -> Counted:
    """Leads dialed within minutes, of leads."""
    waits, _, early = _waits(b)
    quick = sum(w < b.choice("quick_min", 5) * MINUTE for w in waits)
    return b.share(quick, len(b.leads) - early, dialed_before_arrival=early)


def appointment_show(b: Books) -> Counted:
    """Completed, of completed and no-show; of a campaign: those of its numbers."""
    phones = {b.world.leads[i]["phone"] for i in b.leads} | set(b.by_number)
    rows = [r for r in b.world.tables["appointments"] if in_window(b, r["scheduled_at"] // 1_000)]
    mine = [r for r in rows if b.campaign is None or r["phone"] in phones]
    n = Counter(r["status"] for r in mine)
    other = {f"status_{k}": v for k, v in n.items() if k not in ("completed", "no-show")}
    if b.campaign is not None:
        other["appointments_elsewhere"] = len(rows) - len(mine)
    return b.share(n["completed"], n["completed"] + n["no-show"], **other)


def missing_disposition(b: Books) -> Counted:
    """Conversations without an outcome after an hour, of answered calls."""
    length = b.choice("human_length_s", 30) * SECOND
    due = b.as_of - b.choice("disposition_due_h", 1) * HOUR
    blank = [c for c in b.calls if c.talk is not None and c.talk >= length and not c.logged]
    missing = sum((c.ended or 0) < due for c in blank)
    answered = sum(c.answered is not None for c in b.calls)
    return b.share(missing, answered, not_due_yet=len(blank) - missing)


def report_delta(b: Books) -> Counted:
    """How much the report and the calls differ over days, campaigns and codes, of the report."""
    there, here = Counter[tuple[str, str, str]](), Counter[tuple[str, str, str]]()
    for row in b.report:
        day = int(np.datetime64(row["date"], "ms").astype(np.int64))
        inside = (b.ask.since or 0) <= day and day + DAY <= (b.ask.until or 2**60)
        if inside and b.campaign in (None, row["campaign_id"]):
            there[row["date"], row["campaign_id"] or "", row["disposition"] or ""] += row["calls"]
    days = {key[0] for key in there}
    for c in b.world.calls:
        if c.inbound or c.created is None or c.aside in ("duplicate", "direction_unknown"):
            continue
        if b.campaign not in (None, c.campaign):
            continue
        date = str(np.datetime64(c.created, "ms").astype("datetime64[D]"))
        if date in days:
            here[date, c.campaign or "", c.logged or ""] += 1
    why = Counter[str]()
    off = Counter[tuple[str, str]]()
    more, less = Counter[tuple[str, str]](), Counter[tuple[str, str]]()
    for key in there.keys() | here.keys():
        gap = there[key] - here[key]
        off[key[:2]] += abs(gap)
        (more if gap > 0 else less)[key[:2]] += abs(gap)
    for group in off:
        moved = min(more[group], less[group])
        why["late_edit"] += 2 * moved
        why["gap"] += more[group] - moved
        why["surplus"] += less[group] - moved
    # Every code of this account is written by both, so that none is `unmapped` in this sense.
    names = ("direction", "time_zone_edge", "unmapped", "late_edit", "gap", "surplus")
    explained = {f"explained_{name}": why[name] for name in names}
    return b.share(sum(off.values()), sum(there.values()), **explained)

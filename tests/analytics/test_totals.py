"""The same calls and leads are counted everywhere, however they are cut: by function, and in notebooks."""

from __future__ import annotations

import inspect
from collections import Counter
from collections.abc import Callable, Iterable
from functools import cache
from typing import Any

import pandas as pd

from analytics.books import Ask, Books, clock, lead_source
from analytics.everything import EVERYTHING, Account, as_table
from analytics.synthetic import framed
from analytics.test_ground_truth import _calls
from analytics.truth import Call, world
from dialframe import analytics
from rows import every_row

#: Outcome classes of the generator's codes, by hand.
CLASSES = {
    "ADC": "disconnected", "CG": "network_fail", "BLOCKED": "blocked_or_rejected", "B": "busy",
    "NA": "no_answer", "A": "machine", "AA": "machine", "HUP": "early_hangup",
    "NP": "right_party_neutral", "WN": "wrong_number", "GATE": "gatekeeper_third_party",
    "NI": "not_interested", "CALLBK": "callback", "NQ": "right_party_neutral",
    "XFER": "right_party_neutral", "APPT": "appointment", "SALE": "conversion",
    "DNC": "dnc_request", "LB": "right_party_neutral",
}  # fmt: skip

#: Accounts by name: seed, and whether calls are added that no rate counts or that fit nothing.
ACCOUNTS = {"as generated": (11, False), "with odd rows": (12, True)}


@cache
def books(name: str, *, no_campaign: bool = False) -> Books:
    """What really happened."""
    seed, odd = ACCOUNTS[name]
    return Books(world(seed, "tiny", odd=odd), Ask(no_campaign=no_campaign), [], [])


@cache
def account(name: str) -> Account:
    """Its frames."""
    made = books(name).world
    tables = {n: framed(n, pd.DataFrame(rows)) for n, rows in made.tables.items()}
    campaigns = tables["campaigns"]
    return Account(
        _calls(made), tables["leads"], tables["callbacks"], tables["appointments"],
        events=tables["events"],
        imports=pd.DataFrame({"status": ["accepted"] * len(made.leads) + ["invalid", None]}),
        campaigns=campaigns.assign(_observed_at=campaigns["created_at"]),
    )  # fmt: skip


@cache
def answer(kind: str, name: str) -> Any:
    """What a function says of an account."""
    return EVERYTHING[name](account(kind))


def outcome(call: Call) -> str:
    """The outcome class of a call, as far as the account can know."""
    if call.logged == "ZZTOP":
        return "unmapped"
    return "connected_unknown" if call.unknown else CLASSES[call.code]


class Totals:
    """Counts of one account by whatever it can be cut by."""

    def __init__(self, b: Books, everywhere: Books) -> None:
        self.b, self.everywhere = b, everywhere
        self.given = len(b.world.calls)
        self.loaded = len(b.world.leads)
        self.attempts = len(b.calls)
        self.orphans = sum(bool(c.orphan) for c in b.calls)
        self.people = sum(c.person for c in b.calls)
        self.leads = {kind: sum(any(map(true, b.by_lead.get(i, ()))) for i in b.leads)
                      for kind, true in KINDS.items()}  # fmt: skip

    def of(self, key: Callable[[Call], Any], only: str = "attempted") -> dict[Any, int]:
        """Calls by a key, of a kind."""
        return dict(Counter(key(c) for c in self.b.calls if KINDS[only](c)))

    def of_leads(
        self, only: str = "", by: Callable[[int], Any] = lambda i: "all"
    ) -> dict[Any, int]:
        """Leads by a key, with a call of a kind."""
        mine = [i for i in self.b.leads
                if not only or any(map(KINDS[only], self.b.by_lead.get(i, ())))]  # fmt: skip
        return dict(Counter(by(i) for i in mine))


KINDS: dict[str, Callable[[Call], bool]] = {
    "attempted": lambda c: True,
    "connected": lambda c: c.answered is not None,
    "human": lambda c: c.person,
    "right_party": lambda c: c.wanted,
    "positive": lambda c: c.wanted and c.code in ("APPT", "SALE"),
    "appointment": lambda c: c.wanted and c.code == "APPT",
    "conversion": lambda c: c.wanted and c.code == "SALE",
    "machine": lambda c: c.machine,
    "unknown": lambda c: c.unknown and c.logged != "ZZTOP",
}


@cache
def totals(name: str) -> Totals:
    """Those of an account."""
    return Totals(books(name), books(name, no_campaign=True))


#: What each function says and what it must be, as pairs.
Pairs = Iterable[tuple[Any, Any]]


def campaign_of(call: Call) -> str | None:
    """Its campaign."""
    return call.campaign


def column(frame: pd.DataFrame, key: str, value: str) -> dict[Any, int]:
    """Sums of a column by another one, without zeros."""
    found = frame.groupby(key, dropna=False)[value].sum()
    return {None if pd.isna(k) else k: int(n) for k, n in found.items() if int(n)}


def note(found: Any, reason: str, unit: str = "calls") -> int:
    """A count of the table of exclusions."""
    rows = found.excluded
    return int(rows.loc[(rows["reason"] == reason) & (rows["unit"] == unit), "count"].iloc[0])


def of_attempts(t: Totals, found: Any) -> Pairs:
    table = found.table
    number = [n for calls in t.b.tries for n, c in enumerate(calls, 1)]
    yield column(table, "attempt", "attempts"), {str(k): v for k, v in Counter(number).items()}
    yield table["people"].sum(), t.people
    yield table["numerator"].sum(), sum(any(c.person for c in mine) for mine in t.b.tries)


def of_attempts_frame(t: Totals, found: Any) -> Pairs:
    yield len(found), t.attempts
    yield sum(found.attrs["set_aside"].values()), t.given - t.attempts
    yield found["human"].fillna(value=False).sum(), t.people
    yield (
        found["attempt"].value_counts().to_dict(),
        dict(Counter(n for calls in t.b.tries for n, _ in enumerate(calls, 1))),
    )
    yield (
        found["campaign_id"].value_counts().to_dict(),
        {k: n for k, n in t.of(campaign_of).items() if k is not None},
    )


def of_hours(t: Totals, found: Any) -> Pairs:
    sure = [c for c in t.b.calls if clock(t.b, c)[0] < 24]
    hours = Counter(f"{clock(t.b, c)[0]}:00" for c in sure)
    table = found.table
    yield column(table[table["dimension"] == "hour"], "level", "denominator"), dict(hours)
    yield table.groupby("dimension")["denominator"].sum().tolist(), [len(sure)] * 2
    yield table.groupby("dimension")["numerator"].sum().tolist(), [sum(c.person for c in sure)] * 2
    cells = found.tables["cells"]
    assert cells["denominator"].sum() == len(sure)
    yield len(sure) + note(found, "unclear_hour") + note(found, "no_zone"), t.attempts


def of_caller_ids(t: Totals, found: Any) -> Pairs:
    yield column(found.table, "from_number", "denominator"), t.of(lambda c: c.ours)
    yield column(found.table, "from_number", "numerator"), t.of(lambda c: c.ours, "human")
    yield found.tables["series"]["denominator"].sum(), t.attempts


def of_carriers(t: Totals, found: Any) -> Pairs:
    yield column(found.table, "campaign_id", "attempts"), t.of(campaign_of)
    yield column(found.table, "campaign_id", "answered"), t.of(campaign_of, "connected")


def of_changes(t: Totals, found: Any) -> Pairs:
    both = found.table.assign(n=found.table["denominator"] + found.table["denominator_before"],
                              k=found.table["numerator"] + found.table["numerator_before"])  # fmt: skip
    yield column(both, "campaign_id", "n"), t.of(campaign_of)
    yield column(both, "campaign_id", "k"), t.of(campaign_of, "human")


def of_cohorts(t: Totals, found: Any) -> Pairs:
    first = found.table[found.table["age"] == 1]
    yield first["denominator"].sum(), t.loaded


def of_compare(t: Totals, found: Any) -> Pairs:
    row = found.table.iloc[0]
    for side in "ab":
        mine = row[side]
        yield row[f"denominator_{side}"], t.of(campaign_of).get(mine, 0)
        yield row[f"numerator_{side}"], t.of(campaign_of, "human").get(mine, 0)


def of_completeness(t: Totals, found: Any) -> Pairs:
    rows = found.table.set_index("check")
    yield rows.loc["no_start", "of"], t.given
    yield rows.loc["calls_without_lead", "of"], t.given
    yield rows.loc["attempted_leads_without_calls", "of"], t.loaded
    yield rows.loc["repeated_id", "count"], t.b.sorted_out[1]["duplicate"]


def of_dispositions(t: Totals, found: Any) -> Pairs:
    yield column(found.table, "disposition", "calls"), t.of(lambda c: c.logged)
    yield set(found.table["denominator"]), {t.attempts}


def of_duplicates(t: Totals, found: Any) -> Pairs:
    phones = Counter(row["phone"] for row in t.b.world.leads)
    yield found.tables["spread"]["numbers"].sum(), len(phones)
    calls = Counter(c.theirs for c in t.everywhere.calls)
    meant = {p: calls[p] for p, n in phones.items() if n > 1 and calls[p]}
    yield column(found.table, "phone", "attempts"), meant


def of_forecast(t: Totals, found: Any) -> Pairs:
    # What it learns from is a part of the calls: those of worked days that are over.
    learned = t.attempts - note(found, "no_history")
    yield 0 <= learned <= t.attempts, True
    weeks = found.tables["backtest"]
    yield weeks["contacts"].le(t.people).all(), True


def of_funnel(t: Totals, found: Any) -> Pairs:
    counts = dict(zip(found.table["stage"], found.table["count"], strict=True))
    for stage in ("attempted", "connected", "human", "right_party", "positive"):
        yield counts[stage], t.leads[stage]
    yield counts["loaded"], t.loaded
    yield note(found, "counted"), t.attempts - t.orphans


def of_machines(t: Totals, found: Any) -> Pairs:
    yield column(found.table, "campaign_id", "denominator"), t.of(campaign_of, "connected")
    yield column(found.table, "campaign_id", "numerator"), t.of(campaign_of, "machine")
    yield column(found.table, "campaign_id", "unknown"), t.of(campaign_of, "unknown")


def of_match(t: Totals, found: Any) -> Pairs:
    yield len(found.table), t.given
    known = found.table["lead_id"].notna().to_numpy()
    ids = [row["id"] for row in t.b.world.leads]
    meant = [None if c.orphan else ids[c.lead] for c in t.b.world.calls]
    yield (
        [a for a, ok in zip(found.table["lead_id"], known, strict=True) if ok],
        [m for m, ok in zip(meant, known, strict=True) if ok],
    )
    yield int(known.sum()), sum(m is not None for m in meant)


def of_metrics(t: Totals, found: Any) -> Pairs:
    rows = found.table.set_index("metric")
    yield (
        rows.loc["human_contact_rate", ["numerator", "denominator"]].tolist(),
        [t.people, t.attempts],
    )
    yield (
        rows.loc["contact_rate", ["numerator", "denominator"]].tolist(),
        [t.leads["human"], t.loaded],
    )


def of_rank(t: Totals, found: Any) -> Pairs:
    # Every lead with a number is over, held or listed.
    yield note(found, "over", "leads") + len(found.tables["held"]) + len(found.table), t.loaded
    tried = Counter(c.lead for c in t.b.calls if not c.orphan)
    ids = {row["id"]: i for i, row in enumerate(t.b.world.leads)}
    held = found.tables["held"]
    yield held["attempt"].tolist(), [tried[ids[lead]] + 1 for lead in held["lead_id"]]


def of_recycle(t: Totals, found: Any) -> Pairs:
    pairs = Counter(outcome(c) for calls in t.b.tries for c in calls[:-1])
    pairs["connected_unknown"] += pairs.pop("unmapped", 0)
    yield column(found.table, "outcome", "denominator"), dict(+pairs)
    yield found.tables["after_attempt"]["denominator"].sum(), t.attempts - len(t.b.tries)
    yield found.table["numerator"].sum(), sum(c.person for calls in t.b.tries for c in calls[1:])


def of_scorecard(t: Totals, found: Any) -> Pairs:
    def by(lead: int) -> str:
        return str(t.b.world.leads[lead]["campaign_id"])

    table = found.table
    yield column(table, "campaign_id", "leads"), t.of_leads(by=by)
    for name, kind in (("attempted", "attempted"), ("reached", "human"),
                       ("right_party", "right_party"), ("positive", "positive"),
                       ("appointments", "appointment"), ("conversions", "conversion")):  # fmt: skip
        yield column(table, "campaign_id", name), t.of_leads(kind, by)
    yield table["attempts"].sum(), t.attempts - t.orphans


def of_speed_to_lead(t: Totals, found: Any) -> Pairs:
    yield found.table["denominator"].sum(), t.loaded
    rows = found.table.set_index("delay")
    yield rows.loc["not dialed", "denominator"], t.loaded - t.leads["attempted"]
    yield found.table["numerator"].sum(), t.leads["positive"]
    yield found.tables["groups"]["leads"].sum(), t.loaded


def of_summary(t: Totals, found: Any) -> Pairs:
    rows = found.table.set_index("metric")
    for name, kind in (("connection_rate", "connected"), ("human_contact_rate", "human"),
                       ("right_party_rate", "right_party"), ("machine_share", "machine")):  # fmt: skip
        yield rows.loc[name, "numerator"], sum(t.of(campaign_of, kind).values())
        yield rows.loc[name, "denominator"], t.attempts


def of_time_to_contact(t: Totals, found: Any) -> Pairs:
    groups = found.tables["groups"]
    entered = groups["leads"].sum()
    yield entered + note(found, "not_entered", "leads"), t.loaded
    yield entered, t.leads["attempted"]
    ends = groups[["contact", "dnc", "invalid", "waiting", "given_up"]].sum().sum()
    yield ends, entered


def of_classify(t: Totals, found: Any) -> Pairs:
    yield len(found.table), t.given
    counted = {c.id for c in t.b.calls}
    said = Counter(
        "unmapped" if odd else name
        for c, name, odd in zip(
            t.b.world.calls, found.table["outcome"], found.table["unmapped"], strict=True
        )
        if c.id in counted and c.aside != "duplicate"
    )
    yield dict(said), t.of(outcome)


def of_reconcile(t: Totals, found: Any) -> Pairs:
    yield found.table["calls"].sum(), found.parameters["difference"]


#: By what is counted: the functions above, each with the name of an analysis behind `of_`.
TOTALS: dict[str, Callable[[Totals, Any], Pairs]] = {
    name.removeprefix("of_"): function for name, function in list(globals().items())
    if name.startswith("of_")
}  # fmt: skip

#: Analyses that count calls outside campaigns too, because promises and lengths are kept there.
EVERYWHERE = {"completeness", "duplicates", "reconcile"}


def test_every_public_function_is_counted() -> None:
    """A public function that takes calls, leads or imports has its totals here."""
    public = {
        name for name in analytics.__all__
        if inspect.isfunction(found := getattr(analytics, name))
        and {"calls", "leads", "imports"} & set(inspect.signature(found).parameters)
    }  # fmt: skip
    assert public == set(TOTALS) == set(EVERYTHING)


@every_row("name", TOTALS)
@every_row("kind", ACCOUNTS)
def test_a_function_counts_what_all_others_count(kind: str, name: str) -> None:
    """Its sums by campaign, class, hour, source and whatever it cuts by are those of the truth."""
    pairs = list(TOTALS[name](totals(kind), answer(kind, name)))
    assert pairs
    for place, (said, meant) in enumerate(pairs):
        assert said == meant, place


#: These say something of each call, also of one that came in.
OF_EVERY_CALL = {"classify", "match"}


@every_row("name", TOTALS)
@every_row("kind", ACCOUNTS)
def test_what_is_counted_and_set_aside_is_all(kind: str, name: str) -> None:
    """Every call given is counted or has one reason, the same one in every function."""
    found = answer(kind, name)
    excluded = getattr(found, "excluded", None)
    if excluded is None:
        assert isinstance(as_table(found), pd.DataFrame)
        return
    b = books(kind, no_campaign=name in EVERYWHERE)
    rows = excluded[
        (excluded["unit"] == "calls") & excluded["role"].isin(["counted", "set aside"])
    ]
    said = {r["reason"]: r["count"] for r in rows.to_dict("records") if r["count"]}
    meant = {k: n for k, n in b.sorted_out[1].items() if n}
    orphans = Counter(c.orphan for c in b.calls if c.orphan)
    if name == "funnel":
        meant |= {{"no_lead": "unmatched"}.get(k, k): n for k, n in orphans.items()}
    meant["counted"] = len(b.calls) - (sum(orphans.values()) if name == "funnel" else 0)
    if name in OF_EVERY_CALL:
        meant = {"counted": len(b.world.calls)}
    assert said == meant
    assert sum(said.values()) == len(b.world.calls)


def test_a_funnel_in_parts_is_the_funnel() -> None:
    """By source, by campaign and by region the leads of each stage sum to those of the whole."""
    made, b = account("with odd rows"), books("with odd rows")
    whole = dict(zip(*analytics.funnel(made.calls, made.leads).table[["stage", "count"]]
                     .to_dict("list").values(), strict=True))  # fmt: skip
    for by in ("lead_source", "campaign_id", "region", "status"):
        parts = analytics.funnel(made.calls, made.leads, by=by).table
        assert column(parts, "stage", "count") == {k: n for k, n in whole.items() if n}
    source = analytics.scorecard(made.calls, made.leads).table
    said = {r["lead_source"]: r["leads"] for r in source.to_dict("records")}
    assert said == dict(Counter(lead_source(b, i) for i in b.leads))

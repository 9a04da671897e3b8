"""What analyses must not say: each a statement that an earlier version made of an account without it."""

from __future__ import annotations

import json
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from functools import partial

import numpy as np
import pandas as pd
import pytest
from matplotlib.figure import Figure

from claims.agent_worlds import Shop, lived
from claims.bench import CLAIMING
from claims.other_worlds import Dialer, played
from claims.worlds import START_US, Switches, World, made
from dialframe import analytics
from dialframe.analytics.attempt.attempt_table import (
    count_attempts,
)

WEB_FIRST = Switches(web_first=True, source_effect=3.0, ladders=True)
MIDDLE = datetime.fromtimestamp(START_US / 1e6 + 4 * 7 * 86_400, UTC)


def _kinds(result: analytics.Result) -> set[str]:
    return {claim.kind for claim in result.claims}


def test_waiting_costs_nothing_where_only_the_web_form_is_dialed_fast() -> None:
    """A fall of the raw rate with the wait is the source, and is not stated as the cost of waiting."""
    fell, stated = 0, 0
    for seed in range(8):
        world = made(seed, WEB_FIRST)
        result = analytics.speed_to_lead(world.calls, world.leads, goal="human")
        table = result.table[result.table["denominator"] > 100]
        fell += float(table["rate"].iloc[0]) > 1.3 * float(table["rate"].iloc[-1])
        stated += any(c.kind == "difference" and (c.effect or 0) > 0 for c in result.claims)
    assert fell == 8
    assert stated <= 1


def test_a_negative_answer_says_what_would_have_been_seen() -> None:
    """`no difference` alone is not an answer: the claim carries a size, and the sentence says it."""
    world = made(1, Switches(hour=1.14))
    result = analytics.hours(world.calls, world.leads)
    for claim in result.claims:
        assert claim.kind == "none"
        assert claim.detectable > 0
        assert "would have been seen" in claim.text


@pytest.mark.parametrize("seed", [9_000_006, 9_000_007, 9_000_018])
def test_a_dozen_people_are_too_few_to_hold_everything_still(seed: int) -> None:
    """Where what is held still takes nearly all hits, nothing is judged: 104 points were claimed once."""
    tiny = Switches(leads=120, frailty=0.8, shifts=True, ladders=True, season=0.5, callers=3)
    world = made(seed, tiny)
    waits = analytics.speed_to_lead(world.calls, world.leads, goal="human")
    for result in (waits, analytics.hours(world.calls, world.leads)):
        assert _kinds(result) == {"none"}


#: What an analysis took for an effect once, in worlds where it is none: seeds, and most false claims.
MERELY_LIKE_IT = {
    "the highest of the hours": (analytics.hours, Switches(), 10, 1),
    "two lists on different shifts": (
        analytics.hours, Switches(shifts=True, campaign_effect=2.5), 10, 2,
    ),
    "places that answer less, dialed by the clock of the office": (
        analytics.hours, Switches(areas=0.6, office=True), 10, 1,
    ),
    "days that are better than others": (
        analytics.hours, Switches(days=0.6, campaigns=2, leads=3000), 5, 1,
    ),
    "a ladder of gaps": (
        analytics.recycle, Switches(ladders=True, frailty=1.0, attempt=0.85), 10, 1,
    ),
    "the extremes of eighty sources": (analytics.scorecard, Switches(sources=80, leads=3000), 6, 1),
    "the last attempt of each lead, in sixty small campaigns": (
        analytics.hours, Switches(campaigns=60, leads=2400), 3, 0,
    ),
    "the rest of a week in which campaigns paused": (
        partial(analytics.changes, alpha=0.05, min_calls=60),
        Switches(stops=0.3, until=40, days=0.6, leads=2400, campaigns=6), 8, 2,
    ),
    "outcomes that are logged days after the call": (
        partial(analytics.changes, alpha=0.05, min_calls=60), Switches(delay=3.0, until=46, leads=3000, campaigns=2), 4, 1,
    ),
    "numbers of a poor campaign": (
        partial(analytics.caller_ids, min_calls=100),
        Switches(bound=True, campaign_effect=0.4, leads=2400), 6, 1,
    ),
}  # fmt: skip


@pytest.mark.parametrize("name", MERELY_LIKE_IT)
def test_what_merely_looks_like_an_effect_is_claimed_by_hardly_an_account(name: str) -> None:
    """Campaign, place, day, attempt and the number of questions are held still."""
    ask, switches, seeds, most = MERELY_LIKE_IT[name]
    worlds = (made(seed, switches) for seed in range(seeds))
    assert sum(bool(_kinds(ask(w.calls, w.leads)) & CLAIMING) for w in worlds) <= most


def test_an_evening_shift_is_not_held_against_a_campaign() -> None:
    """Who was tried at good hours and not reached is hard to reach: no fault of the campaign."""
    evening = Switches(campaigns=2, leads=6000, hour=2.5, shifts=True, ladders=True, frailty=2.0)
    worlds = (made(s, evening) for s in range(10, 14))
    differences = [
        float(analytics.compare(w.calls, w.leads, a="cmp_0", b="cmp_1").table["adjusted"].iloc[0])
        for w in worlds
    ]
    assert abs(np.mean(differences)) < 0.009  # two errors of the mean; -0.016 by attempt alone


def test_a_loss_of_the_stated_size_is_seen() -> None:
    """Of caller IDs too, whose chance of a false alarm is shared."""
    small = Switches(leads=800, callers=5)
    null = analytics.caller_ids(made(0, small).calls, made(0, small).leads, min_calls=100)
    lost = null.claims[0].detectable or 0.0
    ill = replace(small, sick=0.2, sick_keeps=1 - lost, sick_from=0)
    worlds = [made(seed, ill) for seed in range(5)]
    seen = [
        w.sick <= {c.subject for c in analytics.caller_ids(w.calls, w.leads, min_calls=100).claims}
        for w in worlds
    ]
    assert sum(seen) >= 3  # 2 of 5 or fewer would be one time in 17 at a power of 80%


def test_half_the_pool_sick_hides_no_sick_number() -> None:
    """The baseline is made of the healthy ones."""
    hit = total = wrong = 0
    for seed in range(4):
        world = made(seed, Switches(sick=0.5, leads=3000))
        accused = {c.subject for c in
                   analytics.caller_ids(world.calls, world.leads, min_calls=100).claims
                   if c.kind == "alarm"}  # fmt: skip
        hit += len(accused & world.sick)
        wrong += len(accused - world.sick)
        total += len(world.sick)
    assert hit >= 0.6 * total
    assert wrong <= 1


def test_numbers_that_take_turns_by_the_day_are_not_sick_for_poor_days() -> None:
    """A campaign's poor days are no fault of the number that dialed on them: all of eight were alarmed."""
    alarmed = 0
    for seed in range(4):
        world = made(seed, Switches(days=0.8, campaigns=3, callers=9))
        calls, names = world.calls, np.sort(world.calls["from_number"].unique())
        day = (calls["created_at"] - calls["created_at"].min()).dt.days
        turn = (day // 3 + 3 * calls["campaign_id"].str[-1].astype(int)) % len(names)
        calls = calls.assign(from_number=pd.array(names[turn.to_numpy(int)], dtype="str"))
        alarmed += "alarm" in _kinds(analytics.caller_ids(calls, world.leads, min_calls=100))
    assert alarmed <= 1


def test_numbers_that_belong_to_lists_are_not_sick_for_poor_lists() -> None:
    """Lists of unlike quality that came together, each with numbers of its own: nine accounts in ten were alarmed."""
    shop = Shop(quality=0.5, lunch=0.35, own_callers=True, mood=0.15)
    accounts = (lived(seed, shop) for seed in range(700_000, 700_004))
    asked = (analytics.caller_ids(a.calls, a.leads, min_calls=100) for a in accounts)
    assert sum("alarm" in _kinds(result) for result in asked) <= 1


def test_reached_is_what_was_where_dead_numbers_compete() -> None:
    """The curve drawn is the incidence; one minus Kaplan-Meier stands beside it and is higher."""
    world = made(1, Switches(dead=0.3))
    result = analytics.time_to_contact(world.calls, world.leads)
    last = result.table.iloc[-1]
    share = result.tables["groups"].iloc[0]
    assert last["reached"] < last["without_other_ends"]
    assert last["reached"] == pytest.approx(share["contact"] / share["leads"], abs=0.03)


def test_leads_that_nobody_dials_any_more_are_not_waiting() -> None:
    """Those idle for long are given up, and the sentence says how many."""
    world = made(1, Switches())
    later = pd.Timestamp(world.calls["created_at"].max()) + pd.Timedelta(days=90)
    groups = analytics.time_to_contact(world.calls, world.leads, as_of=later).tables["groups"]
    assert int(groups["waiting"].sum()) == 0
    assert int(groups["given_up"].sum()) > 0


ASKED = {
    "summary": lambda w, at: analytics.summary(w.calls, as_of=at),
    "hours": lambda w, at: analytics.hours(w.calls, w.leads, as_of=at),
    "attempts": lambda w, at: analytics.attempts(w.calls, w.leads, as_of=at),
    "carriers": lambda w, at: analytics.carriers(w.calls, as_of=at),
    "scorecard": lambda w, at: analytics.scorecard(w.calls, w.leads, as_of=at),
}


@pytest.mark.parametrize("name", ASKED)
@pytest.mark.parametrize(
    "at", [MIDDLE, MIDDLE.isoformat(), MIDDLE.date()], ids=["at", "text", "day"]
)
def test_a_past_as_of_does_not_count_the_future(name: str, at: object) -> None:
    """The same as if the later calls and leads were not there."""
    world = made(1, Switches(leads=400))
    instant = MIDDLE if isinstance(at, (str, datetime)) else pd.Timestamp(at, tz="UTC")
    known = World(world.calls[world.calls["ended_at"] <= instant],
                  world.leads[world.leads["created_at"] <= instant], world.chance, {})  # fmt: skip
    assert 0 < len(known.calls) < len(world.calls)
    got, expected = ASKED[name](world, at), ASKED[name](known, at)
    pd.testing.assert_frame_equal(got.table, expected.table)


def test_a_window_numbers_attempts_over_the_whole_history() -> None:
    """The first attempt in a window is not attempt 1 of a lead that was tried before."""
    world = made(1, Switches())
    whole = analytics.attempts_frame(world.calls, world.leads).set_index("call_id")["attempt"]
    part = analytics.attempts_frame(world.calls, world.leads, since=MIDDLE).set_index("call_id")
    assert (part["attempt"] == whole.loc[part.index]).all()
    assert (part["attempt"] > 1).mean() > 0.5
    table = analytics.attempts(world.calls, world.leads, since=MIDDLE).table
    assert table["attempts"].tolist() == part["attempt"].value_counts().sort_index().tolist()


def test_one_number_has_one_name_and_one_interval() -> None:
    """Headline rates are the metrics of their names, bounds and all."""
    world = made(1, Switches(leads=500))
    table = analytics.summary(world.calls, world.leads).table.set_index("metric")
    metrics = analytics.metrics(world.calls, world.leads).table.set_index("metric")
    for name, row in table.iterrows():
        assert (
            metrics.loc[name, ["value", "low", "high"]].tolist()
            == row[["rate", "low", "high"]].tolist()
        )


def test_a_title_is_made_of_claims() -> None:
    """The answer is the claims' texts and nothing else, in the picture too."""
    world = made(1, Switches(leads=500))
    result = analytics.hours(world.calls, world.leads)
    assert result.answer == ". ".join(claim.text for claim in result.claims)
    assert result.to_dict()["claims"][0]["kind"] == result.claims[0].kind
    axes = Figure().subplots()
    drawn = result.plot(ax=axes)
    assert drawn.alt.startswith(result.answer)
    assert axes.has_data()


def test_looking_every_day_keeps_the_level() -> None:
    """With the planned number of calls an early look needs far more than 5%."""
    world = made(1, Switches())
    names = sorted(world.calls["campaign_id"].unique())[:2]
    early = analytics.compare(
        world.calls, world.leads, a=names[0], b=names[1], planned_calls=20_000
    )
    assert float(str(early.parameters["level"])) < 0.005


def test_sixty_looks_share_one_chance_of_a_false_alarm() -> None:
    """An account without a change, looked at each day: sixty looks ask for more evidence each than one."""
    world = made(107, Switches(leads=4_000, weeks=12, campaigns=2, callers=5))
    days = [datetime.fromtimestamp(START_US / 1e6 + day * 86_400, UTC) for day in (27, 29, 31)]
    ask = partial(analytics.changes, world.calls, world.leads, min_calls=60)
    single = [ask(as_of=day) for day in days]
    assert all("one look" in result.warnings[0] for result in single)
    shared = [ask(as_of=day, looks=60, alpha=0.05) for day in days]
    one_look = ask(as_of=days[-1], alpha=0.05)
    assert _detectable(shared[-1]) > _detectable(one_look)
    assert not any("alarm" in _kinds(result) for result in shared)
    assert not any("one look" in warning for result in shared for warning in result.warnings)
    numbers = partial(analytics.caller_ids, world.calls, world.leads, min_calls=100)
    losses = [numbers(looks=looks).claims[0].detectable or 0.0 for looks in (1, 60)]
    assert losses[0] < losses[1]


def _detectable(result: analytics.Result) -> float:
    return max(claim.detectable or 0.0 for claim in result.claims)


def test_a_whole_pool_is_never_called_sick() -> None:
    """Where hardly a number is left to compare with, the suspicion was wrong, not every number."""
    world = made(6_000_068, Switches())
    alarms = analytics.caller_ids(world.calls, world.leads, min_calls=100).claims
    assert {claim.kind for claim in alarms} == {"none"}


def test_a_change_is_sought_where_outcomes_are_in() -> None:
    """Of two days' mean delay the last days are set aside, and the balance says how many calls."""
    world = made(2, Switches(delay=2.0, until=46, leads=2400, lately=0.1, campaigns=2))
    found = count_attempts(world.calls, world.leads, taxonomy=analytics.DEFAULT)
    assert 0.02 < 1 - found.mature.mean() < 0.35
    result = analytics.changes(world.calls, world.leads, alpha=0.05, recent=timedelta(days=9))
    notes = result.excluded.set_index("reason")["count"]
    assert notes["not_logged_yet"] == (~found.mature).sum()
    known = made(2, Switches(until=46, leads=2400, campaigns=2))
    assert count_attempts(known.calls, known.leads, taxonomy=analytics.DEFAULT).mature.all()


def test_campaigns_are_scored_inside_their_sources_and_sources_of_one_campaign_are_not() -> None:
    """A campaign is not compared with itself, and no source takes the credit of the campaign it belongs to."""
    world = made(3, Switches(leads=1500, campaign_effect=1.6))
    found = analytics.scorecard(world.calls, world.leads, by="campaign_id")
    assert found.claims[0].subject == "cmp_0"
    assert found.claims[0].effect == pytest.approx(world.truth["campaign"], abs=0.025)
    assert found.claims[0].adjusted_for[0] == "source"
    own = world.leads["campaign_id"].map(lambda name: json.dumps({"lead_source": f"of {name}"}))
    nested = analytics.scorecard(world.calls, world.leads.assign(custom_fields=own.astype("str")))
    assert nested.answer.startswith("What sources are worth cannot be judged")
    assert set(nested.table["verdict"]) == {"not comparable"}


def test_a_list_worked_from_its_best_lead_on_has_no_best_hour() -> None:
    """Where leads keep their place in the day, neither hour nor weekday nor wait is judged."""
    best = played(3, Dialer(order="sorted", shared=0.2))
    waits = analytics.speed_to_lead(best.calls, best.leads, goal="human")
    for result in (analytics.hours(best.calls, best.leads), waits):
        about = [c for c in result.claims if c.subject in ("hour", "weekday", "wait")]
        assert about
        assert all(
            c.kind == "none" and "leads keep their place in the day" in c.text for c in about
        )
    compared = analytics.compare(best.calls, best.leads, a="k0", b="k1")
    assert compared.claims[0].kind == "none"
    # Campaigns that open at other hours have other leads at the same hour.
    assert "leads keep their place in the day" in compared.answer
    fresh = played(3, Dialer(order="new", shared=0.2))
    assert "keep their place" not in analytics.hours(fresh.calls, fresh.leads).answer
    assert "keep their place" not in (
        analytics.compare(fresh.calls, fresh.leads, a="k0", b="k1").answer
    )

"""Experiments: the draw is stable and even, and a difference is claimed too often neither at one look nor at all."""

from __future__ import annotations

import subprocess
import sys
from datetime import UTC, datetime
from functools import partial
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

from dialframe import experiments
from dialframe.errors import ConfigError
from dialframe.evidence import EvidenceLog

LEADS = pd.DataFrame(
    {"phone": [f"+1212555{i:04d}" for i in range(3000)], "source": ["web", "fair", "list"] * 1000}
)


def played(
    rng: np.random.Generator, gain: float, days: int = 40, a_day: int = 400
) -> pd.DataFrame:
    """Trials of two arms, on days that are not alike: a day is good or bad for both."""
    day = np.repeat(np.arange(days), a_day)
    arm = rng.integers(0, 2, len(day))
    chance = 0.12 * np.exp(rng.normal(0, 0.4, days))[day] + gain * arm
    return pd.DataFrame(
        {"arm": np.where(arm, "b", "a"), "day": day, "hit": rng.random(len(day)) < chance}
    )


def test_the_same_lead_has_the_same_arm() -> None:
    """Whatever the order, and whoever comes later; another name is another draw."""
    arm = experiments.assign(LEADS, ["a", "b"], seed="hours")
    again = experiments.assign(LEADS.iloc[::-1].head(1000), ["a", "b"], seed="hours")
    assert (arm[again.index] == again).all()
    other = experiments.assign(LEADS, ["a", "b"], seed="scripts")
    assert 0.4 < (arm == other).mean() < 0.6


@pytest.mark.parametrize("arms", [["a", "b"], {"a": 3, "b": 1}, ["a", "b", "c"]])
def test_each_stratum_is_split_as_asked(arms: list[str] | dict[str, float]) -> None:
    """No stratum is more than one lead off."""
    arm = experiments.assign(LEADS, arms, by="source", seed="x")
    shares = arms if isinstance(arms, dict) else dict.fromkeys(arms, 1)
    for _, part in arm.groupby(LEADS["source"]):
        for name, share in shares.items():
            assert abs((part == name).sum() - len(part) * share / sum(shares.values())) <= 1
    assert experiments.sample_ratio(arm, arms).fair


def test_a_draw_that_lost_leads_is_not_trusted() -> None:
    """One arm lacks a fifth of its leads."""
    arm = experiments.assign(LEADS, ["a", "b"], seed="x")
    lost = arm.drop(arm[arm == "b"].index[::5])
    assert "nothing may be compared" in experiments.sample_ratio(lost, ["a", "b"]).text


def test_daily_looks_claim_no_more_than_promised() -> None:
    """Who looks every fourth day and stops at a claim has a false one in at most one account of twenty."""
    rng = np.random.default_rng(1)
    false = 0
    for _ in range(30):
        trials = played(rng, 0.0)
        false += any(
            experiments.difference(trials[trials["day"] < until], "a", "b").differs
            for until in range(10, 41, 4)
        )
    assert false <= 2


def test_power_is_held() -> None:
    """The days that it says show the difference four times out of five, and the interval holds the truth."""
    days, words = experiments.power(0.13, 400, 5)
    assert days is not None
    assert (
        words
        == f"with your 400 leads a day, {days} days for 5 points (seen four times out of five)"
    )
    rng = np.random.default_rng(2)
    found = [experiments.difference(played(rng, 0.05, days), "a", "b") for _ in range(50)]
    assert sum(each.differs for each in found) >= 35
    assert sum((each.low or 0) <= 0.05 <= (each.high or 0) for each in found) >= 47


def test_nothing_is_said_of_too_little() -> None:
    """Few days, one arm, no known outcome: no number, and why."""
    trials = played(np.random.default_rng(3), 0.0)
    for few in (trials[trials["day"] < 9], trials[trials["arm"] == "a"], trials.assign(hit=None)):
        said = experiments.difference(few, "a", "b")
        assert (said.effect, said.low, said.high, said.differs) == (None, None, None, False)
        assert "cannot be compared yet" in said.text


def test_wrong_arms_are_refused() -> None:
    """One arm, a share of nothing, a column that is not there."""
    for arms in (["a"], {"a": 1, "b": 0}, "ab"):
        with pytest.raises(ConfigError, match="arms"):
            experiments.assign(LEADS, arms, seed="x")
    with pytest.raises(ConfigError, match="no column 'list'"):
        experiments.assign(LEADS, ["a", "b"], by="list", seed="x")


@pytest.mark.parametrize(
    "order",
    [
        "import dialframe; import pandas as pd",
        "import dialframe, importlib.util as u; u.find_spec('pandas'); import pandas as pd",
        "import pandas as pd; import dialframe",
    ],
)
def test_frames_have_dial_in_either_order(order: str) -> None:
    """And `import dialframe` alone loads no pandas."""
    code = (
        "import sys; import dialframe as d; assert 'pandas' not in sys.modules\n" if order.startswith("import dialframe")
        else ""
    ) + order + (
        "\nframe = pd.DataFrame({'phone': ['(212) 555-0101', 'x']}, index=[5, 9])\n"
        "made = frame.dial.normalize(region='US')\n"
        "assert made.index.tolist() == [5, 9] and made['e164'][5] == '+12125550101'\n"
        "assert frame['phone'].dial.normalize(region='US').equals(made)"
    )  # fmt: skip
    subprocess.run([sys.executable, "-W", "error", "-c", code], check=True)


def test_who_was_drawn_once_keeps_the_arm(tmp_path: Path) -> None:
    """Whatever leads come later, in strata too; other arms under the same name are refused."""
    log, now = EvidenceLog.beside(tmp_path), datetime(2026, 3, 2, tzinfo=UTC)
    draw = partial(experiments.enroll, log, by="source", seed="hours", now=now)
    first = draw(LEADS.head(300), ["a", "b"])
    whole = draw(LEADS, ["a", "b"])
    assert (whole[first.index] == first).all()
    assert experiments.sample_ratio(whole, ["a", "b"]).fair
    records = list(EvidenceLog.beside(tmp_path).records(["experiment"]))
    assert len(records) == LEADS["phone"].nunique()
    assert {record.detail["arm"] for record in records} == {"a", "b"}
    assert (draw(LEADS, ["a", "b"]) == whole).all()
    assert len(list(log.records(["experiment"]))) == len(records)
    with pytest.raises(ConfigError, match="was begun with arms"):
        draw(LEADS, {"a": 2, "b": 1})

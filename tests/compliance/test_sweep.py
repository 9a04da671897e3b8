"""The sweep of very many calls against the audit of one at a time: the same grades."""

from __future__ import annotations

from datetime import timedelta

import numpy as np
import pandas as pd
from hypothesis import given, settings
from hypothesis import strategies as st

from compliance import hand
from dialframe import compliance
from dialframe.compliance import rulebook
from dialframe.compliance.sweep import NAMES, sweep
from dialframe.phones.placing import as_integers

BOOK = rulebook.load().select(["us", "us-*", "gb", "au"])
PHONES = st.sampled_from(
    [hand.NEW_YORK, hand.FLORIDA_PANHANDLE, "+14075550142", "+13175550142", hand.LONDON,
     "+61255500123", hand.TOLL_FREE, "+14055550142", "unknown"]
)  # fmt: skip
MOMENTS = st.integers(0, 4000).map(
    lambda n: hand.utc("2026-01-01T00:30") + timedelta(minutes=37 * n)
)


@settings(max_examples=12)
@given(
    st.lists(
        st.tuples(PHONES, MOMENTS, st.sampled_from(["cmp_1", "cmp_2", None])),
        min_size=1,
        max_size=60,
    ),
    st.lists(st.tuples(PHONES, MOMENTS, st.booleans()), max_size=25),
)
def test_the_sweep_grades_as_the_audit_does(calls: list, checks: list) -> None:  # type: ignore[type-arg]
    """Hours, caps, ages and listed numbers of drawn calls and checks."""
    rows = [hand.call(p, at, id=f"c{n}", campaign_id=c) for n, (p, at, c) in enumerate(calls)]
    ledger = [hand.check(at, phone=p, listed=said) for p, at, said in checks if p != "unknown"]
    audit = compliance.audit(
        hand.leads(),
        hand.calls(*rows),
        hand.checks(*ledger),
        now=hand.utc("2027-01-01"),
        rulebook=BOOK,
    )
    frame, told = hand.calls(*rows), hand.checks(*ledger)
    found = sweep(
        as_integers(frame["to_number"]), _us(frame["created_at"]),
        pd.factorize(frame["campaign_id"])[0].astype(np.int32),
        as_integers(told["phone"]), _us(told["checked_at"]),
        told["listed"].to_numpy(dtype=bool), book=BOOK,
    )  # fmt: skip
    names = np.array(NAMES, dtype=object)
    assert names[found.hours].tolist() == audit.hours["grade"].tolist()
    assert names[found.scrub].tolist() == audit.coverage.calls["grade"].tolist()
    capped = audit.parts["attempts"]
    asked = capped["attempts"].notna().to_numpy()
    assert names[found.attempts][asked].tolist() == capped["grade"][asked].tolist()
    findings = audit.findings[audit.findings["check"] == "listed_number"].set_index("call_id")[
        "grade"
    ]
    wanted = [findings.get(f"c{n}", "pass") for n in range(len(rows))]
    assert names[found.listed].tolist() == wanted


def _us(at: pd.Series) -> np.ndarray:  # type: ignore[type-arg]
    return at.dt.tz_localize(None).to_numpy(dtype="datetime64[us]").astype(np.int64)

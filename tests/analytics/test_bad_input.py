"""Whatever an account holds, every analysis gives a right answer or a plain refusal, without a warning."""

from __future__ import annotations

import json
import os
from collections.abc import Callable
from dataclasses import replace
from datetime import date, datetime, timedelta, timezone
from functools import cache
from typing import Any

import numpy as np
import pandas as pd
import pytest

from analytics.everything import EVERYTHING, Account, as_table
from analytics.made import START, appointment, appointments, call, calls, lead, leads
from dialframe import analytics, frames, plots
from dialframe.analytics.attempt.argument_checks import as_frame
from dialframe.errors import ConfigError, DialframeError
from rows import every_row


def _callbacks() -> pd.DataFrame:
    rows = [
        {"id": "cb_1", "lead_id": "lead_1", "campaign_id": "cmp_spring", "status": "pending",
         "scheduled_at": START, "created_at": START - timedelta(days=1)},
        {"id": "cb_2", "lead_id": None, "campaign_id": "cmp_spring", "status": "weird",
         "scheduled_at": None, "created_at": None},
    ]  # fmt: skip
    return frames.from_records(frames.CALLBACKS, rows)


def _mixed_offsets() -> pd.DataFrame:
    frame = calls(call(1), call(2, 3, answered=True))
    for name in ("created_at", "answered_at", "ended_at"):
        frame[name] = frame[name].dt.tz_convert("America/New_York")
    return frame


def _as_text(*, utc: bool) -> pd.DataFrame:
    """Instants as some files have them: text with an offset of its own in each row, or none."""
    frame = calls(call(1), call(2, 3, answered=True), call(3, 5, answered=True, disposition="NI"))
    for name in ("created_at", "answered_at", "ended_at"):
        at = frame[name]
        zones = ["America/New_York", "Europe/Berlin", "Asia/Kolkata"]
        frame[name] = pd.array([
            None if pd.isna(t) else t.isoformat() if utc else t.tz_convert(z).isoformat()
            for t, z in zip(at, zones, strict=True)
        ], dtype="str")  # fmt: skip
    return frame


def _objects() -> pd.DataFrame:
    frame = calls(call(1), call(2, 3, answered=True, disposition="NI"))
    for name in ("created_at", "answered_at", "ended_at"):
        zones = ["America/New_York", "Europe/Berlin"]
        frame[name] = pd.Series([
            None if pd.isna(t) else t.tz_convert(z).to_pydatetime()
            for t, z in zip(frame[name], zones, strict=True)
        ], dtype=object)  # fmt: skip
    return frame


def _naive() -> pd.DataFrame:
    frame = calls(call(1), call(2, 3, answered=True, disposition="NI"))
    for name in ("created_at", "answered_at", "ended_at"):
        frame[name] = frame[name].dt.tz_localize(None)
    return frame


def _categories() -> pd.DataFrame:
    frame = calls(
        *(call(i, i, answered=i > 2, disposition="NI" if i > 2 else None) for i in range(6))
    )
    names = ("direction", "campaign_id", "disposition", "from_number", "to_number", "status")
    return frame.astype(dict.fromkeys(names, "category"))


ACCOUNTS: dict[str, Account] = {
    "empty": Account(calls(), leads()),
    "one call": Account(calls(call(1, answered=True, disposition="NI")), leads(lead(1))),
    "one unanswered call": Account(calls(call(1)), leads(lead(1))),
    "all nulls": Account(
        calls(*({"id": f"call_{i}"} for i in range(3))), leads(*({"id": f"lead_{i}"} for i in range(3)))
    ),
    "no dispositions in one campaign": Account(
        calls(
            *(call(i, i, answered=True, disposition="NI") for i in range(5)),
            *(call(i, i, answered=True, campaign_id="cmp_x") for i in range(5, 10)),
        ),
        leads(*(lead(i, campaign_id="cmp_spring" if i < 5 else "cmp_x") for i in range(10))),
    ),
    "unknown codes only": Account(
        calls(*(call(i, i, answered=True, disposition="QQ", hangup_cause="??", status="!") for i in range(4))),
        leads(*(lead(i) for i in range(4))),
    ),
    "negative durations": Account(
        calls(call(1, answered=True, duration_seconds=-5, ended_at=START - timedelta(hours=1))),
        leads(lead(1)),
    ),
    "answered before created": Account(
        calls(call(1, answered_at=START - timedelta(minutes=5)), call(2)), leads(lead(1), lead(2))
    ),
    "duplicates": Account(
        calls(call(1), call(1), call(1, 2, answered=True), call(1, 2, answered=True)),
        leads(lead(1), lead(1)),
    ),
    "mixed offsets": Account(_mixed_offsets(), leads(lead(1), lead(2))),
    "offsets as text": Account(_as_text(utc=False), leads(lead(1), lead(2), lead(3))),
    "instants as text": Account(_as_text(utc=True), leads(lead(1), lead(2), lead(3))),
    "offsets as objects": Account(_objects(), leads(lead(1), lead(2))),
    "no time zone": Account(_naive(), leads(lead(1), lead(2))),
    "categories": Account(_categories(), leads(*(lead(i) for i in range(6)))),
    "no numbers, and one listed": Account(
        calls(*(call(i, i / 5, to_number=None, from_number=None) for i in range(5)),
              call(7, 1, answered=True, disposition="DNC"), call(7, 700)),
        leads(lead(7)),
    ),
    "leads without calls": Account(calls(), leads(*(lead(i) for i in range(5)))),
    "calls without leads": Account(calls(*(call(i, i) for i in range(5))), leads()),
    "only inbound": Account(calls(call(1, direction="inbound")), leads(lead(1))),
    "odd numbers": Account(
        calls(call(1, to_number="anonymous", from_number=None), call(2, to_number="+442079460001"),
              call(3, to_number="")),
        leads(lead(1, phone="anonymous"), lead(2, phone=None)),
    ),
    "broken events": Account(
        calls(call(1, answered=True)), leads(lead(1)), _callbacks(),
        appointments(appointment(1, 1), {"id": "appt_x"}),
        events=frames.from_records(frames.EVENTS, [
            {"id": "evt_1", "type": "disposition.logged", "data": json.dumps({"call_id": None})},
            {"id": "evt_2", "type": "ai_call.completed", "data": "not json"},
            {"id": "evt_3", "type": None, "data": None},
        ]),
        report=frames.from_records(frames.DISPOSITIONS, [
            {"date": None, "campaign_id": None, "disposition": None, "calls": None},
            {"date": "2026-03-02", "campaign_id": "cmp_spring", "disposition": "NI", "calls": 3},
        ]),
        imports=pd.DataFrame({"status": ["accepted", None, "unknown"]}),
    ),
}  # fmt: skip


def _arrow(frame: pd.DataFrame) -> Any:
    import pyarrow as pa

    return pa.Table.from_pandas(frame, preserve_index=False)


#: Frames that are taken: those of others, and calls that no service would give.
TAKEN: dict[str, Callable[[Account], Account]] = {
    "polars calls, Arrow leads": lambda a: replace(
        a, calls=pytest.importorskip("polars").from_pandas(a.calls), leads=_arrow(a.leads)
    ),
    "calls of pandas on Arrow": lambda a: replace(
        a, calls=a.calls.convert_dtypes(dtype_backend="pyarrow")
    ),
    "no ids, two kinds of text, nanoseconds": lambda a: replace(
        a,
        calls=a.calls.assign(
            id=np.nan, disposition=pd.Series([1, "NI"] * 5, dtype=object),
            created_at=a.calls["created_at"].dt.as_unit("ns"),
        ).set_index(["status", "direction"], drop=False),
        leads=a.leads.assign(id=np.nan),
    ),
    "no ids and no lengths": lambda a: replace(
        a, calls=a.calls.drop(columns=["id", "duration_seconds"])
    ),
    "leads of no columns": lambda a: replace(a, leads=pd.DataFrame()),
    "leads that came at no time": lambda a: replace(a, leads=a.leads.drop(columns="created_at")),
    "custom fields as dicts": lambda a: replace(
        a, leads=a.leads.assign(custom_fields=[{"lead_source": "web"}] * len(a.leads))
    ),
    "custom fields that are none": lambda a: replace(
        a, leads=a.leads.assign(custom_fields=(["{not JSON", "[1]", "4", None, "{}"] * len(a.leads))[: len(a.leads)])
    ),
    "calls before 1970": lambda a: replace(
        a, calls=a.calls.assign(created_at=a.calls["created_at"] - pd.Timedelta(days=90_000))
    ),
    "a report of no day": lambda a: replace(
        a, report=pd.DataFrame({"date": ["soon"], "campaign_id": ["c"], "disposition": ["A"],
                                "calls": [1]})
    ),
}  # fmt: skip
OTHERS = {
    kind: change(ACCOUNTS["no dispositions in one campaign"]) for kind, change in TAKEN.items()
}


# Every function is asked of every account. Unless DIALFRAME_EVERY_ACCOUNT is set, a third each of
# those accounts that are much like another one, and of the slowest function, which computes all
# metrics twice.
WHOLE = "DIALFRAME_EVERY_ACCOUNT" in os.environ
ALIKE = {"one unanswered call", "only inbound", "no time zone", "categories", "instants as text"}
PAIRS = [
    (kind, name)
    for i, kind in enumerate(ACCOUNTS | OTHERS)
    for j, name in enumerate(EVERYTHING)
    if WHOLE or kind not in ALIKE or (i + j) % 3 == 0
    # It reads the campaigns of a frame of pandas itself.
    if kind not in OTHERS or name != "compare"
]


@cache
def _asked(kind: str, name: str) -> Any:
    """What an analysis says of an account; several tests read it."""
    return EVERYTHING[name]((ACCOUNTS | OTHERS)[kind])


@every_row(("kind", "name"), PAIRS)
def test_every_analysis_on_every_account(kind: str, name: str) -> None:
    """An answer that can be printed, saved and true, or one of our errors; a warning would be an error."""
    try:
        found: Any = _asked(kind, name)
        if name == "funnel" and kind in OTHERS:
            assert str(analytics.funnel(OTHERS[kind].calls, OTHERS[kind].leads, by="lead_source"))
    except DialframeError as error:
        words = str(error)
        if len(words) > 20:
            return
        raise
    assert str(found)
    table = as_table(found)
    if found is not table:
        assert json.dumps(found.to_dict(), allow_nan=False)
    for part in (table, *getattr(found, "tables", {}).values()):
        _can_be_true(part)


def _can_be_true(table: pd.DataFrame) -> None:
    """Counts are not negative, parts are not more than the whole, intervals hold their rates."""
    numbers = {
        n: values.to_numpy(float, na_value=np.nan) for n, values in table.items() if values.dtype.kind in "iufb"
    }  # fmt: skip
    assert not any(np.isinf(values).any() for values in numbers.values())
    for name in COUNTS & numbers.keys():
        assert not (numbers[name] < 0).any(), name
    if {"numerator", "denominator", "rate"} <= numbers.keys():
        assert not (numbers["numerator"] > numbers["denominator"]).any()
        assert (np.isnan(numbers["rate"]) | (numbers["denominator"] > 0)).all()
    for name in SHARES & numbers.keys():
        assert not ((numbers[name] < 0) | (numbers[name] > 1)).any(), name
    if {"rate", "low", "high"} <= numbers.keys():
        assert not (numbers["low"] > numbers["rate"] + 1e-9).any()
        assert not (numbers["high"] < numbers["rate"] - 1e-9).any()


COUNTS = {"numerator", "denominator", "calls", "leads", "attempts", "answered", "count", "dials"}
SHARES = {"rate", "share", "shrunk", "adjusted", "cumulative", "asr", "ner"}


@pytest.mark.parametrize("kind", ACCOUNTS)
def test_every_metric_of_every_account_can_be_true(kind: str) -> None:
    """A share is of its denominator, in its interval; without a denominator there is no value."""
    if kind in REFUSED:
        with pytest.raises(DialframeError, match=REFUSED[kind]):
            _metrics(kind)
        return
    for row in _metrics(kind).reset_index().to_dict("records"):
        value, low, high = row["value"], row["low"], row["high"]
        assert pd.notna(value) == (pd.isna(row["why_null"])), row["metric"]
        if pd.notna(value) and row["unit"] == "share":
            assert 0 <= row["numerator"] <= row["denominator"], row["metric"]
        if pd.notna(value) and pd.notna(low):
            assert low - 1e-9 <= value <= high + 1e-9, row["metric"]


#: Accounts whose instants cannot be told, and what is said of them.
REFUSED = {
    "offsets as text": "holds str where instants are needed",
    "instants as text": "holds str where instants are needed",
    "offsets as objects": "holds object where instants are needed",
}


@cache
def _metrics(kind: str) -> pd.DataFrame:
    table = _asked(kind, "metrics").table.set_index("metric")
    assert isinstance(table, pd.DataFrame)
    return table


#: What the accounts must say, by hand: account, metric, numerator, denominator.
RIGHT = [
    ("empty", "contact_rate", 0, 0),
    ("one call", "human_contact_rate", 1, 1),
    ("all nulls", "human_contact_rate", 0, 0),
    ("all nulls", "list_penetration", 0, 3),
    ("no dispositions in one campaign", "human_contact_rate", 5, 10),
    ("unknown codes only", "connection_rate", 4, 4),
    ("unknown codes only", "human_contact_rate", 0, 4),
    ("negative durations", "talk_time", 0, 0),
    ("negative durations", "short_call_share", 0, 0),
    ("answered before created", "connection_rate", 1, 2),
    ("duplicates", "connection_rate", 1, 2),
    ("mixed offsets", "connection_rate", 1, 2),
    ("leads without calls", "list_penetration", 0, 5),
    ("calls without leads", "human_contact_rate", 0, 5),
    ("calls without leads", "list_penetration", 0, 0),
    ("only inbound", "connection_rate", 0, 0),
    # Calls to no number are attempts, and of no number.
    ("no numbers, and one listed", "connection_rate", 1, 7),
    ("categories", "human_contact_rate", 3, 6),
    ("no time zone", "human_contact_rate", 1, 2),
]


@pytest.mark.parametrize(("kind", "name", "numerator", "denominator"), RIGHT)
def test_the_answer_is_right(kind: str, name: str, numerator: float, denominator: float) -> None:
    """What a person counts in these few rows."""
    row = _metrics(kind).loc[name]
    assert (row["numerator"], row["denominator"]) == (numerator, denominator)


DRAWN = [
    (kind, name)
    for i, kind in enumerate(ACCOUNTS)
    for j, name in enumerate(n for n in EVERYTHING if n in plots.__all__)
    if WHOLE or (i + 3 * j) % 17 == 0
]


@every_row(("kind", "name"), DRAWN)
def test_an_answer_can_be_drawn(kind: str, name: str) -> None:
    """Whatever was answered has a picture with words, without a warning; a part of all, in turn."""
    try:
        found = _asked(kind, name)
    except DialframeError as error:
        if len(str(error)) > 20:
            return
        raise
    assert str(getattr(plots, name)(found).alt).endswith(".")


@every_row("name", EVERYTHING)
def test_order_and_index_of_rows_do_not_matter(name: str) -> None:
    """Rows as pages bring them, newest first and with the index of each page, say the same."""
    made = ACCOUNTS["no dispositions in one campaign"]
    other = replace(made, calls=_paged(made.calls), leads=_paged(made.leads))
    said, again = _asked("no dispositions in one campaign", name), EVERYTHING[name](other)
    if name in ("attempts_frame", "classify", "match"):
        said, again = as_table(said), as_table(again)
        assert said.iloc[::-1].reset_index(drop=True).equals(again.reset_index(drop=True))
        return
    if said is as_table(said):
        assert said.equals(again)
        return
    said, again = said.to_dict(), again.to_dict()
    for found in (said, again):
        found.pop("tables", None)  # lists of ids are in the order of the rows
    assert said == again


def _paged(frame: pd.DataFrame) -> pd.DataFrame:
    pages = [
        frame.iloc[::-1].iloc[k : k + 4].reset_index(drop=True) for k in range(0, len(frame), 4)
    ]
    return pd.concat(pages)


@every_row("name", EVERYTHING)
def test_an_empty_account_has_the_columns_of_a_full_one(name: str) -> None:
    """Columns and dtypes do not depend on the data."""
    if name == "compare":
        with pytest.raises(DialframeError, match="there are no campaigns"):
            EVERYTHING[name](ACCOUNTS["empty"])
        return
    empty, full = (as_table(_asked(k, name)) for k in ("empty", "one call"))
    assert empty.dtypes.astype(str).to_dict() == full.dtypes.astype(str).to_dict()


#: What is refused, and words that the refusal has.
NOT_TAKEN: dict[str, tuple[Callable[[Account], Account], str]] = {
    "a list": (lambda a: replace(a, calls=[1, 2]), "not a frame"),
    "a dict": (lambda a: replace(a, calls={"id": [1]}), "not a frame"),
    "nothing": (lambda a: replace(a, calls=None), "not a frame"),
    "a column": (lambda a: replace(a, calls=a.calls["id"]), "not a frame"),
    "an array": (lambda a: replace(a, calls=a.calls.to_numpy()), "not a frame"),
    "a lazy frame": (
        lambda a: replace(a, calls=pytest.importorskip("polars").from_pandas(a.calls).lazy()),
        "not a frame",
    ),
    "no columns": (lambda a: replace(a, calls=pd.DataFrame()), r"calls frame has no column '\w+'"),
    "leads for calls": (lambda a: replace(a, calls=a.leads, leads=a.calls), r"\(calls, leads\)|no column"),
    "other columns": (
        lambda a: replace(a, calls=a.calls.rename(columns=str.upper)), r"calls frame has no column '\w+'",
    ),
    "a column twice": (
        lambda a: replace(a, calls=pd.concat([a.calls, a.calls[["id"]]], axis=1)), "twice",
    ),
    "whole numbers for phones": (
        lambda a: replace(a, calls=a.calls.assign(to_number=range(len(a.calls)))), r"E\.164",
    ),
    "numbers for phones": (
        lambda a: replace(a, calls=a.calls.assign(to_number=0.5)), r"E\.164",
    ),
    "numbers for dispositions": (
        lambda a: replace(a, calls=a.calls.assign(disposition=7)), "where text is needed",
    ),
    "infinite seconds": (
        lambda a: replace(a, calls=a.calls.assign(duration_seconds=np.inf)), "infinite seconds",
    ),
    "text for seconds": (
        lambda a: replace(a, calls=a.calls.assign(duration_seconds="long")), "seconds are needed",
    ),
}  # fmt: skip


#: Asks that take no calls, or read the campaigns of a frame of pandas themselves.
_BESIDE = {"import_outcomes", "compare"}
#: Those that say something of leads without calls.
_WITHOUT_CALLS = {"duplicates"}


@pytest.mark.parametrize("kind", NOT_TAKEN)
def test_what_is_no_frame_of_calls_is_refused_in_words(kind: str) -> None:
    """By every analysis, and the words say what is wrong."""
    change, words = NOT_TAKEN[kind]
    given = change(ACCOUNTS["no dispositions in one campaign"])
    asked = EVERYTHING.keys() - _BESIDE - (_WITHOUT_CALLS if kind == "nothing" else set())
    for name in asked:
        with pytest.raises(DialframeError, match=words):
            EVERYTHING[name](given)


PARAMETERS = [
    (dict.fromkeys(["since"], since), None)
    for since in ("2026-03-01", date(2026, 3, 1), START, START.isoformat(), pd.Timestamp(START))
] + [
    ({"since": "yesterday"}, "since"),
    ({"since": START.replace(tzinfo=None)}, "zone"),
    ({"as_of": 5}, "as_of"),
    ({"min_calls": "many"}, "not a number"),
    ({"min_calls": -1}, "out of bounds"),
    ({"alpha": 5}, "probability"),
    ({"campaign": 7}, "not text"),
    ({"taxonomy": "default"}, "Taxonomy"),
    ({"window": 30}, "window"),
    ({"min_calls": None}, "min_calls=None"),
    ({"min_calls": float("inf")}, "no number|whole number"),
    ({"alpha": 1e-300}, "probability"),
    ({"most": 0}, "1 to 1,000"),
    ({"most": 10**9}, "1 to 1,000"),
]


@pytest.mark.parametrize(("given", "words"), PARAMETERS)
def test_thresholds_and_times_are_taken_or_refused_in_words(
    given: dict[str, Any], words: str | None
) -> None:
    """A day, an instant and their texts mean the same; all else is named in the refusal."""
    account = ACCOUNTS["one call"]
    ask = {"window": analytics.funnel, "most": analytics.attempts}.get(
        next(iter(given)), analytics.hours
    )
    if words is None:
        assert len(ask(account.calls, account.leads, **given).table)
        return
    with pytest.raises(DialframeError, match=words):
        ask(account.calls, account.leads, **given)


DAY = timedelta(days=1)
#: Arguments that some other functions refuse, and words that the refusal has.
REFUSED_BY: list[tuple[Callable[..., Any], dict[str, Any], str]] = [
    (analytics.carriers, {"limits": 5}, "limits=5"),
    (analytics.carriers, {"limits": (1.0,)}, "limits"),
    (analytics.cohorts, {"ages": 10**9}, "1 to 1,000"),
    (analytics.compare, {"a": None, "b": "cmp_b"}, "a=None"),
    (analytics.time_to_contact, {"idle_days": float("inf")}, "no number"),
    (
        analytics.time_to_contact,
        {"entry": "birth"},
        "entry='birth' is not known; use first_dial, import",
    ),
    (analytics.speed_to_lead, {"goal": "fame"}, "goal='fame' is not known; use positive"),
    (analytics.metrics, {"names": 5}, "names=5"),
    (analytics.metrics, {"names": ("fame",)}, "'fame' is not known"),
    (analytics.metrics, {"names": ("occupancy",)}, "cannot be had: agents' states"),
    (analytics.metrics, {"taxonomy": None}, "no Taxonomy"),
    (analytics.metrics, {"campaign": ["cmp_a"]}, "not text"),
    (analytics.metrics, {"campain": "cmp_a"}, "campain.*takes calls, leads"),
    (analytics.metrics, {"by": pd.Index(["campaign_id"])}, "names no column"),
    (analytics.funnel, {"window": timedelta.max}, "10,000,000 days at most"),
    (analytics.hours, {"as_of": datetime.max.replace(tzinfo=timezone(-DAY / 2))}, "year 9999"),
    (analytics.attempts, {"most": 10**400}, "1 to 1,000"),
    (
        analytics.scorecard,
        {"by": "campaign_id", "imports": pd.DataFrame({"campaign_id": ["cmp_a"]})},
        "imports frame has no column 'status'",
    ),
    (
        analytics.time_to_contact,
        {"campaigns": pd.DataFrame({"status": ["completed"]})},
        "campaigns frame has no column 'id'",
    ),
]


@pytest.mark.parametrize(("function", "given", "words"), REFUSED_BY)
def test_what_a_function_cannot_use_is_refused_in_words(
    function: Callable[..., Any], given: dict[str, Any], words: str
) -> None:
    """Never a traceback of what is inside."""
    account = ACCOUNTS["one call"]
    with pytest.raises(DialframeError, match=words):
        function(account.calls, account.leads, **given)


def test_what_a_picture_cannot_use_is_refused_in_words() -> None:
    """A look that is none, axes that are none, names that are none and another analysis's result."""
    account = ACCOUNTS["one call"]
    found = analytics.hours(account.calls, account.leads)
    draw: Any = plots.hours
    for given, words in (
        ({"look": "x"}, "light or dark"), ({"look": []}, "light or dark"), ({"ax": "x"}, "not axes of matplotlib"),
        ({"campaigns": 5}, "not a frame"), ({"campaigns": account.calls}, "no column 'name'"),
    ):  # fmt: skip
        with pytest.raises(DialframeError, match=words):
            draw(found, **given)
    pictures: Any = plots
    for name in ("funnel", "funnel_by", "scorecard"):
        for other in (None, found, account.calls):
            with pytest.raises(DialframeError, match="draws the result of"):
                getattr(pictures, name)(other)
    with pytest.raises(DialframeError, match="is int, not a frame"):
        pictures.calling_hours(5)


#: Tables by the name of the argument that takes them.
TABLES = {
    "calls": frames.CALLS, "leads": frames.LEADS, "callbacks": frames.CALLBACKS,
    "events": frames.EVENTS, "report": frames.DISPOSITIONS,
}  # fmt: skip
#: What a column of three rows may hold that it should not, or only in another dtype.
CELLS: dict[str, Any] = {
    "whole numbers": [1, 2, 3], "numbers": [0.5, 1, 2], "flags": [True, False, True],
    "complex": [1j, 2, 3], "infinity": [np.inf, 1, 2], "too many": [10**18, 1, 2],
    "beyond 64 bits": pd.Series([10**40, 1, 2], dtype=object),
    "text": ["zzz", "", " "], "digits": ["1", "2", None], "a surrogate": pd.Series(["\ud800"] * 3, dtype=object),
    "bytes": pd.Series([b"x"] * 3, dtype=object), "lists": pd.Series([[1], [], None], dtype=object),
    "dicts": pd.Series([{"a": 1}, {}, None], dtype=object), "things": pd.Series([object()] * 3, dtype=object),
    "two kinds": pd.Series([1, "a", None], dtype=object), "a number in place of a phone": pd.Series([12125550100, None, "+1"], dtype=object),
    "days": pd.Series([date(2026, 3, 2)] * 3, dtype=object), "lengths of time": [timedelta(1)] * 3,
    "instants": pd.Series([START, None, START], dtype="datetime64[us, UTC]"),
    "instants of no zone": pd.Series([START.replace(tzinfo=None)] * 3),
    "instants of another zone": pd.Series([START] * 3).dt.tz_convert("Asia/Kolkata"),
    "instants as objects": pd.Series([START, None, START], dtype=object),
    "instants as text": ["2026-03-02T15:00:00Z"] * 3, "categories": pd.Categorical(["a", None, "b"]),
    "categories of numbers": pd.Categorical([1, 2, 1]), "periods": pd.period_range("2026-01", periods=3, freq="D"),
    "nothing": [None] * 3, "not a number": [np.nan] * 3, "no time": [pd.NaT] * 3,
    "nulls of two kinds": pd.Series([pd.NA, None, np.nan], dtype=object), "text of Python": pd.Series(["a", "b", None], dtype=pd.StringDtype("python")),
    "text of Arrow": pd.Series(["a", None, "b"], dtype="string[pyarrow]"),
}  # fmt: skip


@pytest.mark.parametrize("name", TABLES)
def test_a_column_has_its_dtype_on_entry_or_is_refused_in_words(name: str) -> None:
    """What every analysis reads first, for every column of every table and all that people put there."""
    plain = frames.empty(TABLES[name]).reindex(range(3))
    usual = plain.dtypes
    for column in TABLES[name].columns:
        if column.name == "_extra" or column.kind == "boolean":
            continue
        for what, cells in CELLS.items():
            try:
                values = as_frame(name, plain.assign(**{column.name: cells}))[column.name]
            except ConfigError as error:
                assert f"column {column.name!r} of the {name} frame holds" in str(error), what  # noqa: PT017 - most are taken
                assert ";" in str(error), what  # noqa: PT017
                continue
            if column.kind in ("number", "integer"):
                assert values.dtype.kind in "iuf", what
                assert not np.isinf(values.to_numpy(float, na_value=0)).any(), what
            else:
                assert values.dtype == usual[column.name], what


#: Other ways to hold the same calls and leads.
FORMS: dict[str, Callable[[pd.DataFrame], Any]] = {
    "categories": lambda f: f.astype({n: "category" for n in f if f[n].dtype == "str"}),
    "polars categories": lambda f: pytest.importorskip("polars").from_pandas(FORMS["categories"](f)),
    "objects": lambda f: f.astype({n: object for n in f if f[n].dtype == "str"}),
    "nullable": lambda f: f.convert_dtypes(),
    "nanoseconds of India": lambda f: f.assign(
        **{n: f[n].dt.tz_convert("Asia/Kolkata").dt.as_unit("ns") for n in f if f[n].dtype.kind == "M"}
    ),
    "no zone": lambda f: f.assign(**{n: f[n].dt.tz_localize(None) for n in f if f[n].dtype.kind == "M"}),
    "one label for all rows": lambda f: f.set_axis(["row"] * len(f)),
    "an Arrow batch": lambda f: _arrow(f).to_batches()[0],
}  # fmt: skip


@pytest.mark.parametrize("form", FORMS)
def test_the_same_rows_in_another_form_say_the_same(form: str) -> None:
    """Whoever made the frame, dtypes, zones and labels change no number."""
    account = ACCOUNTS["no dispositions in one campaign"]
    other = replace(account, calls=FORMS[form](account.calls), leads=FORMS[form](account.leads))
    for name in ("funnel", "hours", "completeness"):
        first = _asked("no dispositions in one campaign", name)
        assert EVERYTHING[name](other).to_dict() == first.to_dict(), name
    mine = EVERYTHING["attempts_frame"](other)
    theirs = _asked("no dispositions in one campaign", "attempts_frame")
    pd.testing.assert_frame_equal(mine, theirs)

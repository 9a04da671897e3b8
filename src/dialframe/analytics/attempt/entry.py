"""What may be passed to an analysis: frames of pandas, polars or Arrow, plain thresholds; all else is refused in words."""

from __future__ import annotations

import functools
import inspect
import json
from collections.abc import Callable
from datetime import timedelta
from typing import Any, Final, ParamSpec, TypeVar

import pandas as pd
import pyarrow as pa

from dialframe.analytics.attempt.attempt_table import GIVEN_LEAD, NUMBERED, SOURCE
from dialframe.analytics.attempt.call_scope import known_then
from dialframe.analytics.attempt.outcome_classes import NO_GROUP
from dialframe.analytics.attempt.taxonomy import Taxonomy
from dialframe.errors import ConfigError
from dialframe.frames import CALLS, LEADS
from dialframe.instants import age, instant

P = ParamSpec("P")
R = TypeVar("R")

_FRAMES: Final = frozenset({
    "calls", "leads", "appointments", "callbacks", "imports", "events", "campaigns", "report",
    "dnc_checks", "earlier", "started",
})  # fmt: skip
_TIMES: Final = ("as_of", "since", "until")
_SPANS: Final = frozenset({"window", "recent", "within", "early", "late"})
_TEXTS: Final = frozenset({c.name for t in (CALLS, LEADS) for c in t.columns if c.kind == "text"})

_MARK: Final = ("call_id", "attempt", "local_certainty", "caller_id")
#: Columns of calls by the name that they have among the attempts.
_OF_CALLS: Final = {
    "id": "call_id", "campaign_id": "campaign_id", "created_at": "created_at",
    "from_number": "caller_id", "to_number": "to_number", "answered_at": "answered_at",
    "ended_at": "ended_at", "duration_seconds": "duration_seconds", "status": "status",
    "hangup_cause": "hangup_cause", "disposition": "disposition",
}  # fmt: skip


def analysis(function: Callable[P, R]) -> Callable[P, R]:
    """Let an analysis take any frame, any way of saying a time, and refuse the rest in words.

    Frames of pandas pass as they are; polars and Arrow become pandas. A frame of attempts may stand
    in the place of the calls. With `as_of`, rows of the other frames that are dated or were read
    later are left out here; calls are set aside where they are counted.
    """
    signature = inspect.signature(function)

    @functools.wraps(function)
    def checked(*args: P.args, **kwargs: P.kwargs) -> R:
        try:
            bound = signature.bind(*args, **kwargs)
        except TypeError as error:
            raise ConfigError(
                f"{function.__name__}: {error}; it takes {', '.join(signature.parameters)}"
            ) from None
        given = bound.arguments
        for name in given:
            given[name] = _read(name, given[name], signature.parameters[name])
        _ordered(given)
        _from_attempts(given, signature)
        as_of = given.get("as_of")
        for name in _FRAMES & given.keys():
            if name not in ("calls", "earlier", "campaigns") and given[name] is not None:
                given[name] = known_then(given[name], as_of)
        return function(*bound.args, **bound.kwargs)

    return checked


def as_frame(name: str, value: object) -> pd.DataFrame:
    """A table of pandas, polars or Arrow as a frame of pandas.

    Args:
        name: What it should be, for the message: `calls`, `leads`.
        value: A DataFrame, or anything with `__arrow_c_stream__`.

    Raises:
        ConfigError: It is none of these, or a text column holds numbers.
    """
    if isinstance(value, pd.DataFrame):
        frame = value
    else:
        if not hasattr(value, "__arrow_c_stream__"):
            raise ConfigError(
                f"{name} is {type(value).__name__}, not a frame; pass a DataFrame of pandas or "
                f"polars, or an Arrow table, with the columns of the {name} table"
            )
        table = pa.table(value)
        frame = pd.DataFrame({c: _plain(table[c]) for c in table.column_names})
    if not frame.columns.is_unique:
        twice = frame.columns[frame.columns.duplicated()][0]
        raise ConfigError(f"the {name} frame has the column {twice!r} twice; drop one of them")
    changed = {}
    for column in frame.columns:
        kind = frame[column].dtype
        if isinstance(kind, pd.ArrowDtype):
            changed[column] = _plain(pa.chunked_array(frame[column].array.__arrow_array__()))
        if column in _TEXTS and column != "_extra" and (
            pd.api.types.is_numeric_dtype(kind) and frame[column].notna().any()
        ):  # fmt: skip
            raise ConfigError(
                f"column {column!r} of the {name} frame holds {kind} where text is needed"
                + ("; numbers are E.164 text such as '+12125550100'" if _is_number(column) else "")
            )
    return frame.assign(**changed) if changed else frame


def _is_number(column: object) -> bool:
    return str(column) in ("phone", "to_number", "from_number")


def _plain(values: pa.ChunkedArray | pa.Array) -> Any:
    """A column of Arrow as the dtype that the frames of an account have."""
    kind = values.type
    if pa.types.is_dictionary(kind):
        values, kind = values.cast(kind.value_type), kind.value_type
    if pa.types.is_timestamp(kind):
        zone = kind.tz or "UTC"
        at = pd.Series(values.cast(pa.timestamp("us", "UTC" if kind.tz else None)).to_pandas())
        return (at if kind.tz else at.dt.tz_localize(zone)).dt.tz_convert("UTC").array
    if pa.types.is_string(kind) or pa.types.is_large_string(kind) or str(kind) == "string_view":
        return pd.array(values.cast(pa.large_string()).to_pylist(), dtype="str")
    for is_kind, dtype in (
        (pa.types.is_integer, "Int64"), (pa.types.is_floating, "Float64"),
        (pa.types.is_boolean, "boolean"), (pa.types.is_null, "str"),
    ):  # fmt: skip
        if is_kind(kind):
            return pd.array(values.to_pylist(), dtype=dtype)
    return pd.Series(values.to_pylist(), dtype=object).array


def _read(name: str, value: Any, parameter: inspect.Parameter) -> Any:
    if name in _FRAMES:
        if value is None and "None" in str(parameter.annotation):
            return None
        return as_frame(name, value)
    if name in _TIMES:
        return instant(name, value)
    if name in _SPANS and value is not None and not isinstance(value, timedelta):
        return age(name, value)
    kind = str(parameter.annotation)
    if value is None or name == "taxonomy":
        if name == "taxonomy" and not isinstance(value, Taxonomy):
            raise ConfigError("taxonomy is no Taxonomy; pass analytics.DEFAULT or one made of it")
        return value
    _plain_value(name, value, kind)
    return value


def _plain_value(name: str, value: object, kind: str) -> None:
    """Refuse a threshold or a name of another type."""
    wanted = kind.replace(" | None", "")
    number = isinstance(value, (int, float)) and not isinstance(value, bool)
    if wanted in ("int", "float") and not number:
        raise ConfigError(f"{name}={value!r} is not a number")
    if wanted == "int" and isinstance(value, float) and not value.is_integer():
        raise ConfigError(f"{name}={value!r} is not a whole number")
    if wanted in ("int", "float") and isinstance(value, (int, float)) and not value >= 0:
        raise ConfigError(f"{name}={value!r} is negative or no number; use 0 or more")
    if name in ("alpha", "alarm") and isinstance(value, (int, float)) and not 0 < value < 1:
        raise ConfigError(f"{name}={value!r} is no probability; use 0.05, for instance")
    if (wanted == "str" or wanted.startswith("Literal")) and not isinstance(value, str):
        raise ConfigError(f"{name}={value!r} is not text")
    if wanted == "bool" and not isinstance(value, bool):
        raise ConfigError(f"{name}={value!r} is neither True nor False")


def _ordered(given: dict[str, Any]) -> None:
    """Refuse leads in the place of the calls."""
    calls, leads = given.get("calls"), given.get("leads")
    if calls is not None and "to_number" not in calls.columns and "phone" in calls.columns:
        swapped = leads is not None and "to_number" in leads.columns
        raise ConfigError(
            "the calls frame looks like leads (it has phone and no to_number); the order is "
            "(calls, leads)" + (": swap the two" if swapped else "")
        )


def _from_attempts(given: dict[str, Any], signature: inspect.Signature) -> None:
    """A frame of attempts in the place of the calls, as what the analysis reads."""
    calls = given.get("calls")
    if calls is None or not is_attempts(calls):
        return
    given["calls"], people = calls_and_leads(calls)
    if "leads" in signature.parameters and given.get("leads") is None:
        given["leads"] = people


def is_attempts(frame: pd.DataFrame) -> bool:
    """Whether a frame has one row per attempt, as `attempts_frame` gives it."""
    return all(name in frame.columns for name in _MARK)


def calls_and_leads(frame: pd.DataFrame) -> tuple[pd.DataFrame, pd.DataFrame]:
    """A frame of attempts as the calls and leads that analyses read; numbers and leads stay."""
    columns = {name: frame[theirs] for name, theirs in _OF_CALLS.items() if theirs in frame}
    calls = pd.DataFrame(columns).reset_index(drop=True)
    calls.insert(1, "direction", pd.array(["outbound"] * len(calls), dtype="str"))
    calls[NUMBERED] = frame["attempt"].array
    calls[GIVEN_LEAD] = frame["lead_id"].array
    calls["match_quality"] = frame["match_quality"].array
    one = frame[frame["lead_id"].notna()].drop_duplicates("lead_id")
    source = [
        json.dumps({} if s == NO_GROUP else {SOURCE: s}) for s in one["source"].fillna(NO_GROUP)
    ]
    leads = pd.DataFrame(
        {
            "id": one["lead_id"].array,
            "phone": one["to_number"].array,
            "campaign_id": one["campaign_id"].array,
            "status": pd.array([None] * len(one), dtype="str"),
            "attempts": pd.array([None] * len(one), dtype="Int64"),
            "custom_fields": pd.array(source, dtype="str"),
            "created_at": one["lead_created_at"].array,
        }
    )
    return calls, leads

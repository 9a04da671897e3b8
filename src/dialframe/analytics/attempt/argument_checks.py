"""What may be passed to an analysis: frames of pandas, polars or Arrow, plain thresholds; all else is refused in words."""

from __future__ import annotations

import ast
import contextlib
import functools
import inspect
import json
import math
from collections.abc import Callable, Hashable, Mapping, Sequence
from datetime import date
from decimal import Decimal
from typing import Any, Final, ParamSpec, TypeVar, cast
from uuid import UUID

import numpy as np
import pandas as pd
import pyarrow as pa

from dialframe import frames
from dialframe.analytics.attempt.call_scope import known_then
from dialframe.analytics.attempt.frames_to_arrays import blocks
from dialframe.analytics.attempt.lead_match import GIVEN_LEAD, NUMBERED, SOURCE
from dialframe.analytics.attempt.taxonomy import NO_GROUP, Taxonomy
from dialframe.errors import ConfigError
from dialframe.instants import age, instant

P = ParamSpec("P")
R = TypeVar("R")

_TIMES: Final = ("as_of", "since", "until")
_SPANS: Final = frozenset({"window", "recent", "within", "early", "late"})

#: Numbers beyond which times in microseconds are no whole numbers of 64 bits, and counts nobody has.
_MOST: Final = 10_000_000
_MOST_WHOLE: Final = 10**12
#: Least and most of some thresholds: rows to show, and chances whose normal quantiles are worked out.
_BOUNDS: Final[dict[str, tuple[float, float]]] = {
    "most": (1, 1_000), "ages": (1, 1_000), "planned_calls": (1, _MOST_WHOLE),
    "looks": (1, _MOST_WHOLE), "pass_number": (1, 1_000_000), "alpha": (1e-9, 1),
}  # fmt: skip
#: Letters of a wrong value that a refusal repeats.
_SHOWN: Final = 60

#: What each column of each frame holds, whoever made the frame.
_KINDS: Final[Mapping[str, Mapping[str, str]]] = {
    **{
        name: {**{column.name: str(column.kind) for column in table.columns}, "_observed_at": "instant"}
        for name, table in {
            "calls": frames.CALLS, "earlier": frames.CALLS, "leads": frames.LEADS,
            "callbacks": frames.CALLBACKS, "appointments": frames.APPOINTMENTS,
            "events": frames.EVENTS, "report": frames.DISPOSITIONS, "campaigns": frames.CAMPAIGNS,
        }.items()
    },
    "imports": {"status": "text", "reason": "text", "field": "text", "created_at": "instant"},
    "started": {"call_id": "text", "lead_id": "text"},
    "attempts": {
        "call_id": "text", "lead_id": "text", "match_quality": "text", "campaign_id": "text",
        "source": "text", "created_at": "instant", "answered_at": "instant", "ended_at": "instant",
        "attempt": "integer", "lead_created_at": "instant", "to_number": "text",
        "caller_id": "text", "duration_seconds": "number", "status": "text",
        "hangup_cause": "text", "disposition": "text",
    },
}  # fmt: skip
#: Cells that text may be made of, in columns of objects.
_WORDS: Final = (str, int, float, Decimal, UUID)
_PHONES: Final = ("phone", "to_number", "from_number", "caller_id")
#: Numbers beyond it are none that anybody counted, and floats do not hold them in full.
_MOST_EXACT: Final = 2**53

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
    later are left out here; calls are set aside where they are counted. With `by=` an analysis that has
    no groups of its own is asked about each group.
    """
    signature = inspect.signature(function)

    @functools.wraps(function)
    def checked(*args: P.args, **kwargs: P.kwargs) -> R:
        # Python's own TypeError names neither the analysis nor what it takes.
        try:
            bound = signature.bind(*args, **kwargs)
        except TypeError as error:
            takes = ", ".join(name for name in signature.parameters if name != "self")
            raise ConfigError(f"{error}: {function.__name__.strip('_')} takes {takes}") from None
        arguments = bound.arguments
        for name in arguments:
            arguments[name] = _read(name, arguments[name], signature.parameters[name])
        given, people = arguments.get("calls"), arguments.get("leads")
        # Half of all slips: both frames are frames, and only their columns tell which is which.
        if given is not None and "to_number" not in given.columns and "phone" in given.columns:
            swapped = people is not None and "to_number" in people.columns
            raise ConfigError(
                "the calls frame looks like leads (it has phone and no to_number); the order is "
                "(calls, leads)" + (": swap the two" if swapped else "")
            )
        # One row per attempt, as `attempts_frame` gives it, in the place of the calls.
        if given is not None and all(name in given.columns for name in _MARK):
            arguments["calls"], of_attempts = calls_and_leads(as_frame("attempts", given))
            if "leads" in signature.parameters and people is None:
                arguments["leads"] = of_attempts
        as_of = arguments.get("as_of")
        for name in _KINDS.keys() & arguments.keys():
            if name not in ("calls", "earlier", "campaigns") and arguments[name] is not None:
                arguments[name] = known_then(arguments[name], as_of)
        return _answer_by_group(function, checked, bound)

    return checked


def one_name(by: str | Sequence[str]) -> str:
    """The name of `by=` inside an analysis, which is asked for one at a time."""
    return by if isinstance(by, str) else by[0]


def _answer_by_group(
    function: Callable[..., R], checked: Callable[..., R], bound: inspect.BoundArguments
) -> R:
    """What an analysis says: of all, by its own groups, or of each group apart."""
    by, grouped = bound.arguments.get("by"), function.__name__ in _OWN_GROUPS
    if by is None or (isinstance(by, str) and grouped):
        return function(*bound.args, **bound.kwargs)
    names = several(by)
    bound.apply_defaults()
    kept = {name: value for name, value in bound.arguments.items() if name != "by"}
    if grouped:
        kept["by"], names = names[0], names[1:]
    if not names:
        return function(**kept)
    # A floor above: groups ask analyses, and are made of their results.
    return cast(R, GROUPING["by"](checked, names, kept))


#: What asks an analysis about each group, put here by `groups`.
GROUPING: Final[dict[str, Callable[..., Any]]] = {}


def several(by: object) -> tuple[str, ...]:
    """What `by=` names, one or several.

    Raises:
        ConfigError: It is no name and no names.
    """
    names = (by,) if isinstance(by, str) else tuple(by) if isinstance(by, (list, tuple)) else ()
    if not names or not all(isinstance(name, str) and name for name in names):
        raise ConfigError(
            f"by={by!r} names no column; use 'campaign_id' or ('lead_source', 'local_hour')"
        )
    return names


#: Analyses whose rows are groups already; further names of `by=` are groups around these.
_OWN_GROUPS: Final = frozenset(
    {"funnel", "time_to_contact", "speed_to_lead", "scorecard", "carriers", "machines", "changes"}
)


def _read(name: str, value: Any, parameter: inspect.Parameter) -> Any:
    if name in _KINDS:
        if value is None and "None" in str(parameter.annotation):
            return None
        return as_frame(name, value)
    kind = str(parameter.annotation)
    if value is None and name not in _TIMES and "Taxonomy" not in kind and "None" not in kind:
        raise ConfigError(f"{name}=None is not known; leave {name} out for what is usual")
    if name in _TIMES:
        return instant(name, value)
    if name in _SPANS and value is not None:
        span = age(name, value)
        if span.days > _MOST:
            raise ConfigError(f"{name}={span} is out of bounds; use {_MOST:,} days at most")
        return span
    if "Taxonomy" in kind:
        if not isinstance(value, Taxonomy):
            raise ConfigError(f"{name} is no Taxonomy; pass analytics.DEFAULT or one made of it")
        return value
    if value is None:
        return value
    plain_value(name, value, kind)
    return int(value) if kind in ("int", "int | None") else value


def plain_value(name: str, value: object, kind: str) -> None:
    """Refuse a threshold or a name of another type.

    Args:
        name: Name of the argument.
        value: What was given for it.
        kind: Its annotation: `int`, `float | None`, `tuple[float, float]`.

    Raises:
        ConfigError: It is of another type, or out of bounds.
    """
    wanted = kind.replace(" | None", "")
    if value is None and wanted != kind:
        return
    why = ""
    if wanted in ("int", "float"):
        why = _why_no_number(name, value, whole=wanted == "int")
    elif wanted == "tuple[str, ...]":
        if not (isinstance(value, tuple) and value and all(isinstance(x, str) for x in value)):
            why = "is no tuple of names; use ('conversion',), for instance"
    elif wanted.startswith("tuple"):
        parts = value if isinstance(value, tuple) else ()
        if len(parts) != wanted.count("float") or any(_why_no_number("", x) for x in parts):
            why = f"is no {wanted}; use (0.15, 0.2), for instance"
    elif wanted == "bool" and not isinstance(value, (bool, np.bool_)):
        why = "is neither True nor False; use one of them"
    elif wanted == "str" or wanted.startswith("Literal"):
        why = _why_no_name(value, wanted)
    if why:
        shown = repr(value)
        raise ConfigError(
            f"{name}={shown if len(shown) < _SHOWN else shown[:_SHOWN] + '...'} {why}"
        )


def _why_no_name(value: object, kind: str) -> str:
    """Why a value is no name, or none of those that its annotation lists; empty where it is one."""
    if not isinstance(value, str):
        return "is not text; write one name in quotes"
    known = (value,) if kind == "str" else ast.literal_eval(kind.removeprefix("Literal"))
    return "" if value in known else f"is not known; use {', '.join(known)}"


def _why_no_number(name: str, value: object, *, whole: bool = False) -> str:
    """Why a value is no number that an analysis can use; empty where it is one."""
    # True is 1 to Python, and no threshold that anybody means.
    if isinstance(value, (bool, np.bool_)) or not isinstance(value, (int, float, np.number)):
        return "is not a number; write it without quotes"
    if not isinstance(value, int) and (np.iscomplexobj(value) or not math.isfinite(value)):
        return "is no number that can be counted with; use one that is finite"
    if whole and value != int(value):
        return "is not a whole number; use one without a fraction"
    least, most = _BOUNDS.get(name, (0, _MOST_WHOLE if whole else _MOST))
    # At 0 nothing is ever certain, at 1 everything: neither is a level.
    if name == "alpha" and not least <= value < most:
        return "is no probability; use 0.05, for instance"
    return "" if least <= value <= most else f"is out of bounds; use {least:,} to {most:,}"


def calls_and_leads(frame: pd.DataFrame) -> tuple[pd.DataFrame, pd.DataFrame]:
    """A frame of attempts as the calls and leads that analyses read; numbers and leads stay."""
    columns = {
        name: frame[attempt_name]
        for name, attempt_name in _OF_CALLS.items()
        if attempt_name in frame
    }
    calls = pd.DataFrame(columns).reset_index(drop=True)
    # A frame of attempts has outbound calls alone.
    calls.insert(1, "direction", pd.array(["outbound"] * len(calls), dtype="str"))
    calls[NUMBERED] = frame["attempt"].array
    calls[GIVEN_LEAD] = frame["lead_id"].array
    calls["match_quality"] = frame["match_quality"].array
    lead_rows = frame[frame["lead_id"].notna()].drop_duplicates("lead_id")
    # Written back as the service keeps it (contract, Lead input fields), so that the same code reads it.
    source = [
        json.dumps({} if s == NO_GROUP else {SOURCE: s})
        for s in lead_rows["source"].fillna(NO_GROUP)
    ]
    leads = pd.DataFrame(
        {
            "id": lead_rows["lead_id"].array,
            "phone": lead_rows["to_number"].array,
            "campaign_id": lead_rows["campaign_id"].array,
            "status": pd.array([None] * len(lead_rows), dtype="str"),
            "attempts": pd.array([None] * len(lead_rows), dtype="Int64"),
            "custom_fields": pd.array(source, dtype="str"),
            "created_at": lead_rows["lead_created_at"].array,
        }
    )
    return calls, leads


def as_frame(name: str, value: object) -> pd.DataFrame:
    """A table of pandas, polars or Arrow as a frame of pandas with the dtypes of its columns.

    Args:
        name: What it should be, for the message: `calls`, `leads`.
        value: A DataFrame, or anything with `__arrow_c_stream__`.

    Raises:
        ConfigError: It is none of these, or a column holds something else than it should.
    """
    frame = value if isinstance(value, pd.DataFrame) else _frame_of_arrow(name, value)
    if not frame.columns.is_unique:
        twice = frame.columns[frame.columns.duplicated()][0]
        raise ConfigError(f"the {name} frame has the column {twice!r} twice; drop one of them")
    changed: dict[Hashable, Any] = {}
    # Column by column: a frame that is right already is given back as it is, without a copy.
    for column, dtype in frame.dtypes.items():
        values = frame[column]
        if isinstance(dtype, pd.ArrowDtype):
            changed[column] = _of_arrow(pa.chunked_array(values.array.__arrow_array__()))
            values = pd.Series(changed[column], name=column)
        take = _AS_KIND.get(_KINDS[name].get(str(column), ""))
        mended = None if take is None or column == "_extra" else take(values, name)
        if mended is not None:
            changed[column] = mended
    if not changed:
        return frame
    # Shallow, so that the caller's frame keeps its own columns and no data is copied.
    frame = frame.copy(deep=False)
    for column, mended in changed.items():
        frame[column] = mended
    return frame


def _frame_of_arrow(name: str, value: Any) -> pd.DataFrame:
    if hasattr(value, "__arrow_c_stream__") and not isinstance(value, (pd.Series, type)):
        # Arrow's own errors are of these two and of what is not implemented.
        with contextlib.suppress(TypeError, ValueError, pa.ArrowNotImplementedError):
            table = pa.table(value)
            return pd.DataFrame({name: _of_arrow(table[name]) for name in table.column_names})
    raise ConfigError(
        f"{name} is {type(value).__name__}, not a frame; pass a DataFrame of pandas or polars, or an "
        f"Arrow table, with the columns of the {name} table"
    )


def _of_arrow(values: pa.ChunkedArray) -> Any:
    """A column of Arrow as the dtype that the frames of an account have."""
    kind = values.type
    if pa.types.is_dictionary(kind):
        words = kind.value_type
        whole = pa.large_string() if _is_text(words) else words
        # Arrow takes no strings by view, so the words are cast before their places are.
        parts = [part.dictionary.cast(whole).take(part.indices) for part in values.chunks]
        values, kind = pa.chunked_array(parts, whole), whole
    if pa.types.is_timestamp(kind):
        # Microseconds are what the frames of an account have; a finer unit cannot hold every year.
        at = pd.Series(
            values.cast(pa.timestamp("us", "UTC" if kind.tz else None), safe=False).to_pandas()
        )
        return (at if kind.tz else at.dt.tz_localize("UTC")).array
    if _is_text(kind) or pa.types.is_null(kind):
        return _extension("str", values.cast(pa.large_string()))
    for is_kind, dtype in (
        (pa.types.is_integer, "Int64"), (pa.types.is_floating, "Float64"),
        (pa.types.is_boolean, "boolean"),
    ):  # fmt: skip
        if is_kind(kind):
            return _extension(dtype, values)
    return pd.Series(values.to_pylist(), dtype=object).array


def _is_text(kind: pa.DataType) -> bool:
    return bool(
        pa.types.is_string(kind) or pa.types.is_large_string(kind) or pa.types.is_string_view(kind)
    )


def _extension(dtype: str, values: pa.ChunkedArray) -> Any:
    kind: Any = pd.api.types.pandas_dtype(dtype)
    return kind.__from_arrow__(values)


def _wrong(values: pd.Series, name: str, wanted: str, held: str, hint: str) -> ConfigError:
    return ConfigError(
        f"column {values.name!r} of the {name} frame holds {held} where {wanted} needed; {hint}"
    )


def _as_text(values: pd.Series, name: str) -> Any:
    """Text as it is or as the dtype that the frames of an account have; None where it needs no change."""
    dtype = values.dtype
    usual = isinstance(dtype, pd.StringDtype) and dtype.storage == "pyarrow"
    if usual and dtype.na_value is not pd.NA:
        return None
    words = dtype.categories if isinstance(dtype, pd.CategoricalDtype) else values
    held, phone = str(words.dtype), values.name in _PHONES
    if pd.api.types.is_object_dtype(words.dtype):
        # A number that is no text has lost its plus sign, and would be nobody's.
        kinds = sorted({type(word) for word in words[words.notna()]}, key=str)
        # Other cells are written as text: a code 7 and a code "7" are one code to every dialer.
        allowed = str if phone else _WORDS
        held = next((kind.__name__ for kind in kinds if not issubclass(kind, allowed)), "")
    elif isinstance(words.dtype, pd.StringDtype) or not values.notna().any():
        held = ""
    if held:
        hint = "numbers are E.164 text such as '+12125550100'" if phone else (
            "convert it with astype('str')"
        )  # fmt: skip
        raise _wrong(values, name, "text is", held, hint)
    try:
        return values.astype(object).where(values.notna(), None).astype("str").array
    except UnicodeEncodeError as error:
        raise _wrong(values, name, "text is", error.reason, "write it anew as Unicode") from None


def _as_json(values: pd.Series, name: str) -> Any:
    if pd.api.types.is_object_dtype(values.dtype):
        values = pd.Series(
            [json.dumps(cell) if isinstance(cell, (dict, list)) else cell for cell in values],
            dtype=object, name=values.name,
        )  # fmt: skip
    return _as_text(values, name)


def _as_day(values: pd.Series, name: str) -> Any:
    if pd.api.types.is_datetime64_any_dtype(values.dtype):
        return values.dt.strftime("%Y-%m-%d").astype("str").array
    if pd.api.types.is_object_dtype(values.dtype):
        # A day has no zone, so that it is text and no instant.
        days = [str(cell) if isinstance(cell, date) else cell for cell in values]
        values = pd.Series(days, dtype=object, name=values.name)
    return _as_text(values, name)


def _as_instant(values: pd.Series, name: str) -> Any:
    if pd.api.types.is_datetime64_any_dtype(values.dtype):
        # The service speaks UTC: so does a column that names no zone.
        zone, at = values.dt.tz, values
        if str(zone) != "UTC":
            at = at.dt.tz_localize("UTC") if zone is None else at.dt.tz_convert("UTC")
        try:
            at = at if at.dt.unit == "us" else at.dt.as_unit("us")
        except pd.errors.OutOfBoundsDatetime:
            hint = "set those that cannot be to null"
            raise _wrong(
                values, name, "instants are", "years that no calendar has", hint
            ) from None
        return None if at is values else at.array
    if values.notna().any():
        hint = "convert it with pandas.to_datetime(..., utc=True)"
        raise _wrong(values, name, "instants are", str(values.dtype), hint)
    return pd.array([pd.NaT] * len(values), dtype="datetime64[us, UTC]")


def _as_number(values: pd.Series, name: str) -> Any:
    """Numbers that came as objects or text as numbers; None where they are numbers already."""
    dtype = values.dtype
    noun = "seconds" if "seconds" in str(values.name) else "numbers"

    def refused(held: str, hint: str) -> ConfigError:
        return _wrong(values, name, f"{noun} are", held, hint)

    plain = pd.api.types.is_numeric_dtype(dtype) and not pd.api.types.is_bool_dtype(dtype)
    is_words = pd.api.types.is_object_dtype(dtype) or isinstance(dtype, pd.StringDtype)
    if not plain and not is_words and values.notna().any():
        raise refused(str(dtype), "convert it with pandas.to_numeric")
    try:
        numbers = values.array if plain else (
            pd.array(pd.to_numeric(values.astype(object).array), dtype="Float64")
        )  # fmt: skip
    except (ValueError, TypeError, OverflowError):
        hint = "convert it with pandas.to_numeric(..., errors='coerce')"
        raise refused("text", hint) from None
    if dtype.kind == "c":
        raise refused(str(dtype), "take the real part")
    for rows in blocks(len(numbers)):
        part = np.abs(numbers[rows].to_numpy(dtype=float, na_value=np.nan))
        if np.isinf(part).any():
            raise refused(f"infinite {noun}", "set them to null")
        if (part > _MOST_EXACT).any():
            raise refused("numbers beyond 2**53", "set them to null")
    return None if plain else numbers


_AS_KIND: Final[dict[str, Callable[[pd.Series, str], Any]]] = {
    "text": _as_text, "json": _as_json, "day": _as_day, "instant": _as_instant,
    "number": _as_number, "integer": _as_number,
}  # fmt: skip

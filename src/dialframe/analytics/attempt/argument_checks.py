"""What may be passed to an analysis: frames of pandas, polars or Arrow, plain thresholds; all else is refused in words."""

from __future__ import annotations

import functools
import inspect
import json
import math
from collections.abc import Callable
from typing import Any, Final, ParamSpec, TypeVar

import pandas as pd

from dialframe.analytics.attempt.arrays import as_frame
from dialframe.analytics.attempt.attempt_table import GIVEN_LEAD, NUMBERED, SOURCE
from dialframe.analytics.attempt.call_scope import known_then
from dialframe.analytics.attempt.outcome_classes import NO_GROUP
from dialframe.analytics.attempt.taxonomy import Taxonomy
from dialframe.errors import ConfigError
from dialframe.instants import age, instant

P = ParamSpec("P")
R = TypeVar("R")

_FRAMES: Final = frozenset({
    "calls", "leads", "appointments", "callbacks", "imports", "events", "campaigns", "report",
    "earlier", "started",
})  # fmt: skip
_TIMES: Final = ("as_of", "since", "until")
_SPANS: Final = frozenset({"window", "recent", "within", "early", "late"})

#: Chances below which normal quantiles are not worked out.
_LEAST_ALPHA: Final = 1e-9
#: Rows that a caller may ask for.
_MOST_ROWS: Final = 1_000

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
        refuse_swapped(given.get("calls"), given.get("leads"))
        _from_attempts(given, signature)
        as_of = given.get("as_of")
        for name in _FRAMES & given.keys():
            if name not in ("calls", "earlier", "campaigns") and given[name] is not None:
                given[name] = known_then(given[name], as_of)
        return function(*bound.args, **bound.kwargs)

    return checked


def _read(name: str, value: Any, parameter: inspect.Parameter) -> Any:
    if name in _FRAMES:
        if value is None and "None" in str(parameter.annotation):
            return None
        return as_frame(name, value)
    kind = str(parameter.annotation)
    if value is None and name not in _TIMES and "Taxonomy" not in kind and "None" not in kind:
        raise ConfigError(f"{name}=None is not known; leave {name} out for what is usual")
    if name in _TIMES:
        return instant(name, value)
    if name in _SPANS and value is not None:
        return age(name, value)
    if "Taxonomy" in kind:
        return as_taxonomy(name, value)
    if value is None:
        return value
    _plain_value(name, value, kind)
    return value


def as_taxonomy(name: str, value: object) -> Taxonomy:
    """The same, once it is known to be one.

    Raises:
        ConfigError: It is none.
    """
    if not isinstance(value, Taxonomy):
        raise ConfigError(f"{name} is no Taxonomy; pass analytics.DEFAULT or one made of it")
    return value


def _plain_value(name: str, value: object, kind: str) -> None:
    """Refuse a threshold or a name of another type."""
    wanted = kind.replace(" | None", "")
    number = isinstance(value, (int, float)) and not isinstance(value, bool)
    if wanted in ("int", "float") and not number:
        raise ConfigError(f"{name}={value!r} is not a number")
    if wanted == "int" and isinstance(value, float) and not value.is_integer():
        raise ConfigError(f"{name}={value!r} is not a whole number")
    if (
        wanted in ("int", "float")
        and isinstance(value, (int, float))
        and not 0 <= value < math.inf
    ):
        raise ConfigError(f"{name}={value!r} is negative or no number; use 0 or more")
    if name == "alpha" and isinstance(value, (int, float)) and not _LEAST_ALPHA <= value < 1:
        raise ConfigError(f"{name}={value!r} is no probability; use 0.05, for instance")
    if name == "planned_calls" and value == 0:
        raise ConfigError("planned_calls=0 plans nothing; use the calls that are meant to be made")
    if wanted.startswith("tuple") and not (
        isinstance(value, tuple)
        and len(value) == wanted.count("float")
        and all(isinstance(part, (int, float)) and 0 <= part < math.inf for part in value)
    ):
        raise ConfigError(f"{name}={value!r} is no {wanted}; use (0.15, 0.2), for instance")
    if name in ("most", "ages") and isinstance(value, int) and not 1 <= value <= _MOST_ROWS:
        raise ConfigError(f"{name}={value!r} is how many rows there are; use 1 to {_MOST_ROWS:,}")
    if (wanted == "str" or wanted.startswith("Literal")) and not isinstance(value, str):
        raise ConfigError(f"{name}={value!r} is not text")
    if wanted == "bool" and not isinstance(value, bool):
        raise ConfigError(f"{name}={value!r} is neither True nor False")


def refuse_swapped(calls: pd.DataFrame | None, leads: pd.DataFrame | None) -> None:
    """Refuse leads in the place of the calls.

    Raises:
        ConfigError: The calls have the columns of leads.
    """
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

"""The outcome class of every call, from what the network and the agent said."""

from __future__ import annotations

import json
from collections.abc import Callable
from dataclasses import dataclass
from functools import cache
from typing import Any, Final

import numpy as np
import numpy.typing as npt
import pandas as pd

from dialframe.analytics.attempt.frames_to_arrays import (
    Ints,
    Mask,
    blocks,
    booleans,
    encoded,
    frozen,
    present,
    require,
    text,
)
from dialframe.analytics.attempt.taxonomy import (
    BY_NAME,
    CONNECTED_UNKNOWN,
    DEFAULT,
    OUTCOMES,
    PLACE,
    UNANSWERED_UNKNOWN,
    Field,
    Taxonomy,
)

#: What `unmapped` writes where a person is to fill in a class.
TO_FILL_IN: Final = "?"

_NEEDED: Final = ("answered_at", "status", "hangup_cause", "disposition")
# Two places behind the classes: arrays of flags end in two False, so that -1 and -2 find them.
Places = npt.NDArray[np.int8]
_UNMAPPED: Final = -2
_NOTHING: Final = -1
_PLACES: Final = len(OUTCOMES) + 2


def _flags(*values: bool) -> Mask:
    return np.array([*values, False, False])


_FITS_ANSWERED: Final = _flags(*(o.when != "unanswered" for o in OUTCOMES))
_FITS_UNANSWERED: Final = _flags(*(o.when != "answered" for o in OUTCOMES))
_ONLY_ANSWERED: Final = _flags(*(o.when == "answered" for o in OUTCOMES))
_ONLY_UNANSWERED: Final = _flags(*(o.when == "unanswered" for o in OUTCOMES))
_SAYS_LITTLE: Final = _flags(
    *(o.name in (CONNECTED_UNKNOWN, UNANSWERED_UNKNOWN, "in_progress") for o in OUTCOMES)
)


@dataclass(frozen=True, slots=True, eq=False)
class Decided:
    """What is said of each way in which answer, cause, status and disposition can meet.

    `outcome`, `telephony` and `business` are places in `OUTCOMES`; `business` is negative where no
    disposition was logged or the taxonomy does not have it.
    """

    outcome: Places
    telephony: Places
    business: Places
    decides: Mask
    answered: Mask
    conflict: Mask
    unmapped: Mask

    @property
    def dnc_request(self) -> Mask:
        """Where the agent noted a wish not to be called, whatever the network says."""
        return _flag("dnc_request")[self.business]

    def flag(self, name: str) -> Mask:
        """A flag of the outcome class: `human`, `right_party`, ...; False where not known."""
        return self.answered if name == "answered" else _flag(name)[self.outcome]


class _OfCase:
    """An array of `Decided`, taken for each call by its case; kept where everybody asks for it."""

    def __init__(self, doc: str, *, kept: bool = False) -> None:
        self.__doc__, self._kept = doc, kept

    def __set_name__(self, owner: type, name: str) -> None:
        self._name = name

    def __get__(self, classes: Any, owner: type) -> npt.NDArray[Any]:
        """The array of these calls; one that is kept stands in its place from then on."""
        values: npt.NDArray[Any] = getattr(_every_case(), self._name)[classes.case]
        if self._kept:
            vars(classes)[self._name] = values
        return values


@dataclass(frozen=True, eq=False)
class Classes:
    """What `classify` says of calls, as arrays that are made when they are asked for.

    Attributes:
        case: Of each call, which of the ways of `Decided` it is.
    """

    case: npt.NDArray[np.uint16]

    outcome = _OfCase("Place of each call's class in `OUTCOMES`.", kept=True)
    telephony = _OfCase("The class by the network's word.")
    business = _OfCase("The class by the disposition, negative where there is none that is known.")
    decides = _OfCase("Where the disposition decides the class.")
    answered = _OfCase("Where `answered_at` is there.", kept=True)
    conflict = _OfCase("Where the layers contradict each other.")
    unmapped = _OfCase("Where a code would have decided that the taxonomy does not have.")
    dnc_request = _OfCase(
        "Where the agent noted a wish not to be called, whatever the network says."
    )

    def flag(self, name: str) -> Mask:
        """A flag of the outcome class: `human`, `right_party`, ...; False where not known."""
        return _every_case().flag(name)[self.case]

    def count(self, hit: Callable[[Decided], Mask]) -> int:
        """How many calls are of the ways of which something holds.

        Args:
            hit: What holds of each way.
        """
        cases = hit(_every_case())
        return int(np.bincount(self.case, minlength=len(cases))[cases].sum())

    def take(self, rows: Ints) -> Classes:
        """The same of the calls at some positions, each once."""
        return self if len(rows) == len(self.case) else Classes(self.case[rows])


def classes(calls: pd.DataFrame, taxonomy: Taxonomy = DEFAULT) -> Classes:
    """The outcome of each call as arrays: what rates of ten million calls are made of.

    Raises:
        ConfigError: A column is missing.
    """
    require(calls, _NEEDED, "calls")
    answered = present(calls["answered_at"])
    cause = _classes(calls["hangup_cause"], "hangup_cause", taxonomy)
    status = _classes(calls["status"], "status", taxonomy)
    business = _classes(calls["disposition"], "disposition", taxonomy)

    case = np.empty(len(calls), dtype=np.uint16)
    # Answer, cause, status and disposition in one number: a few thousand ways, decided once (`_every_case`).
    for rows in blocks(len(calls)):
        part = answered[rows].astype(np.int32)
        for fields in (cause, status, business):
            part *= _PLACES
            part += fields[rows]
            part -= _UNMAPPED
        case[rows] = part
    return Classes(frozen(case))


def class_table(classes: Classes) -> dict[str, Any]:
    """The columns of `analytics.classify`."""
    names: list[str | None] = [o.name for o in OUTCOMES]
    flags = ("human", "right_party", "positive", "appointment", "conversion", "machine", "final",
             "attempt")  # fmt: skip
    # A flag is null where the class does not know it.
    unknown = {name: _flags(*(getattr(o, name) is None for o in OUTCOMES)) for name in flags}
    return {
        "outcome": text(names, classes.outcome),
        "layer": text(["telephony", "business"], classes.decides.astype(np.int64)),
        "telephony": text(names, classes.telephony),
        "business": text([*names, None], np.maximum(classes.business, _NOTHING)),
        **{
            name: booleans(_flag(name)[classes.outcome], unknown[name][classes.outcome])
            for name in flags
        },
        "dnc_request": booleans(classes.dnc_request),
        "answered": booleans(classes.answered),
        "conflict": booleans(classes.conflict),
        "unmapped": booleans(classes.unmapped),
    }


def unmapped_codes(calls: pd.DataFrame, taxonomy: Taxonomy = DEFAULT) -> pd.DataFrame:
    """The table of `analytics.unmapped`; `.attrs["stub"]` has a mapping file to be filled in.

    Raises:
        ConfigError: A column is missing.
    """
    require(calls, _NEEDED, "calls")
    fields: tuple[Field, ...] = ("disposition", "hangup_cause", "status")
    rows = [
        # Python and TOML write a quoted text alike.
        (field, str(code), int(count),
         f'{json.dumps(str(code), ensure_ascii=False)} = "{TO_FILL_IN}"  # {field}, {count} calls')
        for field in fields
        for code, count in calls[field].value_counts().items()
        if str(code).strip() and taxonomy.outcome(field, str(code)) is None
    ]  # fmt: skip
    # Dispositions first, since a person wrote them; then the most frequent ones.
    rows.sort(key=lambda row: (fields.index(row[0]), -row[2], row[1]))
    frame = pd.DataFrame(rows, columns=["field", "code", "calls", "stub"])
    frame = frame.astype({"field": "str", "code": "str", "calls": "Int64", "stub": "str"})
    lines = [f"# classes: {', '.join(BY_NAME)}"] if rows else []
    for field in dict.fromkeys(row[0] for row in rows):
        lines += [f"[{field}]", *(row[3] for row in rows if row[0] == field)]
    frame.attrs["stub"] = "\n".join([*lines, ""] if rows else [])
    return frame


def mapping_warnings(calls: pd.DataFrame, taxonomy: Taxonomy, odd: int) -> tuple[str, ...]:
    """What to do about calls whose codes the taxonomy does not have; nothing without any."""
    # Looking for the codes takes a pass over all calls, which hardly an account needs.
    if not odd:
        return ()
    codes = unmapped_codes(calls, taxonomy)
    return (
        f"{odd:,} {'call carries' if odd == 1 else 'calls carry'} codes that the taxonomy does not have; save this, replace each "
        f'"?" by a class and pass taxonomy.with_file(path):\n{codes.attrs["stub"].rstrip()}',
    )


def _classes(values: pd.Series, field: Field, taxonomy: Taxonomy) -> Places:
    """Place of each value's class in `OUTCOMES`; looked up once per distinct value."""
    # Codes are few, calls are many: the taxonomy is asked once for each code.
    places, codes = encoded(values)
    class_of_code = []
    for code in codes:
        outcome = taxonomy.outcome(field, code)
        # A blank is no code: it says nothing, while a strange code says that a mapping is missing.
        known = _UNMAPPED if outcome is None else PLACE[outcome]
        class_of_code.append(known if code.strip() else _NOTHING)
    return np.asarray(np.array([*class_of_code, _NOTHING], dtype=np.int8)[places])


@cache
def _every_case() -> Decided:
    """Every way in which answer, cause, status and disposition can meet: few, however many calls.

    The layer that decides, and whether the two contradict each other.
    """
    sizes = (2, _PLACES, _PLACES, _PLACES)
    answers, *layers = np.indices(sizes, dtype=np.int8).reshape(len(sizes), -1)
    answered = answers.astype(bool)
    cause, status, business = (places + np.int8(_UNMAPPED) for places in layers)
    telephony = _telephony(answered, cause, status)
    fits = np.where(answered, _FITS_ANSWERED[business], _FITS_UNANSWERED[business])
    # Where nobody answered, the network's word outweighs a code that a dialer set by itself.
    decides = fits & (answered | _SAYS_LITTLE[telephony])
    outcome = np.where(decides, business, telephony)
    conflict = ((business >= 0) & ~fits) | _contradicts(answered, cause)
    conflict |= _contradicts(answered, status)
    # A strange cause beside an outcome that is known would have decided nothing: it is not held against the call.
    silent = _SAYS_LITTLE[outcome] & ((cause == _UNMAPPED) | (status == _UNMAPPED))
    unmapped_ = (business == _UNMAPPED) | silent
    return Decided(outcome, telephony, business, decides, answered, conflict, unmapped_)


def _telephony(answered: Mask, cause: Places, status: Places) -> Places:
    """The first of cause and status that can speak of such a call, else one of the unknowns.

    On an answered call the cause says how it ended, so only a class that answering is part of
    counts: a network failure in mid-call leaves the call connected.
    """
    chosen = np.where(
        answered, np.int8(PLACE[CONNECTED_UNKNOWN]), np.int8(PLACE[UNANSWERED_UNKNOWN])
    )
    # The cause comes last and so has the last word: it is the network's own (ITU-T Q.850).
    for layers in (status, cause):
        speaks = np.where(answered, _ONLY_ANSWERED[layers], _FITS_UNANSWERED[layers])
        says_more = ~_SAYS_LITTLE[layers] | _SAYS_LITTLE[chosen]
        chosen = np.where(speaks & says_more, layers, chosen)
    return chosen


def _contradicts(answered: Mask, layer: Places) -> Mask:
    """True where the network's word and `answered_at` cannot both be right."""
    says_answered = _ONLY_ANSWERED[layer] & ~_SAYS_LITTLE[layer]
    return np.where(answered, _ONLY_UNANSWERED[layer], says_answered)


def _flag(name: str) -> Mask:
    return _flags(*(getattr(outcome, name) is True for outcome in OUTCOMES))

"""The world's numbering plans as integer tables: shipped for the pinned phonenumbers, compiled for any other and kept on disk.

Three machines, all flat arrays of next states by digit (16 columns, so that a row is a shift):

- *numbering*: behind each calling code one automaton over all patterns of all its regions. The
  state in which a number ends says its region and its type. Equal states are one state.
- *prefixes*: what `re.match` does with a region's international and national prefixes.
- *lengths*: the verdict on a number's length, by region.

A construct that no metadata used so far raises while compiling, never a wrong number later.
"""

from __future__ import annotations

import contextlib
import hashlib
import zipfile
from pathlib import Path
from typing import Any, Final, NamedTuple

import numpy as np
import phonenumbers
import platformdirs
from numpy.typing import NDArray
from phonenumbers import (
    COUNTRY_CODE_TO_REGION_CODE,
    SUPPORTED_REGIONS,
    PhoneMetadata,
    ValidationResult,
)

from dialframe import files
from dialframe.phones.number_automata import Numbering, Span, leaves, prefix_automaton
from dialframe.phones.number_outcomes import NOWHERE, WORLD

#: Columns of the table of lengths; longer numbers have the verdict of the last.
LENGTHS: Final = 32
CODES: Final = 1000


class Plan(NamedTuple):
    """The tables; a *place* is a row of metadata: a region, or behind them all a calling code.

    Attributes:
        regions: Codes of the regions in the order of their places; `WORLD` is the last.
        step: Numbering: next state by state and digit; 0 is dead.
        region: Numbering: place of the region by state, or `NOWHERE`.
        kind: Numbering: `PhoneNumberType` by state.
        root: Numbering: the first state by calling code.
        lone_region: By calling code, the region of all its numbers, or `NOWHERE` if it is shared.
        main: By calling code, the place whose rules its numbers follow; -1 for no code.
        length: `ValidationResult` by place and number of digits.
        prefix_step: Prefixes: next state by state and digit; 0 is dead.
        prefix_match: Prefixes: what matched on arrival, by state: -1 nothing, 0 a plain prefix,
            otherwise `1 | start << 8 | stop << 16` of the group that is kept of it.
        prefix_end: The same where the number ends here.
        international: Prefixes: first state of the prefix for calls abroad, by place.
        national: Prefixes: first state of the national prefix, by place.
        code: Calling code of a place; 0 for none.
    """

    regions: NDArray[np.str_]
    step: NDArray[np.uint16]
    region: NDArray[np.int16]
    kind: NDArray[np.uint8]
    root: NDArray[np.int32]
    lone_region: NDArray[np.int16]
    main: NDArray[np.int32]
    length: NDArray[np.int8]
    prefix_step: NDArray[np.uint16]
    prefix_match: NDArray[np.int32]
    prefix_end: NDArray[np.int32]
    international: NDArray[np.int32]
    national: NDArray[np.int32]
    code: NDArray[np.int32]


def compile_plan() -> Plan:
    """Compile the installed metadata; takes about a second.

    Raises:
        ValueError: The metadata uses what it never used before.
    """
    regions = (*sorted(SUPPORTED_REGIONS), WORLD)
    numbering, prefixes, plan = Numbering(), _Prefixes(), _blank(regions)
    # In a fixed order, so that equal metadata make equal tables and one fingerprint.
    for code, members in sorted(COUNTRY_CODE_TO_REGION_CODE.items()):
        metas = [_metadata(code, region) for region in members]
        within = [regions.index(region) for region in members]
        places = [
            len(regions) + code if region == WORLD else regions.index(region) for region in members
        ]
        plan.root[code] = numbering.add(metas, within)
        plan.lone_region[code] = within[0] if len(members) == 1 else NOWHERE
        # phonenumbers names the main region of a code first.
        plan.main[code] = places[0]
        for place, meta in zip(places, metas, strict=True):
            plan.code[place] = code
            plan.length[place] = [length_verdict(at, meta.general_desc) for at in range(LENGTHS)]
            plan.international[place] = prefixes.add(meta.international_prefix, keeps_group=False)
            plan.national[place] = prefixes.add(
                meta.national_prefix_for_parsing,
                keeps_group=bool(meta.national_prefix_transform_rule),
            )
    outcomes = numbering.outcomes
    plan = plan._replace(
        step=_wide(numbering.steps),
        region=np.array([outcome.region for outcome in outcomes], np.int16),
        kind=np.array([outcome.kind for outcome in outcomes], np.uint8),
        prefix_step=_wide(prefixes.steps),
        prefix_match=np.array(prefixes.matches, np.int32),
        prefix_end=np.array(prefixes.ends, np.int32),
    )
    # Its keys are nested continuations, which nobody needs again.
    leaves.cache_clear()
    return plan


def length_verdict(digits: int, desc: Any) -> int:
    """The `ValidationResult` of a number of so many digits."""
    # The order of `_test_number_length` in phonenumbers.
    if digits in desc.possible_length_local_only:
        return int(ValidationResult.IS_POSSIBLE_LOCAL_ONLY)
    if digits in desc.possible_length:
        return int(ValidationResult.IS_POSSIBLE)
    if digits < desc.possible_length[0]:
        return int(ValidationResult.TOO_SHORT)
    if digits > desc.possible_length[-1]:
        return int(ValidationResult.TOO_LONG)
    return int(ValidationResult.INVALID_LENGTH)


def _blank(regions: tuple[str, ...]) -> Plan:
    places = len(regions) + CODES
    return Plan(
        regions=np.array(regions),
        step=np.zeros((0, 16), np.uint16),
        region=np.zeros(0, np.int16),
        kind=np.zeros(0, np.uint8),
        root=np.zeros(CODES, np.int32),
        lone_region=np.full(CODES, NOWHERE, np.int16),
        main=np.full(CODES, -1, np.int32),
        length=np.zeros((places, LENGTHS), np.int8),
        prefix_step=np.zeros((0, 16), np.uint16),
        prefix_match=np.zeros(0, np.int32),
        prefix_end=np.zeros(0, np.int32),
        international=np.zeros(places, np.int32),
        national=np.zeros(places, np.int32),
        code=np.zeros(places, np.int32),
    )


def _metadata(code: int, region: str) -> PhoneMetadata:
    meta = PhoneMetadata.metadata_for_region_or_calling_code(code, region)
    if meta is None:
        raise ValueError(f"the metadata has no plan of region {region} behind code {code}")
    return meta


class _Prefixes:
    """The prefix automata in one table; equal patterns are kept once."""

    def __init__(self) -> None:
        self.steps: list[tuple[int, ...]] = [(0,) * 10]
        self.matches, self.ends = [-1], [-1]
        self._known: dict[tuple[str, bool], int] = {}

    def add(self, pattern: str | None, *, keeps_group: bool) -> int:
        """Add a pattern; returns its first state, 0 for none."""
        if not pattern:
            return 0
        if (pattern, keeps_group) not in self._known:
            # State 0 is dead in each automaton, and one for all of them.
            base = len(self.steps) - 1
            self._known[pattern, keeps_group] = base + 1
            for state in prefix_automaton(pattern)[1:]:
                self.steps.append(tuple(to and to + base for to in state.steps))
                self.matches.append(_event(state.match, keeps_group=keeps_group))
                self.ends.append(_event(state.match_at_end, keeps_group=keeps_group))
        return self._known[pattern, keeps_group]


def _event(span: Span | None, *, keeps_group: bool) -> int:
    if span is None:
        return -1
    # A transform rule puts the group back; without one the prefix is taken off whole.
    if not keeps_group or span.stop < 0:
        return 0
    return 1 | span.start << 8 | span.stop << 16


def _wide(steps: list[tuple[int, ...]]) -> NDArray[np.uint16]:
    if len(steps) > np.iinfo(np.uint16).max:
        raise ValueError(f"{len(steps)} states are more than the tables can number")
    # Sixteen columns for ten digits, so that a row is a shift by four.
    table = np.zeros((len(steps), 16), np.uint16)
    table[:, :10] = steps
    return table


#: Counts up when the meaning of a table changes, so that tables of an older dialframe are not read.
LAYOUT: Final = 2

#: Plans that come with the package.
SHIPPED: Final = Path(__file__).parent / "data"

_PROBLEMS: Final = (OSError, ValueError, KeyError, zipfile.BadZipFile, EOFError)


def load_plan(folder: Path | None = None) -> Plan:
    """The plan of the installed metadata: shipped with this package, or compiled once and then read from disk.

    Where the disk does not take or give it, it is compiled in memory each time.

    Args:
        folder: Where to keep a compiled plan; `cache_folder()` if not given.
    """
    # Numbering plans change with each release of phonenumbers.
    name = f"numbering-{phonenumbers.__version__}-{LAYOUT}.npz"
    path = (folder or cache_folder()) / name
    for each in (SHIPPED / name, path) if folder is None else (path,):
        with contextlib.suppress(*_PROBLEMS):
            return _read(each)
    plan = compile_plan()
    with contextlib.suppress(OSError):  # a full or read-only disk costs a second, not the answer
        write_plan(path, plan)
    return plan


def cache_folder() -> Path:
    """Where compiled plans are kept: the user's own cache, readable by nobody else."""
    return platformdirs.user_cache_path("dialframe") / "phones"


def fingerprint(plan: Plan) -> int:
    """A number that differs between plans."""
    digest = hashlib.blake2b(digest_size=7)
    for table in plan:
        digest.update(np.ascontiguousarray(table).tobytes())
    return int.from_bytes(digest.digest())


def _read(path: Path) -> Plan:
    with path.open("rb") as file, np.load(file, allow_pickle=False) as tables:
        plan = Plan(**{name: tables[name] for name in Plan._fields})
        # What is read here decides who is dialed: half a file must not pass.
        if int(tables["fingerprint"]) != fingerprint(plan):
            raise ValueError(f"{path} is damaged")
    return plan


def write_plan(path: Path, plan: Plan) -> None:
    """Write a plan for `load_plan`, readable by its owner alone: the tables decide who is dialed."""
    tables = {"fingerprint": np.int64(fingerprint(plan)), **plan._asdict()}
    files.folder(path.parent)
    files.publish({path: files.stage(path, lambda file: np.savez_compressed(file, **tables))})

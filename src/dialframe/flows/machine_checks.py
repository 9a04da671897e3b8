"""Checks this machine: the store and its disk, libraries, extras, a browser, the clock; asks no service.

Here stands, too, the row that every check of a check-up gives, and the list of them.
"""

from __future__ import annotations

import os
import platform
import re
import shutil
import stat
from collections import Counter
from collections.abc import Iterator, Mapping
from dataclasses import asdict, dataclass
from datetime import UTC, datetime, timedelta
from email.utils import parsedate_to_datetime
from importlib import import_module
from importlib.metadata import PackageNotFoundError, requires, version
from pathlib import Path
from typing import Any, Final, Literal

import dialframe
from dialframe.account.connecting import stores_folder
from dialframe.config import Settings
from dialframe.contract.limits import SIGNATURE_TOLERANCE_S
from dialframe.contract.models.base_models import REQUEST_ID
from dialframe.errors import StoreError
from dialframe.evidence import EvidenceLog
from dialframe.flows.import_ledger import find_lost_plans
from dialframe.privacy import redact
from dialframe.reports.html_page import browser
from dialframe.store import Store
from dialframe.store.damage import stores
from dialframe.store.database import FILE

State = Literal["ok", "warning", "failed", "not tried"]
STATES: Final[tuple[State, ...]] = ("ok", "warning", "failed", "not tried")


@dataclass(frozen=True, slots=True)
class Finding:
    """One thing that was checked.

    Attributes:
        check: What was checked.
        state: `ok`, `warning` (it works, or will not for everything), `failed`, or `not tried`.
        detail: What was seen; keys and numbers hidden.
        what_next: What to do about it, or nothing.
    """

    check: str
    state: State
    detail: str
    what_next: str = ""

    def __post_init__(self) -> None:
        """Hide what must not be shown, whoever's words these are."""
        object.__setattr__(self, "detail", redact(self.detail))
        object.__setattr__(self, "what_next", redact(self.what_next))


@dataclass(frozen=True, slots=True)
class Diagnosis:
    """All that was checked, in the order of the checks."""

    rows: tuple[Finding, ...]

    @property
    def failed(self) -> bool:
        """Whether any check failed."""
        return any(row.state == "failed" for row in self.rows)

    @property
    def verdict(self) -> str:
        """How many checks ended in which state, in one sentence."""
        counts = Counter(row.state for row in self.rows)
        return ", ".join(f"{counts[state]} {state}" for state in STATES) + "."

    @property
    def troubles(self) -> tuple[Finding, ...]:
        """What failed or is a warning, failures first."""
        return tuple(
            row for state in ("failed", "warning") for row in self.rows if row.state == state
        )

    def of(self, check: str) -> Finding:
        """The row of one check.

        Raises:
            KeyError: There is no such check.
        """
        for row in self.rows:
            if row.check == check:
                return row
        raise KeyError(check)

    def as_dict(self) -> dict[str, Any]:
        """The same for JSON: `ok`, how many in each state, and the rows."""
        counts = Counter(row.state for row in self.rows)
        return {
            "ok": not self.failed,
            "counts": {state: counts[state] for state in STATES},
            "checks": [asdict(row) for row in self.rows],
        }


#: Libraries whose versions a report of a fault has to name.
LIBRARIES: Final = ("pandas", "numpy", "pyarrow", "pydantic", "httpx", "starlette", "matplotlib")
#: Parts of the package, and what stands on each.
ROOMS: Final = {
    "phones": "reading numbers", "leads": "leads", "analytics": "funnel and report",
    "compliance": "audit and rules", "plots": "pictures", "reports": "pages",
}  # fmt: skip
#: Reserved for fiction (NANPA, 555-0100 to 555-0199).
_EXAMPLE: Final = "+12025550142"
#: Below the first a sync cannot be written, below the second a large one may not.
LEAST_FREE_BYTES: Final = 50_000_000
FEW_FREE_BYTES: Final = 1_000_000_000

_OPEN_TO_OTHERS: Final = stat.S_IRWXG | stat.S_IRWXO
_BOUND: Final = re.compile(r"(>=|<)\s*(\d+(?:\.\d+)*)")
#: A difference of clocks beyond this is said; up to the signatures' tolerance nothing breaks.
NOTED: Final = timedelta(seconds=5)
#: Older signatures are refused (contract, Delivery).
TOLERANCE: Final = timedelta(seconds=SIGNATURE_TOLERANCE_S)
CLOCK: Final = "clock"
#: Digits of a ULID, and how many of them are its time (github.com/ulid/spec).
_CROCKFORD: Final = "0123456789ABCDEFGHJKMNPQRSTVWXYZ"
_ULID_TIME_CHARS: Final = 10
_ELSEWHERE: Final = "choose another folder with --store or DIALFRAME_STORE"


@dataclass(frozen=True, slots=True)
class Extra:
    """An optional part of the installation, the libraries that make it, and what it is for."""

    name: str
    libraries: tuple[str, ...]
    purpose: str


#: As the package declares them.
EXTRAS: Final = (
    Extra("plots", ("matplotlib", "pillow"), "pictures in reports and notebooks"),
    Extra(
        "notebook",
        ("ipywidgets", "jupyterlab", "matplotlib", "pillow"),
        "the widgets in JupyterLab",
    ),
    Extra("assistant", ("jsonschema", "mcp"), "dialframe assistant serve"),
    Extra("signing", ("cryptography",), "dialframe audit keygen and signed packs"),
    Extra("dask", ("dask", "distributed", "s3fs"), "leads clean --cluster and s3:// files"),
    Extra("delta", ("deltalake",), "dialframe export all"),
    Extra("docs", ("furo", "myst-nb", "sphinx"), "building the documentation site"),
)


def machine(settings: Settings) -> list[Finding]:
    """Store, stored data, disk, versions, extras and browser, one finding each; nothing is changed."""
    root = stores_folder(settings)
    return [
        _store(root),
        _check_store(settings),
        _disk(root),
        _rooms(),
        _versions(),
        _extras(),
        _browser(),
    ]


def _store(root: Path) -> Finding:
    try:
        return _folder(root)
    except (OSError, RuntimeError) as error:
        return Finding("store", "failed", f"{root} cannot be looked at: {error}", _ELSEWHERE)


def _folder(root: Path) -> Finding:
    if not root.exists():
        folder = _nearest(root)
        if folder.is_dir() and os.access(folder, os.W_OK | os.X_OK):
            return Finding("store", "ok", f"{root} will be made when it is first used")
        return Finding("store", "failed", f"{root} cannot be made: {folder} is closed", _ELSEWHERE)
    if not root.is_dir():
        return Finding("store", "failed", f"{root} is a file", "choose a folder")
    if not os.access(root, os.R_OK | os.W_OK | os.X_OK):
        advice = "choose another folder, or have its permissions changed"
        return Finding("store", "failed", f"{root} may not be written to", advice)
    # Elsewhere the bits of a mode say nothing of who may read.
    if os.name != "posix":
        return Finding("store", "ok", f"{root} may be written to; who may read it is not checked")
    exposed = _find_exposed(root)
    if exposed:
        detail = f"{root}: {len(exposed)} files are open to other users, {exposed[0].name} for one"
        return Finding("store", "warning", detail, f"chmod -R go-rwx {root}")
    return Finding("store", "ok", f"{root} may be written to, and its files are yours alone")


def _find_exposed(folder: Path) -> list[Path]:
    """Files below a folder that others may read or write, wherever they can get to them."""
    if not folder.stat().st_mode & _OPEN_TO_OTHERS:
        return []
    exposed: list[Path] = []
    for path in sorted(folder.iterdir()):
        if path.is_dir() and not path.is_symlink():
            exposed += _find_exposed(path)
        elif path.is_file() and path.stat().st_mode & _OPEN_TO_OTHERS:
            exposed.append(path)
    return exposed


def _check_store(settings: Settings) -> Finding:
    """Whether what is stored can be read, all accounts of the folder together, and what is kept beside them."""
    check, root = "stored data", stores_folder(settings)
    try:
        files = [path / FILE for path in stores(root) if (path / FILE).stat().st_size]
        sizes = [path.stat().st_size for path in files]
        missing = [sentence for path in files for sentence in _read(path.parent)]
        missing += EvidenceLog.beside(root).verify() or describe_lost_plans(root)
    except (StoreError, OSError) as error:
        return Finding(check, "failed", str(error))
    if not files and not missing:
        return Finding(check, "ok", "none yet; dialframe sync brings it")
    detail = "one account's data" if len(files) == 1 else f"{len(files)} accounts' data"
    detail += f", {sum(sizes) / 1e6:,.1f} MB"
    if missing:
        advice = (
            "dialframe store info --verify names every file; store restore brings a backup back"
        )
        return Finding(check, "failed", f"{detail}; {'; '.join(missing)}", advice)
    return Finding(check, "ok", f"{detail}, can be read")


def describe_lost_plans(root: Path) -> list[str]:
    """What the evidence log of a folder of stores knows of imports whose plan is gone before they came to an end."""
    return [
        f"{path}: the plan of an import is gone, and what became of leads that it sent on {at:%Y-%m-%d} is not known; bring it back"
        for path, at in find_lost_plans(EvidenceLog.beside(root)).items()
    ]


def _read(folder: Path) -> tuple[str, ...]:
    """What a store has lost, in words."""
    with Store.open(folder) as store:
        store.info()
        return store.missing()


def _disk(root: Path) -> Finding:
    try:
        folder = _nearest(root)
        free = shutil.disk_usage(folder).free
    except OSError as error:
        return Finding("disk", "not tried", f"its free space is not known: {error}")
    detail = f"{free / 1e9:,.1f} GB are free where {folder} is"
    if free < LEAST_FREE_BYTES:
        return Finding("disk", "failed", detail, f"make room, or {_ELSEWHERE}")
    if free < FEW_FREE_BYTES:
        advice = "a large account needs more; make room before a first sync"
        return Finding("disk", "warning", detail, advice)
    return Finding("disk", "ok", detail)


def _rooms() -> Finding:
    """Whether what the commands stand on can be loaded and used here, by trying it."""
    broken = []
    for name, purpose in ROOMS.items():
        try:
            # By loading it: a library may be there, and broken or without a place for its cache.
            import_module(f"dialframe.{name}")
        except Exception as error:  # whatever it is, it is what the command would die of
            words = (str(error).splitlines() or [""])[0]
            broken.append(f"{purpose} ({type(error).__name__}: {redact(words)})")
    if not broken:
        from dialframe.phones import normalize

        if normalize([_EXAMPLE], region="US")["e164"][0] != _EXAMPLE:
            broken.append("reading numbers (a number that is known to be right was not)")
    if broken:
        advice = (
            "set NUMBA_CACHE_DIR to a folder that can be written to, or install dialframe again"
        )
        return Finding("commands", "failed", f"these cannot run: {'; '.join(broken)}", advice)
    return Finding("commands", "ok", "every part of the package can be loaded here")


def _versions() -> Finding:
    versions = [f"python {platform.python_version()}", f"dialframe {dialframe.__version__}"]
    # Two faults with one remedy.
    missing, wrong = [], []
    bounds = dict(_bounds())
    for library in LIBRARIES:
        installed = _installed_version(library)
        if installed is None:
            missing.append(library)
            continue
        versions.append(f"{library} {installed}")
        if not _within(installed, bounds.get(library, "")):
            wrong.append(f"{library} {installed} (needs {bounds[library]})")
    faults = [f"missing: {', '.join(missing)}"] if missing else []
    faults += [f"not what it was made for: {', '.join(wrong)}"] if wrong else []
    if faults:
        detail = "; ".join([", ".join(versions), *faults])
        return Finding(
            "versions", "failed", detail, "install dialframe again: pip install -U dialframe"
        )
    return Finding("versions", "ok", ", ".join(versions))


def _extras() -> Finding:
    absent = [extra for extra in EXTRAS if not all(map(_installed_version, extra.libraries))]
    present = [extra.name for extra in EXTRAS if extra not in absent]
    detail = f"installed: {', '.join(present) or 'none'}"
    if not absent:
        return Finding("extras", "ok", detail)
    lacking = ", ".join(f"{extra.name} (for {extra.purpose})" for extra in absent)
    names = ",".join(extra.name for extra in absent)
    advice = f"only if you need them: pip install 'dialframe[{names}]'"
    return Finding("extras", "warning", f"{detail}; not installed: {lacking}", advice)


def _browser() -> Finding:
    program = browser()
    if program is not None:
        return Finding("chromium", "ok", f"{program} prints PDF")
    advice = "only for dialframe audit --pdf: install chromium, or print report.html yourself"
    return Finding("chromium", "warning", "none on this machine, so no PDF can be made", advice)


def _nearest(path: Path) -> Path:
    """The path, or the first folder above it that is there."""
    return next(folder for folder in (path, *path.absolute().parents) if folder.exists())


def _installed_version(library: str) -> str | None:
    """The version of a library; None where it is not installed."""
    try:
        return version(library)
    except PackageNotFoundError:
        return None


def _bounds() -> Iterator[tuple[str, str]]:
    """What the installed package asks of each library; nothing where it runs from its source."""
    try:
        wanted = requires("dialframe") or []
    except PackageNotFoundError:
        return
    for line in wanted:
        name = re.match(r"[A-Za-z0-9._-]+", line)
        if name is not None and ";" not in line:
            yield name.group().lower(), line[name.end() :].strip()


def _within(installed: str, bounds: str) -> bool:
    have = _numbers(installed)
    return all(
        have >= _numbers(limit) if sign == ">=" else have < _numbers(limit)
        for sign, limit in _BOUND.findall(bounds)
    )


def _numbers(text: str) -> tuple[int, ...]:
    return tuple(int(part) for part in re.findall(r"\d+", text)[:3])


@dataclass(frozen=True, slots=True)
class Exchange:
    """One request and its answer, by this machine's clock, and the answer's headers."""

    sent_at: datetime
    heard_at: datetime
    headers: Mapping[str, str]


def clock(exchange: Exchange | None) -> Finding:
    """Whether this machine's clock agrees with the service's.

    The service's time is in `Date`, to the second, else in the ULID of `X-Request-ID` (contract,
    Conventions), to the millisecond. It was read some time between sending and hearing, so the
    difference is known within these bounds, and the smallest one that fits is given.
    """
    if exchange is None:
        return Finding(CLOCK, "not tried", "the service gave no answer")
    try:
        shown = _service_time(exchange.headers)
    except OverflowError:
        # A year beyond what can be reckoned with is no time.
        shown = None
    if shown is None:
        return Finding(CLOCK, "not tried", "not known: the answer has no time in it")
    earliest, latest, source = shown
    # At most one of the two is more than nothing.
    ahead = max(exchange.sent_at - latest, timedelta())
    behind = max(earliest - exchange.heard_at, timedelta())
    off = max(ahead, behind)
    way = "ahead of" if ahead else "behind"
    if off <= NOTED:
        return Finding(CLOCK, "ok", f"agrees with the service's, by {source}")
    detail = f"{off.total_seconds():.0f} s {way} the service's, by {source}"
    # Signatures of deliveries are taken up to that age (contract, Events: Delivery).
    if off <= TOLERANCE:
        return Finding(CLOCK, "warning", detail, "have this machine's clock set over the network")
    return Finding(
        CLOCK,
        "failed",
        f"{detail}: webhook deliveries would be refused as stale",
        "have this machine's clock set over the network",
    )


def _service_time(headers: Mapping[str, str]) -> tuple[datetime, datetime, str] | None:
    """The first and last instant that the service's clock may have shown, and who says so."""
    try:
        dated = parsedate_to_datetime(headers.get("date", ""))
    except ValueError:
        pass
    else:
        # HTTP dates are GMT; the older forms say so without an offset (RFC 9110, 5.6.7).
        dated = dated.replace(tzinfo=UTC) if dated.tzinfo is None else dated
        return dated, dated + timedelta(seconds=1), "Date"
    request_id = headers.get("x-request-id", "")
    if not (request_id.startswith("req_") and REQUEST_ID.fullmatch(request_id)):
        return None
    # A ULID begins with the milliseconds since 1970, in Crockford's base 32.
    milliseconds = 0
    for character in request_id.removeprefix("req_")[:_ULID_TIME_CHARS]:
        milliseconds = milliseconds * len(_CROCKFORD) + _CROCKFORD.index(character)
    stamped = datetime(1970, 1, 1, tzinfo=UTC) + timedelta(milliseconds=milliseconds)
    return stamped, stamped + timedelta(milliseconds=1), "X-Request-ID"

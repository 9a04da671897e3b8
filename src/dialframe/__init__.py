"""The toolkit for outbound dialing data.

    import dialframe

    account = dialframe.connect()          # a live account, from the environment or arguments
    account.sync()
    calls = account.calls()                # a DataFrame

Rooms are loaded when they are first used: importing the package loads neither pandas nor httpx.
"""

from __future__ import annotations

# With underscores, so that an editor does not offer them as names of this package.
import importlib as _importlib
import importlib.util
import sys as _sys
from typing import TYPE_CHECKING
from typing import Any as _Any

if TYPE_CHECKING:
    from dialframe import (
        analytics,
        compliance,
        errors,
        experiments,
        frames,
        leads,
        phones,
        plots,
        reports,
        sandbox,
        suppression,
        webhooks,
        widgets,
    )
    from dialframe.account import Account, connect
    from dialframe.client import AsyncClient, Client
    from dialframe.flows.audit import audit, may_call
    from dialframe.flows.evidence_files import add_evidence
    from dialframe.frames import read

__version__ = "0.1.0"

__all__ = [
    "Account",
    "AsyncClient",
    "Client",
    "__version__",
    "add_evidence",
    "analytics",
    "audit",
    "compliance",
    "connect",
    "errors",
    "experiments",
    "frames",
    "leads",
    "may_call",
    "phones",
    "plots",
    "read",
    "reports",
    "sandbox",
    "suppression",
    "webhooks",
    "widgets",
]

if not TYPE_CHECKING:
    # Hidden from type checkers, so that a misspelled name is still an error to them.
    _NAMES = {
        "Account": "dialframe.account",
        "AsyncClient": "dialframe.client",
        "Client": "dialframe.client",
        "add_evidence": "dialframe.flows.evidence_files",
        "audit": "dialframe.flows.audit",
        "connect": "dialframe.account",
        "may_call": "dialframe.flows.audit",
        "read": "dialframe.frames",
    }
    _ROOMS = frozenset(__all__) - {*_NAMES, "__version__"}

    def __getattr__(name: str) -> _Any:
        if name in _NAMES:
            return getattr(_importlib.import_module(_NAMES[name]), name)
        if name in _ROOMS:
            try:
                return _importlib.import_module(f"dialframe.{name}")
            except ModuleNotFoundError as error:
                from dialframe import extras

                raise ModuleNotFoundError(extras.in_words(error), name=error.name) from error
        raise AttributeError(f"module 'dialframe' has no attribute {name!r}")

    def __dir__() -> list[str]:
        return sorted(__all__)

    class _Dial:
        """`df.dial`, which loads what it needs when it is first used."""

        def __init__(self, given: _Any) -> None:
            self._given = given

        def __getattr__(self, name: str) -> _Any:
            from dialframe.pandas_accessor import Dial

            return getattr(Dial(self._given), name)

    class _WithPandas:
        """Puts `dial` on frames as soon as somebody loads pandas, which this package does not."""

        def find_spec(self, name: str, *_: _Any) -> _Any:
            if name != "pandas" or self not in _sys.meta_path:
                return None
            # Out of the way while the others look; back at once, since who asks for a spec may load nothing.
            _sys.meta_path.remove(self)
            try:
                spec = _importlib.util.find_spec("pandas")
            finally:
                _sys.meta_path.insert(0, self)
            if spec is not None and spec.loader is not None:
                run = spec.loader.exec_module

                def exec_module(module: _Any) -> None:
                    run(module)
                    _sys.meta_path.remove(self)
                    _register(module)

                spec.loader.exec_module = exec_module
            return spec

    def _register(pandas: _Any) -> None:
        for kind in ("dataframe", "series"):
            getattr(pandas.api.extensions, f"register_{kind}_accessor")("dial")(_Dial)

    if "pandas" in _sys.modules:
        _register(_sys.modules["pandas"])
    else:
        _sys.meta_path.insert(0, _WithPandas())

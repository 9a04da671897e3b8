"""Loops over bytes that run interpreted while there is little to do, and compiled from then on.

numba compiles a function in about a second, and loads in half of one. So the same source is
interpreted until it has seen more bytes than that is worth, and without numba always. Nothing needs
a folder to keep compiled code in; where one can be written, the next process has it at once.
"""

from __future__ import annotations

import pickle
import sys
import threading
from collections.abc import Callable
from importlib.util import find_spec
from pathlib import Path
from types import FunctionType
from typing import Any, Final

#: Bytes from which compiling pays, where code is kept from an earlier run and where it is not:
#: measured as a microsecond a byte interpreted, half a second to load numba, a second to compile.
KEPT_BYTES: Final = 500_000
NEW_BYTES: Final = 2_000_000

#: What reading a file that is no code of ours raises, by pickle's documentation.
_UNLOADABLE: Final = (
    pickle.UnpicklingError, AttributeError, EOFError, ImportError, IndexError, KeyError, OSError,
    TypeError, ValueError,
)  # fmt: skip

_units: dict[str, list[Compiled]] = {}
_lock: Final = threading.Lock()


class Compiled:
    """A function over arrays whose first argument is the bytes that it walks over.

    Attributes:
        function: The source, as Python runs it.
    """

    def __init__(self, function: Callable[..., Any], instead: Callable[..., Any] | None) -> None:
        self.function = function
        self._instead = instead
        self._interpreted: Callable[..., Any] | None = None
        self._compiled: Callable[..., Any] | None = None
        self._seen_bytes = 0
        self._worth_bytes: float | None = None
        self.__doc__ = function.__doc__

    def __call__(self, *arguments: Any) -> Any:
        """Run it, one way or the other; the answer is the same."""
        if self._compiled is None:
            self._seen_bytes += len(arguments[0]) if hasattr(arguments[0], "__len__") else 1
            if self._seen_bytes < self._worth():
                return self._interpret(arguments)
            self._compile()
        return self._compiled(*arguments)  # type: ignore[misc]

    def _interpret(self, arguments: tuple[Any, ...]) -> Any:
        if self._interpreted is None:
            self._interpreted = self._instead or _in(
                self.function, {part.name: part.function for part in self._unit()}, as_lists=True
            )
        return self._interpreted(*map(_plain, arguments))

    def _compile(self) -> None:
        with _lock:
            if self._compiled is None:
                import numba

                helpers = {
                    part.name: numba.njit(nogil=True)(_in(part.function, {}, as_lists=False))
                    for part in self._unit()
                    if part is not self
                }
                for helper in helpers.values():
                    # A helper may call another one.
                    helper.py_func.__globals__.update(helpers)
                self._compiled = jit(_in(self.function, helpers, as_lists=False))

    def _unit(self) -> list[Compiled]:
        return _units[self.function.__module__]

    def _worth(self) -> float:
        if self._worth_bytes is None:
            if not is_available():
                self._worth_bytes = float("inf")
            else:
                code = self.function.__code__
                self._worth_bytes = (
                    KEPT_BYTES if is_kept(Path(code.co_filename), self.name) else NEW_BYTES
                )
        return self._worth_bytes

    @property
    def name(self) -> str:
        """Name of the function in its module."""
        return self.function.__name__


def compiled(
    function: Callable[..., Any] | None = None, *, instead: Callable[..., Any] | None = None
) -> Any:
    """Make a function of arrays one that is compiled where that is worth it.

    Args:
        function: It uses only what numba understands: arrays, numbers, loops, and functions of
            its own module that are decorated too.
        instead: What runs interpreted, where the source depends on integers that overflow.

    Returns:
        A `Compiled`, called with the same arguments.

    Example:
        >>> import numpy as np
        >>> @compiled
        ... def count(data, byte):
        ...     found = 0
        ...     for at in range(len(data)):
        ...         found += data[at] == byte
        ...     return found
        >>> int(count(np.frombuffer(b"a,b,c", np.uint8), 44))
        2
    """
    if function is None:
        return lambda source: compiled(source, instead=instead)
    made = Compiled(function, instead)
    _units.setdefault(function.__module__, []).append(made)
    return made


def is_available() -> bool:
    """Whether numba is installed, by the extra `fast`; looks without loading it."""
    if "numba" in sys.modules:
        return sys.modules["numba"] is not None
    return find_spec("numba") is not None


def is_kept(source: Path, name: str) -> bool:
    """Whether an earlier run has left compiled code of a function beside its file.

    Args:
        source: The file.
        name: The function.
    """
    try:
        return any((source.parent / "__pycache__").glob(f"{source.stem}.{name}-*.nbi"))
    except OSError:
        return False


class Jitted:
    """A function that numba compiles at its first call, without the interpreter's lock.

    Its code is kept where the disk takes it. Kept code that cannot be loaded (damaged, or made by a
    program that is not here) is not used.
    """

    def __init__(self, source: Callable[..., Any]) -> None:
        self._source = source
        self._run: Any = None

    def __call__(self, *arguments: Any) -> Any:
        """Run it, compiling it where it has not been compiled for these types."""
        run = self._run or self._kept()
        try:
            return run(*arguments)
        except _UNLOADABLE:
            if run.stats.cache_path is None:
                raise
            return self.compile_anew()(*arguments)

    def compile_anew(self) -> Any:
        """Use nothing that is kept; returns what is run from now on."""
        import numba

        self._run = numba.njit(nogil=True)(self._source)
        return self._run

    def _kept(self) -> Any:
        import numba

        try:
            self._run = numba.njit(cache=True, nogil=True)(self._source)
        except RuntimeError:  # no folder can be written; it is compiled each time
            self.compile_anew()
        return self._run


def jit(function: Callable[..., Any]) -> Jitted:
    """Make a function one that is always compiled.

    Args:
        function: It uses only what numba understands.
    """
    return Jitted(function)


def _in(
    function: Callable[..., Any], names: dict[str, Any], *, as_lists: bool
) -> Callable[..., Any]:
    """The function with other things under the names that it uses."""
    namespace = {**function.__globals__, **names}
    if as_lists:
        # A list is read several times faster than an array, one item at a time.
        namespace = {
            name: value.tolist() if getattr(value, "ndim", 0) == 1 else value
            for name, value in namespace.items()
        }
        for name, other in names.items():
            if other is not function:
                namespace[name] = FunctionType(other.__code__, namespace, name)
    made = FunctionType(function.__code__, namespace, function.__name__)
    made.__qualname__, made.__module__ = function.__qualname__, function.__module__
    made.__doc__ = function.__doc__
    return made


def _plain(argument: Any) -> Any:
    """Arrays as memory whose items are Python's own numbers."""
    if type(argument).__name__ != "ndarray":
        return argument
    return memoryview(argument) if argument.size else argument

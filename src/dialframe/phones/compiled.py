"""Functions compiled by numba once and kept on disk where that is possible; knows none of them."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numba


def compiled(function: Callable[..., Any]) -> Any:
    """Compile without the interpreter's lock, and keep the code where the disk takes it."""
    try:
        return numba.njit(cache=True, nogil=True)(function)
    except RuntimeError:  # no folder can be written; it is compiled each time
        return numba.njit(nogil=True)(function)

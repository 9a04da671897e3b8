"""The command line: parses what a person wants, calls one flow, shows it."""

from __future__ import annotations

import os
import sys

__all__ = ["main"]

#: What is below this line is read by an older Python, too, so that it can say what is wrong.
_OLDEST = (3, 11)


def main() -> None:
    """Run the command of this process and leave with its exit status."""
    # Asked first: a parent that ends while the program is being read is noticed then.
    parent = os.getppid()
    if sys.version_info < _OLDEST:
        version = ".".join(str(part) for part in sys.version_info[:2])
        sys.exit(
            f"dialframe: it needs Python 3.11 or newer, and this is {version}; install it with a newer Python"
        )
    try:
        # Loaded here, so that Ctrl-C has no traceback even while the program is still being read.
        from dialframe.cli.entry_point import main as door

        door(parent)
    except KeyboardInterrupt:
        sys.exit(130)

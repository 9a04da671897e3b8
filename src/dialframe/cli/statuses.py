"""Names the statuses that a command ends with and says what each means."""

from __future__ import annotations

from typing import Final

OK: Final = 0
FAILURE: Final = 1
USAGE: Final = 2
FINDINGS: Final = 3
INTERRUPTED: Final = 130

#: What each says to a script; a command's help tells what it adds.
STATUSES: Final[dict[int, str]] = {
    OK: "it did what was asked",
    FAILURE: "it could not: a file, the service, the store or the disk is in the way",
    USAGE: "wrong usage, or a setting that is missing or wrong; nothing was done",
    INTERRUPTED: "stopped with Ctrl-C; what was finished is kept",
}

"""One door for every command: errors become one sentence and an exit status, never a traceback."""

from __future__ import annotations

import errno
import sys
from collections.abc import Sequence

import typer
from typer.exceptions import TyperException

from dialframe.errors import ConfigError, DialframeError
from dialframe.privacy import redact

OK = 0
FAILURE = 1
USAGE = 2
FINDINGS = 3
INTERRUPTED = 130

#: What the system says of a file, in words that name the next step.
SYSTEM = {
    errno.ENOSPC: "the disk is full; make room and run the same command again",
    errno.EACCES: "permission is denied; choose a folder that you may write to",
    errno.EROFS: "the disk is read-only; choose another folder",
    errno.ENOENT: "there is no such file or folder",
    errno.EISDIR: "it is a folder; name a file",
    errno.ENOTDIR: "a part of the path is a file; choose another folder",
    errno.EEXIST: "it exists already; choose another name",
    errno.EADDRINUSE: "the port is taken; choose another, or --port 0 for a free one",
}


def main() -> None:
    """Run the command of this process and leave with its exit status."""
    sys.exit(run(sys.argv[1:]))


def run(arguments: Sequence[str]) -> int:
    """Run one command.

    Returns:
        0 for success, 1 for a failure, 2 for wrong usage or a missing setting, 3 when an audit was
        asked to fail on findings and there are some, 130 when it was interrupted.
    """
    from dialframe.cli.app import app

    try:
        status = app(args=list(arguments), standalone_mode=False)
    except TyperException as error:
        return _usage(error)
    except ConfigError as error:
        return _say(str(error), USAGE)
    except DialframeError as error:
        return _say(str(error), FAILURE)
    except (KeyboardInterrupt, typer.Abort):
        return _say("stopped; what was finished is kept", INTERRUPTED)
    except BrokenPipeError:
        return FAILURE
    except OSError as error:
        return _say(_system(error), FAILURE)
    except MemoryError:
        return _say("there is not enough memory for this; try a smaller file", FAILURE)
    except Exception as error:
        return _say(f"this is a fault of dialframe, please report it: {error!r}", FAILURE)
    return status if isinstance(status, int) else OK


def _usage(error: TyperException) -> int:
    show = getattr(error, "show", None)
    if show is not None and str(error):
        show()
    return int(getattr(error, "exit_code", USAGE))


def _say(message: str, status: int) -> int:
    typer.echo(f"dialframe: {redact(message)}", err=True)
    return status


def _system(error: OSError) -> str:
    words = SYSTEM.get(error.errno or 0, error.strerror or str(error))
    return f"{error.filename}: {words}" if error.filename else words

"""One door for every command: errors become one sentence and an exit status, never a traceback."""

from __future__ import annotations

import atexit
import errno
import os
import re
import signal
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Final, NoReturn

import typer
from typer.exceptions import TyperException

from dialframe.cli import completing, course, mistakes
from dialframe.cli.statuses import FAILURE, FINDINGS, INTERRUPTED, OK, USAGE
from dialframe.cli.stopping import Stopped
from dialframe.errors import ApiError, ConfigError, DialframeError
from dialframe.privacy import redact

__all__ = ["FAILURE", "FINDINGS", "INTERRUPTED", "OK", "PROGRAM", "USAGE", "main", "run"]

PROGRAM: Final = "dialframe"

#: What the system says of a file, in words that name the next step.
SYSTEM: Final = {
    errno.ENOSPC: "the disk is full; make room and run the same command again",
    errno.EDQUOT: "your share of the disk is used up; make room and run the same command again",
    errno.EACCES: "permission is denied; choose a folder that you may write to",
    errno.EPERM: "permission is denied; choose a folder that you may write to",
    errno.EROFS: "the disk is read-only; choose another folder",
    errno.ENOENT: "there is no such file or folder",
    errno.EISDIR: "it is a folder; name a file",
    errno.ENOTDIR: "a part of the path is a file; choose another folder",
    errno.EEXIST: "it exists already; choose another name",
    errno.EADDRINUSE: "the port is taken; choose another, or --port 0 for a free one",
}


def main() -> NoReturn:
    """Run the command of this process and leave with its exit status."""
    # A caller may have closed them; what would be said is then for nobody, until the process ends.
    sys.stdout = sys.stdout or Path(os.devnull).open("w", encoding="utf-8")  # noqa: SIM115
    sys.stderr = sys.stderr or Path(os.devnull).open("w", encoding="utf-8")  # noqa: SIM115
    sys.unraisablehook = _unraisable
    try:
        status = run(sys.argv[1:])
        # What was asked is done: Ctrl-C at the very end would only spoil the status.
        signal.signal(signal.SIGINT, signal.SIG_IGN)
        sys.stdout.flush()
    except KeyboardInterrupt:
        status = _say("Stopped", "stopped", INTERRUPTED)
    except BrokenPipeError:
        # Else the interpreter would try to write the rest at its end, and complain.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        status = FAILURE
    _leave(status)


def run(arguments: Sequence[str]) -> int:
    """Run one command.

    With `--json`, an error is one JSON object on standard output as well: `error` with `kind`, `message` and
    `status`, and `code` and `request_id` where the service refused.

    Returns:
        0 for success, 1 for a failure, 2 for wrong usage or a missing setting, 3 when a command was
        asked to fail on findings and there are some, 130 when it was interrupted.
    """
    course.begin(arguments)
    try:
        return _run(arguments)
    except TyperException as error:
        return _usage(error)
    except Stopped as stopped:
        return _say("Stopped", str(stopped), INTERRUPTED)
    except (KeyboardInterrupt, typer.Abort):
        return _say("Stopped", "stopped; what was finished is kept", INTERRUPTED)
    except BrokenPipeError:
        return FAILURE
    except DialframeError as error:
        status = USAGE if isinstance(error, ConfigError) else FAILURE
        return _say(type(error).__name__, _in_options(error), status, error)
    except OSError as error:
        return _say("OSError", _system(error), FAILURE)
    except MemoryError:
        words = "there is not enough memory for this; try a smaller file"
        return _say("MemoryError", words, FAILURE)
    except ModuleNotFoundError as error:
        return _say("ModuleNotFoundError", _not_installed(error), FAILURE)
    except Exception as error:
        words = f"this is a fault of dialframe, please report it: {error!r}"
        return _say("Fault", words, FAILURE)


def _run(arguments: Sequence[str]) -> int:
    from dialframe.cli.app import app

    if asked := os.environ.get(completing.VARIABLE):
        completing.ready(asked, os.environ)
    elif completing.answered(arguments):
        return OK
    try:
        status = app(args=list(arguments), prog_name=PROGRAM, standalone_mode=False)
    except SystemExit as ended:
        status = ended.code
    if status == INTERRUPTED:
        # The library of commands ends without a word where Ctrl-C came while it parsed.
        raise KeyboardInterrupt
    return status if isinstance(status, int) else OK


def _unraisable(what: sys.UnraisableHookArgs) -> None:
    """What a library left half made when it was stopped complains as it is thrown away: to nobody's use."""
    if not course.current().stopped:
        sys.__unraisablehook__(what)


def _leave(status: int) -> NoReturn:
    """End with this status, whatever a library has made of Ctrl-C, and at once.

    Where Ctrl-C came while a library ran Python code of its own, the interpreter remembers it as unhandled and
    would end by the signal instead, which a script sees as another status. Taking a thousand modules apart
    would take half a second of what a server is given to end in.
    """
    atexit._run_exitfuncs()  # noqa: SLF001 - it has no public name
    sys.stdout.flush()
    sys.stderr.flush()
    os._exit(status)


def _usage(error: TyperException) -> int:
    """Wrong usage; where nothing was asked for at all, the message is the help itself."""
    status = int(getattr(error, "exit_code", USAGE))
    if type(error).__name__ == "NoArgsIsHelpError":
        return _nothing_asked(error, status)
    command = mistakes.command_of(error)
    words = mistakes.sentence(error)
    _say("UsageError", words, status, said=f"{command}: {words}\nTry: {command} --help")
    return status


def _nothing_asked(error: TyperException, status: int) -> int:
    """What there is, for somebody who named no command."""
    from dialframe.cli.commands import first_words

    typer.echo(first_words(error.ctx), err=True, nl=False)  # type: ignore[attr-defined]
    return status


def _say(
    kind: str, message: str, status: int, error: Exception | None = None, *, said: str = ""
) -> int:
    """One sentence on standard error and, where a machine asked, one object on standard output."""
    now = course.current()
    now.stopped = status == INTERRUPTED
    if now.as_json and not now.answered:
        from dialframe.cli.face import answer

        facts: dict[str, object] = {"kind": kind, "message": redact(message), "status": status}
        if isinstance(error, ApiError):
            facts |= {"code": error.code, "request_id": error.request_id}
        answer({"error": facts})
    typer.echo(redact(said) if said else f"{PROGRAM}: {redact(message)}", err=True)
    return status


def _in_options(error: DialframeError) -> str:
    """What the library says, in the words of the command line."""
    from dialframe.cli.face import NO_ACCOUNT, in_options

    text = in_options(str(error))
    return text + NO_ACCOUNT if text.startswith("the service's address is missing") else text


def _not_installed(error: ModuleNotFoundError) -> str:
    """What brings a library that is not there."""
    name = (error.name or "").partition(".")[0]
    from importlib.metadata import PackageNotFoundError, requires

    try:
        lines = [line for line in requires(PROGRAM) or () if line.startswith(name)]
    except PackageNotFoundError:
        lines = []
    extra = re.search(r"extra\s*==\s*['\"](\w+)", lines[0]) if name and lines else None
    wanted = f"{PROGRAM}[{extra[1]}]" if extra else PROGRAM
    return f"the library {name} is not installed; pip install '{wanted}' brings it"


def _system(error: OSError) -> str:
    words = SYSTEM.get(error.errno or 0, error.strerror or str(error))
    return f"{error.filename}: {words}" if error.filename else words

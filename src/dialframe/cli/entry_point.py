"""One door for every command: errors become one sentence and an exit status, never a traceback."""

from __future__ import annotations

import atexit
import errno
import gc
import os
import re
import shutil
import signal
import sys
import tempfile
from collections.abc import Sequence
from datetime import UTC, datetime
from difflib import get_close_matches
from pathlib import Path
from typing import Final, NoReturn

import typer
from typer.exceptions import TyperException

from dialframe import extras
from dialframe.cli import terminal
from dialframe.cli.terminal import FAILURE, FINDINGS, INTERRUPTED, OK, USAGE
from dialframe.errors import ApiError, ConfigError, DialframeError, OpenQuestion
from dialframe.files import note_outputs
from dialframe.privacy import redact, terminal_safe

__all__ = ["FAILURE", "FINDINGS", "INTERRUPTED", "OK", "PROGRAM", "USAGE", "main", "run"]

#: As it is typed: it begins every sentence on standard error (GNU Coding Standards, 4.4).
PROGRAM: Final = "dialframe"
#: Where the compiler and the drawing library keep what they made.
CACHES: Final = ("NUMBA_CACHE_DIR", "MPLCONFIGDIR")
#: So many new objects later garbage is looked for; Python's own 700 fit a program that loads little.
LOADED: Final = 50_000

#: Commands that run until they are stopped: Ctrl-C is their proper end.
SERVERS: Final = {
    ("app",), ("sandbox", "serve"), ("webhooks", "listen"), ("assistant", "serve"), ("gate", "serve"),
}  # fmt: skip

_WRITTEN_LAST: Final = "no file is half written; run the same command again"
#: What Ctrl-C leaves behind and how to go on, by command.
KEPT: Final = {
    "demo": "every file in the folder is complete; run the same command again for the rest",
    "sync": "what was read is kept; the next sync resumes where it stopped",
    "export": _WRITTEN_LAST,
    "report": _WRITTEN_LAST,
    "audit": f"Do-Not-Call answers that came are kept; {_WRITTEN_LAST}",
    "app": "files that were written stay",
    "leads clean": "no list is half written; run the same command again",
    "leads screen": "answers that came are kept, and not asked for again; run the same command again",
    "leads import": "what was sent is in the journal; run the same command again to resume where it stopped",
    "sandbox serve": "the state is kept if --data was given",
    "store forget": "run the same command again to be sure",
    "store prune": "run the same command again to be sure",
    "store publish": "versions that were written stay; run the same command again for the rest",
    "store vacuum": "no row was lost; run the same command again",
    "suppress push": "what was sent is in the journal; run the same command again to resume where it stopped",
    "suppress export": "what was sent is in the journal; run the same command again to resume where it stopped",
    "contract openapi": _WRITTEN_LAST,
    "webhooks listen": "events that were answered are kept",
    "assistant serve": "what was confirmed is done, nothing else",
}

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

#: Sentences of the parser, and what they are here.
_WORDS: Final = (
    (re.compile("No such command"), "there is no command"),
    (re.compile(r"\. Did"), "; did"),
    (re.compile(r"^Option '(.+)' requires an argument$"), r"\1 needs a value"),
    (re.compile("^Missing command$"), "name a command"),
    (re.compile(r"^Got unexpected extra arguments? \((.+)\)$"), r"this is one too many: \1"),
)
#: How like a name has to be to what was typed before it is offered.
_LIKE: Final = 0.6


def main(parent: int) -> NoReturn:
    """Run the command of this process and leave with its exit status.

    Args:
        parent: The process that started this one; a server ends with it.
    """
    # A caller may have closed them; what would be said is then for nobody, until the process ends.
    sys.stdout = sys.stdout or Path(os.devnull).open("w", encoding="utf-8")  # noqa: SIM115
    sys.stderr = sys.stderr or Path(os.devnull).open("w", encoding="utf-8")  # noqa: SIM115
    sys.unraisablehook = _unraisable
    _give_caches_a_place()
    # Loading makes some 100,000 objects that all stay: looking through them for garbage is a tenth of the time.
    gc.set_threshold(LOADED, 10, 50)
    # httpx reads rich, pygments and click for a command of its own, an eighth of a second before ours.
    sys.modules.setdefault("httpx._main", None)  # type: ignore[arg-type]
    try:
        if _is_server(sys.argv[1:]):
            _end_properly(parent)
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


def _is_server(arguments: Sequence[str]) -> bool:
    return tuple(arguments[:2]) in SERVERS or tuple(arguments[:1]) in SERVERS


def _end_properly(parent: int) -> None:
    """From the first moment on, a signal, a closed terminal and the parent's end are a server's proper end.

    It takes seconds until a server answers; one that was orphaned meanwhile, with a key in its environment,
    would stay for ever.
    """
    from dialframe.background import end_with_parent

    for name in ("SIGTERM", "SIGHUP"):
        if hasattr(signal, name):
            signal.signal(getattr(signal, name), signal.default_int_handler)
    end_with_parent(parent)


def _give_caches_a_place() -> None:
    """Let libraries keep their caches for this process alone where there is no home to keep them in.

    Without any place the compiler refuses to work at all (a container without a home, a read-only disk).
    """
    home = Path(os.path.expanduser("~"))  # noqa: PTH111 - Path.home() raises where there is none
    wanted = [name for name in CACHES if name not in os.environ]
    if not wanted or (home.is_dir() and os.access(home, os.W_OK | os.X_OK)):
        return
    folder = tempfile.mkdtemp(prefix="dialframe-cache-")
    atexit.register(shutil.rmtree, folder, ignore_errors=True)
    os.environ.update(dict.fromkeys(wanted, folder))


def run(arguments: Sequence[str]) -> int:
    """Run one command.

    With `--json`, an error is one JSON object on standard output as well: `error` with `kind`, `message` and
    `status`, and `code` and `request_id` where the service refused.

    Returns:
        0 for success, 1 for a failure, 2 for wrong usage or a missing setting, 3 when a command was
        asked to fail on findings and there are some, 130 when it was interrupted.
    """
    note_outputs(lambda: datetime.now(UTC))
    try:
        arguments = _asked(terminal.begin(arguments))
        return _run(arguments)
    except TyperException as error:
        return _usage(error)
    except (KeyboardInterrupt, typer.Abort):
        return _report_stop(arguments)
    except BrokenPipeError:
        return FAILURE
    except DialframeError as error:
        words = terminal.in_options(str(error))
        if words.startswith("the service's address is missing"):
            words += terminal.NO_ACCOUNT
        return _say(type(error).__name__, words, _status_of(error), error)
    except OSError as error:
        # What the system says of others is plain enough.
        words = SYSTEM.get(error.errno or 0, error.strerror or str(error))
        file = f"{error.filename}: " if error.filename else ""
        return _say("OSError", file + words, FAILURE)
    except MemoryError:
        words = "there is not enough memory for this; try a smaller file"
        return _say("MemoryError", words, FAILURE)
    except ModuleNotFoundError as error:
        return _say("ModuleNotFoundError", extras.in_words(error), FAILURE)
    except Exception as error:
        words = f"this is a fault of dialframe, please report it: {error!r}"
        return _say("Fault", words, FAILURE)


def _asked(arguments: list[str]) -> list[str]:
    """`help leads clean` and `version` as the options that they stand for."""
    if arguments[:1] == ["help"]:
        return [*arguments[1:], "--help"]
    return ["--version"] if arguments == ["version"] else arguments


def _log_to_screen() -> None:
    """Send what the library logs to standard error; the library masks numbers and keys itself."""
    import logging

    handler = logging.StreamHandler(sys.stderr)
    handler.setFormatter(logging.Formatter("%(asctime)s %(name)s %(message)s", "%H:%M:%S"))
    log = logging.getLogger(PROGRAM)
    log.setLevel(logging.DEBUG)
    log.addHandler(handler)


def _status_of(error: DialframeError) -> int:
    if isinstance(error, OpenQuestion):
        return terminal.FINDINGS
    return USAGE if isinstance(error, ConfigError) else FAILURE


def _run(arguments: Sequence[str]) -> int:
    from dialframe.cli.command_tree import branch

    if terminal.current().verbose:
        _log_to_screen()
    try:
        status = branch(arguments)(args=list(arguments), prog_name=PROGRAM, standalone_mode=False)
    except SystemExit as ended:
        status = ended.code
    if status == INTERRUPTED:
        # The library of commands ends without a word where Ctrl-C came while it parsed.
        raise KeyboardInterrupt
    return status if isinstance(status, int) else OK


def _unraisable(what: sys.UnraisableHookArgs) -> None:
    """What a library left half made when it was stopped complains as it is thrown away: to nobody's use."""
    if not terminal.current().stopped:
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
    """Wrong usage in two lines: what is wrong, and where to read more."""
    # The library's own status is 2 for every wrong usage, as for a shell's own commands.
    status = int(getattr(error, "exit_code", USAGE))
    if type(error).__name__ == "NoArgsIsHelpError":
        # Nothing was asked for at all: the message is the help itself.
        typer.echo(error.format_message(), err=True)
        return status
    # The command that was typed as far as it is one, `dialframe leads clean` for instance.
    context = getattr(error, "ctx", None)
    command = PROGRAM if context is None else context.command_path
    words = _mistake(error)
    _say("UsageError", words, status, text=f"{command}: {words}\nTry: {command} --help")
    return status


def _report_stop(arguments: Sequence[str]) -> int:
    """Ctrl-C in words: where the command was, what is kept; a server's proper end is a success."""
    # Whoever is not in the table only reads.
    kept = "nothing was changed; run the same command again"
    for length in (1, 2):
        kept = KEPT.get(" ".join(arguments[:length]), kept)
    words = f"stopped{terminal.current().words}; {kept}"
    if _is_server(arguments):
        typer.echo(f"{PROGRAM}: {words}", err=True)
        return OK
    return _say("Stopped", words, INTERRUPTED)


def _say(
    kind: str, message: str, status: int, error: Exception | None = None, *, text: str = ""
) -> int:
    """One sentence on standard error and, where a machine asked, one object on standard output."""
    now = terminal.current()
    now.stopped = status == INTERRUPTED
    if now.as_json and not now.answered:
        facts: dict[str, object] = {"kind": kind, "message": redact(message), "status": status}
        if isinstance(error, ApiError):
            facts |= {"code": error.code, "request_id": error.request_id}
        terminal.answer({"error": facts})
    words = redact(text) if text else f"{PROGRAM}: {redact(message)}"
    typer.echo(terminal_safe(words), err=True)
    return status


def _mistake(error: TyperException) -> str:
    """What is wrong, where, and what may have been meant."""
    option, param = getattr(error, "option_name", None), getattr(error, "param", None)
    if option is not None and hasattr(error, "possibilities"):
        context = getattr(error, "ctx", None)
        params = [] if context is None else context.command.params
        options = [name for each in params for name in each.opts if name[:1] == "-"]
        options += [name for name, _, _ in terminal.GLOBAL.values()]
        # One suggestion: more would have to be read.
        close = get_close_matches(option, [*options, "--help"], n=1, cutoff=_LIKE)
        meant = f"; did you mean {close[0]}?" if close else ""
        return f"there is no option {option}{meant}"
    if param is not None:
        name = param.opts[0] if param.opts[0].startswith("-") else param.name.upper()
        if hasattr(error, "param_type"):
            about = (param.help or "").removesuffix(".")
            return f"{name} is missing" + (f". {about}" if about else "")
        detail = str(getattr(error, "message", "")).removesuffix(".")
        detail = detail.removeprefix("Value error, ").replace("Input should be", "it has to be")
        return f"{name}: {detail.partition(', unable to')[0]}"
    text = error.format_message().removesuffix(".")
    for theirs, ours in _WORDS:
        text = theirs.sub(ours, text)
    return text

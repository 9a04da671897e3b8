"""Writes files that are whole or not there, and locks that end with their holder.

A file gets its content under a name of its own beside its place, is flushed to the disk, and is then
renamed (POSIX rename is atomic), so that its name never stands for half of it. Folders are built and
renamed in the same way. Everything is readable by its owner alone.
"""

from __future__ import annotations

import errno
import glob
import hashlib
import json
import os
import shutil
import sys
import tempfile
import time
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import ExitStack, contextmanager, suppress
from datetime import datetime
from pathlib import Path
from typing import BinaryIO, Final

from dialframe.errors import StoreError

#: Files and folders with personal data are for their owner alone.
FILE_MODE: Final = 0o600
FOLDER_MODE: Final = 0o700
#: Behind the names of files that are not whole yet.
SUFFIX: Final = ".tmp"
#: The clock of the face that asked for the outputs of this process to be noted; empty where none did.
_CLOCK: Final[list[Callable[[], datetime]]] = []

#: Name of the lock of a whole folder.
LOCK: Final = ".dialframe.lock"
#: A folder may be held by a process that is about to end: so often, and so far apart, it is asked for.
_LOCK_TRIES: Final = 40
_LOCK_PAUSE_S: Final = 0.05
#: The register of outputs is tidied whenever it has grown by so much.
_TRIM_BYTES: Final = 1 << 18


def folder(path: Path) -> Path:
    """Make a folder for its owner alone where it is missing, parents too; gives the same path."""
    for missing in (*reversed(path.parents), path):
        # One by one: `parents=True` would make the parents with the mode of the process.
        if not missing.exists():
            missing.mkdir(mode=FOLDER_MODE, exist_ok=True)
    if not path.is_dir():
        raise NotADirectoryError(20, "Not a directory", str(path))
    return path


def write_bytes(content: bytes, path: Path) -> Path:
    """Write a file whole, mode 0600, in the place of an older one; its folder is made where it is missing.

    Raises:
        OSError: The disk is full or the folder cannot be written; nothing is left behind.
    """
    folder(path.parent)
    publish({path: stage(path, lambda file: file.write(content))})
    return path


def write_text(text: str, path: Path) -> Path:
    """Write text as UTF-8, whole or not at all; see `write_bytes`."""
    return write_bytes(text.encode(), path)


def open_in_place(path: Path, flags: int) -> int:
    """The descriptor of a file that is changed where it lies, made with mode 0600 where it is missing.

    A link is refused: in a folder that others can write to it may lead to any file of who runs this.

    Raises:
        OSError: A link stands in its place, or the file cannot be opened.
    """
    try:
        # Windows has no such flag, and links there need a right of their own.
        return os.open(path, flags | os.O_CREAT | getattr(os, "O_NOFOLLOW", 0), FILE_MODE)
    except OSError as error:
        if error.errno == errno.ELOOP:
            raise OSError(error.errno, "a link stands in its place", str(path)) from error
        raise


def digest(path: Path) -> str:
    """SHA-256 of a file's bytes, 64 hexadecimal digits; read piece by piece, however large it is."""
    with path.open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()


def stage(target: Path, fill: Callable[[BinaryIO], object]) -> Path:
    """Write a file whole and flushed under a name of its own beside its target, and give that until `publish`.

    Raises:
        OSError: The disk is full or the folder cannot be written; nothing is left behind.
    """
    handle, name = tempfile.mkstemp(prefix=f".{target.name}.", suffix=SUFFIX, dir=target.parent)
    path = Path(name)
    try:
        with os.fdopen(handle, "w+b") as file:
            fill(file)
            file.flush()
            os.fsync(file.fileno())
        # `mkstemp` makes it so; what fills it may have been given it by name.
        path.chmod(FILE_MODE)
    except BaseException:
        path.unlink(missing_ok=True)  # Ctrl-C among them: nothing is left behind
        raise
    return path


def publish(staged: Mapping[Path, Path]) -> None:
    """Rename staged files to their targets (the keys), in order.

    Raises:
        OSError: A file cannot be renamed; what is not renamed yet is deleted.
    """
    try:
        for target, path in staged.items():
            path.replace(target)
    finally:
        for path in staged.values():
            path.unlink(missing_ok=True)
    for parent in {target.parent for target in staged}:
        flush_names(parent)
    note_files(staged)


def sweep(parent: Path, begin: str) -> None:
    """Delete what a killed process staged for targets whose names begin so.

    Only for a caller that holds the folder's lock (`alone`).
    """
    for path in parent.glob(f".{glob.escape(begin)}.*{SUFFIX}"):
        if path.is_dir():
            shutil.rmtree(path, ignore_errors=True)
        else:
            path.unlink(missing_ok=True)


@contextmanager
def staged_folder(target: Path, *, replace: bool = False) -> Iterator[Path]:
    """Build a folder beside its place and give it its name as a whole, when the block ends well.

    An older folder of that name stays good until the new one is whole, and is deleted after it. What the
    block is given is an empty folder to write into.

    Raises:
        FileExistsError: Something stands there and `replace` is off; nothing was written.
        OSError: The disk is full or the folder cannot be written; what stood there is untouched.
    """
    occupied = target.exists() and not (target.is_dir() and not any(target.iterdir()))
    if occupied and not replace:
        raise FileExistsError(17, "it exists already", str(target))
    folder(target.parent)
    staging = Path(tempfile.mkdtemp(prefix=f".{target.name}.", suffix=SUFFIX, dir=target.parent))
    try:
        yield staging
        for path in staging.rglob("*"):
            if path.is_file():
                with path.open("rb") as file:
                    os.fsync(file.fileno())
        _swap(staging, target)
    except BaseException:
        shutil.rmtree(staging, ignore_errors=True)
        raise
    flush_names(target.parent)
    note_files([target])


class Outputs:
    """The register of files that were written for people, or read as lists: a line of JSON for each, paths only."""

    def __init__(self, path: Path) -> None:
        """The register in a file; nothing is made yet."""
        self.path = path

    @classmethod
    def of_this_user(cls) -> Outputs:
        """The register of who runs this process, whatever store the files were made from."""
        from platformdirs import user_data_path

        return cls(user_data_path("dialframe", appauthor=False) / "outputs.jsonl")

    def add(self, paths: Iterable[Path], now: datetime) -> None:
        """Note files and folders that were written or read.

        Raises:
            OSError: The register cannot be written.
            StoreError: Its lock cannot be made.
        """
        lines = [json.dumps({"path": str(path), "at": now.isoformat()}) + "\n" for path in paths]
        if not lines:
            return
        folder(self.path.parent)
        with exclusive(self.path.with_suffix(".lock"), wait=True):
            descriptor = open_in_place(self.path, os.O_WRONLY | os.O_APPEND)
            with os.fdopen(descriptor, "ab") as file:
                before = file.seek(0, os.SEEK_END) // _TRIM_BYTES
                file.write("".join(lines).encode("utf-8", "surrogateescape"))
                trim = file.tell() // _TRIM_BYTES > before
            if trim:
                self._trim()

    def _trim(self) -> None:
        """Keep the last line of each path, and none of a file that was deleted; see `paths` for the rest."""
        last: dict[Path, bytes] = {}
        for line in self.path.read_bytes().splitlines():
            with suppress(ValueError, KeyError, TypeError):
                path = Path(json.loads(line)["path"])
                # Where its folder is not there either, the disk may be away.
                if path.exists() or not path.parent.exists():
                    last[path] = line + b"\n"
        staged = stage(self.path, lambda file: file.writelines(last.values()))
        staged.replace(self.path)

    def paths(self) -> list[Path]:
        """Every file and folder that was noted and is still there, once."""
        # A dictionary and not a set: in the order in which they were noted.
        unique: dict[Path, None] = {}
        lines = self.path.read_bytes().splitlines() if self.path.exists() else []
        for line in lines:
            try:
                unique[Path(json.loads(line)["path"])] = None
            except (ValueError, KeyError, TypeError):
                continue  # a line that was cut off: the file it names was not finished either
        return [path for path in unique if path.exists()]


def note_outputs(clock: Callable[[], datetime]) -> None:
    """Note in the user's register, from now on, what this process writes for people or reads as a list.

    Faces ask for it: the command line, and `dialframe.connect`. The clock tells instants with a zone.
    """
    _CLOCK[:] = [clock]


def note_files(paths: Iterable[Path]) -> None:
    """Note files of people, where a face asked for it; a disk that takes no more does not spoil what was done."""
    if not _CLOCK:
        return
    with suppress(OSError, StoreError):
        outputs = [path.absolute() for path in paths if not path.name.startswith(".")]
        # What lies in a folder that is still being built is noted with that folder.
        done = [
            path
            for path in outputs
            if not any(
                name.startswith(".") and name.endswith(SUFFIX) for name in path.parent.parts
            )
        ]
        Outputs.of_this_user().add(done, _CLOCK[0]())


def signature(path: Path) -> object:
    """What is different once a file was written, replaced or deleted."""
    try:
        status = path.stat()
    except OSError:
        return None
    return status.st_ino, status.st_size, status.st_mtime_ns, status.st_ctime_ns


def _swap(new: Path, target: Path) -> None:
    """Put a finished folder where an older one may stand; a failure puts the older one back."""
    if not target.exists():
        new.replace(target)
        return
    # POSIX rename replaces an empty folder alone, so that two renames are needed.
    # On the same disk, as every rename has to be.
    old = Path(tempfile.mkdtemp(prefix=f".{target.name}.", suffix=SUFFIX, dir=target.parent))
    target.replace(old / target.name)
    try:
        new.replace(target)
    except BaseException:
        (old / target.name).replace(target)
        old.rmdir()
        raise
    shutil.rmtree(old, ignore_errors=True)


def flush_names(parent: Path) -> None:
    """Bring a folder's names to the disk; a system that cannot open a folder does so in its own time."""
    with suppress(OSError):
        # fsync(2): the name of a file is its folder's, and needs "an explicit fsync() on a file descriptor for the
        # directory".
        descriptor = os.open(parent, os.O_RDONLY)
        try:
            os.fsync(descriptor)
        finally:
            os.close(descriptor)


@contextmanager
def exclusive(path: Path, *, wait: bool) -> Iterator[bool]:
    """Hold the lock of a file, alone, while the block runs; the system frees it when the holder dies.

    The file is made with mode 0600 and left in its place. False where somebody else has it and `wait` is off.

    Raises:
        StoreError: The lock file cannot be made.
    """
    try:
        descriptor = open_in_place(path, os.O_RDWR)
    except OSError as error:
        raise StoreError(f"{path}: {error.strerror}; choose another folder") from error
    try:
        yield lock(descriptor, wait=wait)
    finally:
        os.close(descriptor)  # flock(2): the lock goes with the last descriptor of it


@contextmanager
def shared(path: Path) -> Iterator[None]:
    """Hold the lock of a file together with others, so that nobody has it alone while the block runs.

    Where the lock file can be neither made nor opened nobody else can take it either, and on a system
    without shared locks an open file cannot be deleted: there the block runs without.
    """
    try:
        descriptor = open_in_place(path, os.O_RDONLY)
    except OSError:
        yield
        return
    try:
        _lock_shared(descriptor)
        yield
    finally:
        os.close(descriptor)


@contextmanager
def alone(where: Path, lock: str = LOCK) -> Iterator[None]:
    """Be the only process that writes into a folder (made where it is missing) while the block runs.

    Raises:
        StoreError: Another process is at work there.
        OSError: The folder cannot be made.
    """
    file = folder(where) / lock
    with ExitStack() as held:
        for _ in range(_LOCK_TRIES):
            if _try_lock(file, held):
                break
            time.sleep(_LOCK_PAUSE_S)
        else:
            raise StoreError(
                f"another run is writing into {where}; wait for its end, or choose another folder"
            )
        try:
            yield
        finally:
            # A system that cannot delete an open file leaves it there, without a lock.
            with suppress(OSError):
                file.unlink()


def _try_lock(file: Path, held: ExitStack) -> bool:
    """Whether the lock is ours, and is that of the file which others will look at."""
    with ExitStack() as attempt:
        if not attempt.enter_context(exclusive(file, wait=False)):
            return False
        # Whoever held it before deleted the file: then what is locked has no name any more, and the
        # lock of the name is still free.
        with exclusive(file, wait=False) as still_free:
            if still_free:
                return False
        held.enter_context(attempt.pop_all())
    return True


if sys.platform == "win32":
    import msvcrt

    def _lock_shared(descriptor: int) -> None:
        """Nothing: the system keeps open files."""

    def lock(descriptor: int, *, wait: bool) -> bool:
        """Whether this process has the file to itself now, at the byte where it stands; see `exclusive`."""
        while True:
            try:
                msvcrt.locking(descriptor, msvcrt.LK_LOCK if wait else msvcrt.LK_NBLCK, 1)
            except OSError:
                if not wait:
                    return False
            else:
                return True

else:
    import fcntl

    def _lock_shared(descriptor: int) -> None:
        fcntl.flock(descriptor, fcntl.LOCK_SH)

    def lock(descriptor: int, *, wait: bool) -> bool:
        """Whether this process has the file to itself now; see `exclusive`."""
        try:
            fcntl.flock(descriptor, fcntl.LOCK_EX if wait else fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            return False
        return True

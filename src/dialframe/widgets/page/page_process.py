"""Runs the page's server until its parent ends, however that was: nothing with a key in it stays behind.

The parent holds the other end of standard input. When that end closes, also by SIGKILL, the server is asked to
end, and it ends its kernels; what does not end within some seconds is killed. Uploads and settings in the working
folder go with it.
"""

from __future__ import annotations

import os
import shutil
import signal
import sys
import threading
import time
from pathlib import Path
from typing import Final

from dialframe.extras import skip_address_grammars
from dialframe.serving import HEADERS_S

_END_S: Final = 8.0
_BODY_S: Final = 60.0


def main() -> None:
    """Serve until the parent is gone or asks for the end."""
    skip_address_grammars()
    from voila.app import main as serve

    bound_waiting()
    room, orphaned = Path.cwd(), threading.Event()
    arguments = (room, orphaned)
    threading.Thread(target=_watch, args=arguments, name="dialframe-parent", daemon=True).start()
    try:
        serve()
    finally:
        if orphaned.is_set():
            shutil.rmtree(room, ignore_errors=True)


def bound_waiting() -> None:
    """End connections that do not send headers, or the rest of a request, in time: tornado waits an hour, or for ever."""
    from tornado.httpserver import HTTPServer

    HTTPServer.configure(None, idle_connection_timeout=HEADERS_S, body_timeout=_BODY_S)


def _watch(room: Path, orphaned: threading.Event) -> None:
    # Nothing is ever written: this returns when nobody holds the other end any more.
    while os.read(sys.stdin.fileno(), 1):
        pass
    orphaned.set()
    os.kill(os.getpid(), signal.SIGTERM)
    time.sleep(_END_S)
    kill_below(os.getpid())
    shutil.rmtree(room, ignore_errors=True)
    os._exit(1)


def kill_below(process: int) -> None:
    """Kill every process that this one started, and those that they started."""
    import psutil

    for child in psutil.Process(process).children(recursive=True):
        try:
            child.kill()
        except psutil.NoSuchProcess:
            continue


if __name__ == "__main__":
    main()

"""Serves the web page: Voila in a process of its own, on loopback, behind a token.

The process's settings are in a file that only its owner can read, so that the token is seen
neither in the list of processes nor in a log.
"""

from __future__ import annotations

import importlib.util
import json
import os
import secrets
import shutil
import signal
import socket
import subprocess
import sys
import tempfile
import threading
import time
import urllib.error
import urllib.request
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from importlib import resources
from pathlib import Path
from typing import Any, Final

from dialframe.errors import ConfigError, TransportError
from dialframe.extras import skip_address_grammars
from dialframe.files import write_text
from dialframe.serving import HEADERS_S

#: Tells the kernel the folder that the page works in.
FOLDER: Final = "DIALFRAME_APP_FOLDER"


#: Loopback (RFC 1122, 3.2.1.3): no other machine reaches it.
HOST: Final = "127.0.0.1"
#: Extensions of the browser's side that are loaded; any other stays out.
EXTENSIONS: Final = (
    "@jupyter-widgets/jupyterlab-manager", "@voila-dashboards/widgets-manager8", "anywidget",
)  # fmt: skip
#: Leads on at once; the address with its token stands in this file and in no argument.
_OPENING: Final = (
    '<!doctype html><meta http-equiv="refresh" content="0; url={address}"><title>dialframe</title>'
)
#: Voila's first start reads some thousand modules from the disk.
_READY_S: Final = 60.0
_PAUSE_S: Final = 0.1
#: Kernels are given five seconds each to end by the server.
_STOP_S: Final = 10.0
#: What a server whose parent is gone is given to end in, and a request to send its body in.
_END_S: Final = 8.0
_BODY_S: Final = 60.0
#: A kernel whose page is gone ends after this; as many pages may be open at once.
IDLE_S: Final = 3600
#: Each is a process with pandas and a list in it.
KERNELS: Final = 8
#: One message of a websocket: pictures and tables in it, uploads come in pieces of a mebibyte.
_MESSAGE_BYTES: Final = 64 << 20


@dataclass(frozen=True, slots=True)
class Page:
    """A page that is being served.

    Attributes:
        url: Its address, without the token.
        token: What lets a browser in.
        process: The server.
        opener: A file of the owner's alone that leads a browser to the page, so that the token stands in no
            list of processes.
    """

    url: str
    token: str = field(repr=False)
    process: subprocess.Popen[bytes] = field(repr=False)
    opener: Path = field(repr=False)

    @property
    def address(self) -> str:
        """What a person opens."""
        return f"{self.url}/?token={self.token}"


@contextmanager
def serve(
    folder: Path,
    *,
    environment: Mapping[str, str],
    port: int = 0,
    token: str | None = None,
) -> Iterator[Page]:
    """Serve the page while the block runs.

    Args:
        folder: The only folder that the page reads from and writes to.
        environment: What the server and its kernels see; the account is in it.
        port: Port on loopback; 0 takes a free one.
        token: What lets a browser in; made where it is not given.

    Raises:
        ConfigError: Voila is not installed, the folder is missing or the port is taken.
        TransportError: The server did not come up.
    """
    if importlib.util.find_spec("voila") is None:
        raise ConfigError("the page needs Voila; install it with: pip install 'dialframe[app]'")
    if not folder.is_dir():
        raise ConfigError(f"{folder} is no folder; make it, or name another one")
    # 192 bits: nobody guesses it.
    chosen, key = _port(port), token or secrets.token_urlsafe(24)
    with tempfile.TemporaryDirectory(prefix="dialframe-app-") as room:
        private = Path(room)
        (private / "voila.json").touch(mode=0o600)
        (private / "voila.json").write_text(json.dumps(settings(chosen, key)), encoding="utf-8")
        log = private / "server.log"
        # The token is in a file of mode 600, and not in the arguments, which every user can list.
        process = _start(private, log, _seen(folder, environment, private))
        try:
            _wait(process, chosen, log)
            url = f"http://{HOST}:{chosen}"
            opening = _OPENING.format(address=f"{url}/?token={key}")
            yield Page(url, key, process, write_text(opening, private / "open.html"))
        finally:
            _stop(process)


def settings(port: int, token: str) -> dict[str, Any]:
    """The settings of Voila."""
    return {
        "Voila": {
            # Loopback alone: nobody else on the network reaches the page, with or without the token.
            "ip": HOST, "port": port, "port_retries": 0, "open_browser": False, "token": token,
            "identity_provider_class": "dialframe.widgets.page_access.Door",
            "tornado_settings": {
                "websocket_max_message_size": _MESSAGE_BYTES,
                # A name of somebody else's that leads to this machine is not this page.
                "allow_remote_access": False, "local_hostnames": ["localhost"],
                "headers": {
                    "Content-Security-Policy": "default-src 'self' 'unsafe-inline' 'unsafe-eval' "
                    f"data: blob: ws://{HOST}:{port}; frame-ancestors 'none'",
                    "Referrer-Policy": "no-referrer",
                    "X-Content-Type-Options": "nosniff",
                },
            },
        },
        "VoilaConfiguration": {
            # No file of the folder and no traceback is served: both may hold numbers.
            "template": "dialframe", "extension_allowlist": list(EXTENSIONS),
            "file_allowlist": [], "show_tracebacks": False, "allow_template_override": "NO",
            "allow_theme_override": "NO", "show_margins": False,
        },
        "VoilaExecutor": {"timeout": 120},
        # A page that was closed ends its kernel; this is for one that could not say so.
        "MappingKernelManager": {"cull_idle_timeout": IDLE_S, "cull_interval": 300},
    }  # fmt: skip


def _port(wanted: int) -> int:
    """The port, or a free one; found taken here rather than in the server's log."""
    with socket.socket() as probe:
        probe.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        try:
            probe.bind((HOST, wanted))
        except OSError:
            raise ConfigError(
                f"port {wanted} is taken; choose another, or --port 0 for a free one"
            ) from None
        return int(probe.getsockname()[1])


def _seen(folder: Path, environment: Mapping[str, str], private: Path) -> dict[str, str]:
    """The environment of the server and its kernels: no configuration of the user's notebooks."""
    share = str(resources.files("dialframe.widgets").joinpath("page/share/jupyter"))
    paths = [share, *filter(None, [environment.get("JUPYTER_PATH")])]
    return {
        **environment,
        FOLDER: str(folder.resolve()),
        "JUPYTER_PATH": os.pathsep.join(paths),
        "JUPYTER_CONFIG_DIR": str(private / "config"),
        "JUPYTER_RUNTIME_DIR": str(private / "runtime"),
        "JUPYTER_PREFER_ENV_PATH": "1",
        "IPYTHONDIR": str(private / "ipython"),
        # No window opens from a kernel that nobody sits at.
        "MPLBACKEND": "agg",
        # Uploads go with the server, however its kernels end.
        "TMPDIR": str(private),
    }


def _start(private: Path, log: Path, environment: Mapping[str, str]) -> subprocess.Popen[bytes]:
    notebook = str(resources.files("dialframe.widgets").joinpath("page/page.ipynb"))
    command = [
        sys.executable, "-m", "dialframe.widgets.page_server", notebook, f'--Voila.config_file_paths=["{private}"]',
    ]  # fmt: skip
    with log.open("wb") as out:
        return subprocess.Popen(  # noqa: S603 - the command is our own
            # A session of its own, so that all that it starts can be killed together.
            command, cwd=private, env=dict(environment), stdin=subprocess.PIPE, stdout=out,
            stderr=subprocess.STDOUT, start_new_session=True,
        )  # fmt: skip


def _wait(process: subprocess.Popen[bytes], port: int, log: Path) -> None:
    """Wait until it answers."""
    until = time.monotonic() + _READY_S
    while time.monotonic() < until:
        if process.poll() is not None:
            last = log.read_text(encoding="utf-8", errors="replace").strip().rsplit("\n", 1)[-1]
            raise TransportError(f"the page's server ended: {last}")
        try:
            with urllib.request.urlopen(f"http://{HOST}:{port}/login", timeout=2):
                return
        # An answer of any kind is a server that is up.
        except urllib.error.HTTPError:
            return
        except OSError:
            time.sleep(_PAUSE_S)
    raise TransportError(f"the page's server did not answer within {_READY_S:.0f} seconds")


def _stop(process: subprocess.Popen[bytes]) -> None:
    """End the server; it ends its kernels. What does not end is ended with them."""
    try:
        if process.poll() is not None:
            return
        # SIGTERM, on which it ends its kernels first.
        process.terminate()
        process.wait(_STOP_S)
    except subprocess.TimeoutExpired:
        os.killpg(process.pid, 9)
        process.wait()
    finally:
        if process.stdin is not None:
            process.stdin.close()


def main() -> None:
    """Serve in this process until its parent ends, however that was: nothing with a key in it stays behind.

    The parent holds the other end of standard input. When that end closes, also by SIGKILL, the server is
    asked to end, and it ends its kernels; what does not end within some seconds is killed. Uploads and settings
    in the working folder go with it.
    """
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

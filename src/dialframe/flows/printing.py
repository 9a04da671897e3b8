"""A page as PDF, by the Chromium of this machine.

The file's dates are set to the day that the page is of, so that the same page gives the same bytes.
"""

from __future__ import annotations

import re
import shutil
import subprocess
import tempfile
from datetime import UTC, datetime
from pathlib import Path
from typing import Final

from dialframe.errors import ConfigError

BROWSERS: Final = (
    "chromium",
    "chromium-browser",
    "google-chrome",
    "google-chrome-stable",
    "chrome",
)
_DATES: Final = re.compile(rb"/(CreationDate|ModDate) ?\(D:[^)]*\)")
_LIMIT_S: Final = 120


def browser() -> str | None:
    """Path of a Chromium on this machine, or None."""
    return next((found for name in BROWSERS if (found := shutil.which(name))), None)


def to_pdf(html: str, *, dated: datetime) -> bytes:
    """A page as PDF.

    Args:
        html: The page; it fetches nothing.
        dated: What the file says of when it was made.

    Raises:
        ConfigError: There is no Chromium, or it could not print the page.
    """
    program = browser()
    if program is None:
        raise ConfigError(
            "PDF needs Chromium and there is none on this machine; install it, or print report.html"
        )
    with tempfile.TemporaryDirectory() as room:
        page, target = Path(room) / "page.html", Path(room) / "page.pdf"
        page.write_text(html, encoding="utf-8")
        command = [
            program, "--headless", "--no-sandbox", "--disable-gpu", "--no-pdf-header-footer",
            "--disable-background-networking", f"--user-data-dir={room}/profile",
            f"--print-to-pdf={target}", page.as_uri(),
        ]  # fmt: skip
        try:
            subprocess.run(command, check=True, capture_output=True, timeout=_LIMIT_S)  # noqa: S603
            raw = target.read_bytes()
        except (subprocess.SubprocessError, OSError) as error:
            raise ConfigError(
                "PDF: Chromium could not print the page; print report.html instead"
            ) from error
    return _DATES.sub(lambda found: _dated(found, dated), raw)


def _dated(found: re.Match[bytes], dated: datetime) -> bytes:
    """The same field of the same length with another date, so that no offset in the file moves."""
    whole = found.group()
    start = whole.index(b"(D:") + 3
    stamp = f"{dated.astimezone(UTC):%Y%m%d%H%M%S}+00'00'".encode()
    room = len(whole) - start - 1
    return whole[:start] + stamp[:room].ljust(room, b"0") + b")"

"""A page of sections with figures and tables as one HTML file, and the same as PDF by the Chromium of this machine."""

from __future__ import annotations

import base64
import re
import shutil
import subprocess
import tempfile
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime
from html import escape
from importlib import resources
from numbers import Integral, Real
from pathlib import Path
from typing import TYPE_CHECKING, Final

import numpy as np

from dialframe.errors import ConfigError
from dialframe.headline import Headline
from dialframe.privacy import page_safe

if TYPE_CHECKING:
    import pandas as pd

ROWS_SHOWN = 50


@dataclass(frozen=True, slots=True)
class Figure:
    """A picture that is already drawn.

    Attributes:
        png: The picture's bytes.
        alt: What it shows, in words, for people who cannot see it (WCAG 2.2, 1.1.1).
        caption: One line below it.
    """

    png: bytes = field(repr=False)
    alt: str
    caption: str = ""

    @property
    def source(self) -> str:
        """The picture as a `data:` address."""
        return "data:image/png;base64," + base64.b64encode(self.png).decode()


@dataclass(frozen=True, slots=True)
class Sheet:
    """A table with its caption.

    Attributes:
        caption: What its rows are.
        frame: The rows; the first `rows` of them are shown, and the page says of how many.
        headings: Column name to the words shown for it; columns that are absent keep their name.
        percent: Columns that hold shares, shown as per cent.
        rows: Rows shown at the most.
        folded: Whether the reader opens it, below a picture that says the same.
    """

    caption: str
    frame: pd.DataFrame = field(repr=False)
    headings: Mapping[str, str] = field(default_factory=dict)
    percent: tuple[str, ...] = ()
    rows: int = ROWS_SHOWN
    folded: bool = False

    @property
    def columns(self) -> list[tuple[str, str]]:
        """Heading and style of each column: `number`, `instant` or `text`."""
        import pandas as pd

        frame = self.frame
        return [
            (
                self.headings.get(str(name), str(name)),
                "instant" if pd.api.types.is_datetime64_any_dtype(frame[name])
                else "number" if pd.api.types.is_numeric_dtype(frame[name]) else "text",
            )
            for name in frame.columns
        ]  # fmt: skip

    @property
    def cells(self) -> list[list[str]]:
        """The shown rows as text; nothing stands for a missing value."""
        shown = self.frame.head(self.rows)
        shares = [name in self.percent for name in shown.columns]
        return [
            [_text(value, share) for value, share in zip(row, shares, strict=True)]
            for row in shown.itertuples(index=False, name=None)
        ]

    @property
    def count(self) -> str:
        """How many rows are shown, of how many."""
        # A page of a million rows opens in no browser.
        total = len(self.frame)
        if total > self.rows:
            return f"first {self.rows:,} of {total:,} rows"
        return f"{total:,} row{'' if total == 1 else 's'}"


@dataclass(frozen=True, slots=True)
class Card:
    """One finding as a person reads it.

    Attributes:
        title: What happened.
        reason: Why it is a finding.
        facts: Name and value: number, campaign, local time, rule, law, proof.
        call_id: The call, for its story; empty where it is about a number.
        grade: `violation` or `uncertain`.
    """

    title: str
    reason: str
    facts: tuple[tuple[str, str], ...]
    call_id: str = ""
    grade: str = "violation"


@dataclass(frozen=True, slots=True)
class Section:
    """One part of a page: what was found first, then the evidence.

    Attributes:
        title: Its heading.
        finding: A sentence.
        figures: Pictures.
        sheets: Tables.
        notes: What must be known, always to be seen.
        counted: How the numbers are counted, for those who open it.
        cards: Findings, one card each.
        bars: Numbers that are drawn below each other, each as its part of the whole.
        folded: Whether the reader opens all of it.
    """

    title: str
    finding: str
    figures: tuple[Figure, ...] = ()
    sheets: tuple[Sheet, ...] = ()
    notes: tuple[str, ...] = ()
    counted: tuple[str, ...] = ()
    cards: tuple[Card, ...] = ()
    bars: tuple[Headline, ...] = ()
    folded: bool = False


@dataclass(frozen=True, slots=True)
class Page:
    """A whole page.

    Attributes:
        title: Its heading.
        summary: Sentences that answer before the details begin.
        sections: Its parts.
        facts: Small print: versions, hashes, times.
        header: What the page is about, in a line below its title: account, period, moment.
        headlines: The numbers that matter, on top.
    """

    title: str
    summary: tuple[str, ...]
    sections: tuple[Section, ...]
    facts: Mapping[str, str] = field(default_factory=dict)
    header: Mapping[str, str] = field(default_factory=dict)
    headlines: tuple[Headline, ...] = ()


def bars_of(headlines: Sequence[Headline]) -> str:
    """Headlines as bars below each other: a table that any reader has, each bar its part of the whole.

    What may be more is drawn lighter. It needs no drawing library, and no style of its own beside classes.

    Args:
        headlines: Numbers of one whole.

    Returns:
        HTML; every text in it is escaped.
    """
    rows = []
    for each in headlines:
        least, most = (
            0.0 if not each.of or value is None else 100 * value / each.of
            for value in (each.value, each.at_most if each.at_most is not None else each.value)
        )
        share = "" if each.share is None else f"{each.share:.1%}"
        rows.append(
            f'<tr><th scope="row">{escape(each.what)}</th>'
            '<td class="drawn"><svg viewBox="0 0 100 10" preserveAspectRatio="none" aria-hidden="true">'
            f'<rect class="whole" width="100" height="10"/><rect class="most" width="{most:.2f}" height="10"/>'
            f'<rect class="least" width="{least:.2f}" height="10"/></svg></td>'
            f'<td class="number">{escape(each.shown)}</td><td class="number">{share}</td></tr>'
        )
    of_what = headlines[0].of_what if headlines else ""
    return (
        f'<table class="bars"><caption class="unseen">{escape(of_what.capitalize())}</caption>'
        f"<tbody>{''.join(rows)}</tbody></table>"
    )


def render(page: Page) -> str:
    """The page as HTML: styles and pictures inside, no script, nothing fetched from anywhere.

    Args:
        page: The page; whatever it holds is escaped.

    Returns:
        One HTML document.

    Example:
        >>> "<h1>October</h1>" in render(Page("October", ("All is well.",), ()))
        True
    """
    # Only who makes a page of sections loads the engine of templates.
    import jinja2
    from markupsafe import Markup

    source = resources.files("dialframe.reports").joinpath("templates/page.html.j2")
    # Whatever a table holds is text: a campaign may be named like a tag.
    environment = jinja2.Environment(
        autoescape=True, undefined=jinja2.StrictUndefined, trim_blocks=True, lstrip_blocks=True
    )
    environment.filters["bars"] = lambda given: Markup(bars_of(given))  # noqa: S704 - it escapes
    template = environment.from_string(source.read_text(encoding="utf-8"))
    return page_safe(str(template.render(page=page))) + "\n"


def _text(value: object, share: bool) -> str:  # noqa: FBT001 - private, called in one place
    import pandas as pd

    if pd.isna(value):
        return ""
    if isinstance(value, pd.Timestamp):
        return str(value.strftime("%Y-%m-%d %H:%M:%S"))
    # Before numbers: a boolean is one to Python.
    if isinstance(value, bool | np.bool_):
        return "yes" if value else "no"
    if isinstance(value, Integral):
        # Groups of three, as the sentences have them.
        return f"{int(value):,}"
    if isinstance(value, Real):
        form = ".1%" if share else ",.4g" if abs(float(value)) < 1 else ",.1f"
        return f"{float(value):{form}}"
    return str(value)


def words(name: str) -> str:
    """A code or the name of a column in words: `utc_offset` as `UTC offset`."""
    if name == "campaign_id":
        return "Campaign"
    plain = name.replace("_", " ").capitalize()
    return re.sub(
        r"\b(?:utc|id|dnc)\b", lambda match: match[0].upper(), plain, flags=re.IGNORECASE
    )


#: Names under which systems install it, Debian's first.
BROWSERS: Final = (
    "chromium",
    "chromium-browser",
    "google-chrome",
    "google-chrome-stable",
    "chrome",
)
#: ISO 32000-1, 7.9.4: when a PDF was made, which would make each printing of a page another file.
_DATES: Final = re.compile(rb"/(CreationDate|ModDate) ?\(D:[^)]*\)")
_LIMIT_S: Final = 120


def browser() -> str | None:
    """Path of a Chromium on this machine, or None."""
    return next((program for name in BROWSERS if (program := shutil.which(name))), None)


def to_pdf(html: str, *, dated: datetime) -> bytes:
    """A page as PDF.

    Args:
        html: The page; it fetches nothing.
        dated: What the file says of when it was made.

    Raises:
        ConfigError: There is no Chromium, or it could not print the page.
    """
    # No PDF library has the page as the browser shows it; one that is there prints it.
    program = browser()
    if program is None:
        raise ConfigError(
            "PDF needs Chromium and there is none on this machine; install it, or print report.html"
        )
    with tempfile.TemporaryDirectory() as room:
        page, target = Path(room) / "page.html", Path(room) / "page.pdf"
        page.write_text(html, encoding="utf-8")
        # Chromium refuses its sandbox to root, as in a container; the page is ours and runs no script.
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
    return _DATES.sub(lambda found: _redate(found, dated), raw)


def _redate(field: re.Match[bytes], dated: datetime) -> bytes:
    """The same field of the same length with another date, so that no offset in the file moves."""
    whole = field.group()
    start = whole.index(b"(D:") + 3
    # The same audit gives the same file: its date is that of the audit.
    stamp = f"{dated.astimezone(UTC):%Y%m%d%H%M%S}+00'00'".encode()
    room = len(whole) - start - 1
    return whole[:start] + stamp[:room].ljust(room, b"0") + b")"

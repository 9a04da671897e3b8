"""Makes the pages of the web app from templates; whatever a page shows is escaped."""

from __future__ import annotations

from datetime import date, datetime
from functools import cache
from importlib import resources
from typing import Any, Final

import jinja2
from markupsafe import Markup
from starlette.responses import HTMLResponse

from dialframe.privacy import page_safe
from dialframe.reports.html_page import bars_of, words

#: Rooms of the app: address, name.
ROOMS: Final = (
    ("/", "Home"),
    ("/lists", "Lists"),
    ("/compliance", "Compliance"),
    ("/performance", "Performance"),
)


def page(template: str, *, status: int = 200, room: str = "", **values: Any) -> HTMLResponse:
    """A page of the app.

    Args:
        template: Its file below `templates`.
        status: The HTTP status.
        room: Address of the room that the page belongs to.
        **values: What the template shows.
    """
    html = _environment().get_template(template).render(rooms=ROOMS, room=room, **values)
    return HTMLResponse(page_safe(html), status_code=status)


@cache
def _environment() -> jinja2.Environment:
    folder = resources.files("dialframe.app") / "templates"
    sources = {
        file.name: file.read_text(encoding="utf-8")
        for file in folder.iterdir()
        if file.name.endswith(".html")
    }
    environment = jinja2.Environment(
        autoescape=True,
        loader=jinja2.DictLoader(sources),
        trim_blocks=True,
        lstrip_blocks=True,
        undefined=jinja2.StrictUndefined,
    )
    environment.filters |= {
        "bars": lambda given: Markup(bars_of(given)),  # noqa: S704 - it escapes
        "count": count, "percent": percent, "instant": instant, "words": words, "bytes": size,
        "reason_row": _reason_row, "counted": counted,
    }  # fmt: skip
    return environment


def count(value: float | None) -> str:
    """A number in groups of three, or a dash for none."""
    return "–" if value is None else f"{value:,.0f}"


def counted(value: int, noun: str, plural: str = "") -> str:
    """`1 lead`, `2 leads`."""
    return f"{value:,} {noun if value == 1 else plural or noun + 's'}"


def percent(value: float | None) -> str:
    """A share with one decimal, or a dash for none."""
    return "–" if value is None else f"{value:.1%}"


def size(size_bytes: int) -> str:
    """A size as people say it: `41.2 MB`."""
    if size_bytes < 1_000:
        return f"{size_bytes:,} bytes"
    units = (("kB", 1e3), ("MB", 1e6), ("GB", 1e9))
    unit, factor = next((each for each in units if size_bytes < 1_000 * each[1]), units[-1])
    return f"{size_bytes / factor:,.1f} {unit}"


def _reason_row(row: tuple[str, str, str, int]) -> tuple[str, str, str, str]:
    """A reason as its row of a table."""
    outcome, meaning, remedy, records = row
    return words(outcome), meaning, "" if remedy == "nothing to do" else remedy, count(records)


def instant(value: datetime | date | None) -> str:
    """A day, or an instant in UTC to the minute."""
    if value is None:
        return "–"
    return (
        f"{value:%b %-d, %Y %H:%M} UTC" if isinstance(value, datetime) else f"{value:%b %-d, %Y}"
    )

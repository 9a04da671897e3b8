"""The performance pages: funnel, hours, sources, caller IDs and changes of the stored calls, each under an address of its own."""

from __future__ import annotations

import threading
from collections import OrderedDict
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any, Final

from starlette.concurrency import run_in_threadpool
from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import BaseRoute, Route

from dialframe import analytics, extras
from dialframe.account import Account
from dialframe.analytics import Funnel, Result
from dialframe.app.rendering import page
from dialframe.app.workspace import Workspace
from dialframe.errors import ConfigError
from dialframe.reports.result_sections import sheet, warning_text

#: Results that are kept, so that a picture and a page that is opened again need no second analysis.
_KEPT: Final = 24
_SPLITS: Final = {"lead_source": "Lead source", "campaign_id": "Campaign"}


@dataclass(frozen=True, slots=True)
class View:
    """One analysis as a page.

    Attributes:
        title: Its heading.
        question: What it answers.
        run: Computes it from the account and the options of the address.
    """

    title: str
    question: str
    run: Callable[..., Result]


@dataclass(slots=True)
class Shown:
    """A result with its pictures, once somebody saw them.

    Attributes:
        result: The result.
        pictures: Look to PNG.
        alt: What the picture shows, in words; empty where there is none.
    """

    result: Result
    pictures: dict[str, bytes] = field(default_factory=dict)
    alt: str = ""


def _funnel(account: Account, **options: Any) -> Result:
    return analytics.funnel(
        account.calls(), account.leads(), appointments=account.appointments(),
        campaigns=account.campaigns(), **options,
    )  # fmt: skip


def _of_calls_and_leads(name: str) -> Callable[..., Result]:
    def run(account: Account, **options: Any) -> Result:
        result: Result = getattr(analytics, name)(account.calls(), account.leads(), **options)
        return result.named(account.campaigns())

    return run


VIEWS: Final[Mapping[str, View]] = {
    "funnel": View("Funnel", "How many leads reach each stage?", _funnel),
    "hours": View("Hours", "When do people answer?", _of_calls_and_leads("hours")),
    "sources": View("Sources", "Which list is worth its money?", _of_calls_and_leads("scorecard")),
    "attempts": View(
        "Attempts", "How often is it worth calling?", _of_calls_and_leads("attempts")
    ),
    "caller_ids": View(
        "Caller IDs", "Is a number of yours flagged?", _of_calls_and_leads("caller_ids")
    ),
    "changes": View("Changes", "What changed lately?", _of_calls_and_leads("changes")),
}


class Performance:
    """The performance pages."""

    def __init__(self, workspace: Workspace) -> None:
        """Take what the pages share."""
        self._workspace = workspace
        self._kept: OrderedDict[tuple[object, ...], Shown] = OrderedDict()
        # Pictures are drawn with settings of the whole process, so one at a time.
        self._lock = threading.Lock()

    @property
    def routes(self) -> list[BaseRoute]:
        """Addresses of the pages."""

        def of(show: Callable[[Request], Response]) -> Callable[[Request], Any]:
            async def answer(request: Request) -> Response:
                if request.path_params.get("name", "funnel") not in VIEWS:
                    return page(
                        "message.html", status=404, title="Page not found",
                        text="There is no such analysis.",
                    )  # fmt: skip
                return await run_in_threadpool(show, request)

            return answer

        return [
            Route("/performance", of(self._show)),
            Route("/performance/{name}", of(self._show)),
            Route("/performance/{name}/picture", of(self._picture)),
        ]

    def _read_result(self, request: Request) -> Shown:
        """The result that an address names."""
        name = request.path_params.get("name", "funnel")
        query, account = request.query_params, self._workspace.account()
        options = {}
        if query.get("campaign"):
            options["campaign"] = query["campaign"]
        if query.get("by") in _SPLITS and name in {"funnel", "sources"}:
            options["by"] = query["by"]
        sync = self._workspace.jobs.newest("sync")
        key = (name, *sorted(options.items()), id(sync), sync.state if sync else "")
        with self._lock:
            if key not in self._kept:
                self._kept[key] = Shown(VIEWS[name].run(account, **options))
                while len(self._kept) > _KEPT:
                    self._kept.popitem(last=False)
            self._kept.move_to_end(key)
            return self._kept[key]

    def _draw(self, shown: Shown, look: str) -> bytes:
        with self._lock:
            if look not in shown.pictures and not extras.installed("matplotlib"):
                return b""
            if look not in shown.pictures:
                picture = shown.result.plot(look=look)
                shown.pictures[look], shown.alt = picture.png(), str(picture.alt)
            return shown.pictures[look]

    def _show(self, request: Request) -> Response:
        name = request.path_params.get("name", "funnel")
        account, query = self._workspace.account(), request.query_params
        shown, problem = None, ""
        try:
            shown = self._read_result(request)
            self._draw(shown, "light")
        except ConfigError as error:
            problem = str(error)
        campaigns = account.campaigns()
        result = None if shown is None else shown.result
        return page(
            "performance.html", room="/performance", views=VIEWS, name=name, view=VIEWS[name],
            campaign=query.get("campaign", ""), by=query.get("by", ""), splits=_SPLITS,
            campaigns=list(zip(campaigns["id"], campaigns["name"], strict=True)),
            problem=problem, answers=[] if result is None else _answers(result),
            bars=getattr(result, "headlines", ()) if not query.get("by") else (),
            alt="" if shown is None else shown.alt, query=request.url.query,
            as_of=None if result is None else result.as_of,
            sheets=[] if result is None else _sheets(result),
            definition="" if result is None else result.definition,
            notes=[] if result is None else [warning_text(each) for each in result.warnings],
        )  # fmt: skip

    def _picture(self, request: Request) -> Response:
        look = "dark" if request.query_params.get("look") == "dark" else "light"
        png = self._draw(self._read_result(request), look)
        return Response(png, media_type="image/png", status_code=200 if png else 404)


def _answers(result: Result) -> list[str]:
    """Each claim in a sentence; a result that claims nothing is its picture and its numbers."""
    if isinstance(result, Funnel):
        return [result.sentence]
    sentences = [claim.text for claim in result.claims]
    return [text if text.endswith(".") else f"{text}." for text in sentences]


def _sheets(result: Result) -> list[Any]:
    """The tables with readable headings; lists of single calls are for exports."""
    further = [
        sheet(key.replace("_", " ").capitalize(), table)
        for key, table in result.tables.items()
        if key != "each" and len(table)
    ]
    return [sheet("The numbers", result.table), *further]

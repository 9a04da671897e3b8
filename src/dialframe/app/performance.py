"""The performance pages: funnel, hours, sources, caller IDs and changes of the stored calls, each under an address of its own."""

from __future__ import annotations

import base64
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any, Final

import pandas as pd
from starlette.concurrency import run_in_threadpool
from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import BaseRoute, Route

from dialframe import analytics
from dialframe.account import Account
from dialframe.app.rendering import page
from dialframe.app.workspace import Workspace
from dialframe.errors import ConfigError

#: Rows of a table on a page; exports have them all.
_ROWS: Final = 60


@dataclass(frozen=True, slots=True)
class View:
    """One analysis as a page.

    Attributes:
        title: Its heading.
        question: What it answers.
        run: Computes it from calls, leads and the options of the address.
    """

    title: str
    question: str
    run: Callable[..., Any]


def _funnel(account: Account, **options: Any) -> Any:
    return analytics.funnel(
        account.calls(), account.leads(), appointments=account.appointments(),
        campaigns=account.campaigns(), **options,
    )  # fmt: skip


def _of_calls_and_leads(name: str) -> Callable[..., Any]:
    def run(account: Account, **options: Any) -> Any:
        return getattr(analytics, name)(account.calls(), account.leads(), **options)

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


def routes(workspace: Workspace) -> list[BaseRoute]:
    """The pages of this room."""

    def show_view(name: str, campaign: str, by: str) -> Response:
        account = workspace.account()
        view = VIEWS[name]
        options: dict[str, Any] = {}
        if campaign:
            options["campaign"] = campaign
        if by and name in {"funnel", "sources"}:
            options["by"] = by
        problem, result = "", None
        try:
            result = view.run(account, **options)
        except ConfigError as error:
            problem = str(error)
        campaigns = account.campaigns()
        return page(
            "performance.html",
            room="/performance",
            views=VIEWS,
            name=name,
            view=view,
            campaign=campaign,
            by=by,
            campaigns=list(zip(campaigns["id"], campaigns["name"], strict=True)),
            splits=("lead_source", "campaign_id"),
            problem=problem,
            answer="" if result is None else _answer(result),
            picture=None if result is None else _picture(result),
            table=None if result is None else _table(result),
            notes=() if result is None else tuple(getattr(result, "warnings", ())),
        )

    async def show(request: Request) -> Response:
        name = request.path_params.get("name", "funnel")
        if name not in VIEWS:
            return page(
                "message.html",
                status=404,
                title="Page not found",
                text="There is no such analysis.",
            )
        query = request.query_params
        return await run_in_threadpool(
            show_view, name, query.get("campaign", ""), query.get("by", "")
        )

    return [Route("/performance", show), Route("/performance/{name}", show)]


def _answer(result: Any) -> str:
    return str(result.answer)


def _picture(result: Any) -> tuple[str, str] | None:
    """A picture as a data address, and its words; None where the result has none."""
    try:
        picture = result.plot()
    except (AttributeError, ConfigError):
        return None
    encoded = base64.b64encode(picture.png()).decode()
    return f"data:image/png;base64,{encoded}", str(picture.alt)


def _table(result: Any) -> tuple[list[str], list[list[str]], list[int]]:
    """Headings, cells as text, and the columns of numbers."""
    frame = result.table
    numbers = [
        at for at, name in enumerate(frame.columns) if pd.api.types.is_numeric_dtype(frame[name])
    ]
    rows = [
        [_cell(value) for value in row]
        for row in frame.head(_ROWS).itertuples(index=False, name=None)
    ]
    return [str(name).replace("_", " ") for name in frame.columns], rows, numbers


def _cell(value: object) -> str:
    if value is None or value is pd.NA or (isinstance(value, float) and value != value):
        return ""
    if isinstance(value, float):
        return f"{value:.1%}" if 0 <= value <= 1 else f"{value:,.1f}"
    if isinstance(value, pd.Timestamp):
        return f"{value:%Y-%m-%d %H:%M}"
    return f"{value:,}" if isinstance(value, int) and not isinstance(value, bool) else str(value)

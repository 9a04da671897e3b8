"""The start page: how fresh the account is, and what to do today."""

from __future__ import annotations

from dataclasses import dataclass

from starlette.concurrency import run_in_threadpool
from starlette.requests import Request
from starlette.responses import RedirectResponse, Response
from starlette.routing import BaseRoute, Route

from dialframe.account import Account
from dialframe.app.jobs import RUNNING
from dialframe.app.rendering import page
from dialframe.app.workspace import Workspace

#: Tables whose freshness a person asks about.
_TABLES = ("calls", "leads", "campaigns")


@dataclass(frozen=True, slots=True)
class Task:
    """One thing to do today.

    Attributes:
        title: What.
        why: Because.
        address: Where.
        action: The words of its link.
    """

    title: str
    why: str
    address: str
    action: str


def routes(workspace: Workspace) -> list[BaseRoute]:
    """The pages of this room."""

    def start() -> Response:
        account, problem = workspace.known_account()
        freshness = [] if account is None else _freshness(account)
        return page(
            "home.html",
            room="/",
            problem=problem,
            freshness=freshness,
            tasks=_tasks(workspace, freshness),
            sync=workspace.jobs.newest("sync"),
            firm=workspace.firm.path,
            folder=workspace.folder,
        )

    async def show(request: Request) -> Response:
        del request
        return await run_in_threadpool(start)

    async def sync(request: Request) -> Response:
        del request
        account = await run_in_threadpool(workspace.account)
        workspace.jobs.start(
            "sync", "Syncing the account", lambda listen: account.sync(on_progress=listen)
        )
        return RedirectResponse("/", status_code=303)

    return [Route("/", show), Route("/sync", sync, methods=["POST"])]


def _freshness(account: Account) -> list[tuple[str, str]]:
    """Each table with how far it can be trusted, in a sentence."""
    return [
        (name, str(getattr(account, name)().attrs["dialframe"]["sentence"])) for name in _TABLES
    ]


def _tasks(workspace: Workspace, freshness: list[tuple[str, str]]) -> list[Task]:
    tasks = []
    if any("never synced" in sentence for _, sentence in freshness):
        tasks.append(Task("Sync the account", "Nothing of it is stored yet.", "#sync", "Sync now"))
    if workspace.firm.path is None:
        tasks.append(
            Task(
                "Describe your firm once",
                "Most checks wait for what only you know. Run `dialframe firm` in this folder.",
                "/compliance",
                "See what each answer decides",
            )
        )
    audit = workspace.jobs.newest("audit")
    if audit is None and freshness:
        tasks.append(
            Task(
                "Check your calls",
                "No audit was run since the app started.",
                "/compliance",
                "Open",
            )
        )
    elif audit is not None and audit.state != RUNNING and audit.result is not None:
        violations = audit.result.violations
        if violations:
            tasks.append(
                Task(
                    f"Review {violations:,} violations",
                    "The last audit found them.",
                    "/compliance",
                    "Review",
                )
            )
    tasks.append(Task("Clean a list", "Drop a file, get a list you may dial.", "/lists", "Open"))
    return tasks

"""The start page: how fresh the account is, and what to do today."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Final
from urllib.parse import quote

import pandas as pd
from starlette.concurrency import run_in_threadpool
from starlette.requests import Request
from starlette.responses import RedirectResponse, Response
from starlette.routing import BaseRoute, Route

from dialframe.account import Account
from dialframe.account.freshness import covered, sentence
from dialframe.app.jobs import DONE, RUNNING
from dialframe.app.list_work import ListWork
from dialframe.app.rendering import page
from dialframe.app.workspace import Workspace
from dialframe.frames import CALLBACKS, CALLS, CAMPAIGNS, LEADS

#: Tables whose freshness a person asks about.
_TABLES: Final = (CALLS, LEADS, CAMPAIGNS, CALLBACKS)
#: Data older than this is out of date for today's work.
_STALE: Final = timedelta(hours=24)


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


def routes(workspace: Workspace, lists: ListWork) -> list[BaseRoute]:
    """The pages of this room."""

    def start() -> Response:
        account, problem = workspace.known_account()
        return page(
            "home.html",
            room="/",
            problem=problem,
            freshness=[] if account is None else _freshness(account),
            tasks=list(_tasks(workspace, lists, account)),
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
    """Each table with how far it can be trusted, in words; checkpoints are read, no rows."""
    found = []
    for table in _TABLES:
        words = sentence(table, covered(table, account.store)).removeprefix(f"{table.name}: ")
        found.append((table.name, words[:1].upper() + words[1:]))
    return found


def _tasks(workspace: Workspace, lists: ListWork, account: Account | None) -> Iterator[Task]:
    """What to do, the most urgent first."""
    now = workspace.now()
    if account is not None:
        yield from _of_data(account, now)
    audit = workspace.jobs.newest("audit")
    if audit is not None and audit.state == DONE and audit.result.violations:
        yield Task(
            "Review the violations", "The last audit found some; each has its story.",
            "/compliance#violations", "Review",
        )  # fmt: skip
    elif account is not None and (audit is None or audit.state not in (RUNNING, DONE)):
        yield Task(
            "Check your calls", "No audit was run since the app started.", "/compliance", "Open",
        )  # fmt: skip
    if workspace.firm.path is None:
        yield Task(
            "Describe your firm once",
            "Most checks wait for what only you know. Run dialframe firm in this folder, then start the app again.",
            "/compliance", "See what each answer decides",
        )  # fmt: skip
    for name, _, _ in lists.files():
        cleaned = lists.result("list", name)
        if cleaned is not None and cleaned.questions:
            yield Task(
                f"Answer what the words of {name} mean",
                "Records are held for that list until you answer.", f"/lists/{quote(name)}", "Answer",
            )  # fmt: skip
    yield Task("Clean a list", "Drop a file, get a list you may dial.", "/lists", "Open")


def _of_data(account: Account, now: datetime) -> Iterator[Task]:
    synced = covered(CALLS, account.store).synced_at
    if synced is None:
        yield Task("Sync the account", "Nothing of it is stored yet.", "#sync", "Sync")
        return
    if now - synced > _STALE:
        days = (now - synced).days
        yield Task(
            "Sync the account",
            f"The calls were read {days} {'day' if days == 1 else 'days'} ago.", "#sync", "Sync",
        )  # fmt: skip
    if covered(CALLBACKS, account.store).synced_at is not None:
        callbacks = account.callbacks()
        due = callbacks[
            (callbacks["status"] == "pending")
            & (callbacks["scheduled_at"] <= pd.Timestamp(now) + _STALE)
        ]
        if len(due):
            some = f"{len(due):,} callback{'' if len(due) == 1 else 's'}"
            yield Task(
                f"Keep {some}",
                "A person asked to be called; each is due within a day, or overdue.",
                "/compliance/gate", "Ask whether a number may be called",
            )  # fmt: skip

"""The compliance pages: verdict, one card a finding with its story, what each missing input is worth, one number at the gate."""

from __future__ import annotations

import tempfile
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

from starlette.background import BackgroundTask
from starlette.concurrency import run_in_threadpool
from starlette.requests import Request
from starlette.responses import FileResponse, RedirectResponse, Response
from starlette.routing import BaseRoute, Route

import dialframe
from dialframe.app.jobs import DONE
from dialframe.app.rendering import page
from dialframe.app.workspace import Workspace
from dialframe.errors import ConfigError
from dialframe.phones.parse_number import read_number
from dialframe.reports.audit_findings import headlines, violation_cards

#: Cards on one page; the evidence pack has every finding.
_CARDS: Final = 50


@dataclass(frozen=True, slots=True)
class Verdict:
    """What the gate says of one number.

    Attributes:
        number: E.164.
        held: Whether it must not be called.
        rows: What was asked, and the answer.
    """

    number: str
    held: bool
    rows: list[tuple[str, str]]


class Compliance:
    """The compliance pages."""

    def __init__(self, workspace: Workspace) -> None:
        """Take what the pages share."""
        self._workspace = workspace

    @property
    def routes(self) -> list[BaseRoute]:
        """Addresses of the pages."""
        return [
            Route("/compliance", self._show),
            Route("/compliance/audit", self._run, methods=["POST"]),
            Route("/compliance/calls/{call_id}", self._why),
            Route("/compliance/gate", self._gate),
            Route("/compliance/evidence.zip", self._download),
        ]

    def _overview(self) -> Response:
        account, problem = self._workspace.known_account()
        job = self._workspace.jobs.newest("audit")
        result = job.result if job is not None and job.state == DONE else None
        return page(
            "compliance.html",
            room="/compliance",
            problem=problem,
            job=job,
            audit=result,
            headlines=() if result is None else headlines(result),
            cards=() if result is None else violation_cards(result, _CARDS),
            worth=() if result is None else _rows(getattr(result, "worth", None)),
            has_account=account is not None,
        )

    async def _show(self, request: Request) -> Response:
        del request
        return await run_in_threadpool(self._overview)

    async def _run(self, request: Request) -> Response:
        del request
        account = await run_in_threadpool(self._workspace.account)
        self._workspace.jobs.start(
            "audit",
            "Checking every call",
            lambda listen: dialframe.audit(account, now=self._workspace.now, on_progress=listen),
        )
        return RedirectResponse("/compliance", status_code=303)

    def _story(self, call_id: str) -> Response:
        job = self._workspace.jobs.newest("audit")
        if job is None or job.state != DONE:
            raise ConfigError("run the audit first: open Compliance")
        return page(
            "story.html", room="/compliance", call_id=call_id, steps=job.result.why(call_id)
        )

    async def _why(self, request: Request) -> Response:
        return await run_in_threadpool(self._story, request.path_params["call_id"])

    def _ask(self, text: str) -> Response:
        verdict, problem = None, ""
        if text:
            region = self._workspace.firm.lists.region
            number = read_number(text, region).e164
            if number is None:
                hint = "" if region else ", or name a region in dialframe.toml"
                problem = f"{text} is no phone number; write it as +1 212 555 0142{hint}"
            else:
                verdict = _verdict(self._workspace, number)
        return page("gate.html", room="/compliance", text=text, verdict=verdict, problem=problem)

    async def _gate(self, request: Request) -> Response:
        return await run_in_threadpool(self._ask, request.query_params.get("number", ""))

    def _pack(self) -> Response:
        from dialframe.flows.audit import write_evidence

        job = self._workspace.jobs.newest("audit")
        if job is None or job.state != DONE:
            raise ConfigError("run the audit first: open Compliance")
        room = tempfile.TemporaryDirectory(prefix="dialframe-pack-")
        target = Path(room.name) / "evidence.zip"
        write_evidence(job.result, target)
        return FileResponse(
            target, filename="evidence.zip", background=BackgroundTask(room.cleanup)
        )

    async def _download(self, request: Request) -> Response:
        del request
        return await run_in_threadpool(self._pack)


def _rows(inputs: Any) -> list[tuple[str, int]]:
    """Input and calls decided."""
    return [(each.input, each.calls) for each in inputs or ()]


def _verdict(workspace: Workspace, number: str) -> Verdict:
    answer = dialframe.may_call(workspace.account(), [number], at=workspace.now())
    row = answer.iloc[0].dropna().to_dict()
    held = str(row.get("verdict")) != "may"
    rows = [
        (str(name).replace("_", " "), str(value))
        for name, value in row.items()
        if name not in {"number", "verdict"}
    ]
    return Verdict(number, held, rows)

"""The compliance pages: verdict, calendar, one card a finding with its story, what each missing input is worth, the gate."""

from __future__ import annotations

import tempfile
import threading
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, date, datetime, time, timedelta
from pathlib import Path
from typing import Any, Final

import pandas as pd
from starlette.background import BackgroundTask
from starlette.concurrency import run_in_threadpool
from starlette.requests import Request
from starlette.responses import FileResponse, HTMLResponse, RedirectResponse, Response
from starlette.routing import BaseRoute, Route

import dialframe
from dialframe.app.forms import form_of, whole
from dialframe.app.jobs import DONE
from dialframe.app.rendering import page
from dialframe.app.workspace import Workspace
from dialframe.compliance import Audit, Question
from dialframe.compliance.checks import texts
from dialframe.compliance.why import Step
from dialframe.errors import ConfigError
from dialframe.flows.audit import write_pack
from dialframe.flows.firm_records import firm_scope
from dialframe.flows.pack import workbook_of
from dialframe.phones.parse_number import read_number
from dialframe.reports import audit_page, render
from dialframe.reports.audit_findings import headlines, story_value, violation_cards
from dialframe.reports.html_page import words

#: Cards on one page.
_CARDS: Final = 20
#: What to do first.
_FIRST: Final = 3
#: Months of the calendar, the newest.
_MONTHS: Final = 6
#: Rows of a story's step that stand open.
_FEW: Final = 10
#: A report is one file with its own styles, and runs nothing.
_REPORT_CSP: Final = (
    "default-src 'none'; style-src 'unsafe-inline'; img-src data:; frame-ancestors 'none'"
)


@dataclass(frozen=True, slots=True)
class Day:
    """A day of the calendar.

    Attributes:
        on: The day, UTC.
        calls: Calls made on it.
        violations: Findings of it.
    """

    on: date
    calls: int
    violations: int


@dataclass(frozen=True, slots=True)
class Verdict:
    """What the gate says of one number.

    Attributes:
        number: E.164.
        held: Whether it must not be called now.
        checks: Every check that holds it, in words.
        facts: Name and value of what decided.
    """

    number: str
    held: bool
    checks: list[str]
    facts: list[tuple[str, str]]


class Compliance:
    """The compliance pages."""

    def __init__(self, workspace: Workspace) -> None:
        """Take what the pages share."""
        self._workspace = workspace
        # One connection answers one question at a time.
        self._engine = threading.Lock()

    @property
    def routes(self) -> list[BaseRoute]:
        """Addresses of the pages."""

        def of(show: Callable[[Request], Response]) -> Callable[[Request], Any]:
            async def answer(request: Request) -> Response:
                return await run_in_threadpool(show, request)

            return answer

        return [
            Route("/compliance", of(self._show)),
            Route("/compliance/audit", self._run, methods=["POST"]),
            Route("/compliance/calls/{call_id}", of(self._why)),
            Route("/compliance/gate", of(self._gate)),
            Route("/compliance/report", of(self._report)),
            Route("/compliance/evidence.zip", of(self._pack)),
            Route("/compliance/findings.xlsx", of(self._findings)),
        ]

    def _audit(self) -> Audit:
        job = self._workspace.jobs.newest("audit")
        if job is None or job.state != DONE:
            raise ConfigError("run the audit first: open Compliance")
        result: Audit = job.result
        return result

    def _show(self, request: Request) -> Response:
        account, problem = self._workspace.known_account()
        job = self._workspace.jobs.newest("audit")
        result: Audit | None = job.result if job is not None and job.state == DONE else None
        shown: dict[str, Any] = {}
        if result is not None:
            query = request.query_params
            with self._engine:
                shown = self._page_facts(
                    result,
                    query.get("check", ""),
                    query.get("day", ""),
                    whole(query.get("from", "")),
                )
        return page(
            "compliance.html", room="/compliance", problem=problem, job=job, audit=result,
            has_account=account is not None, firm=self._workspace.firm.path, **shown,
        )  # fmt: skip

    def _page_facts(self, result: Audit, check: str, day: str, begin: int) -> dict[str, Any]:
        """What the page says of an audit, with the cards that its address asks for."""

        def chosen(rows: pd.DataFrame) -> pd.DataFrame:
            kept = rows if not check else rows[rows["check"] == check]
            if not day:
                return kept
            return kept[kept["at"].dt.strftime("%Y-%m-%d") == day]

        findings = result.findings
        rows = findings[(findings["grade"] == "violation").to_numpy(dtype=bool, na_value=False)]
        kinds = [
            (str(name), audit_page.name_of(str(name)), int(count))
            for name, count in rows["check"].value_counts().items()
        ]
        total = len(chosen(rows))
        return {
            "headlines": headlines(result),
            "first": audit_page.first(result).head(_FIRST).to_dict("records"),
            "gaps": audit_page.gaps(result),
            "cards": violation_cards(result, _CARDS, only=chosen, begin=begin),
            "kinds": kinds, "check": check, "day": day, "begin": begin, "most": _CARDS,
            "total": total, "violations": len(rows),
            "months": _calendar(result, rows),
            "worth": [(each.input, each.calls) for each in result.worth],
            "never": [
                (audit_page.title_of(each.check), each.calls, each.why, each.from_now_on)
                for each in result.never_settled
            ],
            "counts": audit_page.counts(result).to_dict("records"),
            "period": audit_page.period(result),
        }  # fmt: skip

    async def _run(self, request: Request) -> Response:
        form = await form_of(request)
        account = await run_in_threadpool(self._workspace.account)
        now = self._workspace.now
        since, until = _first_instant(form.get("since", "")), _first_instant(form.get("until", ""))
        # The last day is part of the period, as people say it.
        until = None if until is None else until + timedelta(days=1)
        if since is not None and until is not None and since >= until:
            raise ConfigError("the period ends before it begins; swap its days")
        scope = await run_in_threadpool(
            lambda: firm_scope(
                self._workspace.firm, Question(now=now(), since=since, until=until)
            )[0]
        )
        self._workspace.jobs.start(
            "audit",
            "Checking every call",
            lambda listen: dialframe.audit(account, now=now, scope=scope, on_progress=listen),
        )
        return RedirectResponse("/compliance", status_code=303)

    def _why(self, request: Request) -> Response:
        call_id = request.path_params["call_id"]
        with self._engine:
            steps = self._audit().why(call_id)
        titles = {row["check"]: row["title"] for row in self._audit().checks.to_dict("records")}
        facts, laws = _story(steps, titles)
        return page("story.html", room="/compliance", call_id=call_id, facts=facts, laws=laws)

    def _gate(self, request: Request) -> Response:
        text = request.query_params.get("number", "")
        campaign = request.query_params.get("campaign", "")
        account, problem = self._workspace.known_account()
        verdict = None
        if text and account is not None:
            region = self._workspace.firm.lists.region
            number = read_number(text, region).e164
            if number is None:
                bare = region is None and not text.lstrip().startswith("+")
                wrong = "has no country code" if bare else "is not a phone number"
                hint = ", or name your region in dialframe.toml" if bare else ""
                problem = f"{text} {wrong}; write it as +1 212 555 0142{hint}"
            else:
                verdict = self._verdict(number, campaign or None)
        campaigns = [] if account is None else account.campaigns()[["id", "name"]].to_numpy()
        return page(
            "gate.html", room="/compliance", text=text, campaign=campaign, verdict=verdict,
            campaigns=[(str(id_), str(name)) for id_, name in campaigns], problem=problem,
        )  # fmt: skip

    def _verdict(self, number: str, campaign: str | None) -> Verdict:
        now = self._workspace.now()
        table = dialframe.may_call(
            self._workspace.account(), [number], at=now, campaign=campaign,
            scope=firm_scope(self._workspace.firm, Question(now=now))[0],
        )  # fmt: skip
        row = {str(name): str(value) for name, value in table.iloc[0].dropna().items()}
        held = row.get("verdict") == "held"
        names = [name for name in row.get("held_by", "").split(", ") if name]
        facts = {
            "Decided by": audit_page.name_of(row["check"]) if _is_check(row.get("check")) else "",
            "Why": row.get("reason", ""), "Missing": row.get("missing", ""),
            "Rule": row.get("rule_id", ""), "Law": row.get("citation", ""),
        }  # fmt: skip
        return Verdict(
            number, held,
            [audit_page.name_of(name) if _is_check(name) else words(name) for name in names],
            [(name, value) for name, value in facts.items() if value],
        )  # fmt: skip

    def _report(self, request: Request) -> Response:
        del request
        with self._engine:
            html = render(audit_page.page(self._audit()))
        return HTMLResponse(html, headers={"content-security-policy": _REPORT_CSP})

    def _findings(self, request: Request) -> Response:
        del request
        result = self._audit()
        with self._engine:
            # As the pages show them: whole, to the person whose data they are.
            content = workbook_of(result, str)
        name = f"findings-{result.as_of:%Y-%m-%d}.xlsx"
        return Response(
            content,
            media_type="application/vnd.openxmlformats-officedocument.spreadsheetml.sheet",
            headers={"content-disposition": f'attachment; filename="{name}"'},
        )

    def _pack(self, request: Request) -> Response:
        del request
        result = self._audit()
        room = tempfile.TemporaryDirectory(prefix="dialframe-pack-")
        name = f"evidence-{result.as_of:%Y-%m-%d}.zip"
        try:
            with self._engine:
                write_pack(result, Path(room.name) / name)
        except BaseException:
            room.cleanup()
            raise
        return FileResponse(
            Path(room.name) / name, filename=name, background=BackgroundTask(room.cleanup)
        )


def _is_check(name: str | None) -> bool:
    return name in texts()


def _first_instant(day: str) -> datetime | None:
    """Midnight UTC of a day as a form gives it."""
    if not day:
        return None
    try:
        return datetime.combine(date.fromisoformat(day), time(), UTC)
    except ValueError:
        raise ConfigError(f"{day} is not a day; write it as 2026-10-01") from None


def _calendar(
    result: Audit, violations: pd.DataFrame
) -> list[tuple[date, list[list[Day | None]]]]:
    """The newest months with calls: each its first day and its weeks, Monday first."""
    days = result.hours["created_at"].dt.date.value_counts()
    bad = violations["at"].dropna().dt.date.value_counts()
    if not len(days):
        return []
    months = sorted({day.replace(day=1) for day in [*days.index, *bad.index]})[-_MONTHS:]
    return [(month, _weeks(month, days.to_dict(), bad.to_dict())) for month in months]


def _weeks(
    month: date, calls: Mapping[Any, int], violations: Mapping[Any, int]
) -> list[list[Day | None]]:
    cells: list[Day | None] = [None] * month.weekday()
    day = month
    while day.month == month.month:
        cells.append(Day(day, int(calls.get(day, 0)), int(violations.get(day, 0))))
        day += timedelta(days=1)
    cells += [None] * (-len(cells) % 7)
    return [cells[at : at + 7] for at in range(0, len(cells), 7)]


def _story(
    steps: Sequence[Step], titles: Mapping[str, str]
) -> tuple[list[dict[str, Any]], list[tuple[str, list[dict[str, Any]]]]]:
    """The facts of a call, and each law with its steps."""
    facts: list[dict[str, Any]] = []
    laws: dict[str, list[dict[str, Any]]] = {}
    for step in steps:
        check, dot, _ = step.name.partition(".")
        title = step.title.rpartition(": ")[2] if dot else step.title
        shown = {
            "folded": len(step.rows) > _FEW, "title": title[:1].upper() + title[1:], "text": step.text,
            "columns": [words(name) for name in step.columns],
            "rows": [[story_value(value, name, titles) for name, value in zip(step.columns, row, strict=True)] for row in step.rows],
        }  # fmt: skip
        (laws.setdefault(check, []) if dot else facts).append(shown)
    return facts, [(titles.get(check, words(check)), parts) for check, parts in laws.items()]

"""The list pages: a file is dropped, read with its doubts, cleaned, corrected, and imported by campaign name."""

from __future__ import annotations

import os
import secrets
from collections.abc import AsyncIterator, Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import replace
from datetime import UTC, datetime
from pathlib import Path
from typing import Any, BinaryIO, Final
from urllib.parse import quote

from starlette.concurrency import run_in_threadpool
from starlette.requests import ClientDisconnect, Request
from starlette.responses import (
    FileResponse,
    JSONResponse,
    PlainTextResponse,
    RedirectResponse,
    Response,
)
from starlette.routing import BaseRoute, Route

from dialframe.app.forms import form_of, whole
from dialframe.app.jobs import DONE, FAILED, Job
from dialframe.app.list_work import (
    SET_ASIDE,
    CleanList,
    Head,
    ListWork,
    first_leads,
    is_list,
    set_aside,
)
from dialframe.app.rendering import page
from dialframe.app.workspace import Workspace
from dialframe.errors import ConfigError
from dialframe.flows.lead_import import IMPORTABLE
from dialframe.leads.columns.questions import ANSWERS
from dialframe.reports.lead_list_page import headlines

#: Largest file that a browser may bring.
_MOST_BYTES: Final = 1 << 30
#: Bytes of the longest file name that common file systems take, less what a part and a number add.
_NAME_BYTES: Final = 200
#: How long a page waits for the beginning of a list before it shows how far it is.
_READ_S: Final = 1.5
#: Rejected cells on a page.
_CELLS: Final = 100


class Lists:
    """The list pages."""

    def __init__(self, workspace: Workspace, work: ListWork) -> None:
        """Take what the pages share."""
        self._workspace, self._work = workspace, work

    @property
    def routes(self) -> list[BaseRoute]:
        """Addresses of the pages."""
        at = "/lists/{name}"
        return [
            Route("/lists", _of(self._index)),
            Route("/lists/upload", self._upload, methods=["PUT"]),
            Route(at, _of(self._show)),
            Route(f"{at}/clean", self._form_endpoint(self._clean), methods=["POST"]),
            Route(f"{at}/answers", self._form_endpoint(self._answer), methods=["POST"]),
            Route(f"{at}/forget", self._form_endpoint(self._forget), methods=["POST"]),
            Route(f"{at}/cells", _of(self._cells)),
            Route(f"{at}/cells", self._form_endpoint(self._fix), methods=["POST"]),
            Route(f"{at}/cells/save", self._form_endpoint(self._save), methods=["POST"]),
            Route(f"{at}/plan", self._form_endpoint(self._plan), methods=["POST"]),
            Route(f"{at}/import", self._form_endpoint(self._send), methods=["POST"]),
            Route(f"{at}/files/{{file}}", _of(self._download)),
        ]

    # ---- pages

    def _index(self, request: Request) -> Response:
        del request
        files = [
            (name, quote(name), size, datetime.fromtimestamp(at, UTC), self._state(name))
            for name, size, at in self._work.files()
        ]
        own = self._workspace.own_list
        return page(
            "lists.html", room="/lists", files=files,
            own=None if own is None else len(own.barred()),
            suppression=[path.name for path in self._workspace.firm.lists.suppression],
        )  # fmt: skip

    def _state(self, name: str) -> str:
        cleaned: CleanList | None = self._work.result("list", name)
        return "" if cleaned is None else f"{cleaned.counts['clean']:,} clean"

    def _show(self, request: Request) -> Response:
        name = request.path_params["name"]
        work = self._work
        reading = work.read(name)
        reading.finished.wait(_READ_S)
        head: Head | None = reading.result if reading.state == DONE else None
        job, plan, sending = (work.job(kind, name) for kind in ("list", "plan", "import"))
        cleaned: CleanList | None = work.result("list", name)
        roles = {} if head is None else head.roles
        aside = set_aside(cleaned, roles)
        fixing = work.fixing(name)
        unsaved = 0 if fixing is None or cleaned is None else len(fixing.edits) - cleaned.edits
        campaigns, problem = self._campaigns() if cleaned is not None else ([], "")
        return page(
            "list.html", room="/lists", name=name, address=f"/lists/{quote(name)}",
            head=head, marks=_marks(head, aside.header, aside.rows), reading=reading,
            problem=reading.error if reading.state == FAILED else "",
            job=job, cleaned=cleaned, aside=aside, choices=work.choices(name), unsaved=unsaved,
            campaigns=campaigns, no_campaigns=problem,
            planning=_after(plan, job), sending=_after(sending, job),
            first=None if cleaned is None else first_leads(cleaned), most=SET_ASIDE,
            headlines=() if cleaned is None else headlines(cleaned.counts),
        )  # fmt: skip

    def _cells(self, request: Request) -> Response:
        name = request.path_params["name"]
        work = self._work
        work.path(name)
        job = work.job("fix", name)
        fixing = work.fixing(name)
        if fixing is None and (job is None or job.state == DONE):
            job = work.open_fixing(name)
            job.finished.wait(_READ_S)
            fixing = work.fixing(name)
        rejects = [] if fixing is None else fixing.rejects()
        begin = max(0, whole(request.query_params.get("from", "0")))
        shown = rejects[begin : begin + _CELLS]
        return page(
            "cells.html", room="/lists", name=name, address=f"/lists/{quote(name)}", job=job,
            fixing=fixing, total=len(rejects), begin=begin, most=_CELLS,
            rows=[] if fixing is None else [(each, *fixing.beside(each)) for each in shown],
        )  # fmt: skip

    def _download(self, request: Request) -> Response:
        cleaned: CleanList | None = self._work.result("list", request.path_params["name"])
        file = request.path_params["file"]
        if cleaned is None or file not in cleaned.files:
            raise ConfigError("clean the list first")
        path = cleaned.files[file]
        if not path.exists():
            raise ConfigError(f"{path.name} is no longer in the folder; clean the list again")
        return FileResponse(path, filename=path.name, content_disposition_type="attachment")

    # ---- what a person does

    def _clean(self, name: str, form: Mapping[str, str]) -> None:
        before = self._work.choices(name)
        columns = {
            key.removeprefix("column."): value or None
            for key, value in form.items()
            if key.startswith("column.")
        }
        region = form.get("region", "").strip() or None
        self._work.choose(
            name, replace(before, region=region, columns={**before.columns, **columns})
        )
        self._work.clean(name)

    def _answer(self, name: str, form: Mapping[str, str]) -> None:
        before = self._work.choices(name)
        answers = {(each["column"], each["phrase"]): each for each in before.answers}
        for key, answer in form.items():
            if key.startswith("answer.") and answer in ANSWERS:
                at = key.removeprefix("answer.")
                column, phrase = form[f"of.{at}"], form[f"phrase.{at}"]
                answers[column, phrase] = {"column": column, "phrase": phrase, "answer": answer}
        self._work.choose(name, replace(before, answers=tuple(answers.values())))
        self._work.clean(name)

    def _forget(self, name: str, form: Mapping[str, str]) -> None:
        del form
        self._work.forget(name)

    def _fix(self, name: str, form: Mapping[str, str]) -> dict[str, Any]:
        why = self._work.fix(
            name, form["file"], whole(form["line"]), form["column"], form.get("value", "")
        )
        fixing = self._work.fixing(name)
        left, edits = (0, 0) if fixing is None else (len(fixing.rejects()), len(fixing.edits))
        return {"why": why, "left": left, "edits": edits}

    def _save(self, name: str, form: Mapping[str, str]) -> None:
        del form
        self._work.save_fixes(name)

    def _plan(self, name: str, form: Mapping[str, str]) -> None:
        self._work.plan(name, form["campaign"])

    def _send(self, name: str, form: Mapping[str, str]) -> None:
        plan = _after(self._work.job("plan", name), self._work.job("list", name))
        if plan is None or plan.state != DONE or plan.result.plan.campaign_id != form["campaign"]:
            raise ConfigError(
                "read the plan of this import first; the list was cleaned anew since"
            )
        self._work.send(name, form["campaign"])

    def _form_endpoint(
        self, act: Callable[[str, Mapping[str, str]], dict[str, Any] | None]
    ) -> Callable[[Request], Any]:
        """What a form does: it acts, and leads back to the page of the list; a script gets the answer."""

        async def answer(request: Request) -> Response:
            name, form = request.path_params["name"], await form_of(request)
            try:
                facts = await run_in_threadpool(act, name, form)
            except KeyError as error:
                raise ConfigError(f"the form lacks {error}") from None
            if facts is not None and "json" in request.headers.get("accept", ""):
                return JSONResponse(facts)
            end = "/cells" if facts is not None else ""
            return RedirectResponse(f"/lists/{quote(name)}{end}", status_code=303)

        return answer

    async def _upload(self, request: Request) -> Response:
        name = Path(request.query_params.get("name", "")).name
        if not is_list(name) or not name.isprintable():
            return PlainTextResponse(
                f"{name or 'this'} is not a list; bring a table: CSV, Excel, JSON or Parquet", 415
            )
        if len(name.encode()) > _NAME_BYTES:
            return PlainTextResponse("the name of the file is too long; rename it", 415)
        try:
            with _part(self._workspace.folder) as (part, file):
                size_bytes = await _receive(request.stream(), file)
                if size_bytes > _MOST_BYTES:
                    return PlainTextResponse(
                        "the file is larger than 1 GiB; use the command line", 413
                    )
                if not size_bytes:
                    return PlainTextResponse(f"{name} is empty", 422)
                file.close()
                target = _unused_name(part, self._workspace.folder / name)
        except ClientDisconnect:
            return PlainTextResponse("the upload broke off", 400)
        except OSError as error:
            return PlainTextResponse(f"the file cannot be kept: {error.strerror}", 507)
        return Response(status_code=201, headers={"location": f"/lists/{quote(target.name)}"})

    def _campaigns(self) -> tuple[list[tuple[str, str]], str]:
        """Campaigns that take leads, by name, or why there are none."""
        account, problem = self._workspace.known_account()
        if account is None:
            return [], problem
        table = account.campaigns()
        takes = table[table["status"].isin(IMPORTABLE)].sort_values("name")
        found = list(zip(map(str, takes["id"]), map(str, takes["name"]), strict=True))
        return found, "" if found else "No campaign takes leads. Pause one or make one, then sync."


def _of(show: Callable[[Request], Response]) -> Callable[[Request], Any]:
    """A page that is made outside of the loop, since it reads files."""

    async def answer(request: Request) -> Response:
        return await run_in_threadpool(show, request)

    return answer


def _after(job: Job | None, earlier: Job | None) -> Job | None:
    """A job, unless the list was cleaned anew since: what it says is no longer so."""
    return None if job is None or earlier is None or job.began_s < earlier.began_s else job


def _marks(head: Head | None, header: list[str], rows: list[Any]) -> dict[tuple[int, int], str]:
    """Row and column of the first rows to why that cell is to blame."""
    if head is None or header != head.header:
        return {}
    lines = {str(line): at for at, line in enumerate(head.lines)}
    return {
        (lines[line], at): why
        for line, _, why, _, _, at in rows
        if line in lines and at is not None
    }


@contextmanager
def _part(folder: Path) -> Iterator[tuple[Path, BinaryIO]]:
    """A hidden file of the owner's alone that an upload goes into; gone afterwards."""
    path = folder / f".{secrets.token_hex(8)}.part"
    file = os.fdopen(os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600), "wb")
    try:
        yield path, file
    finally:
        file.close()
        path.unlink(missing_ok=True)


async def _receive(stream: AsyncIterator[bytes], file: BinaryIO) -> int:
    size_bytes = 0
    async for block in stream:
        size_bytes += len(block)
        if size_bytes > _MOST_BYTES:
            break
        await run_in_threadpool(file.write, block)
    return size_bytes


def _unused_name(part: Path, target: Path) -> Path:
    """Give a file a name that no other has: `autumn.csv`, then `autumn-2.csv`; two uploads at once get two names."""
    number, path = 1, target
    while True:
        try:
            # Whoever makes the name has it; the content takes its place in one step.
            path.touch(0o600, exist_ok=False)
        except FileExistsError:
            number += 1
            path = target.with_name(f"{target.stem}-{number}{target.suffix}")
        else:
            return part.replace(path)

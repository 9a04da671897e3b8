"""The list pages: a file is dropped, read with its doubts, cleaned, and imported by campaign name."""

from __future__ import annotations

import csv
from dataclasses import dataclass, replace
from itertools import islice
from pathlib import Path
from typing import Any, Final
from urllib.parse import parse_qs, quote

from starlette.concurrency import run_in_threadpool
from starlette.requests import ClientDisconnect, Request
from starlette.responses import (
    FileResponse,
    PlainTextResponse,
    RedirectResponse,
    Response,
)
from starlette.routing import BaseRoute, Route

from dialframe import leads
from dialframe.app.jobs import DONE, Job
from dialframe.app.rendering import page
from dialframe.app.workspace import Workspace
from dialframe.config import OnProgress
from dialframe.errors import ConfigError, DialframeError
from dialframe.files import folder as make_folder
from dialframe.flows import lead_cleaning, lead_import, suppression_import
from dialframe.suppression import run_id

#: Largest file that a browser may bring.
_MOST_BYTES: Final = 1 << 30
_FORM_BYTES: Final = 65_536
#: Rows of a file, and of what was set aside, on a page.
_PREVIEW: Final = 12
_SET_ASIDE: Final = 100
#: Endings of files that are offered as lists.
_ENDINGS: Final = frozenset(
    {".csv", ".tsv", ".txt", ".xlsx", ".xls", ".ods", ".json", ".jsonl", ".parquet", ".zip", ".gz"}
)
#: Folder of what is written, within the app's own.
_CLEANED: Final = "cleaned"


@dataclass(frozen=True, slots=True)
class Cleaned:
    """A list that was cleaned.

    Attributes:
        counts: `records, clean, rejected, duplicates, do_not_call, skipped`.
        region: The region that was used.
        reasons: Reason and records, most first.
        files: Name to path of what was written.
    """

    counts: dict[str, int]
    region: str | None
    reasons: list[tuple[str, str, int]]
    files: dict[str, Path]


class Lists:
    """The list pages."""

    def __init__(self, workspace: Workspace) -> None:
        """Take what the pages share."""
        self._workspace = workspace

    @property
    def routes(self) -> list[BaseRoute]:
        """Addresses of the pages."""
        return [
            Route("/lists", self._index),
            Route("/lists/upload", self._upload, methods=["PUT"]),
            Route("/lists/{name}", self._show),
            Route("/lists/{name}/clean", self._clean, methods=["POST"]),
            Route("/lists/{name}/import", self._bring_in, methods=["POST"]),
            Route("/lists/{name}/files/{file}", self._download),
        ]

    async def _index(self, request: Request) -> Response:
        del request
        files = sorted(
            (
                path
                for path in self._workspace.folder.iterdir()
                if path.suffix.lower() in _ENDINGS and path.is_file()
            ),
            key=lambda path: path.stat().st_mtime,
            reverse=True,
        )
        return page(
            "lists.html",
            room="/lists",
            files=[(path.name, quote(path.name), path.stat().st_size) for path in files],
        )

    async def _upload(self, request: Request) -> Response:
        name = Path(request.query_params.get("name", "")).name
        if not name or name.startswith(".") or Path(name).suffix.lower() not in _ENDINGS:
            return PlainTextResponse(
                f"{name or 'this'} is no list; bring a table: CSV, Excel, JSON or Parquet", 415
            )
        target = _free(self._workspace.folder / name)
        size_bytes = 0
        part = target.with_name(f".{target.name}.part")
        try:
            with part.open("xb") as file:
                part.chmod(0o600)
                async for block in request.stream():
                    size_bytes += len(block)
                    if size_bytes > _MOST_BYTES:
                        return PlainTextResponse(
                            "the file is larger than 1 GiB; use the command line", 413
                        )
                    await run_in_threadpool(file.write, block)
            if not size_bytes:
                return PlainTextResponse(f"{name} is empty", 422)
            part.rename(target)
        except ClientDisconnect:
            return PlainTextResponse("the upload broke off", 400)
        finally:
            part.unlink(missing_ok=True)
        return Response(status_code=201, headers={"location": f"/lists/{quote(target.name)}"})

    def _show_list(self, name: str) -> Response:
        path = self._workspace.file(name)
        job = self._workspace.jobs.newest(f"list-{name}")
        problem = ""
        header: list[str] = []
        rows: list[list[str]] = []
        try:
            header, rows = _preview(path)
        except DialframeError as error:
            problem = str(error)
        cleaned: Cleaned | None = job.result if job is not None and job.state == DONE else None
        account, _ = self._workspace.known_account()
        campaigns = [] if account is None else _campaigns(account)
        return page(
            "list.html", room="/lists", name=name, address=f"/lists/{quote(name)}", job=job,
            kind=f"list-{name}", problem=problem, header=header, rows=rows, cleaned=cleaned,
            set_aside=_set_aside(cleaned), region=self._workspace.firm.lists.region or "",
            sending=self._workspace.jobs.newest(f"import-{name}"), import_kind=f"import-{name}",
            campaigns=campaigns,
        )  # fmt: skip

    async def _show(self, request: Request) -> Response:
        return await run_in_threadpool(self._show_list, request.path_params["name"])

    async def _clean(self, request: Request) -> Response:
        name = request.path_params["name"]
        path, form = self._workspace.file(name), await _form(request)
        region = form.get("region", "").strip() or None
        self._workspace.jobs.start(
            f"list-{name}",
            f"Cleaning {name}",
            lambda listen: _clean(self._workspace, path, region, listen),
        )
        return RedirectResponse(f"/lists/{quote(name)}", status_code=303)

    async def _bring_in(self, request: Request) -> Response:
        name = request.path_params["name"]
        path, form = self._workspace.file(name), await _form(request)
        account = await run_in_threadpool(self._workspace.account)
        region = form.get("region", "").strip() or None

        def send(listen: OnProgress) -> Any:
            brought = lead_import.bring_in(
                [path], _recipe(self._workspace, region), account,
                campaign_id=form.get("campaign", ""), out=_out(self._workspace),
                now=self._workspace.now, on_progress=listen,
            )  # fmt: skip
            _keep_opt_outs(self._workspace, brought.result)
            return brought.ledger.counts if brought.ledger is not None else {}

        self._workspace.jobs.start(f"import-{name}", f"Importing {name}", send)
        return RedirectResponse(f"/lists/{quote(name)}", status_code=303)

    async def _download(self, request: Request) -> Response:
        job: Job | None = self._workspace.jobs.newest(f"list-{request.path_params['name']}")
        file = request.path_params["file"]
        if job is None or job.state != DONE or file not in job.result.files:
            raise ConfigError("clean the list first")
        path = job.result.files[file]
        return FileResponse(path, filename=path.name)


def _preview(path: Path) -> tuple[list[str], list[list[str]]]:
    """Header and first rows of a list, in clear: it is the person's own."""
    file = leads.read(path)
    frame = file.frame
    header = [str(name) for name in (file.header or frame.columns)]
    rows = [
        [str(cell) if cell == cell and cell is not None else "" for cell in row]
        for row in islice(frame.itertuples(index=False, name=None), _PREVIEW)
    ]
    return header, rows


def _out(workspace: Workspace) -> Path:
    return make_folder(workspace.folder / _CLEANED)


def _clean(workspace: Workspace, path: Path, region: str | None, listen: OnProgress) -> Cleaned:
    result = lead_cleaning.clean(
        [path], _recipe(workspace, region), _out(workspace), on_progress=listen
    )
    _keep_opt_outs(workspace, result)
    cleaned = result.cleaned
    reasons = [
        (outcome, code, count)
        for outcome, codes in cleaned.reasons.items()
        for code, count in codes.items()
        if count
    ]
    return Cleaned(
        dict(cleaned.counts),
        cleaned.region,
        sorted(reasons, key=lambda each: -each[2]),
        dict(result.paths),
    )


def _recipe(workspace: Workspace, region: str | None) -> lead_cleaning.Recipe:
    recipe = lead_cleaning.Recipe(region or workspace.firm.lists.region)
    own = workspace.own_list
    return recipe if own is None else replace(recipe, lists={lead_cleaning.OWN_LIST: own.barred()})


def _keep_opt_outs(workspace: Workspace, result: lead_cleaning.Result) -> None:
    """Put what a flag column or a person said onto the firm's list, as one run that can be undone."""
    if workspace.own_list is not None and result.opted_out:
        now = workspace.now()
        entries = suppression_import.opt_outs_of(result, now.date())
        workspace.own_list.add(entries, now, run=run_id(now))


def _set_aside(cleaned: Cleaned | None) -> tuple[list[str], list[list[str]]]:
    """Header and first rows of what was set aside."""
    path = (
        None
        if cleaned is None
        else cleaned.files.get("set_aside") or cleaned.files.get("rejected")
    )
    if path is None or path.suffix != ".csv" or not path.exists():
        return [], []
    with path.open(encoding="utf-8-sig", newline="") as file:
        rows = csv.reader(file)
        return next(rows, []), list(islice(rows, _SET_ASIDE))


def _campaigns(account: Any) -> list[tuple[str, str]]:
    table = account.campaigns()
    takes = table[table["status"].isin(lead_import.IMPORTABLE)]
    return [
        (str(row.id), str(row.name_ if hasattr(row, "name_") else row.name))
        for row in takes.itertuples(index=False)
    ]


def _free(target: Path) -> Path:
    """A name that no file has: `autumn.csv`, then `autumn-2.csv`."""
    number = 1
    path = target
    while path.exists():
        number += 1
        path = target.with_name(f"{target.stem}-{number}{target.suffix}")
    return path


async def _form(request: Request) -> dict[str, str]:
    body = b""
    async for part in request.stream():
        body += part
        if len(body) > _FORM_BYTES:
            raise ConfigError("the form is too long")
    return {name: values[-1] for name, values in parse_qs(body.decode(errors="replace")).items()}

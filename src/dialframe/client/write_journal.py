"""The write journal: every write on disk before its first byte leaves, as records of the evidence log.

A write whose answer never came may have happened. Its idempotency key shows whether it did, sent again with
the same bytes within 24 hours; so both are on disk, synced, before anything is sent, and survive the
process. The bytes hold personal data: they lie in a file of their own under `open/`, which goes as soon as the
write is settled, and after 24 hours in any case. Answers are not kept: they may hold signing secrets. What a wish
not to be called (`dnc.add`) or a consent (`consents.record`) said stays, as evidence of who and when.

States: `pending` (sent or about to be, no answer that stays), `answered`, `outcome_unknown` (the
service itself does not know), `failed` (refused, or never sent: it did not happen).
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from datetime import UTC, datetime
from hashlib import sha256
from pathlib import Path
from typing import Any, Final

import platformdirs

from dialframe import files
from dialframe.client.request_building import (
    KEY_LIFE,
    PlannedRequest,
    State,
    Write,
    fields_of,
    refuse_reuse,
    write_of,
)
from dialframe.errors import ConfigError, StoreError
from dialframe.evidence import EvidenceLog, Kind, Record
from dialframe.privacy import E164

#: Folder of the bytes of open writes.
OPEN: Final = "open"
#: What somebody wished or permitted is evidence, and outlives the write that carried it.
_EVIDENCE: Final[dict[str, Kind]] = {"dnc.add": "dnc_add", "consents.record": "consent"}
_SETTLED: Final = ("answered", "failed")
_UNSETTLED: Final = ("pending", "outcome_unknown")


class Journal:
    """The writes of one account's key in a folder; any number of processes may share the folder."""

    def __init__(self, folder: Path | None, account: str) -> None:
        """Name the folder; nothing is made yet.

        Args:
            folder: Folder of an evidence log; None for one in the platform's state folder.
            account: Hash of service and credential id whose writes these are.
        """
        self._folder = folder
        self._account = account

    @property
    def log(self) -> EvidenceLog:
        """The evidence log that the writes stand in; a value of its own each time, so that forks share no lock."""
        return EvidenceLog.open(self._folder or default_folder())

    @property
    def file(self) -> Path:
        """Where the journal is."""
        return self.log.path

    def begin(self, request: PlannedRequest, now: datetime, *, late: bool = False) -> State | None:
        """Put a write down, synced to disk, before it is sent.

        Args:
            request: The write, with its key.
            now: The present.
            late: Whether it may reach people later than it was meant.

        Returns:
            What was known of the key before, or None for a new one, which is pending now.

        Raises:
            ConfigError: Its key stands for another request, or is too old to be asked with again.
            StoreError: The journal cannot be written; nothing may be sent then.
        """
        if request.key is None:
            raise ConfigError(
                f"{request.operation}: a write without an idempotency key has no entry"
            )
        log = self.log
        with log.writing():
            self._let_go(now - KEY_LIFE)
            earlier = self._find(log, request.key)
            created_at, state = now, "pending"
            if earlier is not None:
                refuse_reuse(earlier, request, now, late=late)
                if earlier.state != "failed" and earlier.request is not None:
                    return earlier.state
                # What failed did not happen; a key that the service never had, or forgot, begins anew.
                anew = earlier.state == "failed" and (
                    earlier.status is None or earlier.expired(now)
                )
                created_at = now if anew else earlier.created_at
                state = "pending" if earlier.state == "failed" else earlier.state
            # The bytes first: a write that is pending in the log can be asked with.
            self._keep(request, created_at)
            log.append(self._records(request, now, created_at, state, new=earlier is None))
            return None if earlier is None else earlier.state

    def _records(
        self,
        request: PlannedRequest,
        now: datetime,
        created_at: datetime,
        state: str,
        *,
        new: bool,
    ) -> Iterator[Record]:
        # Without the number: whom a write reached is in its bytes, which go with its outcome.
        detail = {"operation": request.operation, "state": state, "digest": request.digest,
                  "created_at": created_at.astimezone(UTC).isoformat()}  # fmt: skip
        yield Record(
            "write", now, source="client", who=self._account, run=request.key, detail=detail
        )
        if not new or request.operation not in _EVIDENCE:
            return
        # Of the request and not of its answer: a wish counts from when it was said.
        said = fields_of(request)
        phone = said.pop("phone", None)
        if isinstance(phone, str) and E164.fullmatch(phone):
            yield Record(
                _EVIDENCE[request.operation], created_at, phone, request.operation,
                who=self._account, run=request.key, detail=said,
            )  # fmt: skip

    def finish(
        self,
        key: str,
        state: State,
        *,
        status: int | None,
        code: str | None,
        request_id: str | None,
    ) -> None:
        """Write down what became of a write.

        Args:
            key: Its idempotency key.
            state: What is known now.
            status: HTTP status of the last answer, or None where none came.
            code: Code of the refusal, or None.
            request_id: `X-Request-ID` of the answer, or None.

        Raises:
            StoreError: The journal cannot be written.
        """
        log = self.log
        with log.writing():
            last = self._last(log, key)
            if last is None:
                return
            detail = {**last.detail, "state": state, "status": status, "code": code}
            log.append([
                Record("write", last.at, source="client", who=self._account, run=key,
                       request_id=request_id, detail=detail)
            ])  # fmt: skip
        # Nothing is left to be asked, so nobody needs the bytes.
        if state in _SETTLED:
            self._bytes_of(self._account, key).unlink(missing_ok=True)

    def forget(self, phone: str, now: datetime) -> int:
        """Erase the bytes of every write, of any account, that a number is in, and know the number by a hash alone.

        An open write among them can no longer be settled, only dismissed.

        Args:
            phone: E.164.
            now: The present.

        Returns:
            How many writes lost their bytes.

        Raises:
            StoreError: The journal cannot be written.
        """
        log = self.log
        if not log.exists:
            return 0
        # In a query the `+` is `%2B`.
        digits, erased = phone.lstrip("+"), 0
        with log.writing():
            for path in self._spool.glob("*.json"):
                if digits in path.read_text("utf-8", "replace"):
                    path.unlink(missing_ok=True)
                    erased += 1
            log.forget([phone], now)
        return erased

    def find(self, key: str) -> Write | None:
        """Look a write up.

        Args:
            key: Its idempotency key.

        Returns:
            The write, or None where this account has none of that key.

        Raises:
            StoreError: The journal cannot be read.
        """
        return self._find(self.log, key)

    def unsettled(self) -> list[Write]:
        """Writes of this account whose outcome is open.

        Returns:
            Those that are pending or unknown, oldest first.

        Raises:
            StoreError: The journal cannot be read.
        """
        records = self.log.newest_by_run("write", _UNSETTLED)
        writes = [self._write(record) for record in records if record.who == self._account]
        return sorted(writes, key=lambda write: (write.created_at, write.key))

    def problems(self) -> list[str]:
        """What is not as it was written, in words, as far as it shows at a glance; `store info --verify` reads everything."""
        problems = self.log.glance()
        if problems or not self._spool.exists():
            return problems
        return [
            f"{self._bytes_of(record.who or '', record.run or '')}: the bytes of the open write {record.run!r} are not "
            "what was written: look at its resource, then client.writes.dismiss takes it off the list"
            for record in self.log.newest_by_run("write", _UNSETTLED)
            if self._content(record) is None
        ]

    @property
    def begun(self) -> bool:
        """Whether anything was ever written."""
        return self.log.exists

    def _last(self, log: EvidenceLog, key: str) -> Record | None:
        records = log.records(["write"], run=key, newest_first=True)
        return next((record for record in records if record.who == self._account), None)

    def _find(self, log: EvidenceLog, key: str) -> Write | None:
        last = self._last(log, key)
        return None if last is None else self._write(last)

    def _write(self, record: Record) -> Write:
        row = {
            "key": record.run, "request_id": record.request_id, "query": None, "status": None, "code": None,
            "digest": "", "operation": "", "created_at": record.at.isoformat(), **record.detail,
        }  # fmt: skip
        return write_of(row | (self._content(record) or {}))

    def _content(self, record: Record) -> dict[str, Any] | None:
        """The bytes of a write; nothing where they were let go, None where they are not what was written."""
        path = self._bytes_of(record.who or "", record.run or "")
        try:
            text, _, check = path.read_text("utf-8").partition("\n")
            content: dict[str, Any] = json.loads(text)
            # Bytes that are not those of the write are never sent under its key.
            if check != _check(text) or content["digest"] != record.detail.get("digest"):
                return None
        except FileNotFoundError:
            return {}
        except (OSError, ValueError, KeyError, TypeError):
            return None
        body = content["body"]
        if body is not None:
            content["body"] = body.encode("utf-8", "surrogateescape")
        return {name: content[name] for name in ("method", "path", "query", "headers", "body")}

    # The bytes of open writes

    @property
    def _spool(self) -> Path:
        return self.log.folder / OPEN

    def _bytes_of(self, account: str, key: str) -> Path:
        # A key is free text, and no name of a file.
        return self._spool / f"{sha256(f'{account} {key}'.encode()).hexdigest()[:40]}.json"

    def _keep(self, request: PlannedRequest, created_at: datetime) -> None:
        content = {
            "created_at": created_at.astimezone(UTC).isoformat(), "digest": request.digest,
            "method": request.method, "path": request.path, "query": request.query,
            "headers": json.dumps(dict(request.headers)),
            "body": None if request.body is None else request.body.decode("utf-8", "surrogateescape"),
        }  # fmt: skip
        path = self._bytes_of(self._account, request.key or "")
        try:
            text = json.dumps(content)
            files.write_text(f"{text}\n{_check(text)}", path)
        except OSError as error:
            raise StoreError(
                f"the write journal {self.file} cannot be written ({error.strerror or error}), so nothing was sent: "
                "make room, make its folder writable, or pass journal=... another one"
            ) from None

    def _let_go(self, before: datetime) -> None:
        """Delete the bytes of writes whose key can no longer be asked with."""
        if not self._spool.exists():
            return
        for path in self._spool.glob("*.json"):
            try:
                made_at = datetime.fromisoformat(
                    json.loads(path.read_text("utf-8").partition("\n")[0])["created_at"]
                )
            except (OSError, ValueError, KeyError, TypeError):
                made_at = before  # nobody can send what cannot be read
            if made_at <= before:
                path.unlink(missing_ok=True)


def _check(text: str) -> str:
    return sha256(text.encode("utf-8", "surrogatepass")).hexdigest()


def default_folder() -> Path:
    """Where the platform keeps a program's state."""
    return platformdirs.user_state_path("dialframe") / "journal"

"""`client.calls`, `.campaigns`, `.reports`: calls and what was said in them, who makes them, and what came of them."""

from __future__ import annotations

import os
import tempfile
from collections.abc import Callable
from datetime import date
from functools import partial
from pathlib import Path
from typing import Any, Final, TypeVar

from dialframe.client.client_settings import Options
from dialframe.client.pagination import Listing
from dialframe.client.resources import Opened, Resource, ShellT, chunked, listed, operation, sent
from dialframe.client.send_operation import Body, Consume, Coro, Runner
from dialframe.config import OnProgress, Progress, silent
from dialframe.contract import limits
from dialframe.contract import operations as rows
from dialframe.contract.models.call_models import (
    Call,
    CallRef,
    CallSummary,
    Direction,
    StartedCall,
    Transcript,
)
from dialframe.contract.models.dnc_and_message_models import DispositionReport
from dialframe.contract.models.lead_models import Campaign, CampaignProgress, CampaignStatus
from dialframe.errors import ConfigError, StoreError
from dialframe.files import note_files
from dialframe.sqlite import is_full

T = TypeVar("T")

#: Contract, Endpoints: `recordings:read`, "streamed"; the shape of the answer is not shown.
_RECORDING: Final = rows.CALLS_RECORDING


class Calls(Resource[ShellT]):
    """Calls: read, listen, start. What a method raises is said at `Client`."""

    # Endpoints, Calls, GET: every call of the account, whoever's key asks; there is no filter by time.
    @listed(rows.CALLS_LIST)
    def list(
        self,
        *,
        campaign_id: str | None = None,
        direction: Direction | None = None,
        limit: int = limits.PAGE_MAX,
        cursor: str | None = None,
        options: Options | None = None,
    ) -> Listing[Call]:
        """List every call of the account, newest first.

        Args:
            campaign_id: Only calls of this campaign.
            direction: `inbound` or `outbound`.
        """

    @sent(rows.CALLS_GET)
    def get(self, call_id: str, *, options: Options | None = None) -> Call:
        """Read one call."""

    @operation
    async def recording(
        self,
        call_id: str,
        path: str | Path,
        *,
        on_progress: OnProgress | None = None,
        options: Options | None = None,
    ) -> Path:
        """Stream the recording of a call.

        The file appears under its name once it is whole, readable by its owner alone; a file
        that is there already is replaced.

        Args:
            call_id: `call_` and a UUID.
            path: The file to write; its folder exists.
            on_progress: Called after each chunk with the number of bytes so far.
            options: Options of this call.

        Returns:
            The file.

        Raises:
            StoreError: The file cannot be written, or the disk is full.
        """
        file = Path(path)
        # Before anything is sent: a recording of an hour would be fetched for nothing.
        if not file.parent.is_dir():
            raise ConfigError(f"path: the folder {file.parent} does not exist: make it first")
        if file.is_dir():
            raise ConfigError(f"path: {file} is a folder: name a file in it")

        async def consume(reply: Any, body: Body) -> Path:
            return await _save_body(self._runner, reply, body, file, on_progress or silent)

        return await self._stream_recording(call_id, options, consume)

    @chunked
    def recording_chunks(
        self, call_id: str, *, options: Options | None = None
    ) -> Callable[[], Coro[Opened]]:
        """Iterate over the bytes of a recording as they arrive; `async for` in an event loop.

        Args:
            call_id: `call_` and a UUID.
            options: Options of this call; a connection that breaks after the first bytes is an error.

        Returns:
            An iterator; the connection is let go at its end, or when it is closed.
        """

        async def consume(reply: Any, body: Body) -> Opened:
            return Opened(reply, body)

        return lambda: self._stream_recording(call_id, options, consume, keeps_open=True)

    async def _stream_recording(
        self,
        call_id: str,
        options: Options | None,
        consume: Consume[T],
        *,
        keeps_open: bool = False,
    ) -> T:
        return await self._sender.stream(
            _RECORDING, lambda: CallRef(call_id=call_id), options, consume, keeps_open=keeps_open
        )

    # Resources, last paragraph: its fields are "not shown", so that none of them is sure.
    @sent(rows.CALLS_TRANSCRIPT)
    def transcript(self, call_id: str, *, options: Options | None = None) -> Transcript:
        """Read what was said in a call."""

    # Resources, Call summary: 404 says that there is no such call, not that there is no summary.
    @sent(rows.CALLS_SUMMARY)
    def summary(self, call_id: str, *, options: Options | None = None) -> CallSummary:
        """Read the summary of a call.

        Returns:
            Its content is None unless `.status` is `ready`.
        """

    # Endpoints, Calls, rules 1 to 4: whatever refuses it does so before anybody is dialed.
    @sent(rows.CALLS_START)
    def start(
        self,
        *,
        to: str,
        agent_extension: str | None = None,
        agent_email: str | None = None,
        caller_id: str | None = None,
        campaign_id: str | None = None,
        lead_id: str | None = None,
        options: Options | None = None,
    ) -> StartedCall:
        """Connect one of the account's agents with a customer.

        A real call. Name the agent by exactly one of extension and e-mail.

        Args:
            to: The customer, E.164.
            agent_extension: The agent's extension.
            agent_email: The agent's e-mail, 3-254 characters.
            caller_id: One of the account's verified numbers, E.164.
            campaign_id: Campaign that the call counts for.
            lead_id: Lead that is called.
        """


class Campaigns(Resource[ShellT]):
    """Campaigns: read, pause, resume. What a method raises is said at `Client`."""

    # Resources, Campaign: archived ones are not listed.
    @listed(rows.CAMPAIGNS_LIST)
    def list(
        self,
        *,
        status: CampaignStatus | None = None,
        limit: int = limits.PAGE_MAX,
        cursor: str | None = None,
        options: Options | None = None,
    ) -> Listing[Campaign]:
        """List campaigns that are not archived.

        Args:
            status: Only campaigns in this state.
        """

    @sent(rows.CAMPAIGNS_GET)
    def get(self, campaign_id: str, *, options: Options | None = None) -> Campaign:
        """Read one campaign."""

    # Endpoints, last section: named without its shape; a count that does not come is None.
    @sent(rows.CAMPAIGNS_PROGRESS)
    def progress(self, campaign_id: str, *, options: Options | None = None) -> CampaignProgress:
        """Read how far a campaign is."""

    # States, Campaign: what is paused stays so (200); whatever does not run answers 409.
    @sent(rows.CAMPAIGNS_PAUSE)
    def pause(self, campaign_id: str, *, options: Options | None = None) -> Campaign:
        """Pause a running campaign.

        Args:
            campaign_id: `cmp_` and a UUID; one that is paused stays so.
        """

    # States, Campaign: tier 2, for real calls start; 409 where a national list is stale.
    @sent(rows.CAMPAIGNS_RESUME)
    def resume(self, campaign_id: str, *, options: Options | None = None) -> Campaign:
        """Resume a paused campaign: real calls start.

        Args:
            campaign_id: `cmp_` and a UUID; one that is running stays so.
        """


class Reports(Resource[ShellT]):
    """Aggregated reports. What a method raises is said at `Client`."""

    # Limits: a report covers 92 days at most, which its request checks.
    @sent(rows.REPORTS_DISPOSITIONS)
    def dispositions(
        self,
        start_date: date,
        end_date: date,
        campaign_id: str | None = None,
        *,
        options: Options | None = None,
    ) -> DispositionReport:
        """Read disposition counts of up to 92 days.

        Args:
            start_date: First UTC day.
            end_date: Last UTC day, included.
            campaign_id: Only this campaign.
        """


async def _save_body(
    runner: Runner, reply: Any, body: Body, file: Path, on_progress: OnProgress
) -> Path:
    """Write a body to a file that appears, readable by its owner alone, once it is whole."""
    part: Path | None = None
    try:
        # In the folder of the file, and 0600 from its first byte: a voice is personal data.
        descriptor, name = await runner.on_disk(
            partial(tempfile.mkstemp, dir=file.parent, prefix=f".{file.name}.", suffix=".part")
        )
        part = Path(name)
        done, total = 0, _length(reply)
        with os.fdopen(descriptor, "wb") as stream:
            while (chunk := await body.next()) is not None:
                await runner.on_disk(partial(stream.write, chunk))
                done += len(chunk)
                on_progress(Progress(_RECORDING.name, done, total))
        # In the same folder, so that the name changes at once: the whole file or none.
        part.replace(file)
        note_files([file])
    except OSError as error:
        advice = (
            "make room" if is_full(error) else "make its folder writable, or name another file"
        )
        reason = "the disk is full" if is_full(error) else error.strerror
        raise StoreError(
            f"{_RECORDING.name}: {file} cannot be written ({reason}): {advice}"
        ) from None
    finally:
        if part is not None:
            part.unlink(missing_ok=True)
    return file


def _length(reply: Any) -> int | None:
    # Of packed bytes the length says nothing about what comes out of them.
    length = reply.headers.get("content-length", "")
    return int(length) if length.isdigit() and "content-encoding" not in reply.headers else None

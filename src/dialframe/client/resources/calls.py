"""`client.calls`: call records, what was said in them, and click-to-call."""

from __future__ import annotations

from pathlib import Path

from dialframe.client.listing import Listing
from dialframe.client.options import Options
from dialframe.client.sender import Sender
from dialframe.config import OnProgress
from dialframe.contract import limits
from dialframe.contract import operations as rows
from dialframe.contract.models.calls import (
    Call,
    CallQuery,
    CallRef,
    CallStart,
    CallSummary,
    Direction,
    StartedCall,
    Transcript,
)


class Calls:
    """Calls: read, listen, start. What a method raises is said at `Client`."""

    def __init__(self, sender: Sender) -> None:
        self._sender = sender

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
            limit: Rows on a page, 1-100.
            cursor: Where to start, `next_cursor` of a page of the same filters.
            options: Options of each page's request.
        """
        return self._sender.listing(
            rows.CALLS_LIST,
            lambda: CallQuery(
                campaign_id=campaign_id, direction=direction, limit=limit, cursor=cursor
            ),
            options,
        )

    def get(self, call_id: str, *, options: Options | None = None) -> Call:
        """Read one call.

        Args:
            call_id: `call_` and a UUID.
            options: Options of this call.
        """
        return self._sender.ask(rows.CALLS_GET, lambda: CallRef(call_id=call_id), options)

    def recording(
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
            on_progress: Told after each chunk how many bytes there are.
            options: Options of this call.

        Returns:
            The file.
        """
        return self._sender.download(
            rows.CALLS_RECORDING,
            lambda: CallRef(call_id=call_id),
            path,
            options=options,
            on_progress=on_progress,
        )

    def transcript(self, call_id: str, *, options: Options | None = None) -> Transcript:
        """Read what was said in a call.

        Args:
            call_id: `call_` and a UUID.
            options: Options of this call.
        """
        return self._sender.ask(rows.CALLS_TRANSCRIPT, lambda: CallRef(call_id=call_id), options)

    def summary(self, call_id: str, *, options: Options | None = None) -> CallSummary:
        """Read the summary of a call.

        Args:
            call_id: `call_` and a UUID.
            options: Options of this call.

        Returns:
            Its content is None unless `.status` is `ready`.
        """
        return self._sender.ask(rows.CALLS_SUMMARY, lambda: CallRef(call_id=call_id), options)

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
            options: Options of this call.
        """
        return self._sender.ask(
            rows.CALLS_START,
            lambda: CallStart(
                to=to,
                agent_extension=agent_extension,
                agent_email=agent_email,
                caller_id=caller_id,
                campaign_id=campaign_id,
                lead_id=lead_id,
            ),
            options,
        )

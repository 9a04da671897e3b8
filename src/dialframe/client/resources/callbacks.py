"""`client.callbacks`: calls promised to leads."""

from __future__ import annotations

from datetime import datetime

from dialframe.client.listing import Listing
from dialframe.client.options import Options
from dialframe.client.sender import Sender
from dialframe.contract import limits
from dialframe.contract import operations as rows
from dialframe.contract.models.callbacks import (
    Callback,
    CallbackCreate,
    CallbackQuery,
    CallbackRef,
    CallbackReschedule,
    CallbackStatus,
)


class Callbacks:
    """Callbacks: read, schedule, move, cancel. What a method raises is said at `Client`."""

    def __init__(self, sender: Sender) -> None:
        self._sender = sender

    def list(
        self,
        campaign_id: str,
        *,
        status: CallbackStatus | None = None,
        limit: int = limits.PAGE_MAX,
        cursor: str | None = None,
        options: Options | None = None,
    ) -> Listing[Callback]:
        """List one campaign's callbacks, newest created first.

        Args:
            campaign_id: `cmp_` and a UUID.
            status: Only callbacks in this state.
            limit: Rows on a page, 1-100.
            cursor: Where to start, `next_cursor` of a page of the same filters.
            options: Options of each page's request.
        """
        return self._sender.listing(
            rows.CALLBACKS_LIST,
            lambda: CallbackQuery(
                campaign_id=campaign_id, status=status, limit=limit, cursor=cursor
            ),
            options,
        )

    def create(
        self,
        *,
        lead_id: str,
        scheduled_at: datetime,
        notes: str | None = None,
        options: Options | None = None,
    ) -> Callback:
        """Schedule a callback; when due, the platform calls the lead.

        Args:
            lead_id: `lead_` and a UUID.
            scheduled_at: When, with a time zone.
            notes: At most 500 characters.
            options: Options of this call.
        """
        return self._sender.ask(
            rows.CALLBACKS_CREATE,
            lambda: CallbackCreate(lead_id=lead_id, scheduled_at=scheduled_at, notes=notes),
            options,
        )

    def cancel(self, callback_id: str, *, options: Options | None = None) -> Callback:
        """Cancel a pending callback.

        Args:
            callback_id: `cb_` and a UUID; one that is cancelled stays so.
            options: Options of this call.
        """
        return self._sender.ask(
            rows.CALLBACKS_CANCEL, lambda: CallbackRef(callback_id=callback_id), options
        )

    def reschedule(
        self, callback_id: str, *, scheduled_at: datetime, options: Options | None = None
    ) -> Callback:
        """Move a pending callback.

        Args:
            callback_id: `cb_` and a UUID.
            scheduled_at: When, with a time zone.
            options: Options of this call.
        """
        return self._sender.ask(
            rows.CALLBACKS_RESCHEDULE,
            lambda: CallbackReschedule(callback_id=callback_id, scheduled_at=scheduled_at),
            options,
        )

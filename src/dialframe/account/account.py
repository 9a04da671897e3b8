"""A live account: a client and a store behind one face; knows who does what, and does little itself."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from datetime import datetime, timedelta
from typing import TYPE_CHECKING, Any

from dialframe.account import dnc
from dialframe.account.freshness import covered, facts, freshness
from dialframe.account.greeting import greet
from dialframe.account.instants import When, age, instant, midnight
from dialframe.account.report import SyncReport
from dialframe.account.sync import Plan, sync
from dialframe.config import OnProgress, silent
from dialframe.frames.columns import (
    APPOINTMENTS,
    CALLBACKS,
    CALLS,
    CAMPAIGNS,
    DISPOSITIONS,
    DNC_CHECKS,
    EVENTS,
    LEADS,
    SMS_REPORTS,
    WEBHOOKS,
    Table,
)
from dialframe.store import Store

if TYPE_CHECKING:
    import pandas as pd

    from dialframe.client import Client

_TIME_COLUMNS = {DISPOSITIONS.name: "date", DNC_CHECKS.name: "checked_at"}


class Account:
    """An account's data on this disk, and the service that it comes from.

    Attributes:
        client: The service.
        store: The tables on disk.
    """

    def __init__(self, client: Client, store: Store, *, now: Callable[[], datetime]) -> None:
        self.client = client
        self.store = store
        self._now = now
        self._greeted = False

    def sync(
        self,
        tables: Iterable[str] | None = None,
        *,
        reconcile_after: timedelta | str | None = None,
        on_progress: OnProgress | None = None,
    ) -> SyncReport:
        """Bring the stored tables up to date.

        The first sync reads everything. A later one reads what is new, and again what is as young as
        rows were seen to change, at least 48 hours. Small lists are read whole each time; the others
        when 24 hours have passed (reports 7 days), and sooner while each whole reading finds changes
        in old rows. A sync that was killed goes on where it was.

        Args:
            tables: Names of tables; None for all but the Do-Not-Call checks, which are never listed.
            reconcile_after: Age of the last whole reading at which a list is read whole again, such as
                `12h`; `0s` reads everything now. None for each table's own.
            on_progress: Told, in this thread, how each table comes on, as `ListProgress`.

        Returns:
            What was done, per table. A table that could not be finished says why in `note`.

        Raises:
            ConfigError: There is no such table.
            AuthenticationError: The key is not accepted.
            StoreError: The store cannot be written.
            TransportError: The service does not answer.
            DialframeError: Nothing could be read at all.
        """
        after = None if reconcile_after is None else age("reconcile_after", reconcile_after)
        plan = Plan(self.store, self._now(), self._now, after)
        with self.client.lane("bulk"):
            return sync(self.client, plan, tables, on_progress, self._greet)

    def calls(
        self,
        *,
        since: When | None = None,
        until: When | None = None,
        campaign: str | None = None,
        as_of: When | None = None,
    ) -> pd.DataFrame:
        """Stored calls, oldest first.

        Args:
            since: First creation wanted: an instant with a zone, or a day (its midnight UTC).
            until: First creation not wanted any more.
            campaign: Only calls of this campaign id.
            as_of: Calls as last observed by this instant; None for the latest.

        Returns:
            Columns of `frames.CALLS`, `_observed_at` and `_request_id`; `.attrs["dialframe"]` says how
            fresh it is.

        Raises:
            ConfigError: An instant has no zone.
            StoreError: The store cannot be read.
        """
        return self._frame(CALLS, since, until, campaign, as_of)

    def leads(
        self,
        *,
        since: When | None = None,
        until: When | None = None,
        campaign: str | None = None,
        as_of: When | None = None,
    ) -> pd.DataFrame:
        """Stored leads, oldest first; arguments and result as for `calls`."""
        return self._frame(LEADS, since, until, campaign, as_of)

    def campaigns(
        self,
        *,
        since: When | None = None,
        until: When | None = None,
        campaign: str | None = None,
        as_of: When | None = None,
    ) -> pd.DataFrame:
        """Stored campaigns, oldest first; arguments and result as for `calls`."""
        return self._frame(CAMPAIGNS, since, until, campaign, as_of)

    def callbacks(
        self,
        *,
        since: When | None = None,
        until: When | None = None,
        campaign: str | None = None,
        as_of: When | None = None,
    ) -> pd.DataFrame:
        """Stored callbacks, oldest first; arguments and result as for `calls`."""
        return self._frame(CALLBACKS, since, until, campaign, as_of)

    def appointments(
        self,
        *,
        since: When | None = None,
        until: When | None = None,
        as_of: When | None = None,
    ) -> pd.DataFrame:
        """Stored appointments, oldest first; they name no campaign. Else as for `calls`."""
        return self._frame(APPOINTMENTS, since, until, None, as_of)

    def dispositions(
        self,
        *,
        since: When | None = None,
        until: When | None = None,
        campaign: str | None = None,
        as_of: When | None = None,
    ) -> pd.DataFrame:
        """The service's own counts per UTC day, campaign and disposition; else as for `calls`.

        The report's shape is assumed: the contract does not show it.
        """
        return self._frame(DISPOSITIONS, since, until, campaign, as_of)

    def disposition_differences(
        self,
        *,
        since: When | None = None,
        until: When | None = None,
        campaign: str | None = None,
    ) -> pd.DataFrame:
        """The service's own counts against those of the stored calls, and why they differ.

        Arguments as for `calls`; `since` and `until` are taken as days.

        Returns:
            Columns `date, campaign_id, disposition, reported, counted, difference, reason`; the reasons
            are those of `dialframe.account.differences.REASONS`.
        """
        from dialframe.account.differences import of_store

        days = (midnight("since", since), midnight("until", until))
        return of_store(self.store, days, campaign)

    def dnc_checks(
        self,
        *,
        since: When | None = None,
        until: When | None = None,
        as_of: When | None = None,
    ) -> pd.DataFrame:
        """Every Do-Not-Call check ever made here, oldest first; `since` and `until` are of `checked_at`."""
        return self._frame(DNC_CHECKS, since, until, None, as_of)

    def sms_reports(
        self,
        *,
        since: When | None = None,
        until: When | None = None,
        as_of: When | None = None,
    ) -> pd.DataFrame:
        """What became of text messages, oldest first; the shape is assumed. Else as for `calls`."""
        return self._frame(SMS_REPORTS, since, until, None, as_of)

    def webhooks(
        self,
        *,
        since: When | None = None,
        until: When | None = None,
        as_of: When | None = None,
    ) -> pd.DataFrame:
        """Webhook endpoints, oldest first; they name no campaign. Else as for `calls`."""
        return self._frame(WEBHOOKS, since, until, None, as_of)

    def events(
        self,
        *,
        since: When | None = None,
        until: When | None = None,
        type: str | None = None,  # noqa: A002 - the contract's field name
        as_of: When | None = None,
    ) -> pd.DataFrame:
        """Webhook events that a receiver kept here, by `created_at`; each once, however often delivered.

        `type` picks one type, such as `call.completed`; else as for `calls`. No sync fetches events.
        """
        return self._frame(EVENTS, since, until, None, as_of, kind=type)

    def check_dnc(
        self,
        phones: Iterable[str],
        *,
        max_age: timedelta | str | None = None,
        on_progress: OnProgress | None = None,
    ) -> pd.DataFrame:
        """Whether numbers are on a Do-Not-Call list, with the evidence kept.

        Each answer is stored with its time and request id before the next is asked for.

        Args:
            phones: Numbers, E.164.
            max_age: Age up to which a stored answer will do, such as `31d`; None asks about all.
            on_progress: Told how many different numbers have an answer.

        Returns:
            One row per number, in order: `phone, listed, checked_at, request_id, reason`. A text that
            is no E.164 number has no answer, and says so in `reason`: it is unknown, not unlisted.

        Raises:
            DialframeError: The service or the store failed; answers that came before it are kept.
        """
        oldest = None if max_age is None else age("max_age", max_age)
        with self.client.lane("bulk"):
            return dnc.check(
                phones,
                source=self.client,
                store=self.store,
                now=self._now(),
                max_age=oldest,
                on_progress=on_progress or silent,
            )

    def info(self) -> dict[str, Any]:
        """What is stored and how fresh it is, as JSON values: no content, no key."""
        return facts(self.store)

    def forget(self, phone: str) -> int:
        """Erase a number from every table and version, so that a later sync does not bring it back.

        Args:
            phone: E.164.

        Returns:
            How many versions were erased, or had the number replaced in their text.

        Raises:
            ConfigError: It is no E.164 number.
            StoreError: Another process is reading the store.
        """
        return self.store.forget(phone, at=self._now())

    def close(self) -> None:
        """Close the store and the client's connections."""
        self.store.close()
        self.client.close()

    def __enter__(self) -> Account:
        return self

    def __exit__(self, *failure: object) -> None:
        self.close()

    def __repr__(self) -> str:
        owner = self.store.owner
        whose = "" if owner is None else f"{owner.environment} data of {owner.base_url} in "
        return f"<Account: {whose}{self.store.folder}>"

    def _frame(
        self,
        table: Table,
        since: When | None,
        until: When | None,
        campaign: str | None,
        as_of: When | None,
        *,
        kind: str | None = None,
    ) -> pd.DataFrame:
        moment = instant("as_of", as_of)
        cover = covered(table, self.store)
        frame = self.store.frame(
            table,
            as_of=moment,
            since=instant("since", since),
            until=instant("until", until),
            campaign=campaign,
        )
        if kind is not None:
            frame = frame[frame["type"] == kind].reset_index(drop=True)
        time_column = _TIME_COLUMNS.get(table.name, "created_at")
        frame.attrs["dialframe"] = freshness(table, frame, cover, time_column, moment)
        return frame

    def _greet(self) -> None:
        if not self._greeted:
            greet(self.client, self.store)
            self._greeted = True

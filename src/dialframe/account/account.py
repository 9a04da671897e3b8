"""A live account: a client and a store behind one face."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import replace
from datetime import datetime, timedelta
from typing import TYPE_CHECKING, Any, Final

from dialframe.account.campaign_names import campaign_id
from dialframe.account.dispositions_and_dnc import MAX_AGE, check_numbers, checks_of, of_store
from dialframe.account.freshness import Cover, check_fresh, covered, facts, freshness, looked_at
from dialframe.account.sync import sync
from dialframe.account.sync_progress import listening
from dialframe.account.sync_report import SyncReport
from dialframe.config import OnProgress, silent
from dialframe.errors import ApiError, AuthenticationError, ConfigError, ContractError
from dialframe.evidence import EvidenceLog, Record
from dialframe.frames.frame_schemas import (
    APPOINTMENTS,
    CALLBACKS,
    CALLS,
    CAMPAIGNS,
    DISPOSITIONS,
    DNC_CHECKS,
    EVENTS,
    LAST_LOOKED_AT,
    LEADS,
    SMS_REPORTS,
    WEBHOOKS,
    Table,
)
from dialframe.instants import When, age, instant, midnight, window
from dialframe.store import Store

if TYPE_CHECKING:
    import pandas as pd
    import pyarrow as pa

    from dialframe.analytics import Taxonomy
    from dialframe.client import Client

#: Seconds that the first question may take, and how often it is asked: a silent service is given up soon.
GREETING_S: Final = 10.0
GREETINGS: Final = 3

#: What `since` and `until` speak of; of every other table it is `created_at`.
_TIME_COLUMNS = {DISPOSITIONS.name: "date", DNC_CHECKS.name: "checked_at"}


class Account:
    """An account's data on this disk, and the service that it comes from.

    Attributes:
        client: The service.
        store: The tables on disk.
        evidence: The evidence log beside the stores: what was checked, asked for and permitted.
    """

    def __init__(
        self,
        client: Client,
        store: Store,
        *,
        now: Callable[[], datetime],
        pages_per_day: int | None = None,
    ) -> None:
        self.client = client
        self.store = store
        self.evidence = EvidenceLog.beside(store.folder.parent)
        client.keep_evidence(self._keep)
        self._now = now
        self._pages_per_day = pages_per_day
        self._greeted = False
        self._attempts: tuple[tuple[object, ...], pd.DataFrame] | None = None

    def sync(
        self,
        tables: Iterable[str] | None = None,
        *,
        whole: bool = False,
        pages_per_day: int | None = None,
        on_progress: OnProgress | None = None,
    ) -> SyncReport:
        """Bring the stored tables up to date.

        The first sync reads everything. A later one reads what is new, the last 48 hours again, and older rows
        as far as the pages of the day go, so that in a week every row is looked at; `last_looked_at` of each
        row says when. Small lists are read whole each time. A sync that was killed goes on where it was.

        Args:
            tables: Names of tables; None for all but the Do-Not-Call checks, which are never listed.
            whole: Read every list to its end now.
            pages_per_day: Pages of older rows, a hundred each, that are read again each day, over all tables; None
                for as many that every row is looked at once a week, and at most a tenth of the key's rate.
            on_progress: Called in this thread with how each table comes on, as `ListProgress`; without one a
                notebook shows a bar.

        Returns:
            What was done, per table. A table that could not be finished says why in `note`.

        Raises:
            ConfigError: There is no such table.
            AuthenticationError: The key is not accepted.
            StoreError: The store cannot be written.
            TransportError: The service does not answer.
            DialframeError: Nothing could be read at all.
        """
        from dialframe.client import bulk

        if pages_per_day is not None and pages_per_day < 0:
            raise ConfigError("pages_per_day must not be negative")
        pages = self._pages_per_day if pages_per_day is None else pages_per_day
        # Contract, Limits: one bucket for the key, in which a person's single call goes first.
        with bulk(), listening(on_progress) as listener:
            return sync(
                self.client, self.store, tables, whole=whole, pages_per_day=pages, now=self._now,
                greet=self._greet, on_progress=listener,
            )  # fmt: skip

    def calls(
        self,
        *,
        since: When | None = None,
        until: When | None = None,
        campaign: str | None = None,
        as_of: When | None = None,
        fresh: timedelta | str | None = None,
    ) -> pd.DataFrame:
        """Stored calls, oldest first.

        Args:
            since: First `created_at` wanted: an instant with a zone, or a day (its midnight UTC).
            until: First `created_at` not wanted any more.
            campaign: Only rows of this campaign, by id or name.
            as_of: Rows as last observed by this instant; None for the latest.
            fresh: Refuse rows that were last read longer ago than this, such as `24h`.

        Returns:
            Columns of `frames.CALLS`, `_observed_at`, `_request_id` and `last_looked_at`;
            `.attrs["dialframe"]` says how fresh it is.

        Raises:
            ConfigError: An instant has no zone, or there is no such campaign.
            StoreError: The store cannot be read, or rows are older than `fresh`.
        """
        return self._frame(CALLS, since, until, campaign, as_of, fresh=fresh)

    def attempts(
        self,
        *,
        since: When | None = None,
        until: When | None = None,
        campaign: str | None = None,
        as_of: When | None = None,
        fresh: timedelta | str | None = None,
        source: str = "lead_source",
        taxonomy: Taxonomy | None = None,
    ) -> pd.DataFrame:
        """Counted outbound attempts, one row each, with everything that analyses look at.

        Every analysis takes this frame in the place of the calls. It is made once for each state of
        the store; attempts are numbered over the whole history, whatever the window.

        Args:
            since: First creation wanted: an instant with a zone, or a day (its midnight UTC).
            until: First creation not wanted any more.
            campaign: Only attempts of this campaign, by id or name.
            as_of: What was known by this instant; None for the latest.
            fresh: Refuse calls and leads that were last read longer ago than this, such as `24h`.
            source: Column or custom field of the leads that says where they came from.
            taxonomy: What the codes mean; `analytics.DEFAULT` without.

        Returns:
            The columns of `analytics.attempts_frame`; `.attrs["dialframe"]` says how fresh it is.

        Raises:
            ConfigError: The campaign is unknown, or an instant has no zone.
            StoreError: The store cannot be read.
        """
        from dialframe.analytics import DEFAULT, attempts_frame

        meaning = DEFAULT if taxonomy is None else taxonomy
        moment = instant("as_of", as_of)
        if fresh is not None:
            for frame in (self.calls(as_of=moment), self.leads(as_of=moment)):
                check_fresh(frame, fresh, self._now())
        # Made once for each state of the store: matching calls and leads takes seconds.
        wanted = (self.store.written(), str(moment), source, meaning.version)
        if self._attempts is None or self._attempts[0] != wanted:
            # Over the whole history: an attempt's number counts all that came before the window.
            calls = self.calls(as_of=moment)
            attempts_made = attempts_frame(
                calls, self.leads(as_of=moment), campaigns=self.campaigns(as_of=moment),
                as_of=moment, source=source, taxonomy=meaning,
            )  # fmt: skip
            attempts_made.attrs |= {"dialframe": calls.attrs["dialframe"]}
            self._attempts = (wanted, attempts_made)
        frame = self._attempts[1]
        begin, end = window(since, until)
        keep = frame["created_at"].notna()  # a call without a time is in no window
        if begin is not None:
            keep &= frame["created_at"] >= begin
        if end is not None:
            keep &= frame["created_at"] < end
        if campaign is not None:
            # Resources, Call record: `campaign_id` is null outside any campaign.
            keep &= (frame["campaign_id"] == self.campaign_id(campaign)).fillna(value=False)
        return frame[keep].reset_index(drop=True)

    def query(
        self, sql: str, parameters: Mapping[str, Any] | None = None, *, as_of: When | None = None
    ) -> pa.Table:
        """The answer of DuckDB to a SELECT over the tables, with `attempts` as one of them.

        Args:
            sql: The statement; tables have their names (`calls`, `leads`, `attempts`), values are
                `$name`.
            parameters: The values by name.
            as_of: Tables as last observed by this instant.

        Returns:
            An Arrow table; `.to_pandas()` makes a frame of it.

        Raises:
            StoreError: The statement is wrong, or a file is damaged.
        """
        import pyarrow as pa

        moment = instant("as_of", as_of)
        # Only where it is asked for: making the attempts takes longer than most questions.
        views = {}
        # Named in a comment it costs some time, and changes nothing.
        if "attempts" in sql.casefold():
            frame = self.attempts(as_of=moment)
            views["attempts"] = pa.Table.from_pandas(frame, preserve_index=False)
        return self.store.query(sql, parameters, as_of=moment, views=views)

    def leads(
        self,
        *,
        since: When | None = None,
        until: When | None = None,
        campaign: str | None = None,
        as_of: When | None = None,
        fresh: timedelta | str | None = None,
    ) -> pd.DataFrame:
        """Stored leads, oldest first.

        Args:
            since: First `created_at` wanted: an instant with a zone, or a day (its midnight UTC).
            until: First `created_at` not wanted any more.
            campaign: Only rows of this campaign, by id or name.
            as_of: Rows as last observed by this instant; None for the latest.
            fresh: Refuse rows that were last read longer ago than this, such as `24h`.

        Returns:
            Columns of `frames.LEADS`, `_observed_at`, `_request_id` and `last_looked_at`;
            `.attrs["dialframe"]` says how fresh it is.

        Raises:
            ConfigError: An instant has no zone, or there is no such campaign.
            StoreError: The store cannot be read, or rows are older than `fresh`.
        """
        return self._frame(LEADS, since, until, campaign, as_of, fresh=fresh)

    def campaigns(
        self,
        *,
        since: When | None = None,
        until: When | None = None,
        campaign: str | None = None,
        as_of: When | None = None,
        fresh: timedelta | str | None = None,
    ) -> pd.DataFrame:
        """Stored campaigns, oldest first.

        Args:
            since: First `created_at` wanted: an instant with a zone, or a day (its midnight UTC).
            until: First `created_at` not wanted any more.
            campaign: Only rows of this campaign, by id or name.
            as_of: Rows as last observed by this instant; None for the latest.
            fresh: Refuse rows that were last read longer ago than this, such as `24h`.

        Returns:
            Columns of `frames.CAMPAIGNS`, `_observed_at`, `_request_id` and `last_looked_at`;
            `.attrs["dialframe"]` says how fresh it is.

        Raises:
            ConfigError: An instant has no zone, or there is no such campaign.
            StoreError: The store cannot be read, or rows are older than `fresh`.
        """
        return self._frame(CAMPAIGNS, since, until, campaign, as_of, fresh=fresh)

    def callbacks(
        self,
        *,
        since: When | None = None,
        until: When | None = None,
        campaign: str | None = None,
        as_of: When | None = None,
        fresh: timedelta | str | None = None,
    ) -> pd.DataFrame:
        """Stored callbacks, oldest first.

        Args:
            since: First `created_at` wanted: an instant with a zone, or a day (its midnight UTC).
            until: First `created_at` not wanted any more.
            campaign: Only rows of this campaign, by id or name.
            as_of: Rows as last observed by this instant; None for the latest.
            fresh: Refuse rows that were last read longer ago than this, such as `24h`.

        Returns:
            Columns of `frames.CALLBACKS`, `_observed_at`, `_request_id` and `last_looked_at`;
            `.attrs["dialframe"]` says how fresh it is.

        Raises:
            ConfigError: An instant has no zone, or there is no such campaign.
            StoreError: The store cannot be read, or rows are older than `fresh`.
        """
        return self._frame(CALLBACKS, since, until, campaign, as_of, fresh=fresh)

    def appointments(
        self,
        *,
        since: When | None = None,
        until: When | None = None,
        as_of: When | None = None,
        fresh: timedelta | str | None = None,
    ) -> pd.DataFrame:
        """Stored appointments, oldest first; they name no campaign.

        Args:
            since: First `created_at` wanted: an instant with a zone, or a day (its midnight UTC).
            until: First `created_at` not wanted any more.
            as_of: Rows as last observed by this instant; None for the latest.
            fresh: Refuse rows that were last read longer ago than this, such as `24h`.

        Returns:
            Columns of `frames.APPOINTMENTS`, `_observed_at`, `_request_id` and `last_looked_at`;
            `.attrs["dialframe"]` says how fresh it is.

        Raises:
            ConfigError: An instant has no zone.
            StoreError: The store cannot be read, or rows are older than `fresh`.
        """
        return self._frame(APPOINTMENTS, since, until, None, as_of, fresh=fresh)

    def dispositions(
        self,
        *,
        since: When | None = None,
        until: When | None = None,
        campaign: str | None = None,
        as_of: When | None = None,
        fresh: timedelta | str | None = None,
    ) -> pd.DataFrame:
        """The service's own counts per UTC day, campaign and disposition.

        The report's shape is assumed: the contract does not show it.

        Args:
            since: First `date` wanted: an instant with a zone, or a day (its midnight UTC).
            until: First `date` not wanted any more.
            campaign: Only rows of this campaign, by id or name.
            as_of: Rows as last observed by this instant; None for the latest.
            fresh: Refuse rows that were last read longer ago than this, such as `24h`.

        Returns:
            Columns of `frames.DISPOSITIONS`, `_observed_at`, `_request_id` and `last_looked_at`;
            `.attrs["dialframe"]` says how fresh it is.

        Raises:
            ConfigError: An instant has no zone, or there is no such campaign.
            StoreError: The store cannot be read, or rows are older than `fresh`.
        """
        return self._frame(DISPOSITIONS, since, until, campaign, as_of, fresh=fresh)

    def disposition_differences(
        self,
        *,
        since: When | None = None,
        until: When | None = None,
        campaign: str | None = None,
    ) -> pd.DataFrame:
        """The service's own counts against those of the stored calls, and why they differ.

        Args:
            since: First day wanted (UTC).
            until: First day not wanted any more (UTC).
            campaign: Only counts of this campaign, by id or name.

        Returns:
            Columns `date, campaign_id, disposition, reported, counted, difference, reason`; the reasons
            are those of `dialframe.account.dispositions_and_dnc.REASONS`.

        Raises:
            ConfigError: An instant has no zone.
            StoreError: The store cannot be read.
        """
        days = (midnight("since", since), midnight("until", until))
        named = None if campaign is None else self.campaign_id(campaign)
        return of_store(self.store, days, named)

    def dnc_checks(
        self,
        *,
        since: When | None = None,
        until: When | None = None,
        as_of: When | None = None,
    ) -> pd.DataFrame:
        """Every Do-Not-Call check that was made from this store, oldest first.

        Args:
            since: First `checked_at` wanted: an instant with a zone, or a day (its midnight UTC).
            until: First `checked_at` not wanted any more.
            as_of: Rows as last observed by this instant; None for the latest.

        Returns:
            Columns of `frames.DNC_CHECKS`, `_observed_at`, `_request_id` and `last_looked_at`;
            `.attrs["dialframe"]` says how fresh it is.

        Raises:
            ConfigError: An instant has no zone.
            StoreError: The log cannot be read.
        """
        moment = instant("as_of", as_of)
        begin, end = window(since, until)
        if moment is not None:
            # What was known then: an answer of that very instant is.
            after = moment + timedelta(microseconds=1)
            end = after if end is None else min(end, after)
        frame = checks_of(self.evidence, self.store.folder.name, begin, end)
        return self._fresh(frame, DNC_CHECKS, covered(DNC_CHECKS, self.store), moment)

    def sms_reports(
        self,
        *,
        since: When | None = None,
        until: When | None = None,
        as_of: When | None = None,
        fresh: timedelta | str | None = None,
    ) -> pd.DataFrame:
        """What became of text messages, oldest first.

        The shape is assumed: the contract does not show it.

        Args:
            since: First `created_at` wanted: an instant with a zone, or a day (its midnight UTC).
            until: First `created_at` not wanted any more.
            as_of: Rows as last observed by this instant; None for the latest.
            fresh: Refuse rows that were last read longer ago than this, such as `24h`.

        Returns:
            Columns of `frames.SMS_REPORTS`, `_observed_at`, `_request_id` and `last_looked_at`;
            `.attrs["dialframe"]` says how fresh it is.

        Raises:
            ConfigError: An instant has no zone.
            StoreError: The store cannot be read, or rows are older than `fresh`.
        """
        return self._frame(SMS_REPORTS, since, until, None, as_of, fresh=fresh)

    def webhooks(
        self,
        *,
        since: When | None = None,
        until: When | None = None,
        as_of: When | None = None,
        fresh: timedelta | str | None = None,
    ) -> pd.DataFrame:
        """Webhook endpoints, oldest first; they name no campaign.

        Args:
            since: First `created_at` wanted: an instant with a zone, or a day (its midnight UTC).
            until: First `created_at` not wanted any more.
            as_of: Rows as last observed by this instant; None for the latest.
            fresh: Refuse rows that were last read longer ago than this, such as `24h`.

        Returns:
            Columns of `frames.WEBHOOKS`, `_observed_at`, `_request_id` and `last_looked_at`;
            `.attrs["dialframe"]` says how fresh it is.

        Raises:
            ConfigError: An instant has no zone.
            StoreError: The store cannot be read, or rows are older than `fresh`.
        """
        return self._frame(WEBHOOKS, since, until, None, as_of, fresh=fresh)

    def events(
        self,
        *,
        since: When | None = None,
        until: When | None = None,
        type: str | None = None,  # noqa: A002 - the contract's field name
        as_of: When | None = None,
    ) -> pd.DataFrame:
        """Webhook events, oldest first; each once, however often delivered.

        Stored by a receiver as they come, and by a sync while the service lists them.

        Args:
            since: First `created_at` wanted: an instant with a zone, or a day (its midnight UTC).
            until: First `created_at` not wanted any more.
            type: Only events of this type, such as `call.completed`.
            as_of: Rows as last observed by this instant; None for the latest.

        Returns:
            Columns of `frames.EVENTS`, `_observed_at`, `_request_id` and `last_looked_at`;
            `.attrs["dialframe"]` says how fresh it is.

        Raises:
            ConfigError: An instant has no zone.
            StoreError: The store cannot be read.
        """
        return self._frame(EVENTS, since, until, None, as_of, kind=type)

    def campaign_id(self, campaign: str) -> str:
        """The id of a campaign that is given by its id or its name.

        The stored campaigns are asked; where none were synced yet, the service.

        Args:
            campaign: An id, or a name in any case.

        Returns:
            The id.

        Raises:
            ConfigError: No campaign has this name or id, with the nearest names; or several have the name.
        """
        return campaign_id(campaign, self.store, self.client)

    def check_dnc(
        self,
        phones: Iterable[str],
        *,
        max_age: timedelta | str | None = MAX_AGE,
        on_progress: OnProgress | None = None,
    ) -> pd.DataFrame:
        """What the service says: whether numbers are on a Do-Not-Call list, with the evidence kept.

        Each answer is kept with its time and request id before the next is asked for. Whether a number may be
        called is another question, which `dialframe.may_call` answers.

        Args:
            phones: Numbers, E.164.
            max_age: Age up to which an earlier answer will do, the same at every door; `0s` or None asks about all.
                A number of which something else was learned since is always asked about.
            on_progress: Called with the count of different numbers that have an answer.

        Returns:
            One row per number, in order: `phone, listed, checked_at, request_id, reason, source`. A text that
            is no E.164 number has no answer, and says so in `reason`: it is unknown, not unlisted.

        Raises:
            DialframeError: The service or the store failed; answers that came before it are kept.
        """
        oldest = None if max_age is None else age("max_age", max_age)
        from dialframe.client import bulk

        # As in `sync`: ten thousand numbers are a hundred requests.
        with bulk():
            return check_numbers(
                phones, client=self.client, evidence=self.evidence, account=self.store.folder.name,
                now=self._now(), max_age=oldest, on_progress=on_progress or silent,
            )  # fmt: skip

    def _keep(self, records: Iterable[Record]) -> None:
        """Write down what the service said, as said of this account's lists."""
        self.evidence.append(replace(record, list=self.store.folder.name) for record in records)

    def info(self) -> dict[str, Any]:
        """What is stored and how fresh it is, without any content or key.

        Returns:
            Values that JSON can hold.
        """
        # The journal is no table of the store, and what it lacks is missing all the same.
        known = facts(self.store)
        return {**known, "missing": [*known["missing"], *self.journal_problems()]}

    def journal_problems(self) -> list[str]:
        """What is wrong with the write journal, which keeps wishes and consents that went to the service.

        Returns:
            One sentence each, with what next; empty where it is whole. Frames have them in
            `.attrs["dialframe"]["beside"]`, audits and reports in what they miss.

        Example:
            with dialframe.connect() as account:
                account.journal_problems()
        """
        return [
            f"the write journal, which keeps requests not to be called and consents: {line}"
            + ("" if "store repair" in line else "; run dialframe store repair")
            for line in self.client.writes.problems()
        ]

    def forget(self, phone: str) -> int:
        """Erase a number from every table and version and from the evidence; a later sync does not bring it back.

        Args:
            phone: E.164.

        Returns:
            How many versions were erased, or had the number replaced in their text, and records of evidence.

        Raises:
            ConfigError: It is no E.164 number.
            StoreError: Another process is reading the store.
        """
        now = self._now()
        return self.evidence.forget([phone], now) + self.store.forget(phone, at=now)

    def close(self) -> None:
        """Close the store and the client's connections."""
        # Long tails are sealed first: that needs no service, and may take a moment.
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
        fresh: timedelta | str | None = None,
    ) -> pd.DataFrame:
        moment = instant("as_of", as_of)
        # Days become instants here, so that the store compares instants alone.
        begin, end = window(since, until)
        # Before the rows: a sync in between makes them newer than is said, never older.
        cover = covered(table, self.store)
        named = None if campaign is None else self.campaign_id(campaign)
        frame = self.store.frame(table, as_of=moment, since=begin, until=end, campaign=named)
        if kind is not None:
            # Contract, Versioning: an open set, so that an unknown type is no rows and no error.
            frame = frame[frame["type"] == kind].reset_index(drop=True)
        frame = self._fresh(frame, table, cover, moment)
        if fresh is not None:
            check_fresh(frame, fresh, self._now())
        return frame

    def _fresh(
        self, frame: pd.DataFrame, table: Table, cover: Cover, moment: datetime | None
    ) -> pd.DataFrame:
        """The frame with what there is to say of how fresh it is."""
        time_column = _TIME_COLUMNS.get(table.name, "created_at")
        frame[LAST_LOOKED_AT.name] = looked_at(table, frame, cover, time_column, moment)
        missing = self.store.missing(table)
        frame.attrs["dialframe"] = freshness(
            table, frame, cover, time_column, moment, missing, self.journal_problems()
        )
        return frame

    def _greet(self) -> None:
        """Ask who we are; the client's id is written down, so that a rotated key finds the same data."""
        # Loaded here, so that stored data can be read without the HTTP library.
        from dialframe.client import Options

        if self._greeted:
            return
        self._greeted = True
        try:
            patience = Options(timeout_s=GREETING_S, max_attempts=GREETINGS)
            client_id = self.client.me(options=patience).client_id
        except AuthenticationError:
            raise  # whatever else would be asked for, this key is refused
        except (ApiError, ContractError):
            return  # the shape of `me` is assumed: nothing may depend on it
        owner = self.store.owner
        # Written once: the client that a folder was made for stays its client.
        if client_id and owner is not None and owner.client_id is None:
            self.store.name_client(client_id)

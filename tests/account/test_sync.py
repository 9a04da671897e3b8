"""Syncing: what is fetched, what is found again, what survives failures; against a hand-written service."""

from __future__ import annotations

import os
import threading
import time
from datetime import timedelta
from pathlib import Path
from typing import Any

import pytest
from hypothesis import settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, invariant, precondition, rule

from account.conftest import IDENTITY
from account.service import CAMPAIGN, START, FakeService, FragileStore, Killed, phone
from dialframe.account import Account, sync
from dialframe.account.list_walk import Rule
from dialframe.config import Progress
from dialframe.contract import DispositionReport
from dialframe.errors import (
    AuthenticationError,
    ConfigError,
    PermissionDenied,
    StoreError,
    TransportError,
)
from dialframe.frames import CALLS, TABLES

DAY = timedelta(days=1)


def lengthen(service: FakeService) -> None:
    """Make the list of calls one that is not read whole each time: 320 more, three hours apart."""
    service.page_size = 50
    for number in range(1000, 1320):
        service.put("calls", number, START - timedelta(hours=3 * (number - 1000), minutes=1))


def ids(account: Account, table: str) -> set[str]:
    """Ids of the current table."""
    return set(getattr(account, table)()[TABLES[table].key[0]])


def test_the_first_sync_brings_everything(account: Account, service: FakeService) -> None:
    """Every table is whole afterwards, and the report says so."""
    report = account.sync()

    assert report.complete
    assert {entry.table for entry in report} == set(TABLES) - {"dnc_checks"}
    for table in set(service.rows) & set(TABLES):
        rows = service.rows[table]
        assert ids(account, table) == set(rows)
        assert report[table].rows == report[table].versions == len(rows)
    assert report["calls"].requests == 8
    assert report["calls"].covers_to is not None
    assert len(account.dispositions()) == 100
    assert account.dispositions()["_request_id"].notna().all()


def test_a_second_sync_does_not_fetch_what_it_has(account: Account, service: FakeService) -> None:
    """With nothing new, calls cost one page however many are stored, and nothing is added."""
    lengthen(service)
    account.sync()
    service.now += timedelta(hours=1)
    service.requests.clear()

    report = account.sync()

    assert report.complete
    assert sum(entry.versions for entry in report) == 0
    assert service.count("calls.list") == 1
    assert service.count("reports.dispositions") == 1
    assert report.requests == len(service.requests)
    assert service.count("me") == 0


def test_what_is_new_or_changed_is_found(account: Account, service: FakeService) -> None:
    """New rows, outcomes logged within the overlap, and changed leads are there after one sync."""
    account.sync()
    service.now += timedelta(hours=3)
    new = service.put("calls", 100, service.now)
    logged = service.put("calls", 1, START, disposition="sale")
    lead = service.put("leads", 11, START, status="contacted", attempts=3)

    report = account.sync()

    calls = account.calls().set_index("id")
    assert new in calls.index
    assert calls.loc[logged, "disposition"] == "sale"
    assert account.leads().set_index("id").loc[lead, "attempts"] == 3
    assert (report["calls"].versions, report["leads"].versions) == (2, 1)


def test_old_changes_are_found_by_a_sweep(account: Account, service: FakeService) -> None:
    """A change outside the last two days waits for its pages, and freshness says until when."""
    lengthen(service)
    account.sync()
    service.now += timedelta(hours=3)
    old = service.put("calls", 30, START, disposition="sale")
    moved = service.put("calls", 500, START - 33 * DAY)

    report = account.sync()

    assert moved not in ids(account, "calls")
    sentence = account.calls().attrs["dialframe"]["sentence"]
    assert sentence == (
        "calls: complete as of 2026-03-02 12:00 UTC. Rows created before 2026-02-24 23:59 UTC were "
        "last looked at at 2026-03-02 09:00 UTC or later."
    )
    older = sentence.partition(". ")[2]
    assert f"calls: {older}" in " ".join(str(report).split())
    assert older in report._repr_html_()
    entry = report.as_dict()["tables"]["calls"]
    assert entry["older"] == older
    assert entry["last_looked_at"].startswith("2026-03-02T09:00:00")
    service.now += 8 * DAY
    swept = account.sync()
    assert swept["calls"].older == ""
    assert moved in ids(account, "calls")
    assert account.calls().set_index("id").loc[old, "disposition"] == "sale"
    assert "last looked at" not in account.calls().attrs["dialframe"]["sentence"]


def test_a_whole_reading_can_be_asked_for(account: Account, service: FakeService) -> None:
    """`whole=True` reads every list to its end now."""
    account.sync()
    moved = service.put("calls", 500, START - 33 * DAY)

    account.sync(["calls"], whole=True)

    assert moved in ids(account, "calls")


def test_rows_deleted_on_the_other_side_go_after_two_full_walks(
    account: Account, service: FakeService
) -> None:
    """A row missing once may have shifted; missing twice it is hidden, and its history stays."""
    account.sync()
    before = service.now
    gone = service.put("leads", 5, START)
    del service.rows["leads"][gone]

    assert account.sync(["leads"])["leads"].gone == 0
    assert gone in ids(account, "leads")
    assert account.sync(["leads"])["leads"].gone == 1

    assert gone not in ids(account, "leads")
    assert gone in set(account.leads(as_of=before)["id"])


def test_a_count_that_vanished_from_the_report_is_gone_at_once(
    account: Account, service: FakeService
) -> None:
    """A report is one answer of one moment: what it no longer has is no longer so."""
    account.sync()
    service.counts = [row for row in service.counts if row["calls"] != 3]

    assert account.sync(["dispositions"])["dispositions"].gone == 1
    assert len(account.dispositions()) == 99


@pytest.mark.parametrize(
    "report",
    [
        DispositionReport.model_validate({"totals": {"sale": 3}}),
        DispositionReport.model_construct(data="none"),
        DispositionReport.model_construct(data=[{"day": "2026-03-02"}, 7]),
    ],
    ids=["other fields", "text", "other rows"],
)
def test_a_report_of_another_shape_is_set_aside(
    account: Account, service: FakeService, report: DispositionReport
) -> None:
    """The report's shape is assumed: another one is kept as it came, and hides no earlier count."""
    account.sync()
    service.report = report

    entry = account.sync(["dispositions"])["dispositions"]

    assert entry.quarantined >= 1
    assert entry.gone == 0
    assert len(account.dispositions()) == 100


def test_callbacks_are_read_campaign_by_campaign(account: Account, service: FakeService) -> None:
    """Every campaign ever named is asked once; later only those at work are, until a week is over."""
    archived = "cmp_00000000-0000-0000-0000-00000000000a"
    service.put("leads", 3, START, campaign_id=archived)
    service.put("callbacks", 77, START, campaign_id=archived)
    service.put("campaigns", 2, START, status="completed")

    account.sync(["leads"])
    report = account.sync(["callbacks"])

    assert [entry.table for entry in report] == ["campaigns", "callbacks"]
    assert ids(account, "callbacks") == set(service.rows["callbacks"])
    service.requests.clear()
    account.sync(["callbacks"])
    assert service.count(f"callbacks.list {CAMPAIGN}") == 2
    assert service.count(f"callbacks.list {archived}") == 0
    sentence = account.callbacks().attrs["dialframe"]["sentence"]
    assert "Some of its rows were last looked at at" in sentence
    service.now += 7 * DAY
    assert account.sync(["callbacks"]).complete
    assert service.count(f"callbacks.list {archived}") == 1


def test_a_row_that_does_not_validate_stops_nothing(
    account: Account, service: FakeService
) -> None:
    """The page's other rows are stored, the bad one is counted and is not called gone."""
    account.sync()
    bad = service.put("leads", 4, START)
    service.broken[bad] = {"id": bad, "status": 7}

    for _ in range(3):
        report = account.sync(["leads"])

    assert report["leads"].quarantined == 1
    assert report["leads"].complete
    assert bad in ids(account, "leads")
    assert account.info()["quarantined"]["leads"] == 1


def test_a_list_that_is_not_newest_first_is_read_whole(
    account: Account, service: FakeService
) -> None:
    """Where the order is not what was promised, no row is skipped for it."""
    pages = service.calls._page

    def shuffled(cursor: str | None) -> Any:
        page = pages(cursor)
        page.records = list(reversed(page.records))
        return page

    service.calls._page = shuffled  # type: ignore[method-assign]
    account.sync(["calls"])
    service.requests.clear()

    account.sync(["calls"])

    assert service.count("calls.list") == 8


def test_an_interrupted_first_walk_says_how_far_it_came(
    account: Account, service: FakeService
) -> None:
    """A failure leaves the table incomplete in words, and the next sync goes on from the cursor."""
    service.fails = lambda request: (
        TransportError("calls.list: no answer")
        if request.startswith("calls") and service.count("calls.list") == 3
        else None
    )

    report = account.sync(["calls", "leads"])

    assert not report.complete
    assert report["leads"].complete
    assert report["calls"].note == "calls.list: no answer"
    assert str(report).splitlines()[-2:] == [
        "calls: calls.list: no answer; covered from 2026-02-16 09:00 UTC to 2026-03-02",
        "  09:00 UTC",
    ]
    assert report["calls"].covers_from == START - 14 * DAY
    fresh = account.calls().attrs["dialframe"]
    assert fresh["complete"] is False
    assert "rows created before 2026-02-16 09:00 UTC are not here yet" in fresh["sentence"]
    service.fails = lambda _: None
    service.requests.clear()
    assert account.sync(["calls"]).complete
    # Five pages are left of the open walk; what it had read before is read once more.
    assert service.count("calls.list") == 5 + 8
    assert ids(account, "calls") == set(service.rows["calls"])


def test_an_interrupted_later_walk_says_what_may_be_missing(
    account: Account, service: FakeService
) -> None:
    """The watermark does not move past a gap, and the sentence names it."""
    account.sync()
    service.now += 5 * DAY
    for number in range(200, 230):
        service.put("calls", number, service.now - timedelta(minutes=number))
    service.requests.clear()
    service.fails = lambda request: (
        TransportError("no answer")
        if request.startswith("calls") and service.count("calls.list") == 2
        else None
    )

    account.sync(["calls", "leads"])

    sentence = account.calls().attrs["dialframe"]["sentence"]
    assert "rows created after 2026-03-02 09:00 UTC may be missing" in sentence
    service.fails = lambda _: None
    account.sync(["calls"])
    assert ids(account, "calls") == set(service.rows["calls"])


def test_a_refused_cursor_starts_the_walk_again(account: Account, service: FakeService) -> None:
    """`invalid_cursor` goes back to the head, keeps the rows, and reaches the end."""
    fourth = "|".join([(START - 14 * DAY).isoformat(), str(service.put("calls", 14, START))])
    refusals = iter([True, True])

    def page(cursor: str | None, own: Any = service.calls._page) -> Any:
        service.refused = {fourth} if cursor == fourth and next(refusals, False) else set()
        return own(cursor)

    service.calls._page = page  # type: ignore[method-assign]

    report = account.sync(["calls"])

    assert report.complete
    assert report["calls"].versions == 40
    assert ids(account, "calls") == set(service.rows["calls"])


def test_a_cursor_refused_again_and_again_leaves_the_walk_open(
    account: Account, service: FakeService
) -> None:
    """Never a short result in silence: the table is incomplete and says why; later it heals."""
    account.sync(["campaigns"])
    fifth = "|".join([(START - 24 * DAY).isoformat(), str(service.put("calls", 24, START))])
    service.refused = {fifth}

    report = account.sync(["calls"])

    assert not report.complete
    assert "refused the list's cursor 4 times" in report["calls"].note
    assert len(account.calls()) == 25
    service.refused = set()
    assert account.sync(["calls"]).complete
    assert len(account.calls()) == 40


def test_one_missing_scope_does_not_hide_the_other_tables(
    account: Account, service: FakeService
) -> None:
    """A table that may not be read says so; the others are brought up to date."""
    denied = PermissionDenied("leads.list: the key lacks the scope leads:read", status=403)
    service.fails = lambda request: denied if request.startswith("leads.") else None

    report = account.sync()

    assert not report.complete
    assert report["leads"].note == "leads.list: the key lacks the scope leads:read"
    assert all(entry.complete for entry in report if entry.table != "leads")


def test_callbacks_are_not_whole_without_the_campaigns(
    account: Account, service: FakeService
) -> None:
    """Callbacks are listed by campaign: where campaigns cannot be read, some may be missing."""
    service.fails = lambda request: (
        TransportError("no answer") if request.startswith("campaigns") else None
    )

    report = account.sync()

    assert ids(account, "callbacks") == set(service.rows["callbacks"])  # calls name the campaign
    assert not report["callbacks"].complete
    assert "campaigns are not up to date" in report["callbacks"].note
    assert account.callbacks().attrs["dialframe"]["complete"] is False
    service.fails = lambda _: None
    assert account.sync().complete


@pytest.mark.parametrize(
    "error", [AuthenticationError("key", status=401), TransportError("no answer")]
)
def test_when_nothing_can_be_read_the_error_is_raised(
    account: Account, service: FakeService, error: Exception
) -> None:
    """A refused key, or a service that is not there, is an exception and not a quiet report."""
    service.fails = lambda _: error

    with pytest.raises(type(error)):
        account.sync()


def test_a_key_refused_halfway_is_raised(account: Account, service: FakeService) -> None:
    """A key revoked during the sync is not reported as one table's trouble."""
    service.fails = lambda request: (
        AuthenticationError("key", status=401) if request.startswith("leads") else None
    )

    with pytest.raises(AuthenticationError):
        account.sync()


def test_a_store_that_fails_is_raised(service: FakeService, tmp_path: Path) -> None:
    """A full disk is never a note at the end of a table."""
    store = FragileStore.open(tmp_path, IDENTITY)
    store.fate = lambda: StoreError("the disk is full")

    with (
        Account(service, store, now=service.clock) as account,
        pytest.raises(StoreError, match="full"),
    ):
        account.sync()


def test_a_sync_right_after_another_reads_what_is_new(
    account: Account, service: FakeService
) -> None:
    """Within a minute the last two days are not read again; then they are."""
    service.page_size = 10
    for number in range(1000, 1400):
        service.put("calls", number, START - timedelta(minutes=6 * (number - 1000)))
    account.sync(["calls"])
    service.requests.clear()
    logged = service.put("calls", 1200, START, disposition="sale")

    account.sync(["calls"])
    asked = service.count("calls.list")
    sentence = account.calls().attrs["dialframe"]["sentence"]
    service.now += timedelta(minutes=2)
    account.sync(["calls"])

    assert asked == 1
    assert "Rows created before 2026-03-02 08:12 UTC were last looked at at" in sentence
    assert account.calls().set_index("id").loc[logged, "disposition"] == "sale"


@pytest.mark.parametrize("back", [timedelta(seconds=3), timedelta(hours=5)])
def test_a_clock_that_was_set_back_hides_nothing(
    account: Account, service: FakeService, back: timedelta
) -> None:
    """New answers stay newer than old ones, nobody is called gone for it, and what is gone goes."""
    account.sync(["leads", "calls"])
    service.now -= back
    lead = service.put("leads", 3, START, status="contacted")
    deleted = service.put("leads", 5, START)
    del service.rows["leads"][deleted]

    report = account.sync(["leads", "calls"])
    account.sync(["leads"])

    assert report.complete
    assert account.leads().set_index("id").loc[lead, "status"] == "contacted"
    assert ids(account, "leads") == set(service.rows["leads"])
    assert ids(account, "calls") == set(service.rows["calls"])


def test_a_clock_set_back_in_the_middle_of_a_walk_hides_nothing(
    account: Account, service: FakeService
) -> None:
    """Pages that seem to be asked for before the walk began count as of the walk."""
    account.sync(["calls"])

    def set_back(request: str) -> None:
        if request.startswith("calls") and service.count("calls.list") % 3 == 2:
            service.now -= timedelta(minutes=7)

    service.fails = set_back
    for _ in range(3):
        assert account.sync(["calls"], whole=True)["calls"].gone == 0

    assert ids(account, "calls") == set(service.rows["calls"])


def test_many_campaigns_take_turns(account: Account, service: FakeService) -> None:
    """Right after a sync three campaigns are asked for callbacks, the others next; freshness says since when."""
    service.page_size = 50
    for number in range(3, 12):
        service.put("campaigns", number, START)
    account.sync(["callbacks"])
    service.requests.clear()
    first_at = service.now

    account.sync(["callbacks"])
    account.sync(["callbacks"])
    asked = [request for request in service.requests if request.startswith("callbacks")]

    assert len(asked) == len(set(asked)) == 6
    synced_at = account.callbacks().attrs["dialframe"]["synced_at"]
    assert synced_at <= first_at.isoformat()
    service.now += timedelta(minutes=2)
    service.requests.clear()
    account.sync(["callbacks"])
    assert service.count("callbacks") == 11


def test_callbacks_of_every_campaign_are_read_after_an_interrupted_sync(
    account: Account, service: FakeService
) -> None:
    """Whatever was read before the interruption is read again."""
    for number in range(3, 12):
        service.put("campaigns", number, START)
    service.fails = lambda request: (
        TransportError("no answer") if request.endswith(f"{11:012x}") else None
    )
    account.sync(["callbacks"])
    service.fails = lambda _: None
    service.requests.clear()

    assert account.sync(["callbacks"]).complete
    assert service.count("callbacks") >= 11


def test_what_the_service_does_not_offer_is_no_failure_unless_asked_for(
    account: Account, service: FakeService
) -> None:
    """Without webhooks an account is still complete; whoever asks for events by name is told."""
    off = PermissionDenied("webhooks are not enabled", status=403, code="webhooks_disabled")
    service.fails = lambda request: off if request.startswith("events") else None

    report = account.sync()
    with pytest.raises(PermissionDenied):
        account.sync(["events"])

    assert report.complete
    assert report["events"].optional
    assert not report["events"].complete
    assert report["events"].note == "webhooks are not enabled"


def test_messages_and_endpoints_are_tables(account: Account, service: FakeService) -> None:
    """What became of text messages, and where events go; a changed status is a new version."""
    message = service.put("sms_reports", 1, START)
    service.put("webhooks", 1, START)
    account.sync(["sms_reports", "webhooks"])
    service.put("sms_reports", 1, START, status="failed")
    report = account.sync(["sms_reports"])

    (row,) = account.sms_reports().to_dict("records")
    assert (row["message_id"], row["to_number"], row["status"]) == (message, phone(1), "failed")
    assert report["sms_reports"].versions == 1
    assert account.webhooks()["enabled"].tolist() == [True]
    assert account.webhooks()["events"].tolist() == ['["call.completed"]']
    assert account.forget(phone(1)) > 0
    account.sync(["sms_reports"])
    assert account.sms_reports().empty


def test_a_silent_service_is_given_up_after_the_first_question(
    account: Account, service: FakeService
) -> None:
    """Nobody waits for every table's own repetitions."""
    service.fails = lambda request: TransportError("no answer")

    with pytest.raises(TransportError):
        account.sync()

    assert service.requests == []


def test_a_clock_that_was_ahead_is_noticed(account: Account, service: FakeService) -> None:
    """Rows observed "in the future" hide what is found before then: the report says so."""
    service.now += 400 * DAY
    assert account.sync(["leads"]).complete
    service.now = START + DAY

    report = account.sync(["leads"])

    assert not report["leads"].complete
    assert "2027-04-06 09:00 UTC, which is still to come" in report["leads"].note


def test_an_unknown_table_is_refused(account: Account, service: FakeService) -> None:
    """A misspelled table is named before anything is asked."""
    with pytest.raises(ConfigError, match=r"'call'.*calls"):
        account.sync(["call"])

    assert service.count("calls") == 0
    assert account.sync("calls").complete  # one name is meant, not five letters


def test_progress_is_told_in_the_callers_thread(account: Account) -> None:
    """A listener that draws need not know of threads; rows only grow."""
    heard: list[tuple[Progress, int]] = []

    account.sync(on_progress=lambda p: heard.append((p, threading.get_ident())))

    assert {thread for _, thread in heard} == {threading.get_ident()}
    calls = [progress for progress, _ in heard if progress.step == "calls"]
    assert [progress.done for progress in calls] == [*range(5, 45, 5), 40]
    assert [progress.total for progress in calls[-2:]] == [None, 40]


def test_a_listener_that_raises_stops_the_sync(account: Account, service: FakeService) -> None:
    """Stopping from the outside ends soon, keeps what was read, and the next sync goes on."""
    raised = threading.Event()

    def stop(progress: Progress) -> None:
        raised.set()
        raise KeyboardInterrupt

    def slow(request: str) -> None:
        if request.startswith("calls") and service.count("calls.list") == 2:
            raised.wait(5)
            time.sleep(0.1)

    service.fails = slow

    with pytest.raises(KeyboardInterrupt):
        account.sync(on_progress=stop)

    assert service.count("calls.list") <= 3
    # The last two pages may have been fetched ahead and not stored.
    assert (
        service.count("calls.list") - 2 <= len(account.calls()) // 5 <= service.count("calls.list")
    )
    assert account.sync().complete
    assert ids(account, "calls") == set(service.rows["calls"])


def test_a_table_is_synced_by_one_process_at_a_time(
    account: Account, service: FakeService, monkeypatch: pytest.MonkeyPatch
) -> None:
    """While another has the table's lock for long, it is left alone and the report says so."""
    monkeypatch.setattr(sync, "LOCK_TRIES", 2)
    with Account(service, FragileStore.open(account.store.folder), now=service.clock) as other:
        with account.store.lock("calls") as held:
            assert held
            report = other.sync(["calls", "leads"])

        assert report["calls"].note == "another process is bringing it up to date"
        assert not report["calls"].complete
        assert report["leads"].complete
        assert service.count("calls.list") == 0


def test_a_table_that_is_in_work_is_waited_for(
    account: Account, service: FakeService, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Whoever comes second reads what is new when the first is done, and is whole as well."""
    monkeypatch.setattr(sync, "LOCK_PAUSE_S", 0.01)
    begun, over = threading.Event(), threading.Event()

    def hold() -> None:
        with account.store.lock("calls"):
            begun.set()
            over.wait(5)

    holder = threading.Thread(target=hold, daemon=True)
    holder.start()
    begun.wait(5)
    threading.Timer(0.1, over.set).start()

    assert account.sync(["calls"]).complete
    holder.join(60)


def test_two_accounts_may_sync_at_once(tmp_path: Path, service: FakeService) -> None:
    """Two notebooks on one store end with the same, whole tables."""
    accounts = [
        Account(service, Store_, now=service.clock)
        for Store_ in (
            FragileStore.open(tmp_path, IDENTITY),
            FragileStore.open(tmp_path, IDENTITY),
        )
    ]
    threads = [threading.Thread(target=account.sync, daemon=True) for account in accounts]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(60)

    assert accounts[0].sync().complete
    assert ids(accounts[1], "calls") == set(service.rows["calls"])
    assert account_versions(accounts[0]) == sum(len(rows) for rows in service.rows.values())
    for account in accounts:
        account.close()


def account_versions(account: Account) -> int:
    """Versions of all listed tables."""
    versions = account.info()["versions"]
    return int(
        sum(versions[table] for table in versions if table not in ("dispositions", "dnc_checks"))
    )


def test_the_report_prints_itself(account: Account) -> None:
    """In a terminal a table of text, in a notebook a table of HTML, for machines a dict."""
    report = account.sync(["calls", "campaigns"])

    lines = str(report).splitlines()
    assert lines[0].startswith("table")
    assert lines[1].startswith("calls")
    assert lines[1].endswith("  2026-03-02 09:00")
    assert max(len(line) for line in lines) <= 80
    assert "its beginning to 2026-03-02 09:00 UTC" in report._repr_html_()
    assert report._repr_html_().count("<tr>") == 3
    assert report.as_dict()["tables"]["calls"]["rows"] == 40
    with pytest.raises(KeyError):
        report["leads"]


class Life:
    """An account's service living on while a store follows it, both driven by the machine below."""

    def __init__(self, folder: Path) -> None:
        self.service = FakeService(page_size=4)
        self.service.put("campaigns", 1, START - 90 * DAY)
        self.folder = folder
        self.store = FragileStore.open(folder, IDENTITY)
        self.account = Account(self.service, self.store, now=self.service.clock)
        self.numbers = 0
        self.kill_after = -1

    def insert(self, table: str, *, hours_ago: float = 0) -> None:
        """A new row, or one moved in with an older creation."""
        self.numbers += 1
        self.service.put(table, self.numbers, self.service.now - timedelta(hours=hours_ago))

    def change(self, table: str, chance: float) -> None:
        """One row of the table gets another content."""
        rows = sorted(self.service.rows[table].values(), key=lambda row: row["created_at"])
        if rows:
            row = rows[int(chance * (len(rows) - 1))]
            name = "attempts" if table == "leads" else "disposition"
            row[name] = self.numbers if table == "leads" else f"d{self.numbers}"
            self.numbers += 1

    def delete(self, table: str, chance: float) -> None:
        """One row of the table is gone."""
        rows = sorted(self.service.rows[table])
        if rows:
            del self.service.rows[table][rows[int(chance * (len(rows) - 1))]]

    def sync(self, *, kill_after: int = -1, reconcile: bool = False) -> bool:
        """A sync, killed after so many looks at its fate; tells whether it came to its end."""
        self.kill_after = kill_after
        self.store.fate = self._dies
        self.service.fails = lambda _: self._dies()
        try:
            # Read whole on demand only: these lists are so short that they always would be.
            self.account.sync(["calls", "leads"], whole=True if reconcile else "9999d")
        except Killed:
            self.store.close()
            self.store = FragileStore.open(self.folder, IDENTITY)
            self.account = Account(self.service, self.store, now=self.service.clock)
            return False
        finally:
            self.store.fate = lambda: None
            self.service.fails = lambda _: None
        return True

    def agrees(self) -> bool:
        """Whether the store shows exactly what the service has."""
        return all(self.shown(table) == self.there(table) for table in ("calls", "leads"))

    def shown(self, table: str) -> dict[str, str]:
        """Ids with the field that changes, as stored."""
        frame = getattr(self.account, table)()
        field = "attempts" if table == "leads" else "disposition"
        return {row["id"]: str(row[field]) for row in frame.to_dict("records")}

    def there(self, table: str) -> dict[str, str]:
        """Ids with the field that changes, as the service has them."""
        field = "attempts" if table == "leads" else "disposition"
        return {
            key: "nan" if row[field] is None else str(row[field])
            for key, row in self.service.rows[table].items()
        }

    def recent_are_here(self) -> bool:
        """Whether every call created within the overlap is stored with its latest content."""
        since = self.service.now - timedelta(hours=40)
        shown = self.shown("calls")
        return all(
            shown.get(key) == value
            for key, value in self.there("calls").items()
            if self.service.rows["calls"][key]["created_at"] >= since
        )

    def _dies(self) -> Killed | None:
        self.kill_after -= 1
        return Killed() if self.kill_after == 0 else None


class Following(RuleBasedStateMachine):
    """Any order of inserts, changes, moves, deletions, refused cursors, clocks set back, kills and syncs."""

    tables = st.sampled_from(["calls", "leads"])

    def __init__(self) -> None:
        super().__init__()
        self.folder = Path(Following.root) / f"life{next(Following.numbers)}"
        self.life = Life(self.folder)
        self.clean = False

    root = ""
    numbers = iter(range(10**9))

    @rule(table=tables, hours_ago=st.sampled_from([0.0, 1.0, 47.0, 49.0, 300.0]))
    def insert(self, table: str, hours_ago: float) -> None:
        """A row appears, now or behind."""
        self.life.insert(table, hours_ago=hours_ago)
        self.clean = False

    @rule(table=tables, chance=st.floats(0, 1))
    def change(self, table: str, chance: float) -> None:
        """A row changes."""
        self.life.change(table, chance)
        self.clean = False

    @rule(table=tables, chance=st.floats(0, 1))
    def delete(self, table: str, chance: float) -> None:
        """A row goes."""
        self.life.delete(table, chance)
        self.clean = False

    @rule(hours=st.sampled_from([0.1, 10.0, 30.0, 200.0]))
    def wait(self, hours: float) -> None:
        """Time goes by."""
        self.life.service.now += timedelta(hours=hours)

    @rule(seconds=st.sampled_from([2, 3600]))
    def set_back(self, seconds: int) -> None:
        """The clock is set back."""
        self.life.service.now -= timedelta(seconds=seconds)

    @rule()
    def expire(self) -> None:
        """Every cursor handed out so far is refused from now on."""
        states = [self.life.store.state(table) for table in ("calls", "leads")]
        open_walks = [
            state[kind] for state in states if state for kind in ("walk", "sweep") if state[kind]
        ]
        self.life.service.refused |= {walk["cursor"] for walk in open_walks if walk["cursor"]}

    @rule(kill_after=st.integers(1, 25))
    def sync_and_die(self, kill_after: int) -> None:
        """A sync is killed."""
        self.life.sync(kill_after=kill_after)
        self.life.service.refused.clear()

    @rule()
    def sync(self) -> None:
        """A sync comes to its end."""
        self.life.service.now += timedelta(seconds=61)
        assert self.life.sync()
        self.life.service.refused.clear()
        assert self.life.recent_are_here()

    @precondition(lambda self: not self.clean)
    @rule()
    def settle(self) -> None:
        """Two quiet full syncs agree."""
        self.life.service.refused.clear()
        assert self.life.sync(reconcile=True)
        assert self.life.sync(reconcile=True)
        assert self.life.agrees()
        self.clean = True

    @invariant()
    def no_row_is_invented(self) -> None:
        """The store never shows an id that the service never had."""
        assert len(self.life.store.frame(CALLS)) <= self.life.numbers

    def teardown(self) -> None:
        """Whatever happened, it can be settled."""
        self.life.service.refused.clear()
        assert self.life.sync(reconcile=True)
        assert self.life.sync(reconcile=True)
        assert self.life.agrees()
        self.life.account.close()


def test_any_order_of_events_can_be_settled(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The state machine above, in a folder that goes with the test."""
    Following.root = str(tmp_path)
    # Read whole on demand only: these lists are so short that they always would be.
    short = dict.fromkeys(("calls", "leads"), Rule())
    monkeypatch.setattr(sync, "RULES", {**sync.RULES, **short})
    machine = Following.TestCase()
    examples = int(os.environ.get("DIALFRAME_FOLLOWED", "8"))
    machine.settings = settings(max_examples=examples, stateful_step_count=15, deadline=None)
    machine.runTest()

"""The check-up against a running sandbox and against services that are out of order."""

from __future__ import annotations

import pickle
from collections.abc import Iterator, Sequence
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest

from dialframe import sandbox
from dialframe.client import Credential, HttpxTransport, PlannedRequest, Reply
from dialframe.client import parse_address as parse
from dialframe.config import Progress, Settings
from dialframe.contract import operations
from dialframe.contract.scopes import SCOPES
from dialframe.flows.doctor import diagnose
from dialframe.flows.machine_checks import Diagnosis, Finding

READ = {
    "leads:read", "campaigns:read", "calls:read", "recordings:read", "transcripts:read",
    "summaries:read", "webhooks:read", "dnc:check", "callbacks:read", "appointments:read",
    "sms:read", "reports:read",
}  # fmt: skip


class Listening:
    """A transport that writes down what is sent through it."""

    def __init__(self, settings: Settings) -> None:
        where = parse(settings.base_url)
        self._inner = HttpxTransport(where, Credential(settings.api_key or "", where))
        self.sent: list[PlannedRequest] = []

    def send(self, request: PlannedRequest, *, timeout_s: float) -> Reply:
        self.sent.append(request)
        return self._inner.send(request, timeout_s=timeout_s)

    def close(self) -> None:
        self._inner.close()


class Answering:
    """A transport that gives the same answer to everything."""

    def __init__(self, status: int, body: bytes, headers: dict[str, str]) -> None:
        self.status, self._body, self.headers = status, body, headers

    def send(self, request: PlannedRequest, *, timeout_s: float) -> Reply:
        return self

    def chunks(self) -> Iterator[bytes]:
        yield self._body

    def close(self) -> None:
        pass


class Speaking(Listening):
    """A transport whose recordings go on for as long as somebody listens, up to a hundred parts."""

    status, headers = 200, {"content-type": "audio/wav"}
    parts = 0

    def send(self, request: PlannedRequest, *, timeout_s: float) -> Reply:
        if request.operation == "calls.recording":
            return self
        return super().send(request, timeout_s=timeout_s)

    def chunks(self) -> Iterator[bytes]:
        for _ in range(100):
            self.parts += 1
            yield b"RIFF"

    def close(self) -> None:
        """Let go of a reply, and in the end of every connection."""


def now() -> datetime:
    """This machine's clock."""
    return datetime.now(UTC)


@pytest.fixture(scope="module")
def service(unlimited: None) -> Iterator[sandbox.Sandbox]:
    """A tiny sandbox without rate limits."""
    with sandbox.start(size="tiny", seed=9) as running:
        running.console.update_account({"rate_limits": None})
        yield running


@pytest.fixture
def account(service: sandbox.Sandbox) -> Iterator[sandbox.Sandbox]:
    """The sandbox, as before after the test."""
    before = service.console.account()
    yield service
    service.console.update_account(before)
    service.console.clear_faults()


@pytest.fixture
def settings(account: sandbox.Sandbox, tmp_path: Path) -> Settings:
    """Settings of somebody whose key may do everything."""
    # A key of its own, so that no test waits for the rate limit that another has used up.
    key = account.console.create_key(account.client_id, sending=True)
    return Settings(account.base_url, key, tmp_path / "store")


def keyed(
    account: sandbox.Sandbox, settings: Settings, scopes: Sequence[str], **more: Any
) -> Settings:
    """The same settings with the key of a client that holds some scopes."""
    made = account.console.create_client("other", scopes=scopes, **more)
    return Settings(settings.base_url, made["api_key"], settings.store)


def states(found: Diagnosis) -> dict[str, str]:
    """State by check."""
    return {row.check: row.state for row in found.rows}


def test_key_that_may_do_everything_is_well(settings: Settings) -> None:
    """Every check is fine, but for the scope that no account can use."""
    found = diagnose(settings, now=now)
    own = [row for row in found.rows if row.check not in ("disk", "extras", "chromium")]
    bad = {row.check: row.detail for row in own if row.state != "ok"}

    assert list(bad) == ["scope whatsapp:send"]
    assert not found.failed
    assert {f"scope {scope.name}" for scope in SCOPES} < set(states(found))
    assert "not tried (would change data)" in found.of("scope leads:write").detail
    assert found.of("scope recordings:read").detail.startswith("calls.recording")
    assert Diagnosis(tuple(own)).verdict == "33 ok, 0 warning, 0 failed, 1 not tried."


def test_nothing_is_changed(account: sandbox.Sandbox, settings: Settings) -> None:
    """What is sent are twelve reads and the question about the key; nothing is written here or there."""
    listening = Listening(settings)
    told: list[Progress] = []
    diagnose(settings, now=now, transport=listening, on_progress=told.append)
    writes = [
        one for one in listening.sent if one.method != "GET" and one.operation != "dnc.check"
    ]

    assert not writes
    assert len(listening.sent) == 13
    assert all(one.key is None for one in listening.sent)
    assert account.console.outbox(account.client_id) == []
    assert settings.store is not None
    assert not settings.store.exists()
    assert (told[-1].done, told[-1].total) == (12, 12)


def test_number_that_is_checked_is_nobodys(settings: Settings) -> None:
    """The Do-Not-Call check asks about one number reserved for fiction."""
    listening = Listening(settings)
    diagnose(settings, now=now, transport=listening)
    (check,) = (one for one in listening.sent if one.operation == "dnc.check")

    assert check.body == b'{"phones":["+12025550100"]}'


def test_client_without_scopes_is_told_which(account: sandbox.Sandbox, settings: Settings) -> None:
    """A key that may do nothing fails no check: each scope is a warning with what to do."""
    found = diagnose(keyed(account, settings, []), now=now)
    lacking = [row for row in found.rows if row.check.startswith("scope ")]

    assert not found.failed
    assert {row.state for row in lacking} == {"warning"}
    assert {row.what_next for row in lacking} == {
        "the account's administrator can grant the scope"
    }
    assert "403 insufficient_scope" in found.of("scope leads:read").detail
    assert "not granted" in found.of("scope leads:write").detail


def test_each_read_is_tried_by_itself(account: sandbox.Sandbox, settings: Settings) -> None:
    """Of two scopes granted, those two are fine and no other read is."""
    found = states(diagnose(keyed(account, settings, ["sms:read", "reports:read"]), now=now))

    assert {name for name in READ if found[f"scope {name}"] == "ok"} == {
        "sms:read",
        "reports:read",
    }


def test_switches_and_keys_are_looked_up(account: sandbox.Sandbox, settings: Settings) -> None:
    """A granted scope whose switch is off, or whose key is no sending key, is a warning that says so."""
    scopes = ["callbacks:write", "messages:send", "webhooks:read", "webhooks:write"]
    account.console.update_account(
        {"tier2_callback_write_enabled": False, "webhooks_enabled": False}
    )
    found = diagnose(keyed(account, settings, scopes, sending=False), now=now)
    seen = {name: found.of(f"scope {name}") for name in scopes}

    assert {row.state for row in seen.values()} == {"warning"}
    assert "tier2_callback_write_enabled is off" in seen["callbacks:write"].detail
    assert "no sending key" in seen["messages:send"].detail
    assert "webhooks_disabled" in seen["webhooks:read"].detail
    assert "webhooks are off" in seen["webhooks:write"].detail


def test_silent_service_leaves_writes_untried(
    account: sandbox.Sandbox, settings: Settings
) -> None:
    """Where the service does not say what is granted, a write is not tried, and reads still are."""
    account.console.arm_fault("me", status=200, body="{}")
    found = diagnose(settings, now=now)
    by_state = {name: state for name, state in states(found).items() if name.startswith("scope ")}

    assert {name for name, state in by_state.items() if state == "ok"} == {
        f"scope {n}" for n in READ
    }
    assert set(by_state.values()) == {"ok", "not tried"}
    assert "would change data" in found.of("scope leads:write").detail
    assert found.of("key").detail == "svc_test_… is accepted"


def test_empty_account_has_nothing_to_ask_about(
    account: sandbox.Sandbox, settings: Settings
) -> None:
    """Without a call and a campaign, what needs one is not tried."""
    found = diagnose(keyed(account, settings, [scope.name for scope in SCOPES]), now=now)
    untried = {name for name, state in states(found).items() if state == "not tried"}

    assert untried == {
        "scope recordings:read", "scope transcripts:read", "scope summaries:read",
        "scope callbacks:read", "scope whatsapp:send",
    }  # fmt: skip


def test_wrong_key_is_refused_and_not_shown(settings: Settings) -> None:
    """A key that the service does not know fails, the service itself is fine, and the rest waits."""
    found = diagnose(Settings(settings.base_url, "svc_test_nobody_hush", settings.store), now=now)

    assert found.failed
    assert states(found)["service"] == "ok"
    assert found.of("key").detail == "svc_test_… is refused: 401 invalid_api_key"
    assert found.of("scopes").state == "not tried"
    assert found.of("clock").state == "ok"
    assert "hush" not in repr(found)


def test_recording_is_begun_and_no_more(settings: Settings) -> None:
    """Whether recordings may be heard is known once one begins: the rest is left alone."""
    speaking = Speaking(settings)
    found = diagnose(settings, now=now, transport=speaking)
    speaking._inner.close()

    assert found.of("scope recordings:read").detail == "calls.recording answered"
    assert speaking.parts == 1


PAGE = '{"data": [{"id": 5}], "page": {"next_cursor": null, "has_more": false}}'
ABSENT = {"status": 404, "code": "not_found"}
#: Operation, what the service does wrong there, and the scope's state, words, and what next.
WRONG = {
    "no recording": ("calls.recording", ABSENT, "ok", "the newest call has none", ""),
    "no route": (
        "calls.transcript", {"status": 404, "code": "route_not_available"}, "failed", "404",
        "check the base URL",
    ),
    "broken": ("sms.usage", {"times": 9, "status": 500}, "failed",
               "500 internal_error (request req_", ""),
    "a row that is none": ("leads.list", {"status": 200, "body": PAGE}, "warning", "a row of it", ""),
    "a page that is none": ("appointments.list", {"status": 200, "body": "[]"}, "failed", "at body", ""),
}  # fmt: skip


@pytest.mark.parametrize("kind", WRONG)
def test_a_read_that_goes_wrong_is_judged_alone(
    account: sandbox.Sandbox, settings: Settings, kind: str
) -> None:
    """Its own scope says what came; every other read is tried, and well."""
    operation, fault, state, words, what_next = WRONG[kind]
    account.console.arm_fault(operation, **fault)
    found = diagnose(settings, now=now)
    check = f"scope {operations.BY_NAME[operation].scope}"
    row = found.of(check)

    assert (row.state, words in row.detail, what_next in row.what_next) == (state, True, True)
    assert {name for name in READ if states(found)[f"scope {name}"] != "ok"} <= {check[6:]}


def test_disabled_account_fails_at_the_key(account: sandbox.Sandbox, settings: Settings) -> None:
    """Access that was switched off is named, with who can switch it on."""
    account.console.update_account({"api_access_enabled": False})
    found = diagnose(settings, now=now).of("key")

    assert (found.state, found.detail[-23:]) == ("failed", "403 api_access_disabled")
    assert "administrator" in found.what_next


def test_rate_refusals_are_counted(account: sandbox.Sandbox, settings: Settings) -> None:
    """A 429 on the way is waited for and said; nothing fails by it."""
    account.console.arm_fault("leads.list", status=429, code="rate_limit_exceeded")
    found = diagnose(settings, now=now)
    row = found.of("rate limit")

    assert not found.failed
    assert row.state == "warning"
    assert row.detail == (
        "a key may send 10 requests a second and 20 at once; sent now: 14, refused with 429: 1"
    )
    assert found.of("scope leads:read").state == "ok"


def test_unreachable_service_is_named(tmp_path: Path) -> None:
    """Nobody listens: the service fails with its address, and what depends on it is not tried."""
    found = diagnose(Settings("http://127.0.0.1:9", "svc_test_a_b", tmp_path), now=now)

    assert states(found).items() >= {
        "address": "ok", "service": "failed", "key": "not tried", "scopes": "not tried",
        "clock": "not tried", "rate limit": "ok", "store": "ok", "stored data": "ok",
        "versions": "ok",
    }.items()  # fmt: skip
    assert "127.0.0.1:9 cannot be reached" in found.of("service").detail
    assert found.of("service").what_next == "check base_url and the network"


@pytest.mark.parametrize(
    ("status", "body", "words"),
    [
        (200, b"<html>Welcome</html>", "not JSON"),
        (404, b"<html>Nothing here</html>", "404 without a problem document"),
        (503, b'{"code": "temporarily_unavailable"}', "503 temporarily_unavailable"),
    ],
    ids=["page", "no such page", "outage"],
)
def test_something_else_at_the_address_is_said(
    tmp_path: Path, status: int, body: bytes, words: str
) -> None:
    """A web page where the service should be, or an outage, fails the service, not the key."""
    answering = Answering(status, body, {"content-type": "text/html", "retry-after": "0"})
    settings = Settings("https://dialing.example", "svc_test_a_b", tmp_path)
    found = diagnose(settings, now=now, transport=answering)

    assert found.of("address").detail == "dialing.example over https"
    assert (found.of("service").state, found.of("key").state) == ("failed", "not tried")
    assert words in found.of("service").detail
    assert "not known" in found.of("clock").detail


@pytest.mark.parametrize(
    ("base_url", "key", "check", "words"),
    [
        (None, "svc_test_a_b", "address", "DIALFRAME_BASE_URL"),
        ("ftp://dialing.example", "svc_test_a_b", "address", "not an http or https URL"),
        ("https://dialing.example/v1", "svc_test_a_b", "address", "/v1"),
        ("https://dialing.example", None, "key", "DIALFRAME_API_KEY"),
        ("https://dialing.example", "secret", "key", "malformed"),
        ("http://dialing.example", "svc_live_a_b", "key", "https only"),
    ],
)
def test_wrong_settings_are_findings(
    tmp_path: Path, base_url: str | None, key: str | None, check: str, words: str
) -> None:
    """A setting that is missing or wrong fails its check, nothing is sent, the rest is looked at."""
    found = diagnose(Settings(base_url, key, tmp_path), now=now)

    assert [row.check for row in found.rows if row.state == "failed"] == [check]
    assert words in found.of(check).detail
    assert found.of("versions").state == "ok"


def test_plain_http_is_a_warning(tmp_path: Path) -> None:
    """A test key over http to another machine works, and anybody on the way can read it."""
    settings = Settings("http://dialing.example", "svc_test_a_b", tmp_path)
    found = diagnose(settings, now=now, transport=Answering(401, b"{}", {}))

    assert found.of("address").state == "warning"
    assert found.of("address").what_next == "use https"


def test_store_is_looked_at_without_touching_it(tmp_path: Path) -> None:
    """A folder of one's own is fine, one with open files is not private, a file is no store."""
    store = tmp_path / "store"
    store.mkdir(mode=0o755)
    inner = store / "test-1"
    inner.mkdir(mode=0o700)
    kept = inner / "store.sqlite"
    kept.write_bytes(b"")
    kept.chmod(0o644)
    checked = lambda path: diagnose(Settings(None, None, path), now=now).of("store")  # noqa: E731 - said once

    assert checked(store).state == "ok"
    inner.chmod(0o755)
    assert checked(store).state == "warning"
    assert "store.sqlite" in checked(store).detail
    assert checked(store).what_next == f"chmod -R go-rwx {store}"
    kept.chmod(0o600)
    assert checked(store).state == "ok"
    assert checked(kept).state == "failed"
    assert "will be made" in checked(tmp_path / "new" / "one").detail
    assert not (tmp_path / "new").exists()
    assert checked(kept / "below").state == "failed"


def test_versions_are_those_that_run() -> None:
    """Python, dialframe and the libraries whose versions a report of a fault needs."""
    import pandas as pd

    import dialframe

    detail = diagnose(Settings(), now=now).of("versions").detail

    assert f"dialframe {dialframe.__version__}" in detail
    assert f"pandas {pd.__version__}" in detail


def test_each_setting_says_where_it_comes_from() -> None:
    """A variable by its name, so that one that is forgotten is seen."""
    environment = {"DIALFRAME_BASE_URL": "ftp://x", "DIALFRAME_STORE": ""}
    settings = Settings.from_environment(environment, api_key="svc_test_a_b")
    detail = diagnose(settings, now=now).of("settings").detail
    assert detail == "base_url: DIALFRAME_BASE_URL, api_key: given, store: default"


def test_findings_hide_numbers_and_keys() -> None:
    """Whatever words end up in a finding, no key and no whole number is among them."""
    found = Finding("x", "ok", "svc_live_abc_def called +12125550142", "ask +12125550142")

    assert found.detail == "svc_live_[hidden] called +121******42"
    assert found.what_next == "ask +121******42"
    assert pickle.loads(pickle.dumps(found)) == found  # noqa: S301 - our own bytes
    with pytest.raises(KeyError):
        Diagnosis((found,)).of("y")

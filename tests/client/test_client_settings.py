"""Address, key and options are checked when they are given, and the key is shown nowhere."""

from __future__ import annotations

import pickle
import sys
from types import ModuleType, SimpleNamespace
from typing import Any

import pytest

from client.fakes import BASE_URL, KEY, SECRET
from dialframe.client import (
    Address,
    Credential,
    Options,
    client_settings,
    correlation,
    parse_address,
    resolve_key,
)
from dialframe.client.client_settings import current_correlation
from dialframe.errors import ConfigError


@pytest.mark.parametrize(
    ("given", "url", "host", "secure", "loopback"),
    [
        ("https://api.example", "https://api.example", "api.example", True, False),
        ("https://api.example/", "https://api.example", "api.example", True, False),
        (" https://api.example:8443/base/ ", "https://api.example:8443/base", "api.example:8443",
         True, False),
        ("http://127.0.0.1:8787", "http://127.0.0.1:8787", "127.0.0.1:8787", False, True),
        ("http://localhost:1", "http://localhost:1", "localhost:1", False, True),
        ("http://[::1]:8787", "http://[::1]:8787", "::1:8787", False, True),
        ("http://10.0.0.1", "http://10.0.0.1", "10.0.0.1", False, False),
    ],
)  # fmt: skip
def test_base_url_is_taken_apart_once(
    given: str, url: str, host: str, secure: bool, loopback: bool
) -> None:
    """Slashes at the end go, path prefixes stay, this machine is recognized."""
    address = parse_address(given)

    assert address == Address(url, host, secure, loopback)


@pytest.mark.parametrize(
    "given",
    [None, "", "  ", "api.example", "ftp://api.example", "https://", "https://host:port",
     "https://api.example?key=1", "https://api.example#top", "https://user:pw@api.example",
     "https://api.example/v1", "https://api.example/v1/", "https://api example", "http://[::1"],
)  # fmt: skip
def test_malformed_base_url_is_one_clear_sentence(given: str | None) -> None:
    """Whatever is wrong with it, the error names base_url and says what to do."""
    with pytest.raises(ConfigError, match=r"^base_url .*: \S+"):
        parse_address(given)


def test_credentials_in_base_url_are_not_repeated() -> None:
    """A password that stood in the URL is not in the error."""
    with pytest.raises(ConfigError) as caught:
        parse_address("https://user:hunter2@api.example")

    assert "hunter2" not in str(caught.value)


SECURE = parse_address(BASE_URL)
LIVE = "svc_live_cred01_sEcReT0123456789"


def test_argument_comes_before_environment_and_prompt() -> None:
    """The first of the three that says something wins."""
    environment = {"DIALFRAME_API_KEY": "from-environment"}

    assert resolve_key("given", environment, lambda _: "typed") == "given"
    assert resolve_key(None, environment, lambda _: "typed") == "from-environment"
    assert resolve_key(None, {}, lambda _: " typed\n") == "typed"
    assert resolve_key("", {"DIALFRAME_API_KEY": ""}, lambda _: "typed") == "typed"


def test_no_key_names_the_three_ways() -> None:
    """The error says argument, variable and notebook."""
    with pytest.raises(ConfigError, match=r"api_key=.*DIALFRAME_API_KEY.*notebook"):
        resolve_key(None, {})
    with pytest.raises(ConfigError, match="DIALFRAME_API_KEY"):
        resolve_key(None, {}, lambda _: "")


@pytest.mark.parametrize(("shell", "asks"), [(SimpleNamespace(kernel=1), True), (None, False)])
def test_only_a_notebook_is_asked(
    monkeypatch: pytest.MonkeyPatch, shell: object, asks: bool
) -> None:
    """A kernel behind the shell is what makes a notebook."""
    ipython = ModuleType("IPython")
    ipython.get_ipython = lambda: shell  # type: ignore[attr-defined]
    monkeypatch.setitem(sys.modules, "IPython", ipython)

    assert (client_settings.notebook_prompt() is not None) == asks


@pytest.mark.parametrize("base_url", ["http://service.example", "http://10.1.2.3:80"])
def test_live_key_goes_over_https_only(base_url: str) -> None:
    """Plain http to another machine is refused for a live key and allowed for a test key."""
    where = parse_address(base_url)

    with pytest.raises(ConfigError, match="https") as caught:
        Credential(LIVE, where)

    assert SECRET not in str(caught.value)
    assert Credential(KEY, where).shown == "svc_test_…"


@pytest.mark.parametrize(
    "base_url", ["https://service.example", "http://127.0.0.1:1", "http://localhost"]
)
def test_live_key_may_go_to_this_machine(base_url: str) -> None:
    """Https anywhere and http on loopback are fine."""
    assert Credential(LIVE, parse_address(base_url)).header() == f"Bearer {LIVE}"


@pytest.mark.parametrize(
    "key", ["sk-abc", "svc_test_", "svc_test_a b", "svc_test_a\nb", "SVC_LIVE_x"]
)
def test_malformed_key_is_refused_without_being_shown(key: str) -> None:
    """What is no key of this service is not sent to it."""
    with pytest.raises(ConfigError, match="malformed") as caught:
        Credential(key, SECURE)

    assert key == "svc_test_" or key not in str(caught.value)


def test_credential_shows_its_kind_only() -> None:
    """Neither repr, nor str, nor attributes, nor a pickle give the key away."""
    credential = Credential(KEY, SECURE)

    assert repr(credential) == str(credential) == "svc_test_…"
    assert SECRET not in credential.account
    with pytest.raises(ConfigError):
        pickle.dumps(credential)


def test_account_is_the_credential_id_and_the_address() -> None:
    """Another secret of the same credential is the same account; another id or address is not."""
    own = Credential(KEY, SECURE).account

    assert Credential("svc_test_cred01_other", SECURE).account == own
    assert Credential("svc_test_cred02_sEcReT0123456789", SECURE).account != own
    assert Credential(LIVE, SECURE).account != own
    assert Credential(KEY, parse_address("https://other.example")).account != own


@pytest.mark.parametrize(
    "options",
    [
        {"timeout_s": 0}, {"timeout_s": -1}, {"timeout_s": float("nan")}, {"deadline_s": 0},
        {"deadline_s": float("inf")}, {"max_attempts": 0}, {"correlation_id": ""},
        {"correlation_id": "ä"}, {"correlation_id": "a b"}, {"correlation_id": "x" * 129},
        {"idempotency_key": ""}, {"idempotency_key": "x" * 256}, {"idempotency_key": "a\nb"},
        {"idempotency_key": " a"}, {"if_match": ""}, {"if_match": "x" * 129},
    ],
    ids=str,
)  # fmt: skip
def test_option_out_of_bounds_is_refused_by_name(options: dict[str, Any]) -> None:
    """The error begins with the option's name."""
    (name,) = options

    with pytest.raises(ConfigError, match=f"^{name}: "):
        Options(**options)


def test_longest_values_are_taken() -> None:
    """255 characters of key, 128 of correlation id and ETag are within the contract."""
    options = Options(
        idempotency_key="k" * 255,
        correlation_id="a.b_c:d-E" + "9" * 119,
        if_match='"' + "e" * 126 + '"',
    )

    assert len(options.correlation_id or "") == 128


def test_correlation_holds_inside_its_block() -> None:
    """Blocks nest, and nothing is left behind."""
    with correlation("outer"):
        with correlation("inner"):
            assert current_correlation() == "inner"
        assert current_correlation() == "outer"
    assert current_correlation() is None


def test_malformed_correlation_is_refused_before_the_block() -> None:
    """A blank in it is against the contract."""
    with pytest.raises(ConfigError, match="correlation_id"), correlation("a b"):
        pass

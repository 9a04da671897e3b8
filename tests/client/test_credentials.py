"""Where the key comes from, and that it is shown nowhere."""

from __future__ import annotations

import pickle
import sys
from types import ModuleType, SimpleNamespace

import pytest

from client.fakes import BASE_URL, KEY, SECRET
from dialframe.client import Credential, client_settings, parse_address, resolve_key
from dialframe.errors import ConfigError

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

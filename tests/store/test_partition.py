"""Whose data a folder holds: clients, services and live and test data never mix."""

from __future__ import annotations

from pathlib import Path

import pytest

from dialframe.errors import ConfigError, StoreError
from dialframe.store import Identity, Store, locate, partitions
from dialframe.store.account_folders import normal_url
from store.made import bytes_of

URL = "https://api.example.com"
KEY = "svc_test_abc_secretsecret"
OTHERS = [
    Identity.of(URL, "svc_test_abc_othersecret"),
    Identity.of(URL, "svc_live_abc_secretsecret"),
    Identity.of("https://api.example.org", KEY),
    Identity.of(f"{URL}/eu", KEY),
]


@pytest.mark.parametrize("other", OTHERS)
def test_each_identity_has_its_folder(tmp_path: Path, other: Identity) -> None:
    """Another key, environment, host or path is another folder, and cannot open this one."""
    identity = Identity.of(URL, KEY)
    Store.open(tmp_path / identity.folder_name, identity).close()

    assert other.folder_name != identity.folder_name
    assert locate(tmp_path, other) is None
    assert locate(tmp_path, identity) == tmp_path / identity.folder_name
    with pytest.raises(StoreError, match="another key, service or environment"):
        Store.open(tmp_path / identity.folder_name, other)


@pytest.mark.parametrize(
    "url",
    ["https://API.example.com", f"{URL}/", f"{URL}:443", f" {URL} ", "HTTPS://api.example.com"],
)
def test_writings_of_one_address_are_one(url: str) -> None:
    """Case, default port and final slash make no other service."""
    assert Identity.of(url, KEY) == Identity.of(URL, KEY)


def test_other_ports_and_paths_are_kept() -> None:
    """What tells services apart stays in the address."""
    assert normal_url("http://127.0.0.1:8787/x/") == "http://127.0.0.1:8787/x"
    assert normal_url("http://[::1]:80") == "http://[::1]"


@pytest.mark.parametrize("url", ["", "api.example.com", "ftp://x", "https://", "http://x:99999"])
def test_what_is_no_address_is_refused(url: str) -> None:
    """A base URL needs http or https, a host and a port that exists."""
    with pytest.raises(ConfigError, match="base URL"):
        normal_url(url)


def test_a_malformed_key_is_refused_unseen() -> None:
    """The message about a wrong key does not repeat it."""
    with pytest.raises(ConfigError) as caught:
        Identity.of(URL, "hunter2")

    assert "hunter2" not in str(caught.value)


def test_the_key_is_not_on_disk(tmp_path: Path) -> None:
    """Only a hash of the key is written down, and it is not in the repr either."""
    identity = Identity.of(URL, KEY)
    with Store.open(tmp_path / identity.folder_name, identity) as store:
        held = bytes_of(tmp_path)
        assert "secretsecret" not in repr(store) + repr(identity) + repr(store.owner)

    assert b"secretsecret" not in held


def test_a_further_key_of_the_client_is_let_in(tmp_path: Path) -> None:
    """After a rotation both keys open the same data."""
    first, second = Identity.of(URL, KEY), OTHERS[0]
    folder = tmp_path / first.folder_name
    with Store.open(folder, first) as store:
        store.name_client("cli_1")
        store.admit(second)
        store.admit(second)

    assert locate(tmp_path, second) == folder
    with Store.open(folder, second) as store:
        assert store.owner is not None
        assert store.owner.client_id == "cli_1"
        assert len(store.owner.credentials) == 2
    Store.open(folder, first).close()


def test_a_key_of_another_environment_is_never_let_in(tmp_path: Path) -> None:
    """Live and test data do not mix, whoever asks."""
    first = Identity.of(URL, KEY)
    with Store.open(tmp_path, first) as store, pytest.raises(StoreError, match="another"):
        store.admit(OTHERS[1])


def test_partitions_of_a_folder_are_listed(tmp_path: Path) -> None:
    """Every partition below a store's folder is found with its owner."""
    for identity in OTHERS:
        Store.open(tmp_path / identity.folder_name, identity).close()

    owners = partitions(tmp_path)

    assert sorted(owner.environment for _, owner in owners) == ["live", "test", "test", "test"]
    assert partitions(tmp_path / "nowhere") == []

"""Opens an account from arguments and environment: its address, its key, its folder."""

from __future__ import annotations

import os
from collections.abc import Callable, Mapping
from datetime import UTC, datetime
from pathlib import Path
from typing import TYPE_CHECKING, Final

from platformdirs import user_data_path

from dialframe.account.account import Account
from dialframe.config import ENVIRONMENT, Settings
from dialframe.errors import ConfigError
from dialframe.evidence import EvidenceLog
from dialframe.files import note_outputs
from dialframe.firm import FILE_NAME, Firm
from dialframe.store import Identity, Store, locate, partitions

if TYPE_CHECKING:
    from dialframe.client import Client


#: Address and key that stand for files loaded without a service; nothing is ever sent there.
LOADED_ADDRESS: Final = "https://loaded-files.invalid"
LOADED_KEY: Final = "svc_live_loaded_files"


def loaded_account(store: str | Path | None = None) -> Account:
    """The account of files that were loaded, without a service; its store is made where there is none.

    Args:
        store: Folder of the store; else that of the environment.
    """
    return connect(LOADED_ADDRESS, LOADED_KEY, store)


def connect(
    base_url: str | None = None,
    api_key: str | None = None,
    store: str | Path | None = None,
    *,
    environment: Mapping[str, str] | None = None,
    prompt: Callable[[str], str] | None = None,
) -> Account:
    """Open an account: its service and its data on this disk.

    What is not given comes from `DIALFRAME_BASE_URL`, `DIALFRAME_API_KEY` and `DIALFRAME_STORE`, then from
    the firm file, `dialframe.toml`, of the working folder or one above it. Data is kept apart by service, API client and live or test key, each in a sub-folder of the store. No
    request is sent, unless the key is new and the store may hold its client's data already.
    From then on the paths of files that this process writes are noted, for `dialframe store forget`.

    Args:
        base_url: The service's base address.
        api_key: The key; in a notebook it is asked for when it is neither given nor set.
        store: Folder of the store; else the platform's folder for user data.
        environment: Variables to be used instead of the process's.
        prompt: How to ask for the key.

    Returns:
        The account; a context manager that closes its client and store.

    Raises:
        ConfigError: Address or key is missing or malformed.
        StoreError: The store cannot be opened, is damaged, or newer than this dialframe.

    Example:
        >>> import tempfile
        >>> folder = tempfile.mkdtemp()
        >>> with connect("https://service.example", "svc_test_cred_secret", folder) as account:
        ...     len(account.calls())
        0
    """
    # Loaded here, so that stored data can be read without the HTTP library.
    from dialframe.client import Client, resolve_key

    variables = os.environ if environment is None else environment
    firm = Firm.find(Path.cwd())
    settings = Settings.from_environment(
        variables, base_url=base_url, api_key=api_key, store=store, in_file=firm.settings
    )
    # Whoever loaded another dialer's files has no service: what was loaded is the account.
    nameless = not settings.base_url and not settings.api_key
    if nameless and locate(stores_folder(settings), Identity.of(LOADED_ADDRESS, LOADED_KEY)):
        return connect(LOADED_ADDRESS, LOADED_KEY, store, environment=variables)
    if not settings.base_url:
        raise ConfigError(
            f"the service's address is missing: pass base_url=..., set {ENVIRONMENT['base_url']}, or write it in dialframe.toml"
        )
    key = resolve_key(settings.api_key, variables, prompt)
    identity = Identity.of(settings.base_url, key)
    root = stores_folder(settings)  # of all accounts; one of them is opened below
    # Before the folder: a wrong key leaves no trace on the disk.
    in_file = settings.origins["base_url"] == FILE_NAME
    client = Client(
        settings.base_url if in_file else base_url, key,
        journal=journal_folder(settings), environment=variables,
    )  # fmt: skip
    try:
        opened = open_partition(root, identity, client)
    except BaseException:
        client.close()  # nobody else holds it yet
        raise
    note_outputs(lambda: datetime.now(UTC))
    pages = firm.sync.pages_per_day
    return Account(client, opened, now=lambda: datetime.now(UTC), pages_per_day=pages)


class _NoService:
    """Stands where the client of an account is that is read without its service: it has the write journal alone."""

    def __init__(self, journal: Path | None) -> None:
        # Loaded here, so that most commands start without the HTTP library.
        from dialframe.client.write_journal import Journal

        self.writes = Journal(journal, account="")

    def close(self) -> None:
        """Nothing is open."""

    def keep_evidence(self, keep: object) -> None:
        """Nothing is asked, so nothing is answered that would be kept."""

    def __getattr__(self, name: str) -> object:
        raise ConfigError(
            f"the service's address or key is missing: set {ENVIRONMENT['base_url']} and {ENVIRONMENT['api_key']}, "
            "or write the address in dialframe.toml; what is stored can be read without them"
        )


def open_stored(settings: Settings) -> Account:
    """The account whose data lie in the store, without its service: everything that is stored can be read.

    Args:
        settings: Where the store is, and the address or key that says which account is meant.

    Returns:
        An account that reads, and refuses whatever needs the service.

    Example:
        import os
        from dialframe.config import Settings
        with open_stored(Settings.from_environment(os.environ)) as stored:
            calls = stored.calls()

    Raises:
        ConfigError: There is no stored account, or there are several and no key says which is meant.
        StoreError: The store cannot be opened.
    """
    root = stores_folder(settings)
    stored = partitions(root)
    if settings.base_url:
        stored = [
            each
            for each in stored
            if each[1].base_url.rstrip("/") == settings.base_url.rstrip("/")
        ]
    if len(stored) != 1:
        names = ", ".join(path.name for path, _ in stored)
        why = f"{len(stored)} accounts are stored ({names})" if stored else "no account is stored"
        raise ConfigError(
            f"{root}: {why}, and the service's address or key is missing: set {ENVIRONMENT['base_url']} and {ENVIRONMENT['api_key']}"
        )
    ((folder, _),) = stored
    client = _NoService(journal_folder(settings))
    opened = Store.open(folder)
    note_outputs(lambda: datetime.now(UTC))
    return Account(client, opened, now=lambda: datetime.now(UTC))  # type: ignore[arg-type]


def stores_folder(settings: Settings) -> Path:
    """Where the stores of all accounts are, and what lies beside them."""
    folder = settings.store or user_data_path("dialframe", appauthor=False) / "store"
    return folder.expanduser()


def journal_folder(settings: Settings) -> Path:
    """Where the evidence log is, of which the write journal is a part: beside the stores, and moves with them."""
    return EvidenceLog.beside(stores_folder(settings)).folder


def open_partition(root: Path, identity: Identity, client: Client) -> Store:
    """The store of an identity below a folder, made where there is none.

    A key that is in no partition may be a further key of a known client: then, and only then, the
    service is asked who it belongs to.
    """
    folder = locate(root, identity)
    if folder is not None:
        return Store.open(folder, identity)
    # Folders of the same service and environment, by the client that they were made for.
    named = {
        owner.client_id: path
        for path, owner in partitions(root)
        if owner.beside(identity) and owner.client_id is not None
    }
    # One client holds several keys, so that they can be rotated (contract, Authentication 1).
    client_id = client.me().client_id if named else None
    if client_id in named:
        # Without the identity, which it does not have yet.
        with Store.open(named[client_id]) as store:
            store.admit(identity)
        return Store.open(named[client_id], identity)
    return Store.open(root / identity.folder_name, identity)

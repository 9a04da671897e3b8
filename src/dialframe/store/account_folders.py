"""Whose data a folder holds: one sub-folder for each service, client and environment.

What one client sees, another must not find: a store never mixes two clients, nor live and test data. A key
is recognized by its hash. A client may hold several keys, so a partition lists all that were found to belong
to it.
"""

from __future__ import annotations

import hashlib
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from typing import Final
from urllib.parse import urlsplit

from dialframe.contract.scopes import KEY_PREFIXES
from dialframe.errors import ConfigError, StoreError
from dialframe.store.catalog import read_meta, write_meta
from dialframe.store.database import FILE, Database

_HASH_HEX: Final = 32
_FOLDER_HEX: Final = 16
_DEFAULT_PORTS: Final = {"http": 80, "https": 443}


@dataclass(frozen=True, slots=True)
class Identity:
    """Whose data it is.

    Attributes:
        base_url: The service's base address, normalized.
        environment: `live` or `test`.
        credential: Hash of the key.
    """

    base_url: str
    environment: str
    credential: str

    @classmethod
    def of(cls, base_url: str, api_key: str) -> Identity:
        """The identity that a key stands for at a service.

        Args:
            base_url: The service's base address.
            api_key: The key; only its hash is held.

        Returns:
            The identity.

        Raises:
            ConfigError: The address is no URL, or the key has neither prefix of the contract.
        """
        for environment, prefix in KEY_PREFIXES.items():
            if api_key.startswith(prefix):
                # Contract, Authentication 1: the secret is in the key, so nothing but a hash of it is kept.
                hashed = hashlib.sha256(f"dialframe\0{api_key}".encode()).hexdigest()
                return cls(normal_url(base_url), environment, hashed[:_HASH_HEX])
        raise ConfigError(
            "the API key must begin with svc_live_ or svc_test_; copy it whole from the console"
        )

    @property
    def folder_name(self) -> str:
        """Name of the sub-folder: `live-` or `test-` and a hash."""
        text = "\0".join((self.base_url, self.environment, self.credential))
        return f"{self.environment}-{hashlib.sha256(text.encode()).hexdigest()[:_FOLDER_HEX]}"


@dataclass(frozen=True, slots=True)
class Owner:
    """What a partition has written down about whose it is.

    Attributes:
        base_url: The service's base address.
        environment: `live` or `test`.
        credentials: Hashes of the keys that belong to it.
        client_id: The API client's id as the service said it, or None.
    """

    base_url: str
    environment: str
    credentials: tuple[str, ...]
    client_id: str | None = None

    def has(self, identity: Identity) -> bool:
        """Whether this is where an identity's data belongs.

        Args:
            identity: The identity.

        Returns:
            True if the service, the environment and the key are this partition's.
        """
        return self.beside(identity) and identity.credential in self.credentials

    def beside(self, identity: Identity) -> bool:
        """Whether an identity is of the same service and environment.

        Args:
            identity: The identity.

        Returns:
            True also for another client's key.
        """
        return (self.base_url, self.environment) == (identity.base_url, identity.environment)


def normal_url(base_url: str) -> str:
    """A base address with scheme and host in lower case, without default port and final slash.

    Raises:
        ConfigError: It is no http or https address.
    """
    parts = urlsplit(base_url.strip())
    if parts.scheme not in _DEFAULT_PORTS or not parts.hostname:
        raise ConfigError(f"the base URL must be an http or https address, not {base_url!r}")
    try:
        port = parts.port
    except ValueError:
        raise ConfigError(f"the base URL {base_url!r} has no valid port") from None
    # RFC 3986, 6.2.3: an address with its scheme's own port is the same without.
    port_suffix = f":{port}" if port not in (None, _DEFAULT_PORTS[parts.scheme]) else ""
    # RFC 3986, 3.2.2: IPv6 stands in brackets.
    host = f"[{parts.hostname}]" if ":" in parts.hostname else parts.hostname
    return f"{parts.scheme}://{host}{port_suffix}{parts.path.rstrip('/')}"


def partitions(root: Path) -> list[tuple[Path, Owner]]:
    """Every partition below a folder, by name.

    Args:
        root: The folder of all partitions.

    Returns:
        Folders, each with its owner.

    Raises:
        StoreError: A partition cannot be read.

    Example:
        >>> partitions(Path("no-such-folder"))
        []
    """
    folders = []
    for file in sorted(root.glob(f"*/{FILE}")):
        database = Database(file.parent)
        try:
            owner = read_owner(database)
        finally:
            database.close()
        if owner is not None:
            folders.append((file.parent, owner))
    return folders


def locate(root: Path, identity: Identity) -> Path | None:
    """Find the folder that holds an identity's data.

    Args:
        root: The folder of all partitions.
        identity: The identity.

    Returns:
        The folder, or None where there is none yet.

    Raises:
        StoreError: The store cannot be read.

    Example:
        >>> identity = Identity.of("https://service.example", "svc_test_cred_secret")
        >>> locate(Path("no-such-folder"), identity) is None
        True
    """
    folder = root / identity.folder_name
    if (folder / FILE).exists():
        return folder  # without opening the others
    # Another key of the client: it was admitted to a folder that is named after the first.
    return next((path for path, owner in partitions(root) if owner.has(identity)), None)


def read_owner(database: Database) -> Owner | None:
    """What the partition has written down, or None for a new one."""
    with database.reading() as connection:
        facts = read_meta(connection, "owner")
    if facts is None:
        return None  # made by hand, or killed before its first transaction
    return Owner(**facts | {"credentials": tuple(facts["credentials"])})


def claim(database: Database, identity: Identity) -> Owner:
    """Write the owner of a new partition down; of an old one, check it.

    Raises:
        StoreError: The partition belongs to another client, service or environment.
    """
    owner = read_owner(database)
    if owner is None:
        first = Owner(identity.base_url, identity.environment, (identity.credential,))
        return write_owner(database, first)
    if not owner.has(identity):
        raise StoreError(
            f"{database.folder}: it holds {owner.environment} data of {owner.base_url} for another "
            "key, service or environment; choose another folder"
        )
    return owner


# Contract, Authentication 1: one client can hold several keys, so that keys can rotate.
def admit(database: Database, identity: Identity) -> Owner:
    """Let a further key of the same client into a partition.

    Raises:
        StoreError: The partition is of another service or environment.
    """
    owner = read_owner(database)
    if owner is None or not owner.beside(identity):
        return claim(database, identity)
    if owner.has(identity):
        return owner
    return write_owner(
        database, replace(owner, credentials=(*owner.credentials, identity.credential))
    )


def write_owner(database: Database, owner: Owner) -> Owner:
    """Write down whose partition it is."""
    with database.writing() as connection:
        write_meta(connection, "owner", asdict(owner))
    return owner

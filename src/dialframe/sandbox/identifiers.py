"""New ids, keys and secrets, and the shape of a credential; stores none of them."""

from __future__ import annotations

import hashlib
import re
import secrets
import time
import uuid
from dataclasses import dataclass, field
from typing import Final

from dialframe.contract.access import KEY_PREFIXES
from dialframe.contract.ids import PREFIXES
from dialframe.contract.webhooks import SECRET_PREFIX

CREDENTIAL: Final = re.compile(
    rf"{KEY_PREFIXES['test']}(?P<id>[0-9a-z]+)_(?P<secret>[0-9a-z]+)", re.ASCII
)

_CROCKFORD: Final = "0123456789ABCDEFGHJKMNPQRSTVWXYZ"
_ULID_CHARS: Final = 26
_ULID_RANDOM_BITS: Final = 80


@dataclass(frozen=True, slots=True)
class NewKey:
    """A key that was just made; only its hash is kept."""

    credential_id: str
    api_key: str = field(repr=False)
    secret_hash: str = field(repr=False)


def new(kind: str) -> str:
    """A typed id: the kind's prefix plus a lower-case random UUID."""
    return PREFIXES[kind] + str(uuid.uuid4())


def new_request_id() -> str:
    """`req_` plus a ULID: 48 bits of real time in milliseconds, then 80 random bits."""
    number = time.time_ns() // 1_000_000 << _ULID_RANDOM_BITS | secrets.randbits(_ULID_RANDOM_BITS)
    digits = [_CROCKFORD[number >> 5 * place & 31] for place in range(_ULID_CHARS)]
    return "req_" + "".join(reversed(digits))


def new_edge_id() -> str:
    """`edge_` plus 32 hex digits, for what never reached the API."""
    return "edge_" + secrets.token_hex(16)


def new_key() -> NewKey:
    """A test key; neither of its parts holds an underscore, so that it can be taken apart."""
    credential_id, secret = secrets.token_hex(8), secrets.token_hex(24)
    key = f"{KEY_PREFIXES['test']}{credential_id}_{secret}"
    return NewKey(credential_id, key, hash_of(secret))


def new_signing_secret() -> str:
    """A webhook signing secret; its whole text is the HMAC key."""
    return SECRET_PREFIX + secrets.token_hex(24)


def hash_of(secret: str) -> str:
    """What is kept of a secret of 192 random bits: no salt or stretching is needed for those."""
    return hashlib.sha256(secret.encode()).hexdigest()

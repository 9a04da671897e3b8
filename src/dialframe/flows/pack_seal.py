"""What seals a pack: the officer's key (Ed25519), time stamps of its hash (RFC 3161), and pseudonyms of its numbers.

The request of a time stamp is section 2.4.1, the answer 2.4.2; both are DER (X.690). An answer is held against the
hash that was to be stamped. Whether the authority signed it only its certificate can show:

    $ openssl ts -verify -data manifest.json -in manifest.tsr -CAfile authority.pem

Keys need the extra `signing`.
"""

from __future__ import annotations

import hashlib
import hmac
import json
import re
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import TYPE_CHECKING, Final

from dialframe.errors import ConfigError
from dialframe.files import write_bytes
from dialframe.privacy import PHONE

if TYPE_CHECKING:
    from cryptography.hazmat.primitives.asymmetric.ed25519 import (
        Ed25519PrivateKey,
        Ed25519PublicKey,
    )

#: 128 bits: numbers can all be tried, so the key alone keeps a pseudonym.
LEAST_KEY_BYTES: Final = 16
_INTEGER, _OCTETS, _OID, _SEQUENCE, _TIME, _EXPLICIT = 0x02, 0x04, 0x06, 0x30, 0x18, 0xA0
#: id-sha256, id-signedData and id-ct-TSTInfo.
_SHA256: Final = bytes.fromhex("608648016503040201")
_SIGNED_DATA: Final = bytes.fromhex("2a864886f70d010702")
_TST_INFO: Final = bytes.fromhex("2a864886f70d0109100104")
#: `granted` and `grantedWithMods`; every other status says that there is no stamp.
_GRANTED: Final = (b"\x00", b"\x01")
_STATUS: Final = {
    2: "the authority rejected the request", 3: "the authority is still waiting",
    4: "the authority warns of a revocation", 5: "the authority's certificate was revoked",
}  # fmt: skip


@dataclass(frozen=True, slots=True)
class Stamp:
    """What an authority's answer says.

    Attributes:
        said: A sentence.
        fault: Whether it is no stamp of this hash.
        at: When the hash was there, by the authority's clock; None where there is no stamp.
    """

    said: str
    fault: bool
    at: datetime | None = None


def time_stamp_request(head: str) -> bytes:
    """A request for a time stamp of a SHA-256 hash: version 1, certificate wanted.

    Args:
        head: The hash, hexadecimal.
    """
    # AlgorithmIdentifier of SHA-256: its OID and a NULL (RFC 3161, 2.4.1).
    algorithm = bytes.fromhex("300d06096086480165030402010500")
    imprint = algorithm + b"\x04\x20" + bytes.fromhex(head)
    # version 1, the imprint, and certReq TRUE, so that the answer brings the certificate.
    body = b"\x02\x01\x01" + b"\x30" + bytes([len(imprint)]) + imprint + b"\x01\x01\xff"
    return b"\x30" + bytes([len(body)]) + body


def read_time_stamp(answer: bytes, head: str) -> Stamp:
    """What an authority's answer says of a hash.

    Args:
        answer: The file: a response, or the token in it alone.
        head: The hash that was to be stamped, hexadecimal.

    Returns:
        A stamp of this hash, or the fault in words; never an exception, whatever the bytes are.

    Example:
        read_time_stamp(Path("pack/manifest.tsr").read_bytes(), head).said
    """
    try:
        return _read(answer, bytes.fromhex(head))
    except (ValueError, IndexError, StopIteration, RecursionError):
        return Stamp("the time stamp cannot be read", fault=True)


def _read(answer: bytes, imprint: bytes) -> Stamp:
    parts = list(_parts(_only(answer, _SEQUENCE)))
    # A response begins with its status (PKIStatusInfo); a token alone with its OID.
    if parts[0][0] == _SEQUENCE:
        status = next(_parts(parts[0][1]))
        if status[0] != _INTEGER or status[1] not in _GRANTED:
            why = _STATUS.get(status[1][-1], "its status is not known")
            return Stamp(f"there is no time stamp: {why}", fault=True)
        parts = list(_parts(parts[1][1]))
    _expect(parts[0] == (_OID, _SIGNED_DATA) and parts[1][0] == _EXPLICIT)
    signed = list(_parts(_only(parts[1][1], _SEQUENCE)))
    content = list(_parts(signed[2][1]))
    _expect(content[0] == (_OID, _TST_INFO) and content[1][0] == _EXPLICIT)
    # TSTInfo: version, policy, imprint, serial number, time... (RFC 3161, 2.4.2).
    info = list(_parts(_only(_only(content[1][1], _OCTETS), _SEQUENCE)))
    (_, algorithm), (kind, stamped) = _parts(info[2][1])
    _expect(kind == _OCTETS and info[4][0] == _TIME)
    if next(_parts(algorithm)) != (_OID, _SHA256) or stamped != imprint:
        return Stamp("the time stamp is of another manifest", fault=True)
    text = info[4][1].decode("ascii").removesuffix("Z").partition(".")[0]
    at = datetime.strptime(text, "%Y%m%d%H%M%S").replace(tzinfo=UTC)
    return Stamp(
        f"a time stamp says that the manifest was there on {at:%Y-%m-%d %H:%M:%S} UTC; whose it is "
        "openssl ts -verify shows with the authority's certificate",
        fault=False,
        at=at,
    )


def _expect(is_so: bool) -> None:  # noqa: FBT001 - a condition, not an option
    if not is_so:
        raise ValueError("no time stamp")


def _only(data: bytes, tag: int) -> bytes:
    """The content of the first element, which has a tag."""
    kind, content = next(_parts(data))
    _expect(kind == tag)
    return content


def _parts(data: bytes) -> Iterator[tuple[int, bytes]]:
    """Tag and content of each element."""
    start = 0
    while start < len(data):
        tag, size, start = data[start], data[start + 1], start + 2
        # The long form of a length: its low bits say how many bytes follow (X.690, 8.1.3.5).
        if size & 0x80:
            count = size & 0x7F
            _expect(0 < count <= 4)
            size, start = int.from_bytes(data[start : start + count], "big"), start + count
        _expect(start + size <= len(data))
        yield tag, data[start : start + size]
        start += size


def keygen(path: Path) -> Path:
    """Make a key of the officer's: `path` holds it and is kept secret, `path` with `.pub` is for everybody.

    Raises:
        ConfigError: A key stands there already.
        OSError: The files cannot be written.
    """
    from cryptography.hazmat.primitives import serialization
    from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey

    public_path = path.with_name(path.name + ".pub")
    for each in (path, public_path):
        if each.exists():
            raise ConfigError(f"{each} exists already; a key that signed packs is never replaced")
    key = Ed25519PrivateKey.generate()
    write_bytes(
        key.private_bytes(
            serialization.Encoding.PEM,
            serialization.PrivateFormat.PKCS8,
            serialization.NoEncryption(),
        ),
        path,
    )
    write_bytes(
        key.public_key().public_bytes(
            serialization.Encoding.PEM, serialization.PublicFormat.SubjectPublicKeyInfo
        ),
        public_path,
    )
    return public_path


def read_signing_key(path: Path) -> Ed25519PrivateKey:
    """The officer's key from its file.

    Raises:
        ConfigError: It is no key that `dialframe audit keygen` makes.
        OSError: The file cannot be read.
    """
    from cryptography.hazmat.primitives import serialization
    from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey

    try:
        key = serialization.load_pem_private_key(path.read_bytes(), password=None)
    except (ValueError, TypeError) as error:
        raise ConfigError(f"{path}: no key; make one with dialframe audit keygen") from error
    if not isinstance(key, Ed25519PrivateKey):
        raise ConfigError(f"{path}: no Ed25519 key; make one with dialframe audit keygen")
    return key


def read_public_key(path: Path) -> Ed25519PublicKey:
    """A public key from its file; the officer's own file serves too.

    Raises:
        ConfigError: It is no key that `dialframe audit keygen` makes.
        OSError: The file cannot be read.
    """
    from cryptography.hazmat.primitives import serialization
    from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PublicKey

    try:
        key = serialization.load_pem_public_key(path.read_bytes())
    except (ValueError, TypeError):
        return read_signing_key(path).public_key()
    if not isinstance(key, Ed25519PublicKey):
        raise ConfigError(f"{path}: no Ed25519 key; make one with dialframe audit keygen")
    return key


def public_text(key: Ed25519PublicKey) -> str:
    """A public key in hexadecimal digits."""
    return key.public_bytes_raw().hex()


def signature(head: str, key: Ed25519PrivateKey) -> bytes:
    """The file that signs the head of a pack."""
    return signature_file(key.public_key(), key.sign(head.encode()))


def signature_file(public: Ed25519PublicKey, signature: bytes) -> bytes:
    """The one form of the file that holds a signature."""
    statement = {
        "algorithm": "ed25519", "public_key": public_text(public), "signature": signature.hex(),
    }  # fmt: skip
    return json.dumps(statement, sort_keys=True).encode() + b"\n"


def read_key(path: Path) -> bytes:
    """A key of pseudonyms from a file, without the line's end.

    Raises:
        ConfigError: It is too short.
    """
    key = path.read_bytes().strip()
    if len(key) < LEAST_KEY_BYTES:
        raise ConfigError(f"{path}: a key has at least {LEAST_KEY_BYTES} bytes; make a longer one")
    return key


def pseudonymizer(key: bytes | None) -> Callable[[str], str]:
    """What puts a pseudonym in place of every number of a text; nothing without a key."""
    if key is None:
        return lambda text: text
    pseudonyms: dict[str, str] = {}

    def hide(text: str) -> str:
        def pseudonym(match: re.Match[str]) -> str:
            phone = match.group()
            if phone not in pseudonyms:
                digest = hmac.new(key, phone.encode(), hashlib.sha256).hexdigest()
                # 64 bits of HMAC-SHA-256: the key alone can tell who it is, and two numbers hardly ever meet.
                pseudonyms[phone] = f"number-{digest[:16]}"
            return pseudonyms[phone]

        return PHONE.sub(pseudonym, text)

    return hide

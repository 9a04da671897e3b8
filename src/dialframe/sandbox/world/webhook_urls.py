"""Which webhook URLs are accepted (contract, Endpoints: Webhooks).

A name has to resolve, and to public addresses only; on a machine without a name server an address
in the URL is taken all the same. Addresses are judged in every form that a resolver takes.
"""

from __future__ import annotations

import ipaddress
import re
import socket
import threading
from collections.abc import Callable, Iterator, Sequence
from typing import Final, Literal
from urllib.parse import SplitResult, urlsplit

from dialframe.sandbox.world.refusals import FieldError, Refusal

Reach = Literal["public", "loopback"]
Address = ipaddress.IPv4Address | ipaddress.IPv6Address
Resolver = Callable[[str], Sequence[str]]

#: A name server that takes longer counts as one that does not answer.
_RESOLVE_S: Final = 2.0

#: Endings of names that never belong to a public host (RFC 6761, 6762, 8375, 9476 and cloud use).
_PRIVATE_ENDINGS: Final = (
    "localhost", "local", "internal", "intranet", "lan", "home", "corp", "private", "home.arpa",
    "alt", "onion", "localdomain", "invalid",
)  # fmt: skip
_NAME: Final = re.compile(
    r"(?!-)[a-z0-9-]{1,63}(?<!-)(\.(?!-)[a-z0-9-]{1,63}(?<!-))*\.?", re.ASCII
)
#: Prefixes behind which an IPv4 address stands: NAT64 (RFC 6052, 8215), IPv4-compatible (RFC 4291)
#: and IPv4-translated addresses (RFC 2765).
_TRANSLATED: Final = tuple(
    ipaddress.IPv6Network(prefix)
    for prefix in ("64:ff9b::/96", "64:ff9b:1::/48", "::/96", "::ffff:0:0:0/96")
)
_NUMERIC_LAST: Final = re.compile(r"(0x[0-9a-f]*|[0-9]+)\.?", re.ASCII)


def by_name_server(host: str) -> Sequence[str]:
    """Addresses of a name as this machine's resolver gives them; none where it fails or is slow."""
    addresses: list[str] = []

    def look_up() -> None:
        try:
            answers = socket.getaddrinfo(host, None, type=socket.SOCK_STREAM)
        except (OSError, UnicodeError):
            return
        addresses.extend(str(answer[4][0]) for answer in answers)

    lookup = threading.Thread(target=look_up, daemon=True)
    lookup.start()
    lookup.join(_RESOLVE_S)
    return tuple(addresses)


def reach(url: str, *, allow_loopback: bool, resolve: Resolver = by_name_server) -> Reach:
    """Where a URL leads: off the machine, or to a receiver on it.

    Args:
        url: The URL.
        allow_loopback: Whether a receiver on this machine is taken, over http too.
        resolve: Gives the addresses of a name; none where it cannot be resolved.

    Raises:
        Refusal: `webhook_url_refused`.
    """
    parts, host = _split(url)
    addresses = _addresses(host, resolve)
    local = bool(addresses) and all(_is_loopback(address) for address in addresses)
    if local and allow_loopback and parts.scheme in ("http", "https"):
        return "loopback"
    public = bool(addresses) and all(_is_public(address) for address in addresses)
    if parts.scheme != "https" or not public:
        raise _refused("The URL has to be https and lead to a public address.")
    return "public"


def preview(url: str) -> str:
    """A URL with its path and query shortened away."""
    parts = urlsplit(url)
    return f"{parts.scheme}://{parts.netloc}/..."


def host_of(url: str) -> str:
    """The host of a URL."""
    return urlsplit(url).hostname or ""


def _split(url: str) -> tuple[SplitResult, str]:
    # urlsplit drops tabs and line ends silently and takes spaces; a URL has neither.
    if re.search(r"[\x00-\x20\x7f\\]", url):
        raise _refused("The URL holds characters that no URL has.")
    try:
        parts = urlsplit(url)
        host = (parts.hostname or "").encode("idna").decode() if parts.hostname else ""
        port = parts.port
    except ValueError:
        raise _refused("This is not a URL.") from None
    if not host or port == 0 or parts.username is not None or parts.password is not None:
        raise _refused("The URL needs a host, and neither a user nor a password.")
    return parts, host.lower()


def _address(host: str) -> Address | None:
    try:
        return ipaddress.ip_address(host.partition("%")[0])
    except ValueError:
        pass
    # `127.1`, `0x7f000001` and `2130706433` are addresses to a resolver as well.
    if _NUMERIC_LAST.fullmatch(host.rstrip(".").rpartition(".")[2]):
        try:
            return ipaddress.IPv4Address(socket.inet_aton(host.rstrip(".")))
        except OSError:
            raise _refused("The URL's host is no address.") from None
    return None


def _addresses(host: str, resolve: Resolver) -> list[Address]:
    """What a host stands for; none for a name that is private or does not resolve."""
    literal = _address(host)
    if literal is not None:
        return [literal]
    if host == "localhost":
        return [ipaddress.IPv4Address("127.0.0.1")]
    if not _reads_public(host):
        return []
    return [ipaddress.ip_address(text.partition("%")[0]) for text in resolve(host)]


def _within(address: Address) -> Iterator[Address]:
    """An address, and every IPv4 address that it carries to whoever translates it."""
    yield address
    if isinstance(address, ipaddress.IPv4Address):
        return
    teredo = address.teredo or ()
    for carried in (address.ipv4_mapped, address.sixtofour, *teredo):
        if carried is not None:
            yield carried
    for prefix in _TRANSLATED:
        if address in prefix:
            yield from _translated(address, prefix.prefixlen)


def _translated(address: ipaddress.IPv6Address, length: int) -> Iterator[Address]:
    """The IPv4 address of RFC 6052 behind a prefix of this length; bits 64 to 71 are left out."""
    raw = address.packed
    kept = raw[:8] + raw[9:] if length < 96 else raw
    yield ipaddress.IPv4Address(kept[length // 8 :][:4])


def _is_loopback(address: Address) -> bool:
    return (address.ipv4_mapped or address if address.version == 6 else address).is_loopback


def _is_public(address: Address) -> bool:
    return all(part.is_global and not part.is_multicast for part in _within(address))


def _reads_public(host: str) -> bool:
    name = host.rstrip(".")
    if "." not in name or not _NAME.fullmatch(name):
        return False
    return not any(name == ending or name.endswith("." + ending) for ending in _PRIVATE_ENDINGS)


def _refused(detail: str) -> Refusal:
    problem = FieldError("/url", "url_refused")
    return Refusal("webhook_url_refused", detail, errors=(problem,))

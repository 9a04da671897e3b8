"""Which webhook URLs are taken (contract, Endpoints: Webhooks); asks no name server.

The sandbox sends nothing off the machine, so a name is judged by how it reads: it would be resolved
by the service, and is never resolved here. Addresses are judged in every form that a resolver takes.
"""

from __future__ import annotations

import ipaddress
import re
import socket
from typing import Final, Literal
from urllib.parse import SplitResult, urlsplit

from dialframe.sandbox.problems import FieldError, Refusal

Reach = Literal["public", "loopback"]
Address = ipaddress.IPv4Address | ipaddress.IPv6Address

#: Endings of names that never belong to a public host (RFC 6761, 6762, 8375, 9476 and cloud use).
_PRIVATE_ENDINGS: Final = (
    "localhost", "local", "internal", "intranet", "lan", "home", "corp", "private", "home.arpa",
    "alt", "onion", "localdomain", "invalid",
)  # fmt: skip
_NAME: Final = re.compile(
    r"(?!-)[a-z0-9-]{1,63}(?<!-)(\.(?!-)[a-z0-9-]{1,63}(?<!-))*\.?", re.ASCII
)
_NUMERIC_LAST: Final = re.compile(r"(0x[0-9a-f]*|[0-9]+)\.?", re.ASCII)


def reach(url: str, *, allow_loopback: bool) -> Reach:
    """Where a URL leads: off the machine, or to a receiver on it.

    Raises:
        Refusal: `webhook_url_refused`.
    """
    parts, host = _split(url)
    address = _address(host)
    loopback = host == "localhost" or (address is not None and _is_loopback(address))
    if loopback and allow_loopback and parts.scheme in ("http", "https"):
        return "loopback"
    public = _is_public(address) if address is not None else _reads_public(host)
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


def _mapped(address: Address) -> Address:
    if isinstance(address, ipaddress.IPv6Address):
        return address.ipv4_mapped or address.sixtofour or address
    return address


def _is_loopback(address: Address) -> bool:
    return _mapped(address).is_loopback


def _is_public(address: Address) -> bool:
    real = _mapped(address)
    return real.is_global and not real.is_multicast


def _reads_public(host: str) -> bool:
    name = host.rstrip(".")
    if "." not in name or not _NAME.fullmatch(name):
        return False
    return not any(name == ending or name.endswith("." + ending) for ending in _PRIVATE_ENDINGS)


def _refused(detail: str) -> Refusal:
    problem = FieldError("/url", "url_refused")
    return Refusal("webhook_url_refused", detail, errors=(problem,))

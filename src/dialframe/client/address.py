"""Where the service is: a base URL, checked once; knows URLs, not connections."""

from __future__ import annotations

from dataclasses import dataclass
from ipaddress import ip_address
from urllib.parse import SplitResult, urlsplit

from dialframe.errors import ConfigError

_EXAMPLE = "give it as https://host, without path parameters or credentials"


@dataclass(frozen=True, slots=True)
class Address:
    """A base URL.

    Attributes:
        url: Without a slash at its end; paths of the contract follow it.
        host: Host and, where it is given, port: what a message shows.
        secure: Whether it is https.
        loopback: Whether it is this machine.
    """

    url: str
    host: str
    secure: bool
    loopback: bool


def parse(base_url: str | None) -> Address:
    """The address that a base URL names.

    Raises:
        ConfigError: It is missing, is no http or https URL, or carries what has no place in it:
            credentials, a query, a fragment, or the `/v1` that every path brings along.
    """
    if not base_url or not base_url.strip():
        raise ConfigError(
            "base_url is missing: pass base_url=... or set DIALFRAME_BASE_URL to the service's address"
        )
    parts, port = _split(base_url.strip())
    _refuse_extras(parts)
    host = parts.hostname or ""
    return Address(
        url=f"{parts.scheme}://{parts.netloc}{parts.path.rstrip('/')}",
        host=host if port is None else f"{host}:{port}",
        secure=parts.scheme == "https",
        loopback=_is_loopback(host),
    )


def _split(base_url: str) -> tuple[SplitResult, int | None]:
    try:
        parts = urlsplit(base_url)
        port = parts.port
    except ValueError:
        raise ConfigError(f"base_url is not a URL: {_EXAMPLE}") from None
    if parts.scheme not in ("http", "https") or not parts.hostname:
        raise ConfigError(f"base_url is not an http or https URL with a host: {_EXAMPLE}")
    if any(character.isspace() for character in base_url):
        raise ConfigError(f"base_url has a blank in it: {_EXAMPLE}")
    return parts, port


def _refuse_extras(parts: SplitResult) -> None:
    if parts.username is not None or parts.password is not None:
        raise ConfigError("base_url carries credentials: pass the key as api_key instead")
    if parts.query or parts.fragment:
        raise ConfigError(f"base_url has a query or a fragment: {_EXAMPLE}")
    if parts.path.rstrip("/").endswith("/v1"):
        raise ConfigError(
            "base_url ends in /v1, which every path brings along: leave it off base_url"
        )


def _is_loopback(host: str) -> bool:
    if host == "localhost" or host.endswith(".localhost"):
        return True
    try:
        return ip_address(host).is_loopback
    except ValueError:
        return False

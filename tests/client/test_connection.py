"""What a base URL may look like."""

from __future__ import annotations

import pytest

from dialframe.client import Address, parse_address
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

"""Which webhook URLs are taken (contract, Endpoints: Webhooks)."""

from __future__ import annotations

import pytest

from dialframe.sandbox.world import events
from dialframe.sandbox.world.api_objects import Refusal


def _public(host: str) -> list[str]:
    """A name server that knows every name."""
    return ["93.184.216.34", "2606:2800:220:1:248:1893:25c8:1946"]


@pytest.mark.parametrize(
    "url",
    ["https://hooks.example.com/calls", "https://example.com:8443/", "https://93.184.216.34/x",
     "https://[2606:2800:220:1:248:1893:25c8:1946]/x", "https://bücher.example.com/x"],
)  # fmt: skip
def test_public_https_is_taken(url: str) -> None:
    """A public name or address over https."""
    assert events.url_reach(url, allow_loopback=False, resolve=_public) == "public"


@pytest.mark.parametrize(
    "answers",
    [[], ["10.0.0.7"], ["93.184.216.34", "192.168.0.2"], ["127.0.0.1"], ["169.254.169.254"],
     ["fd00::1"], ["::ffff:10.0.0.1"]],
    ids=str,
)  # fmt: skip
def test_name_that_fails_or_answers_privately_is_refused(answers: list[str]) -> None:
    """A name has to resolve, and every address of it has to be public."""
    with pytest.raises(Refusal) as caught:
        events.url_reach(
            "https://hooks.example.com/x", allow_loopback=False, resolve=lambda host: answers
        )
    assert caught.value.code == "webhook_url_refused"


@pytest.mark.parametrize(
    "url",
    ["http://127.0.0.1:9000/x", "https://127.0.0.1/x", "http://localhost:9/x", "http://[::1]:1/x",
     "http://127.8.9.1/x", "http://2130706433/x", "http://127.1/x", "http://[::ffff:127.0.0.1]/x"],
)  # fmt: skip
def test_loopback_depends_on_the_setting(url: str) -> None:
    """In every spelling: taken while the setting allows it, refused else."""
    assert events.url_reach(url, allow_loopback=True) == "loopback"
    with pytest.raises(Refusal) as caught:
        events.url_reach(url, allow_loopback=False)
    assert (caught.value.code, caught.value.status) == ("webhook_url_refused", 422)


@pytest.mark.parametrize(
    "url",
    [
        "http://hooks.example.com/x", "ftp://hooks.example.com/x", "hooks.example.com/x",
        "https://", "https:///x", "https://10.0.0.1/x", "https://192.168.1.1/x",
        "https://172.16.0.9/x", "https://192.0.0.8/x", "https://169.254.169.254/latest/meta-data", "https://0.0.0.0/x",
        "https://[fe80::1]/x", "https://[fd00::1]/x", "https://[::ffff:10.0.0.1]/x",
        "https://[2002:0a00:0001::]/x", "https://224.0.0.1/x", "https://255.255.255.255/x",
        "https://0xa000001/x", "https://012.0.0.1/x", "https://10.1/x", "https://999.1.1.1/x",
        "https://metadata.google.internal/x", "https://printer.local/x", "https://intranet/x",
        "https://me.localhost/x", "https://nothing.invalid/x", "https://user:pw@example.com/x",
        "https://exa mple.com/x", "https://example.com\\@10.0.0.1/x", "https://example.com:99999/",
        "https://exam\nple.com/x", "https://[::1", "https://a..b.com/x", "https://-a.example.com/",
        "javascript:alert(1)", "https://xn--a.com:0/", "https://10.0.0.1./x",
    ],
)  # fmt: skip
def test_everything_else_is_refused(url: str) -> None:
    """No https, private, link-local, metadata, reserved, multicast, malformed: all of it."""
    with pytest.raises(Refusal) as caught:
        events.url_reach(url, allow_loopback=True, resolve=_public)
    assert caught.value.code == "webhook_url_refused"


def test_preview_never_shows_path_or_query() -> None:
    """Scheme and host stay, the rest is cut."""
    shown = events.url_preview("https://hooks.example.com:8443/secret/path?token=abc")
    assert shown == "https://hooks.example.com:8443/..."


@pytest.mark.parametrize(
    "host",
    [
        "[64:ff9b::a00:1]", "[64:ff9b::127.0.0.1]", "[64:ff9b::169.254.169.254]",
        "[64:ff9b:1:a00:0:100::]", "[2002:a00:1::]", "[2002:7f00:1::]", "[::ffff:10.0.0.1]",
        "[::10.0.0.1]", "[::ffff:0:10.0.0.1]", "[2001:0:4136:e378:8000:63bf:f5ff:fffe]",
    ],
)  # fmt: skip
def test_addresses_that_carry_a_private_one_are_private(host: str) -> None:
    """NAT64, 6to4, Teredo, mapped, compatible and translated addresses lead where they point."""
    with pytest.raises(Refusal):
        events.url_reach(f"https://{host}/hook", allow_loopback=True)


def test_a_public_address_behind_nat64_is_public() -> None:
    """What it carries is public, and so is it."""
    url = "https://[64:ff9b::8.8.8.8]/hook"
    assert events.url_reach(url, allow_loopback=False) == "public"

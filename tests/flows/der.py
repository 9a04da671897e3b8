"""Time stamps as an authority would send them, in DER: only what is read of them, unsigned."""

from __future__ import annotations


def element(tag: int, *parts: bytes) -> bytes:
    """An element with its length."""
    content = b"".join(parts)
    size = len(content)
    length = bytes([size]) if size < 128 else b"\x82" + size.to_bytes(2, "big")
    return bytes([tag]) + length + content


def oid(text: str) -> bytes:
    """An object identifier from its encoded content."""
    return element(0x06, bytes.fromhex(text))


def response(
    head: str,
    *,
    status: int = 0,
    at: bytes = b"20261121080000Z",
    algorithm: str = "608648016503040201",
) -> bytes:
    """A response with a token for a hash."""
    imprint = element(
        0x30, element(0x30, oid(algorithm), b"\x05\x00"), element(0x04, bytes.fromhex(head))
    )
    info = element(
        0x30,
        element(0x02, b"\x01"),
        oid("2a0304"),
        imprint,
        element(0x02, b"\x07"),
        element(0x18, at),
    )
    content = element(0x30, oid("2a864886f70d0109100104"), element(0xA0, element(0x04, info)))
    signed = element(0x30, element(0x02, b"\x03"), element(0x31), content, element(0x31))
    token = element(0x30, oid("2a864886f70d010702"), element(0xA0, signed))
    return element(
        0x30, element(0x30, element(0x02, bytes([status]))), *([token] if status < 2 else [])
    )

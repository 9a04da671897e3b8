"""Typed ids drawn from the seed; knows no resource beyond its prefix."""

from __future__ import annotations

import numpy as np

_HEX = np.frombuffer("".join(f"{byte:02x}" for byte in range(256)).encode(), dtype=np.uint8)
_PAIRS = _HEX.reshape(256, 2)
_DASHES = (8, 13, 18, 23)
_DIGITS = tuple(place for place in range(36) if place not in _DASHES)


def draw(rng: np.random.Generator, prefix: str, count: int) -> list[str]:
    """`count` ids such as `call_` plus a lower-case random UUID (version 4, RFC 9562)."""
    raw = rng.integers(0, 256, size=(count, 16), dtype=np.uint8)
    raw[:, 6] = (raw[:, 6] & 0x0F) | 0x40
    raw[:, 8] = (raw[:, 8] & 0x3F) | 0x80
    text = np.full((count, 36), ord("-"), dtype=np.uint8)
    text[:, _DIGITS] = _PAIRS[raw].reshape(count, 32)
    whole = text.tobytes().decode("ascii")
    return [prefix + whole[start : start + 36] for start in range(0, 36 * count, 36)]

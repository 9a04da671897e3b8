"""Text that was read in the right code page weighs more than the same bytes in another."""

from __future__ import annotations

import pytest

from dialframe.leads.encoding import is_assigned, is_binary, weigh


@pytest.mark.parametrize(
    ("text", "right", "wrong"),
    [
        ("Hélène Besançon", "cp1252", "cp1250"),
        ("Łukasz Wójcik, Gdańsk", "cp1250", "cp1252"),
        ("Иван Петров", "cp1251", "koi8-r"),
        ("Ольга Смирнова", "koi8-r", "cp1251"),
        ("Müller, Straße", "cp850", "cp1252"),
        ("Peña Córdoba José", "mac_roman", "cp850"),
        ("山田太郎 東京都", "cp932", "big5"),
    ],
)
def test_the_right_code_page_weighs_more(text, right, wrong):
    """The difference is what the choice rests on."""
    data = text.encode(right)

    assert weigh(data.decode(right), right) > weigh(data.decode(wrong, errors="replace"), wrong)


@pytest.mark.parametrize(
    ("text", "weight"), [("O’Brien", 1.0), ("a\ufffdb", -1.0), ("Caf\x81", -1.0), ("plain", 0.0)]
)
def test_single_signs(text, weight):
    """An apostrophe between letters is one, a control character never is."""
    assert weigh(text, "cp1252") == weight


def test_binary():
    """Control characters and NULs give binary data away; a few do not."""
    assert is_binary("\x02\x03" * 50)
    assert is_binary("a\x00" * 50)
    assert not is_binary("name\tphone\r\n" * 50 + "\x02\x00")
    assert not is_binary("")


def test_assigned():
    """Text has characters that exist."""
    assert is_assigned("山田 Zoë Иван")
    assert not is_assigned("\ue000\u0378" * 5)

"""A confirmed map is kept under the header's fingerprint, owner only, and found again."""

from __future__ import annotations

import stat

import pytest

from dialframe import leads
from dialframe.errors import ConfigError
from dialframe.leads import (
    ColumnMap,
    fingerprint,
    forget_mapping,
    map_columns,
    save_mapping,
    saved_mapping,
)


def test_a_header_is_known_again(lead_file, tmp_path):
    """Next month's file with the same header, under another name and delimiter."""
    folder = tmp_path / "maps"
    autumn = lead_file("a,b,c\n212,5550142,Ann\n", name="autumn.csv")
    winter = lead_file("a;b;c\n312;5550143;Bob\n", name="winter.txt", delimiter=";")
    columns = map_columns(autumn, mapping={"phone": "a + b", "full_name": "c"})

    assert saved_mapping(winter, folder) is None
    save_mapping(autumn, columns, folder)

    assert saved_mapping(winter, folder) == columns
    cleaned = leads.clean(winter, region="US", mapping=saved_mapping(winter, folder))
    assert cleaned.clean["phone"].tolist() == ["+13125550143"]


def test_another_header_is_another_fingerprint():
    """The order and the names count; blanks around them do not."""
    assert fingerprint(("a", "b")) == fingerprint((" a", "b "))
    assert fingerprint(("a", "b")) != fingerprint(("b", "a"))
    assert fingerprint(("a b",)) != fingerprint(("a", "b"))


def test_only_the_owner_can_read_it(lead_file, tmp_path):
    """Mode 0600 in a folder of mode 0700."""
    path = save_mapping(lead_file("a\nx\n"), ColumnMap(phone=("a",)), tmp_path / "maps")

    assert stat.S_IMODE(path.stat().st_mode) == 0o600
    assert stat.S_IMODE(path.parent.stat().st_mode) == 0o700
    assert list(path.parent.iterdir()) == [path]


def test_it_is_replaced_and_forgotten(lead_file, tmp_path):
    """The last word counts."""
    file = lead_file("a,b\nx,y\n")
    save_mapping(file, ColumnMap(phone=("a",)), tmp_path)
    save_mapping(file, ColumnMap(phone=("b",)), tmp_path)

    assert saved_mapping(file, tmp_path) == ColumnMap(phone=("b",))
    assert forget_mapping(file, tmp_path)
    assert not forget_mapping(file, tmp_path)
    assert saved_mapping(file, tmp_path) is None


def test_a_file_without_a_header_has_no_fingerprint(lead_file, tmp_path):
    """What its columns are cannot be told from nothing."""
    file = lead_file("212-555-0142,Ann\n", header="none")

    assert saved_mapping(file, tmp_path) is None
    with pytest.raises(ConfigError, match="has no header"):
        save_mapping(file, ColumnMap(phone=("column_1",)), tmp_path)


def test_a_folder_that_cannot_be_written_is_named(lead_file, tmp_path):
    """One sentence, and no half a map."""
    (tmp_path / "maps").write_text("a file stands here")

    with pytest.raises(ConfigError, match="cannot be saved in"):
        save_mapping(lead_file("a\nx\n"), ColumnMap(phone=("a",)), tmp_path / "maps")


def test_each_file_can_have_a_map_of_its_own(lead_file):
    """As many as there are files; None finds the columns."""
    one = lead_file("a\n212-555-0142\n", name="one.csv")
    two = lead_file("Phone\n212-555-0143\n", name="two.csv")

    cleaned = leads.clean([one, two], region="US", mapping=[{"phone": "a"}, None])

    assert cleaned.clean["phone"].tolist() == ["+12125550142", "+12125550143"]
    with pytest.raises(ConfigError, match="1 mappings for 2 files"):
        leads.clean([one, two], region="US", mapping=[None])

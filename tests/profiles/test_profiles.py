"""Known exports are recognized by header or shape, and a saved profile reads back as it was."""

from __future__ import annotations

import tomllib
from importlib import resources
from pathlib import Path

import pytest

from dialframe import profiles
from dialframe.errors import ConfigError

EXPORTS = tomllib.loads(
    resources.files(__package__).joinpath("exports.toml").read_text(encoding="utf-8")
)["exports"]


@pytest.mark.parametrize("export", EXPORTS, ids=[each["profile"] for each in EXPORTS])
def test_an_export_is_recognized_and_its_columns_have_their_roles(export: dict) -> None:
    header = export.get("header")
    profile = profiles.recognize(header, export.get("rows", ()), export.get("kind"))

    assert profile is not None
    assert profile.name == export["profile"]
    columns = header or list(profile.names)
    for role, names in export["roles"].items():
        assert list(profile.headers(role, columns)) == names


@pytest.mark.parametrize(
    "header",
    [
        ["Name", "Telefon", "Ort"],
        ["phone_number", "call_date", "uniqueid", "phone_code", "status", "entry_date"],
        ["First Name", "Mobile Phone", "Home Phone"],
    ],
)
def test_a_header_of_no_known_export_has_no_profile(header: list[str]) -> None:
    assert profiles.recognize(header, kind="leads") is None


def test_rows_that_only_resemble_a_format_without_header_are_of_none() -> None:
    assert profiles.recognize(None, [["212", "55512345"], ["212", "5551234"]]) is None
    assert profiles.recognize(None, []) is None


def test_a_label_and_a_code_are_the_columns_of_the_same_number() -> None:
    header = ["Phone 1 - Label", "Phone 1 - Value", "Phone 2 - Type", "Phone 2 - Value"]
    columns = profiles.load("google_contacts").matched(header)

    assert columns["Phone 1 - Value"].label == "Phone 1 - Label"
    assert columns["Phone 2 - Value"].label == "Phone 2 - Type"
    assert columns["Phone 2 - Value"].separator == ":::"


def test_a_status_says_what_its_row_says_and_else_what_the_profile_falls_back_to() -> None:
    status = profiles.load("vicidial").matched(["status"])["status"]
    assert [status.meaning(cell) for cell in ("DNC", " dncl ", "SALE", "")] == [
        "do_not_call",
        "do_not_call",
        None,
        None,
    ]
    changed = profiles.Column(header="x", role="y", values={"": "none"}, otherwise="some")
    assert [changed.meaning(cell) for cell in ("", "z")] == ["none", "some"]


def test_a_saved_profile_is_found_by_its_header_before_those_that_are_shipped(
    tmp_path: Path,
) -> None:
    own = profiles.Profile(
        name='lists of "Vendor X"\t\\',
        title='lists of "Vendor X"',
        kind="leads",
        header=("lead_id", "phone_code", "phone_number", "entry_date"),
        columns=(
            profiles.Column(header="phone_number", role="phone", formats=("%d.%m.%Y",)),
            profiles.Column(
                header="entry_date", role="status", values={'a\\b"c\n': "do_not_call"}
            ),
        ),
        constants={"source": "vendor"},
        settings={"never": ["a", "b"], "asked": True, "at": 3},
    )
    path = profiles.save(own, tmp_path / "profiles")

    assert path.stat().st_mode & 0o077 == 0
    read = profiles.recognize(list(own.header), folder=tmp_path / "profiles")
    assert read is not None
    assert (read.columns, read.constants, read.settings) == (
        own.columns,
        own.constants,
        own.settings,
    )
    assert profiles.load(path).title == own.title
    assert read.name in profiles.names("leads", folder=tmp_path / "profiles")


@pytest.mark.parametrize(
    ("text", "says"),
    [
        ("kind = ", "not valid TOML"),
        ('kind = "lead"\n[columns]\na = "phone"', "kind is 'lead'"),
        ('kind = "leads"', r"no \[columns\]"),
        ('kind = "leads"\nkid = 1\n[columns]\na = "phone"', "unknown key 'kid'"),
        ('kind = "leads"\n[columns]\na = {rolle = "phone"}', "unknown key 'rolle'"),
        ('kind = "leads"\n[columns]\na = {label = "b"}', "has no role"),
        ('kind = "leads"\n[columns]\na = 3', "column a is not a table"),
        (
            'kind = "leads"\n[recognize]\nheaders = []\n[columns]\na = "phone"',
            "unknown key 'headers'",
        ),
        (
            'kind = "leads"\nzone = "UTC"\nshape = "x"\n[columns]\na = "phone"',
            "unknown key 'shape'",
        ),
    ],
)
def test_a_file_that_is_no_profile_says_what_is_wrong(
    tmp_path: Path, text: str, says: str
) -> None:
    (tmp_path / "own.toml").write_text(text, encoding="utf-8")

    with pytest.raises(ConfigError, match=says):
        profiles.load(tmp_path / "own.toml")
    with pytest.raises(ConfigError, match=r"own\.toml"):
        profiles.recognize(["a"], folder=tmp_path)


def test_an_unknown_name_lists_those_that_are_known() -> None:
    with pytest.raises(ConfigError, match="hubspot"):
        profiles.load("hubspott")

"""The sample files are what their script makes, show what they are for, and hold no one's number."""

from __future__ import annotations

import importlib.util
import re
from pathlib import Path
from types import ModuleType

import phonenumbers
import pytest

from dialframe import leads
from dialframe.phones import normalize

REGIONS = {"us": "US", "uk": "GB", "de": "DE", "jp": "JP", "au": "AU", "fr": "FR"}

#: Numbers that are reserved for fiction, as E.164.
FICTION = re.compile(
    r"\+1\d{3}55501\d\d|\+442079460\d{3}|\+493023125\d{3}|\+33199\d{6}|\+6125550\d{4}"
    r"|\+61491570(?:006|15[6-9]|737)"
)

#: File to counts and what it is there to show: encoding, delimiter, header line.
EXPECTED = {
    "us_autumn_campaign.csv": ((303, 250, 26, 14, 10, 3), ("utf-8", ",", 1)),
    "uk_clinics_notsign_cp1252.csv": ((40, 31, 7, 2, 0, 0), ("cp1252", "¬", 1)),
    "us_stray_byte.csv": ((40, 40, 0, 0, 0, 0), ("utf-8", ",", 1)),
    "us_registry_28_columns.csv": ((25, 25, 0, 0, 0, 0), ("utf-8", ",", 1)),
    "de_schulen_bom.csv": ((30, 27, 3, 0, 0, 0), ("utf-8", ",", 1)),
    "de_haendler_semikolon.csv": ((27, 22, 0, 0, 2, 3), ("cp1252", ";", 4)),
    "jp_contacts_shift_jis.csv": ((20, 18, 0, 0, 2, 0), ("shift_jis", ",", 1)),
    "au_partners.tsv.gz": ((18, 15, 0, 0, 3, 0), ("utf-8", "\t", 1)),
    "us_headerless_pipe.txt": ((15, 15, 0, 0, 0, 0), ("utf-8", "|", None)),
    "fr_prospects.jsonl": ((16, 13, 2, 0, 1, 0), ("utf-8", None, None)),
    "us_walk_ins.xlsx": ((22, 20, 0, 0, 0, 2), (None, None, 3)),
    "us_crm_export.parquet": ((30, 25, 2, 0, 3, 0), (None, None, None)),
}


@pytest.fixture(scope="session")
def script(samples: Path) -> ModuleType:
    spec = importlib.util.spec_from_file_location("make_samples", samples / "make_samples.py")
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


@pytest.fixture(scope="session")
def cleaned(samples: Path) -> dict[str, leads.Cleaned]:
    folder = samples / "leads"
    return {
        name: leads.clean(leads.read(folder / name), region=REGIONS[name[:2]]) for name in EXPECTED
    }


@pytest.mark.parametrize("name", sorted(EXPECTED))
def test_each_sample_has_the_outcomes_stated(cleaned, name):
    """Records, clean, rejected, duplicates, do not call, skipped."""
    assert tuple(cleaned[name].counts.values()) == EXPECTED[name][0]


@pytest.mark.parametrize("name", sorted(EXPECTED))
def test_each_sample_is_read_as_stated(cleaned, name):
    """Encoding, delimiter and header line are found without being told."""
    decisions = cleaned[name].files[0].decisions
    delimiter = decisions.dialect.delimiter if decisions.dialect else None

    assert (decisions.encoding, delimiter, decisions.header_line) == EXPECTED[name][1]


def test_every_sample_is_listed(samples):
    """No file lies there untested or undescribed."""
    names = {path.name for path in (samples / "leads").iterdir()}
    text = (samples / "README.md").read_text()

    assert names == set(EXPECTED)
    assert all(f"`{name}`" in text for name in names)


@pytest.mark.parametrize("name", sorted(EXPECTED))
def test_the_script_makes_the_samples(script, samples, tmp_path, name):
    """Byte for byte; a Parquet file names the library that wrote it, so its content is compared."""
    made = script.SAMPLES[name]()
    path = samples / "leads" / name

    if name.endswith(".parquet"):
        (tmp_path / name).write_bytes(made)
        assert leads.read(tmp_path / name).frame.equals(leads.read(path).frame)
    else:
        assert made == path.read_bytes()


@pytest.mark.parametrize("name", sorted(EXPECTED))
def test_all_numbers_are_reserved_for_fiction(samples, name):
    """Every cell that is a valid number anywhere near is one that nobody has."""
    file = leads.read(samples / "leads" / name)
    cells = [str(cell) for column in file.frame for cell in file.frame[column]]
    texts = [
        match.raw_string
        for cell in cells
        for match in phonenumbers.PhoneNumberMatcher(cell, REGIONS[name[:2]])
    ]
    numbers = normalize(texts, region=REGIONS[name[:2]])["e164"].dropna()

    assert len(numbers) > 10
    assert [number for number in numbers if not FICTION.fullmatch(number)] == []


def test_the_demo_list_has_every_reason_that_it_should(cleaned):
    """What the demo shows is in the list."""
    autumn = cleaned["us_autumn_campaign.csv"]

    assert autumn.reasons["rejected"] == {
        "missing_phone": 8,
        "phone_precision_lost": 5,
        "phone_placeholder": 4,
        "invalid_phone": 3,
        "phone_too_short": 3,
        "phone_too_long": 1,
        "too_many_cells": 1,
        "unclosed_quote": 1,
    }
    assert autumn.reasons["do_not_call"] == {
        "opt_out": 8,
        "opt_out_elsewhere": 1,
        "opt_out_unclear": 1,
    }
    assert autumn.reasons["duplicates"] == {"duplicate_in_file": 13, "duplicate_external_id": 1}
    assert autumn.files[0].columns.phone == ("Mobile", "Home Phone")
    assert autumn.files[0].columns.source == "Lead Source"


def test_the_fax_beside_the_phone_is_not_dialed(cleaned):
    """No clean number of the clinics is in their fax column."""
    clinics = cleaned["uk_clinics_notsign_cp1252.csv"]
    faxes = normalize(clinics.clean["Fax"], region="GB")["e164"].dropna()

    assert len(faxes) > 10
    assert not set(clinics.clean["phone"]) & set(faxes)
    assert clinics.reasons["rejected"]["fax_only"] == 4


def test_leading_zeros_stay(cleaned):
    """Ids and post codes are text, also where a spreadsheet stores a number."""
    registry = cleaned["us_registry_28_columns.csv"].clean

    assert registry["external_id"].str.startswith("0").all()
    assert "02108" in set(cleaned["us_walk_ins.xlsx"].clean["ZIP"])


def test_too_many_columns_are_listed(cleaned):
    """The registry has more leftovers than a lead takes custom fields."""
    assert len(cleaned["us_registry_28_columns.csv"].leftovers) == 25


def test_the_readme_example_runs(samples, monkeypatch):
    """The lines that a newcomer copies."""
    code = re.search(r"```python\n(.*?)```", (samples / "README.md").read_text(), re.DOTALL)
    assert code is not None
    monkeypatch.chdir(samples.parent)
    shown: list[object] = []

    exec(code[1], {"print": shown.append})  # noqa: S102 - the block is our own

    assert shown == [
        {
            "records": 303,
            "clean": 250,
            "rejected": 26,
            "duplicates": 14,
            "do_not_call": 10,
            "skipped": 3,
        }
    ]

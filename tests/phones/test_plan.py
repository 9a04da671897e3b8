"""Compiled plans are kept for one release of the metadata, for their owner alone."""

from __future__ import annotations

import stat

import numpy as np
import phonenumbers
import pytest
from phonenumbers import PhoneMetadata, ValidationResult

from dialframe.phones import numbering_plans as plans
from dialframe.phones.numbering_plans import (
    LENGTHS,
    compile_plan,
    fingerprint,
    length_verdict,
    load_plan,
)


@pytest.fixture(scope="module")
def plan():
    return compile_plan()


@pytest.fixture(autouse=True)
def _compiled_once(plan, monkeypatch):
    """Compiling takes seconds and always gives the same."""
    monkeypatch.setattr(plans, "compile_plan", lambda: plan)


def same(one, other):
    return all(np.array_equal(a, b) for a, b in zip(one, other, strict=True))


def test_a_plan_is_read_back_as_it_was_compiled(tmp_path, plan):
    """The second load comes from disk and is equal; the name has the version of the metadata."""
    assert same(load_plan(tmp_path), plan)

    (file,) = tmp_path.iterdir()
    changed = file.stat().st_mtime_ns

    assert phonenumbers.__version__ in file.name
    assert same(load_plan(tmp_path), plan)
    assert file.stat().st_mtime_ns == changed


def test_the_file_and_its_folder_belong_to_one_user(tmp_path):
    """Nobody else reads, or writes, what code will be compiled with."""
    load_plan(tmp_path / "cache")

    (file,) = (tmp_path / "cache").iterdir()

    assert stat.S_IMODE(file.stat().st_mode) == 0o600
    assert stat.S_IMODE(file.parent.stat().st_mode) == 0o700


@pytest.mark.parametrize("damage", [b"", b"PK\x03\x04 no archive", b"\x00" * 1000])
def test_a_damaged_file_is_compiled_anew(tmp_path, plan, damage):
    """Half a file, or somebody else's, is replaced and never believed."""
    load_plan(tmp_path)
    (file,) = tmp_path.iterdir()
    file.write_bytes(damage)

    assert same(load_plan(tmp_path), plan)
    assert file.stat().st_size > 50_000


def test_tables_that_were_tampered_with_are_not_used(tmp_path, plan):
    """A file whose tables are not those of its fingerprint is compiled anew."""
    load_plan(tmp_path)
    (file,) = tmp_path.iterdir()
    wrong = plan._replace(kind=plan.kind + 1)
    np.savez(file, fingerprint=np.int64(fingerprint(plan)), **wrong._asdict())
    file.with_name(file.name + ".npz").unlink(missing_ok=True)

    assert same(load_plan(tmp_path), plan)


def test_a_folder_that_cannot_be_is_no_obstacle(tmp_path, plan):
    """Without a disk the plan is compiled in memory."""
    (tmp_path / "file").write_text("in the way")

    assert same(load_plan(tmp_path / "file" / "cache"), plan)


def test_fingerprints_tell_plans_apart(plan):
    """One other entry is another fingerprint."""
    other = plan.kind.copy()
    other[5] += 1

    assert fingerprint(plan) != fingerprint(plan._replace(kind=other))
    assert fingerprint(plan) == fingerprint(plan._replace(kind=plan.kind.copy()))


@pytest.mark.parametrize("region", ["US", "DE", "AR", "AC", "IT"])
def test_lengths_are_judged_as_phonenumbers_judges_them(region):
    """Every length of every verdict."""
    meta = PhoneMetadata.metadata_for_region(region)

    for digits in range(2, LENGTHS):
        number = phonenumbers.PhoneNumber(
            country_code=meta.country_code, national_number=int("1" * digits)
        )
        expected = phonenumbers.is_possible_number_with_reason(number)
        main = phonenumbers.region_code_for_country_code(meta.country_code)
        desc = PhoneMetadata.metadata_for_region(main).general_desc
        assert length_verdict(digits, desc) == expected
    assert length_verdict(40, meta.general_desc) == ValidationResult.TOO_LONG


def test_the_shipped_plan_is_the_one_of_the_pinned_metadata(plan, tmp_path, monkeypatch):
    """So nothing is compiled after an installation, and nothing is written."""
    monkeypatch.setattr(plans, "cache_folder", lambda: tmp_path / "cache")
    monkeypatch.setattr(plans, "compile_plan", lambda: pytest.fail("the plan was compiled"))
    assert same(load_plan(), plan)
    assert not (tmp_path / "cache").exists()

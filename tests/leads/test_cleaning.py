"""Every record ends in exactly one outcome, with the reason that a person would give."""

from __future__ import annotations

from typing import Any

import pandas as pd
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from dialframe import leads
from dialframe.errors import ConfigError, LeadFileError
from dialframe.leads import FieldRule, Policy
from leads.tables import reasons, table

FRAMES = ("clean", "rejected", "duplicates", "do_not_call", "skipped")
META = ("_file", "_line", "_row", "_outcome", "_reason", "_field", "_value", "_all_reasons")


def test_outcomes_and_their_columns(lead_file):
    """Original cells stand verbatim beside why, and clean leads have their fields."""
    file = lead_file(
        "Ref,Name,Mobile,Home,Town,DNC\n"
        " 007 ,Ann  Lee, (212) 555-0142 ,,NY,no\n"
        "8,Bob,12,,LA,no\n"
        "9,Cy,212.555.0142,,SF,no\n"
        "10,Di,212-555-0143,,SF,yes\n"
        "\n"
    )
    cleaned = leads.clean(file, region="US")

    assert cleaned.counts == {
        "records": 5,
        "clean": 1,
        "rejected": 1,
        "duplicates": 1,
        "do_not_call": 1,
        "skipped": 1,
    }
    lead = cleaned.clean.iloc[0]
    assert (lead["phone"], lead["full_name"], lead["external_id"], lead["Town"]) == (
        "+12125550142",
        "Ann Lee",
        "007",
        "NY",
    )
    assert lead["Mobile"] == " (212) 555-0142 "
    assert (lead["_line"], lead["_row"], lead["_outcome"]) == (2, 1, "clean")
    bad = cleaned.rejected.iloc[0]
    assert bad["Ref"] == "8"
    told = "leads.csv 3 2 rejected phone_too_short phone 12 phone_too_short"
    assert [str(bad[name]) for name in META] == told.split()
    twin = cleaned.duplicates.iloc[0]
    assert (twin["_reason"], twin["_value"], twin["_kept_file"], twin["_kept_line"]) == (
        "duplicate_in_file",
        "+12125550142",
        "leads.csv",
        2,
    )
    assert twin["Mobile"] == "212.555.0142"
    assert cleaned.do_not_call["_reason"].tolist() == ["opt_out"]
    assert cleaned.skipped["_reason"].tolist() == ["blank"]


def test_columns_and_dtypes_do_not_depend_on_the_data(lead_file):
    """Empty outcomes have the columns and dtypes of full ones."""
    full = leads.clean(lead_file("phone,x\n212-555-0142,1\n12,2\n212-555-0142,3\n\n"), region="US")
    empty = leads.clean(lead_file("phone,x\n"), region="US")

    for name in FRAMES:
        assert getattr(full, name).dtypes.to_dict() == getattr(empty, name).dtypes.to_dict()


#: Row of a list with the columns Phone, Fax, E-mail, Stop, Agreed, and its reason.
ROWS = [
    ("212-555-0101,,,no,yes", None),
    (",,,no,yes", "missing_phone"),
    (",212-555-0190,,no,yes", "fax_only"),
    ("n/a,n/a,,no,yes", "missing_phone"),
    ("2.12555E+9,,,no,yes", "phone_precision_lost"),
    ("0000000000,,,no,yes", "phone_placeholder"),
    ("12,,,no,yes", "phone_too_short"),
    ("2125550142999,,,no,yes", "phone_too_long"),
    ("(555) 555-0142,,,no,yes", "invalid_phone"),
    ("212-555-0102,,,yes,yes", "opt_out"),
    ("212-555-0103,,,later,yes", "opt_out_unclear"),
    ("212-555-0104,,,,yes", None),
    ("212-555-0105,,,no,no", "no_consent"),
    ("212-555-0106,,,no,", "no_consent"),
    ("212-555-0107,,,no,perhaps", "opt_out_unclear"),
    ("+44 20 7946 0123,,,no,yes", "blocked_country"),
    ("212-555-0101,,,no,yes", "duplicate_in_file"),
    ("12,,,yes,yes", "opt_out"),
    ("212-555-0108,,no address,no,yes", None),
    ("212-555-0109,,,no,yes,surplus", "too_many_cells"),
    (",,,,", "blank"),
]


def test_each_row_has_the_reason_stated(lead_file):
    """The table above, judged as one file."""
    header = "Phone,Fax,E-mail,Stop calls?,Agreed to call"
    file = lead_file("\n".join([header, *(row for row, _ in ROWS)]) + "\n")
    mapping = {
        "phone": "Phone",
        "fax": "Fax",
        "opt_out": "Stop calls?",
        "consent": "Agreed to call",
    }

    cleaned = leads.clean(file, region="US", mapping=mapping, blocked_countries=["GB"])

    assert reasons(cleaned) == {at: code for at, (_, code) in enumerate(ROWS, 1) if code}


def _policy(made: dict[str, Any]) -> dict[str, Any]:
    """How a list of the table is cleaned."""
    told = {name: made[name] for name in ("force_region", "blocked_countries") if name in made}
    return told | {
        "region": made.get("region", "US") or None,
        "policy": Policy(**made.get("policy", {})),
        "mapping": {field: name or None for field, name in made.get("mapping", {}).items()},
        "field_rules": [FieldRule(**rule) for rule in made.get("field_rules", ())],
        "do_not_call": made.get("do_not_call_list", ()),
    }


@pytest.mark.parametrize("made", table("cleaned_lists")["lists"], ids=lambda made: made["claim"])
def test_a_list_is_cleaned_as_its_claim_says(lead_file, made):
    """Reasons, cells, counts and warnings; see the table."""
    cleaned = leads.clean(lead_file(made["text"]), **_policy(made))

    if "reasons" in made:
        assert reasons(cleaned) == {int(row): code for row, code in made["reasons"].items()}
    for outcome in set(FRAMES) & set(made):
        frame = getattr(cleaned, outcome).sort_values("_row", kind="stable")[[*made[outcome]]]
        assert frame.astype("str").where(frame.notna(), "").to_dict("list") == made[outcome]
    assert cleaned.counts == cleaned.counts | made.get("counts", {})
    assert cleaned.warnings == made.get("warnings", cleaned.warnings)


def test_an_opt_out_reaches_other_files_and_rejected_records(tmp_path):
    """Its second column, its id and its address, also where its own record is no lead."""
    (tmp_path / "one.csv").write_text(
        "Id,Name,Mobile,Home,Email,DNC\n1,Ann,12,212-555-0142,ann@example.com,yes\n"
        "2,Bob,212-555-0143,,,no\n"
    )
    (tmp_path / "two.csv").write_text(
        "Id,Name,Phone,Email\n9,Zed,212-555-0142,\n1,Ann,212-555-0150,\n8,ann,212-555-0151,Ann@Example.com\n"
        "7,Cy,212-555-0152,ann@example.com\n"
    )
    files = [leads.read(tmp_path / "one.csv"), leads.read(tmp_path / "two.csv")]

    cleaned = leads.clean(files, region="US")

    assert cleaned.clean["phone"].tolist() == ["+12125550143", "+12125550152"]
    aside = cleaned.do_not_call
    assert aside[["_reason", "_field"]].to_numpy().tolist() == [
        ["opt_out", "DNC"],
        ["opt_out_elsewhere", "phone"],
        ["opt_out_elsewhere", "external_id"],
        ["opt_out_elsewhere", "email"],
    ]
    assert aside["_kept_file"].tolist() == ["", "one.csv", "one.csv", "one.csv"]


def test_files_are_cleaned_against_each_other(tmp_path):
    """The kept record is named with its file; columns of both files are there."""
    (tmp_path / "one.csv").write_text("phone,city\n212-555-0142,NY\n12,LA\n")
    (tmp_path / "two.csv").write_text("tel;town;note\n212.555.0142;X;\n212-555-0143;Y;z\n34;Z;\n")
    files = [leads.read(tmp_path / "one.csv"), leads.read(tmp_path / "two.csv")]

    cleaned = leads.clean(files, region="US")

    assert cleaned.counts["records"] == 5
    assert cleaned.duplicates[["_file", "_kept_file", "_kept_line"]].to_numpy().tolist() == [
        ["two.csv", "one.csv", 2]
    ]
    assert cleaned.clean[["phone", "city", "town"]].to_numpy().tolist() == [
        ["+12125550142", "NY", ""],
        ["+12125550143", "", "Y"],
    ]
    assert cleaned.rejected["_file"].tolist() == ["one.csv", "two.csv"]
    assert cleaned.leftovers == ("city", "town", "note")
    assert cleaned.clean.columns.tolist().index("note") < cleaned.clean.columns.tolist().index(
        "_file"
    )


def test_two_files_of_one_name_are_told_apart(tmp_path):
    """The second gets a number behind its name."""
    for folder in "ab":
        (tmp_path / folder).mkdir()
        (tmp_path / folder / "x.csv").write_text("phone\n212-555-0142\n")

    cleaned = leads.clean(
        [leads.read(tmp_path / "a/x.csv"), leads.read(tmp_path / "b/x.csv")], region="US"
    )

    assert cleaned.duplicates[["_file", "_kept_file"]].to_numpy().tolist() == [
        ["x.csv (2)", "x.csv"]
    ]


@pytest.mark.parametrize(
    ("column", "length", "code"),
    [
        ("first name", 101, "name_length"),
        ("last name", 101, "name_length"),
        ("full name", 201, "name_length"),
        ("external id", 129, "external_id_length"),
    ],
)
def test_lengths_of_the_contract_hold(lead_file, column, length, code):
    """One character more than the service takes is a rejection; exactly as many is not."""
    text = f"{column},phone\n{'x' * (length - 1)},212-555-0142\n{'y' * length},212-555-0143\n"

    cleaned = leads.clean(lead_file(text), region="US", mapping={column.replace(" ", "_"): column})

    assert reasons(cleaned) == {2: code}


def test_records_larger_than_a_request_are_rejected(lead_file):
    """A lead of a megabyte could never be sent."""
    file = lead_file(f"phone,notes\n212-555-0142,{'é' * 600_000}\n212-555-0143,short\n")

    assert reasons(leads.clean(file, region="US")) == {1: "row_too_large"}


def test_region_countries_and_fields_are_checked(lead_file):
    """Mistakes of the caller are told before anything is judged."""
    file = lead_file("phone\n212-555-0142\n")

    with pytest.raises(ConfigError, match="Atlantis"):
        leads.clean(file, region="Atlantis")
    with pytest.raises(ConfigError, match="XX"):
        leads.clean(file, region="US", blocked_countries=["XX"])
    with pytest.raises(LeadFileError, match="at least one"):
        leads.clean([], region="US")


def test_the_repr_shows_counts_and_no_number(lead_file):
    """A cleaning can be printed."""
    cleaned = leads.clean(lead_file("phone\n212-555-0142\n"), region="US")

    assert (
        repr(cleaned)
        == "Cleaned(records=1, clean=1, rejected=0, duplicates=0, do_not_call=0, skipped=0)"
    )


CELLS = st.sampled_from([
    "212-555-0142", "212-555-0143", "", "12", "n/a", "x", "2.1E9", "+44 20 7946 0123", "a,b", 'say "hi"',
    "Total", "phone", "yes", "no",
])  # fmt: skip


@settings(suppress_health_check=[HealthCheck.function_scoped_fixture, HealthCheck.too_slow])
@given(st.lists(st.lists(CELLS, min_size=1, max_size=5), max_size=12), st.booleans())
def test_in_is_the_sum_of_outcomes(lead_file, rows, quoted):
    """Records in are records out, each once, whatever stands in the file."""
    lines = [",".join(f'"{cell}"' if quoted else cell for cell in row) for row in rows]
    text = "\n".join(["name,phone,DNC", *lines]) + "\n"
    file = lead_file(text, delimiter=",", quote='"')

    cleaned = leads.clean(file, region="US")

    places = pd.concat([getattr(cleaned, name)["_row"] for name in FRAMES])
    assert sorted(places) == list(range(1, cleaned.counts["records"] + 1))
    assert not set(cleaned.clean["phone"]) & set(cleaned.do_not_call["_value"])
    assert cleaned.clean["phone"].is_unique


def test_a_frame_is_refused_in_words() -> None:
    """The error says what to pass instead."""
    frame: Any = pd.DataFrame({"phone": ["+12125550142"]})
    for files in (frame, [frame]):
        with pytest.raises(LeadFileError, match=r"leads.read\(PATH\)"):
            leads.clean(files, region="US")


def test_a_path_is_read(lead_file) -> None:
    """The usual thing in one call."""
    file = lead_file("phone\n212-555-0142\n")

    assert leads.clean(file.path, region="US").clean["phone"].tolist() == ["+12125550142"]
    assert leads.clean([str(file.path)], region="US").counts["clean"] == 1

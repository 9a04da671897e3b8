"""Clean records become the bodies that the contract asks for, within its limits."""

from __future__ import annotations

import pytest

from dialframe.errors import ConfigError
from leads.tables import inputs


def test_bodies_have_the_contracts_fields(lead_file):
    """Fields without a value are left out; leftovers, source and extension are custom fields."""
    file = lead_file(
        "id,first name,last name,phone,email,City,Lead Source,Notes\n"
        "A1,Ann,Lee,212-555-0142 x7 ,a@example.com,NY,fair,\n"
        ",,,212-555-0143 / 212-555-0144,,,,\n"
    )

    first, second = inputs(file.path)

    assert first.body == {
        "external_id": "A1",
        "phone": "+12125550142",
        "first_name": "Ann",
        "last_name": "Lee",
        "email": "a@example.com",
        "custom_fields": {"City": "NY", "lead_source": "fair", "phone_extension": "7"},
    }
    assert second.body == {
        "phone": "+12125550143",
        "custom_fields": {"phone_other": "+12125550144"},
    }
    assert (first.file, first.line, first.row) == ("leads.csv", 2, 1)
    assert (second.line, second.row) == (3, 2)


def test_the_repr_shows_no_lead(lead_file):
    """An input can be logged."""
    (one,) = inputs(lead_file("phone\n212-555-0142\n").path)

    assert "2125550142" not in repr(one)


def wide(columns: int, phone: str = "212-555-0142") -> str:
    names = [f"c{at}" for at in range(columns)]
    return f"{','.join(names)},phone\n{','.join(['x'] * columns)},{phone}\n"


def test_twenty_custom_fields_are_the_most(lead_file):
    """More are refused with their names, until the caller chooses."""
    path = lead_file(wide(21)).path

    with pytest.raises(
        ConfigError, match=r"takes 20 custom fields and there are 21; choose at most 20 .* c0, c1"
    ):
        inputs(path)

    (one,) = inputs(path, keep=["c3", "c20"])
    assert one.body["custom_fields"] == {"c3": "x", "c20": "x"}
    assert len(inputs(path, keep=[f"c{at}" for at in range(20)])[0].body["custom_fields"]) == 20


def test_an_extension_takes_one_of_the_twenty(lead_file):
    """What is added by itself is counted too."""
    path = lead_file(wide(20, "212-555-0142 x7")).path

    with pytest.raises(ConfigError, match="choose at most 19"):
        inputs(path)


def test_unknown_columns_are_refused(lead_file):
    """With those that there are."""
    path = lead_file("phone,City\n212-555-0142,NY\n").path

    with pytest.raises(ConfigError, match=r"keep names Town, .* they have: City"):
        inputs(path, keep=["Town"])
    assert inputs(path, keep=[])[0].body == {"phone": "+12125550142"}


def test_other_phones_and_opt_outs_are_sent_only_when_asked_for(lead_file):
    """They stay in the clean file; as custom fields they are the caller's choice."""
    path = lead_file(
        "Mobile,Home Phone,Fax,DNC,City\n212-555-0142,212-555-0143,212-555-0190,no,NY\n"
    ).path

    assert inputs(path)[0].body["custom_fields"] == {"City": "NY"}
    with pytest.raises(ConfigError, match="they have: City, Mobile, Home Phone, Fax, DNC"):
        inputs(path, keep=["Town"])
    assert inputs(path, keep=["Home Phone"])[0].body["custom_fields"] == {
        "Home Phone": "212-555-0143"
    }


def test_a_second_number_that_is_listed_is_left_out(lead_file):
    """The lead stays with its first one."""
    path = lead_file("Phone\n212-555-0142 / 212-555-0143\n212-555-0144\n").path

    assert [one.body for one in inputs(path, do_not_call=["+12125550143"])] == [
        {"phone": "+12125550142"},
        {"phone": "+12125550144"},
    ]


def test_a_column_of_the_same_name_as_our_own_is_kept(lead_file):
    """`phone_extension` of the file is not blanked by an extension that nobody has."""
    file = lead_file("Phone,phone_other\n212-555-0142,\n")
    own = lead_file("Phone,lead_source\n212-555-0142,fair\n", name="own.csv")

    assert inputs(file.path)[0].body == {"phone": "+12125550142"}
    assert inputs(own.path, mapping={"source": None})[0].body["custom_fields"] == {
        "lead_source": "fair"
    }


def test_no_leads_no_inputs(lead_file):
    """An empty list gives an empty list."""
    assert inputs(lead_file("phone\n12\n").path) == []


def test_leftover_named_like_a_field_is_sent_too(lead_file):
    """A column that is called `full_name` and holds none is a custom field like any other."""
    text = "phone,first_name,full_name\n212-555-0142,Zoe,-7\n212-555-0143,Ann,-8\n"
    mapping = {"phone": "phone", "first_name": "first_name", "full_name": None}
    path = lead_file(text).path

    assert [one.body.get("custom_fields") for one in inputs(path, mapping=mapping)] == [
        {"full_name": "-7"},
        {"full_name": "-8"},
    ]

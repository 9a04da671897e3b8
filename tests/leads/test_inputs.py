"""Clean records become the bodies that the contract asks for, within its limits."""

from __future__ import annotations

import pytest

from dialframe import leads
from dialframe.errors import ConfigError


def test_bodies_have_the_contracts_fields(lead_file):
    """Fields without a value are left out; leftovers, source and extension are custom fields."""
    file = lead_file(
        "id,first name,last name,phone,email,City,Lead Source,Notes\n"
        "A1,Ann,Lee,212-555-0142 x7 ,a@example.com,NY,fair,\n"
        ",,,212-555-0143 / 212-555-0144,,,,\n"
    )

    first, second = leads.lead_inputs(leads.clean(file, region="US"))

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
    (one,) = leads.lead_inputs(leads.clean(lead_file("phone\n212-555-0142\n"), region="US"))

    assert "2125550142" not in repr(one)


def wide(columns: int, phone: str = "212-555-0142") -> str:
    names = [f"c{at}" for at in range(columns)]
    return f"{','.join(names)},phone\n{','.join(['x'] * columns)},{phone}\n"


def test_twenty_custom_fields_are_the_most(lead_file):
    """More are refused with their names, until the caller chooses."""
    cleaned = leads.clean(lead_file(wide(21)), region="US")

    with pytest.raises(
        ConfigError, match=r"takes 20 custom fields and there are 21; choose at most 20 .* c0, c1"
    ):
        leads.lead_inputs(cleaned)

    (one,) = leads.lead_inputs(cleaned, keep=["c3", "c20"])
    assert one.body["custom_fields"] == {"c3": "x", "c20": "x"}
    assert (
        len(
            leads.lead_inputs(cleaned, keep=[f"c{at}" for at in range(20)])[0].body[
                "custom_fields"
            ]
        )
        == 20
    )


def test_an_extension_takes_one_of_the_twenty(lead_file):
    """What is added by itself is counted too."""
    cleaned = leads.clean(lead_file(wide(20, "212-555-0142 x7")), region="US")

    with pytest.raises(ConfigError, match="choose at most 19"):
        leads.lead_inputs(cleaned)


def test_unknown_columns_are_refused(lead_file):
    """With those that there are."""
    cleaned = leads.clean(lead_file("phone,City\n212-555-0142,NY\n"), region="US")

    with pytest.raises(ConfigError, match=r"keep names Town, .* they have: City"):
        leads.lead_inputs(cleaned, keep=["Town"])
    assert leads.lead_inputs(cleaned, keep=[])[0].body == {"phone": "+12125550142"}


def test_other_phones_and_opt_outs_are_sent_only_when_asked_for(lead_file):
    """They stay in the clean file; as custom fields they are the caller's choice."""
    cleaned = leads.clean(
        lead_file(
            "Mobile,Home Phone,Fax,DNC,City\n212-555-0142,212-555-0143,212-555-0190,no,NY\n"
        ),
        region="US",
    )

    assert leads.lead_inputs(cleaned)[0].body["custom_fields"] == {"City": "NY"}
    assert leads.custom_columns(cleaned) == ["City", "Mobile", "Home Phone", "Fax", "DNC"]
    assert leads.lead_inputs(cleaned, keep=["Home Phone"])[0].body["custom_fields"] == {
        "Home Phone": "212-555-0143"
    }


def test_every_number_that_is_sent_can_be_screened(lead_file):
    """First and second numbers, once each; what is listed is then set aside or left out."""
    file = lead_file("Phone\n212-555-0142 / 212-555-0143\n212-555-0144\n")
    cleaned = leads.clean(file, region="US")

    assert leads.numbers_to_screen(cleaned) == ["+12125550142", "+12125550144", "+12125550143"]
    again = leads.clean(file, region="US", do_not_call=["+12125550143"])
    assert [one.body for one in leads.lead_inputs(again)] == [
        {"phone": "+12125550142"},
        {"phone": "+12125550144"},
    ]


def test_a_column_of_the_same_name_as_our_own_is_kept(lead_file):
    """`phone_extension` of the file is not blanked by an extension that nobody has."""
    file = lead_file("Phone,phone_other\n212-555-0142,\n")
    own = lead_file("Phone,lead_source\n212-555-0142,fair\n", name="own.csv")
    mapped = leads.clean(own, region="US", mapping={"source": None})

    assert leads.lead_inputs(leads.clean(file, region="US"))[0].body == {"phone": "+12125550142"}
    assert leads.lead_inputs(mapped)[0].body["custom_fields"] == {"lead_source": "fair"}


def test_no_leads_no_inputs(lead_file):
    """An empty list gives an empty list."""
    assert leads.lead_inputs(leads.clean(lead_file("phone\n12\n"), region="US")) == []


def test_leftover_named_like_a_field_is_sent_too(lead_file):
    """A column that is called `full_name` and holds none is a custom field like any other."""
    text = "phone,first_name,full_name\n212-555-0142,Zoe,-7\n212-555-0143,Ann,-8\n"
    mapping = {"phone": "phone", "first_name": "first_name", "full_name": None}
    cleaned = leads.clean(lead_file(text), region="US", mapping=mapping)

    assert [one.body.get("custom_fields") for one in leads.lead_inputs(cleaned)] == [
        {"full_name": "-7"},
        {"full_name": "-8"},
    ]

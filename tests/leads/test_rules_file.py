"""Rules files say what the policy and the fields must be; a mistake is named with its place."""

from __future__ import annotations

import json

import pytest

from dialframe import leads
from dialframe.errors import ConfigError
from dialframe.leads import FieldRule, Policy, Rules, load_rules

TOML = """
blocked_countries = ["ru"]

[policy]
bad_email = "reject"
refused_types = ["premium_rate", "shared_cost"]

[[field]]
field = "custom_fields.City"
required = true
pattern = "[A-Z]{2}"
allowed = ["NY", "LA"]
severity = "warn"

[[field]]
field = "full_name"
max_length = 10
"""
RULES = Rules(
    Policy(bad_email="reject", refused_types=frozenset({"premium_rate", "shared_cost"})),
    (
        FieldRule(
            "custom_fields.City",
            required=True,
            pattern="[A-Z]{2}",
            allowed=("NY", "LA"),
            severity="warn",
        ),
        FieldRule("full_name", max_length=10),
    ),
    ("RU",),
)

PREMIUM = frozenset({"premium_rate"})


def test_toml_and_json_say_the_same(tmp_path):
    """Whichever a person likes."""
    import tomllib

    (tmp_path / "rules.toml").write_text(TOML)
    (tmp_path / "rules.json").write_text(json.dumps(tomllib.loads(TOML)))

    assert load_rules(tmp_path / "rules.toml") == RULES
    assert load_rules(tmp_path / "rules.json") == RULES


def test_a_list_is_the_field_rules_alone(tmp_path):
    """The short form."""
    (tmp_path / "r.json").write_text('[{"field": "email", "required": true}]')

    assert load_rules(tmp_path / "r.json") == Rules(
        field_rules=(FieldRule("email", required=True),)
    )


def test_an_empty_file_changes_nothing(tmp_path):
    """The defaults of the library."""
    (tmp_path / "rules.toml").write_text("")

    assert load_rules(tmp_path / "rules.toml") == Rules()


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("policy = 1", "policy is a table"),
        ("[policy]\nbad_mail = 'drop'", "bad_mail is unknown; it may say: bad_email"),
        ("[policy]\nbad_email = 'keep'", "bad_email cannot be 'keep'; use drop or reject"),
        ("[policy]\nrefused_types = ['free']", "refused_types is a list of fixed_line"),
        ("blocked_countries = 'RU'", "is a list of regions"),
        ("blocked_countries = ['XX']", "XX"),
        ("fields = []", "fields is unknown"),
        ("field = 1", "list of tables"),
        ("[[field]]\nrequired = true", "field rule 1 names no field"),
        ("[[field]]\nfield = 'city'", "names 'city'"),
        ("[[field]]\nfield = 'email'\npattern = '('", "not a regular expression"),
        ("[[field]]\nfield = 'email'\nrequired = 'yes'", "required cannot be 'yes'"),
        ("[[field]]\nfield = 'email'\nmax_length = true", "max_length cannot be True"),
        ("[[field]]\nfield = 'email'\nseverity = 'bad'", "severity cannot be 'bad'"),
        ("[[field]]\nfield = 'email'\nallowed = 'a'", "allowed cannot be 'a'"),
        ("][", "neither TOML nor JSON"),
    ],
)
def test_mistakes_are_named(tmp_path, text, message):
    """What, where, and what may stand there."""
    (tmp_path / "rules.toml").write_text(text)

    with pytest.raises(ConfigError, match=message):
        load_rules(tmp_path / "rules.toml")


def test_a_missing_file_is_named(tmp_path):
    """Not a traceback."""
    with pytest.raises(ConfigError, match=r"nowhere\.toml cannot be read"):
        load_rules(tmp_path / "nowhere.toml")


def test_rules_decide_what_becomes_of_records(lead_file):
    """Severity and policy are data: the same file under other rules."""
    file = lead_file(
        "Name,Phone,City,Notes\nA,212-555-0142,nowhere,\nB,900-555-0143,NY,\nC,212-555-0144,NY,DNC\n"
        "D,212-555-0145,NY,removed\nE,212-555-0146,NY,wrong number\n"
    )
    usual = leads.clean(file, region="US", policy=Policy(refused_types=PREMIUM))
    lax = leads.clean(
        file,
        region="US",
        policy=Policy(
            warned_types=frozenset({"premium_rate"}),
        ),
        field_rules=[FieldRule("custom_fields.City", allowed=("NY",), severity="warn")],
    )
    strict = leads.clean(
        file, region="US", policy=Policy(reserved_number="reject", refused_types=PREMIUM)
    )

    assert usual.reasons["do_not_call"] == {"opt_out_unclear": 3}
    assert usual.reasons["rejected"] == {"phone_line_type": 1}
    assert lax.warnings == {"field_rule": 1, "phone_line_type": 1}
    assert strict.reasons["rejected"] == {
        "phone_line_type": 1,
        "phone_reserved": 1,
    }
    assert len(strict.clean) == 0

"""What a caller may decide about cleaning: policy and field rules, as values or as a file (TOML or JSON).

blocked_countries = ["RU"]

[policy]
bad_email = "reject"
refused_types = ["premium_rate", "shared_cost"]

[[field]]
field = "custom_fields.Policy No"
required = true
pattern = "[A-Z]{2}[0-9]{6}"
severity = "warn"
"""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from dataclasses import dataclass, fields
from pathlib import Path
from typing import Any, Final, Literal, get_args, get_origin, get_type_hints

from dialframe.config import read_toml
from dialframe.errors import ConfigError
from dialframe.phones import TYPES, check_region

_TOP: Final = ("policy", "field", "blocked_countries")
_LINE_TYPES: Final = frozenset(TYPES.values())


def load_rules(path: str | Path) -> Rules:
    """The rules of a file; its form is TOML, or JSON where its name ends in `.json`.

    JSON that is a list is the list of field rules alone.

    Args:
        path: The file.

    Returns:
        The rules, for `clean(rules=...)`.

    Raises:
        ConfigError: The file cannot be read, or says something that is no rule; the sentence names
            the place.

    Example:
        Path("rules.toml").write_text('blocked_countries = ["GB"]', encoding="utf-8")
        rules = dialframe.leads.load_rules("rules.toml")
    """
    path = Path(path)
    try:
        text = path.read_text(encoding="utf-8-sig")
        content = json.loads(text) if path.suffix.lower() == ".json" else read_toml(text)
    except OSError as problem:
        raise ConfigError(f"the rules file {path} cannot be read: {problem.strerror}") from None
    except (ValueError, RecursionError) as problem:
        raise ConfigError(f"{path} is neither TOML nor JSON: {problem}") from None
    if isinstance(content, list):
        content = {"field": content}
    if not isinstance(content, dict):
        raise ConfigError(f"{path} must hold tables: {', '.join(_TOP)}")
    return read_rules(content, str(path))


def read_rules(content: Mapping[str, Any], name: str = "the rules") -> Rules:
    """Rules from plain values: `policy` (table), `field` (list of tables), `blocked_countries`.

    Raises:
        ConfigError: A key or a value is unknown.
    """
    _check_known(content, _TOP, name)
    listed = content.get("field", [])
    if not isinstance(listed, list) or not all(isinstance(each, dict) for each in listed):
        raise ConfigError(f"{name}: field is a list of tables, as in [[field]]")
    countries = content.get("blocked_countries", [])
    if not _are_texts(countries):
        raise ConfigError(f"{name}: blocked_countries is a list of regions, as in ['RU']")
    return Rules(
        policy=_policy(content.get("policy", {}), f"{name}: policy"),
        field_rules=tuple(
            _field_rule(each, f"{name}: field rule {at}")
            for at, each in enumerate(listed, start=1)
        ),
        blocked_countries=tuple(str(check_region(country)) for country in countries),
    )


def _policy(content: object, name: str) -> Policy:
    if not isinstance(content, dict):
        raise ConfigError(f"{name} is a table, as in [policy]")
    types = get_type_hints(Policy)
    _check_known(content, tuple(types), name)
    values: dict[str, Any] = {}
    for key, value in content.items():
        if get_origin(types[key]) is Literal:
            values[key] = _one_of(value, get_args(types[key]), f"{name}.{key}")
        elif _are_texts(value) and set(value) <= _LINE_TYPES:
            values[key] = frozenset(value)
        else:
            raise ConfigError(f"{name}.{key} is a list of {', '.join(sorted(_LINE_TYPES))}")
    return Policy(**values)


def _field_rule(content: Mapping[str, Any], name: str) -> FieldRule:
    _check_known(content, tuple(each.name for each in fields(FieldRule)), name)
    if not isinstance(content.get("field"), str):
        raise ConfigError(f"{name} names no field; write field = 'email' or 'custom_fields.City'")
    checks: dict[str, bool] = {
        "required": isinstance(content.get("required", False), bool),
        "pattern": isinstance(content.get("pattern", ""), str),
        "max_length": type(content.get("max_length", 1)) is int
        and content.get("max_length", 1) > 0,
        "allowed": _are_texts(content.get("allowed", [])),
    }
    for key, fits in checks.items():
        if not fits:
            raise ConfigError(f"{name}: {key} cannot be {content[key]!r}")
    severity = _one_of(content.get("severity", "reject"), ("reject", "warn"), f"{name}: severity")
    return FieldRule(
        field=content["field"],
        required=content.get("required", False),
        pattern=content.get("pattern"),
        max_length=content.get("max_length"),
        allowed=tuple(content.get("allowed", ())),
        severity="warn" if severity == "warn" else "reject",
    )


def _check_known(content: Mapping[str, Any], known: tuple[str, ...], name: str) -> None:
    unknown = [str(key) for key in content if key not in known]
    if unknown:
        raise ConfigError(
            f"{name}: {', '.join(unknown)} is unknown; it may say: {', '.join(known)}"
        )


def _one_of(value: object, known: tuple[Any, ...], name: str) -> str:
    if value not in known:
        raise ConfigError(f"{name} cannot be {value!r}; use {' or '.join(map(str, known))}")
    return str(value)


def _are_texts(value: object) -> bool:
    return isinstance(value, list) and all(isinstance(each, str) for each in value)


#: Before the column of a custom field, as the service names it in its refusals.
CUSTOM: Final = "custom_fields."
#: Fields of a lead that a rule can name.
RULED: Final = (
    "phone",
    "first_name",
    "last_name",
    "full_name",
    "email",
    "external_id",
    "source",
)


@dataclass(frozen=True, slots=True)
class Policy:
    """Decisions that are not the contract's.

    Attributes:
        bad_email: Whether a malformed e-mail address is left out with a warning (`drop`) or
            rejects the record (`reject`).
        blank_consent: What an empty consent cell means: no consent (`do_not_call`), or nothing
            (`clean`).
        repeated_external_id: Whether a second number under an external id is set aside
            (`duplicate`; the service keeps ids unique) or stays (`keep`).
        refused_types: Line types (`phones.TYPES`) whose numbers are refused; a further phone
            column is then tried.
        warned_types: Line types that are a warning.
        reserved_number: What becomes of numbers that are reserved for films and samples
            (+1 212 555 01xx): `keep`, `warn` or `reject`.
        duplicates: Which of the records with one number stays: the `first`, the `newest` by a column
            of days (else the last), or the `fullest`, with most cells filled.
        one_lead_per: Whether a `record` is one lead, with its first number that can be used, or
            each `number` of it is a lead of its own.
    """

    bad_email: Literal["drop", "reject"] = "drop"
    blank_consent: Literal["do_not_call", "clean"] = "do_not_call"
    repeated_external_id: Literal["duplicate", "keep"] = "duplicate"
    refused_types: frozenset[str] = frozenset()
    warned_types: frozenset[str] = frozenset({"premium_rate", "shared_cost", "pager", "voicemail"})
    reserved_number: Literal["keep", "warn", "reject"] = "keep"
    duplicates: Literal["first", "newest", "fullest"] = "first"
    one_lead_per: Literal["record", "number"] = "record"


@dataclass(frozen=True, slots=True)
class FieldRule:
    """A rule of the account for one field; a record that breaks it is rejected as `field_rule`.

    Attributes:
        field: A lead's field, or `custom_fields.<column>`.
        required: Whether the field must be filled.
        pattern: Regular expression that a filled field must match whole.
        max_length: Most characters.
        allowed: Values of which a filled field must be one; empty for any.
        severity: Whether the record is rejected, or stays with a warning.
    """

    field: str
    required: bool = False
    pattern: str | None = None
    max_length: int | None = None
    allowed: tuple[str, ...] = ()
    severity: Literal["reject", "warn"] = "reject"

    def __post_init__(self) -> None:
        if self.field not in RULED and not self.field.startswith(CUSTOM):
            known = ", ".join(RULED)
            raise ConfigError(
                f"a field rule names {self.field!r}; use {known} or custom_fields.<column>"
            )
        try:
            re.compile(self.pattern or "")
        except re.error as problem:
            raise ConfigError(
                f"the pattern of the rule for {self.field} is not a regular expression: {problem}"
            ) from None

    @property
    def column(self) -> str:
        """The column of the cleaned frame that the rule looks at."""
        return self.field.removeprefix(CUSTOM)

    def is_broken_by(self, value: str) -> bool:
        """Whether the value breaks the rule.

        Args:
            value: The cell's text.
        """
        if not value:
            return self.required
        if self.max_length is not None and len(value) > self.max_length:
            return True
        if self.allowed and value not in self.allowed:
            return True
        return self.pattern is not None and re.fullmatch(self.pattern, value) is None


@dataclass(frozen=True, slots=True)
class Rules:
    """All that one rules file decides.

    Attributes:
        policy: Decisions that are not the contract's.
        field_rules: The account's own rules of fields.
        blocked_countries: ISO 3166 regions whose numbers are rejected.
    """

    policy: Policy = Policy()
    field_rules: tuple[FieldRule, ...] = ()
    blocked_countries: tuple[str, ...] = ()

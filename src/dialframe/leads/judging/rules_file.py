"""Rules files (TOML or JSON) to rules.

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
import tomllib
from collections.abc import Mapping
from dataclasses import fields
from pathlib import Path
from typing import Any, Final, Literal, get_args, get_origin, get_type_hints

from dialframe.errors import ConfigError
from dialframe.leads.judging.rules import FieldRule, Policy, Rules
from dialframe.phones import TYPES, check_region

_TOP: Final = ("policy", "field", "blocked_countries")
_LINE_TYPES: Final = frozenset(TYPES.values())


def load_rules(path: str | Path) -> Rules:
    """The rules of a file; its form is TOML, or JSON where its name ends in `.json`.

    JSON that is a list is the list of field rules alone.

    Raises:
        ConfigError: The file cannot be read, or says something that is no rule; the sentence names
            the place.
    """
    path = Path(path)
    try:
        text = path.read_text(encoding="utf-8-sig")
        told = json.loads(text) if path.suffix.lower() == ".json" else tomllib.loads(text)
    except OSError as problem:
        raise ConfigError(f"the rules file {path} cannot be read: {problem.strerror}") from None
    except (ValueError, RecursionError) as problem:
        raise ConfigError(f"{path} is neither TOML nor JSON: {problem}") from None
    if isinstance(told, list):
        told = {"field": told}
    if not isinstance(told, dict):
        raise ConfigError(f"{path} must hold tables: {', '.join(_TOP)}")
    return read_rules(told, str(path))


def read_rules(told: Mapping[str, Any], name: str = "the rules") -> Rules:
    """Rules from plain values: `policy` (table), `field` (list of tables), `blocked_countries`.

    Raises:
        ConfigError: A key or a value is unknown.
    """
    _known(told, _TOP, name)
    listed = told.get("field", [])
    if not isinstance(listed, list) or not all(isinstance(one, dict) for one in listed):
        raise ConfigError(f"{name}: field is a list of tables, as in [[field]]")
    countries = told.get("blocked_countries", [])
    if not _are_texts(countries):
        raise ConfigError(f"{name}: blocked_countries is a list of regions, as in ['RU']")
    return Rules(
        policy=_policy(told.get("policy", {}), f"{name}: policy"),
        field_rules=tuple(
            _field_rule(one, f"{name}: field rule {at}") for at, one in enumerate(listed, start=1)
        ),
        blocked_countries=tuple(str(check_region(country)) for country in countries),
    )


def _policy(told: object, name: str) -> Policy:
    if not isinstance(told, dict):
        raise ConfigError(f"{name} is a table, as in [policy]")
    types = get_type_hints(Policy)
    _known(told, tuple(types), name)
    values: dict[str, Any] = {}
    for key, value in told.items():
        if get_origin(types[key]) is Literal:
            values[key] = _one_of(value, get_args(types[key]), f"{name}.{key}")
        elif _are_texts(value) and set(value) <= _LINE_TYPES:
            values[key] = frozenset(value)
        else:
            raise ConfigError(f"{name}.{key} is a list of {', '.join(sorted(_LINE_TYPES))}")
    return Policy(**values)


def _field_rule(told: Mapping[str, Any], name: str) -> FieldRule:
    _known(told, tuple(one.name for one in fields(FieldRule)), name)
    if not isinstance(told.get("field"), str):
        raise ConfigError(f"{name} names no field; write field = 'email' or 'custom_fields.City'")
    checks: dict[str, bool] = {
        "required": isinstance(told.get("required", False), bool),
        "pattern": isinstance(told.get("pattern", ""), str),
        "max_length": type(told.get("max_length", 1)) is int and told.get("max_length", 1) > 0,
        "allowed": _are_texts(told.get("allowed", [])),
    }
    for key, fits in checks.items():
        if not fits:
            raise ConfigError(f"{name}: {key} cannot be {told[key]!r}")
    severity = _one_of(told.get("severity", "reject"), ("reject", "warn"), f"{name}: severity")
    return FieldRule(
        field=told["field"],
        required=told.get("required", False),
        pattern=told.get("pattern"),
        max_length=told.get("max_length"),
        allowed=tuple(told.get("allowed", ())),
        severity="warn" if severity == "warn" else "reject",
    )


def _known(told: Mapping[str, Any], known: tuple[str, ...], name: str) -> None:
    unknown = [str(key) for key in told if key not in known]
    if unknown:
        raise ConfigError(
            f"{name}: {', '.join(unknown)} is unknown; it may say: {', '.join(known)}"
        )


def _one_of(value: object, known: tuple[Any, ...], name: str) -> str:
    if value not in known:
        raise ConfigError(f"{name} cannot be {value!r}; use {' or '.join(map(str, known))}")
    return str(value)


def _are_texts(value: object) -> bool:
    return isinstance(value, list) and all(isinstance(one, str) for one in value)

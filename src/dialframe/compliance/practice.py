"""What a firm says of its own calling, and what lifts a rule for a call.

The service tells neither the purpose of a call nor how it was dialed, and no consent. A firm that
knows says so here; what is not said is not assumed away: a rule that depends on it is not evaluable.
"""

from __future__ import annotations

import tomllib
from collections.abc import Collection, Mapping
from dataclasses import dataclass, field, replace
from datetime import date
from types import MappingProxyType
from typing import Final, Literal

from pydantic import BaseModel, ConfigDict, Field, TypeAdapter, ValidationError

from dialframe.compliance.rules.rule_model import Rule
from dialframe.errors import ConfigError

SALES: Final = "telemarketing_sales"
#: Purposes that sell: a rule on sales reaches each of them, a rule on one branch that branch alone.
SELLING: Final = (
    SALES, "telecom_sales", "payroll_credit_sales", "claims_management_sales", "pension_sales",
    "energy_renovation_sales", "home_adaptation_sales", "training_account_sales",
)  # fmt: skip
PURPOSES: Final = (*SELLING, "informational", "debt_collection", "survey", "charity", "political")
DIALING: Final = ("manual", "autodialer", "predictive", "prerecorded")

LINE_TYPE: Final = "the line type of the number"
DIALING_MODE: Final = "the dialing mode of the campaign"

#: Dialer modes of the service that say how a call was dialed; others say nothing.
_MODES: Final = {
    "predictive": "predictive",
    "progressive": "autodialer",
    "power": "autodialer",
    "parallel": "autodialer",
    "preview": "manual",
    "manual": "manual",
    "click_to_call": "manual",
    "prerecorded": "prerecorded",
    "broadcast": "prerecorded",
    "voice_broadcast": "prerecorded",
    "ivr": "prerecorded",
    "ai": "prerecorded",
    "ai_agent": "prerecorded",
}

#: What `applies_to` asks of the purpose; the others ask of the dialing, which has its own field.
_BY_PURPOSE: Final = {
    SALES: frozenset(SELLING),
    "live_marketing": frozenset(SELLING),
    "informational_prerecorded": frozenset({"informational"}),
    "any_call": frozenset(PURPOSES),
    "prerecorded": frozenset(PURPOSES),
    "autodialed": frozenset(PURPOSES),
    "any_outbound_dialer": frozenset(PURPOSES),
    "call_centre_outbound": frozenset(PURPOSES),
}

_AUTOMATIC: Final = frozenset({"autodialer", "predictive"})
_REACHED_BY: Final = {
    "prerecorded": frozenset({"prerecorded"}),
    "autodialer": _AUTOMATIC,
    "autodialer_or_prerecorded": _AUTOMATIC | {"prerecorded"},
    "predictive": frozenset({"predictive"}),
}


@dataclass(frozen=True, slots=True)
class Cover:
    """A list that the service's answer covers, as the firm declares it.

    Attributes:
        registry: The list, by the name that a rule gives it (`registry`).
        by: Whether the service's check covers it, or its screen at import.
        since: First day on which it did; None: always.
        refreshed_days: How old the service's copy of the list is at most, in days.
    """

    registry: str
    by: Literal["check", "screen"] = "check"
    since: date | None = None
    refreshed_days: int = 0


@dataclass(frozen=True, slots=True)
class Practice:
    """What a firm says of its calling.

    Attributes:
        purpose: Purpose of every call whose campaign has none of its own, one of `PURPOSES`.
        purposes: Campaign id to purpose.
        dialing: How calls are dialed, one of `DIALING`; None where nobody says.
        dialings: Campaign id to how it is dialed.
        line_types: Number (E.164) to `residential`, `wireless` or `business`, where it is known.
        covers: Lists that the service's check and its screen at import cover. Of a list that is not
            named here an answer of the service proves nothing.
    """

    purpose: str = SALES
    purposes: Mapping[str, str] = field(default_factory=dict)
    dialing: str | None = None
    dialings: Mapping[str, str] = field(default_factory=dict)
    line_types: Mapping[str, str] = field(default_factory=dict)
    covers: tuple[Cover, ...] = ()

    def cover(self, registry: str, by: str) -> Cover | None:
        """What the firm declares of one list; None where it declares nothing.

        Args:
            registry: Name of the list, as in the rule book.
            by: How the list is consulted: `check` or `scrub`.
        """
        for each in self.covers:
            if each.by == by and each.registry.casefold() == registry.casefold():
                return each
        return None


@dataclass(frozen=True, slots=True)
class Setting:
    """What is known of a call beside its number and its time.

    Attributes:
        purpose: One of `PURPOSES`.
        dialing: One of `DIALING`, or None.
        line_type: `residential`, `wireless`, `business`, or None.
        lifted: Codes of exemptions that a record shows for the call.
    """

    purpose: str = SALES
    dialing: str | None = None
    line_type: str | None = None
    lifted: frozenset[str] = frozenset()


def dialing_of(mode: object) -> str | None:
    """How a campaign is dialed, by the service's `dialer_mode`; None where that says nothing."""
    if not isinstance(mode, str):
        return None
    return _MODES.get(mode.strip().lower().replace("-", "_").replace(" ", "_"))


def reach(rule: Rule, setting: Setting) -> tuple[bool, str]:
    """Whether a rule reaches a call, and the input that is missing where that cannot be told.

    A call whose purpose, dialing, line type or exemption is known to lie outside the rule is not
    reached. A missing line type counts as missing only where the rule holds for homes alone or
    for mobiles alone; whether a number is a business is a matter of records, so a number without
    one is taken for a consumer's.
    """
    purposes = frozenset().union(
        *(_BY_PURPOSE.get(each, frozenset({each})) for each in rule.applies_to)
    )
    if setting.purpose not in purposes or rule.exempted_by & setting.lifted:
        return False, ""
    if setting.line_type is not None and setting.line_type not in rule.line_types:
        return False, ""
    missing = []
    if rule.dialing != "any":
        if setting.dialing is None:
            missing.append(DIALING_MODE)
        elif setting.dialing not in _REACHED_BY[rule.dialing]:
            return False, ""
    if setting.line_type is None and not {"residential", "wireless"} <= set(rule.line_types):
        missing.append(LINE_TYPE)
    return True, " and ".join(missing)


def frozen(practice: Practice | None) -> Practice:
    """The practice, or one that says nothing, with its mappings closed."""
    given = practice or Practice()
    return replace(
        given,
        purposes=MappingProxyType(dict(given.purposes)),
        dialings=MappingProxyType(dict(given.dialings)),
        line_types=MappingProxyType(dict(given.line_types)),
    )


class _Campaign(BaseModel):
    model_config = ConfigDict(frozen=True, extra="forbid", strict=True)
    purpose: str | None = None
    dialing: str | None = None


class _Covers(BaseModel):
    model_config = ConfigDict(frozen=True, extra="forbid", strict=True)
    registry: str = Field(min_length=1)
    check: bool = False
    screen: bool = False
    since: date | None = None
    refreshed_days: int = Field(ge=0)
    by: str = Field(min_length=1)
    on: date


class _File(BaseModel):
    model_config = ConfigDict(frozen=True, extra="forbid", strict=True)
    purpose: str = SALES
    dialing: str | None = None
    campaigns: dict[str, _Campaign] = Field(default_factory=dict)
    line_types: dict[str, Literal["residential", "wireless", "business"]] = Field(
        default_factory=dict
    )
    covers: tuple[_Covers, ...] = Field(default=(), strict=False)


_FILE: Final = TypeAdapter(_File)


def read_practice(
    text: str, registries: Collection[str], *, name: str = "practice file"
) -> Practice:
    """What a firm declares of its calling, from TOML text; `dialframe audit practice` writes it.

    Args:
        text: The text. `[[covers]]` names a list (`registry`), whether the service's `check` or its
            `screen` at import covers it, `since` when, how old its copy is at most
            (`refreshed_days`), and who says so (`by`, `on`).
        registries: Names of the lists that the rules speak of.
        name: What errors call the file.

    Raises:
        ConfigError: The text is not TOML, has an unknown field, or names no list of the rules.
    """
    try:
        given = _FILE.validate_python(tomllib.loads(text))
    except tomllib.TOMLDecodeError as error:
        raise ConfigError(f"{name}: not valid TOML ({error}); correct the text") from error
    except ValidationError as error:
        first = error.errors(include_url=False)[0]
        where = ".".join(str(step) for step in first["loc"])
        raise ConfigError(f"{name}: {where}: {first['msg']}; correct the text") from error
    known = {each.casefold() for each in registries}
    covers = []
    for each in given.covers:
        if each.registry.casefold() not in known:
            raise ConfigError(
                f"{name}: {each.registry!r} is no list of the rules; use one of {', '.join(sorted(registries))}"
            )
        for by, is_covered in (("check", each.check), ("screen", each.screen)):
            if is_covered:
                covers.append(Cover(each.registry, by, each.since, each.refreshed_days))  # type: ignore[arg-type]
    purposes = {c: v.purpose for c, v in given.campaigns.items() if v.purpose is not None}
    dialings = {c: v.dialing for c, v in given.campaigns.items() if v.dialing is not None}
    for value, allowed, what in (
        *((p, PURPOSES, "purpose") for p in (given.purpose, *purposes.values())),
        *((d, DIALING, "dialing") for d in (given.dialing, *dialings.values()) if d is not None),
    ):
        if value not in allowed:
            raise ConfigError(f"{name}: {value!r} is no {what}; use one of {', '.join(allowed)}")
    return Practice(
        given.purpose, purposes, given.dialing, dialings, dict(given.line_types), tuple(covers)
    )


def practice_text(covers: Collection[tuple[str, bool, bool, int]], *, by: str, on: date) -> str:
    """Text of a practice file from answers: list, whether check and screen cover it, age of the copy in days."""
    parts = [
        "# What this firm says of its calling. An answer of the service proves nothing of a list that is not here.\n"
        f'purpose = "{SALES}"\n'
    ]
    parts += [
        f"\n[[covers]]\nregistry = {_quoted(registry)}\ncheck = {str(check).lower()}\nscreen = {str(screen).lower()}\n"
        f"refreshed_days = {days}\nby = {_quoted(by)}\non = {on}\n"
        for registry, check, screen, days in covers
    ]
    return "".join(parts)


def _quoted(text: str) -> str:
    return '"' + text.replace("\\", "\\\\").replace('"', '\\"') + '"'

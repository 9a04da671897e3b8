"""What a firm says of its own calling, and what lifts a rule for a call; knows no law and no clock.

The service tells neither the purpose of a call nor how it was dialled, and no consent. A firm that
knows says so here; what is not said is not assumed away: a rule that depends on it is not evaluable.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from types import MappingProxyType
from typing import Final

from dialframe.compliance.facts import Rule

SALES: Final = "telemarketing_sales"
PURPOSES: Final = (
    SALES, "telecom_sales", "payroll_credit_sales", "informational", "debt_collection", "survey",
    "charity", "political",
)  # fmt: skip
DIALING: Final = ("manual", "autodialer", "predictive", "prerecorded")

LINE_TYPE: Final = "the line type of the number"
DIALING_MODE: Final = "the dialing mode of the campaign"

#: Dialer modes of the service that say how a call was dialled; others say nothing.
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
    SALES: frozenset({SALES, "telecom_sales", "payroll_credit_sales"}),
    "live_marketing": frozenset({SALES, "telecom_sales", "payroll_credit_sales"}),
    "telecom_sales": frozenset({"telecom_sales"}),
    "payroll_credit_sales": frozenset({"payroll_credit_sales"}),
    "informational": frozenset({"informational"}),
    "informational_prerecorded": frozenset({"informational"}),
    "debt_collection": frozenset({"debt_collection"}),
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
class Practice:
    """What a firm says of its calling.

    Attributes:
        purpose: Purpose of every call whose campaign has none of its own, one of `PURPOSES`.
        purposes: Campaign id to purpose.
        dialing: How calls are dialled, one of `DIALING`; None where nobody says.
        dialings: Campaign id to how it is dialled.
        line_types: Number (E.164) to `residential`, `wireless` or `business`, where it is known.
    """

    purpose: str = SALES
    purposes: Mapping[str, str] = field(default_factory=dict)
    dialing: str | None = None
    dialings: Mapping[str, str] = field(default_factory=dict)
    line_types: Mapping[str, str] = field(default_factory=dict)


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
    """How a campaign is dialled, by the service's `dialer_mode`; None where that says nothing."""
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
    return Practice(
        given.purpose,
        MappingProxyType(dict(given.purposes)),
        given.dialing,
        MappingProxyType(dict(given.dialings)),
        MappingProxyType(dict(given.line_types)),
    )

"""The account's switches and settings, with what they start as; knows no operation that reads them."""

from __future__ import annotations

import ipaddress
from typing import Annotated, Literal

from pydantic import AfterValidator, BaseModel, ConfigDict, Field, StringConstraints


def _network(text: str) -> str:
    ipaddress.ip_network(text, strict=False)
    return text


Country = Annotated[str, StringConstraints(pattern=r"^[A-Z]{2}$")]
TimeOfDay = Annotated[str, StringConstraints(pattern=r"^(([01][0-9]|2[0-3]):[0-5][0-9]|24:00)$")]
Amount = int | Annotated[float, Field(allow_inf_nan=False)]
Cap = Annotated[int, Field(ge=0)] | Annotated[float, Field(ge=0, allow_inf_nan=False)] | None
#: An address or a network such as `127.0.0.1` or `10.0.0.0/8`.
Address = Annotated[str, AfterValidator(_network)]


class CallingHours(BaseModel):
    """Called party's local time, half-open: a call at `end` is outside."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    start: TimeOfDay
    end: TimeOfDay


class Settings(BaseModel):
    """Everything that an administrator or the operator can set; the sandbox starts wide open.

    Attributes:
        balance: Money left, in the account's currency; the sandbox never takes any off.
        daily_cap: Calls, texts, callbacks and launches of one UTC day, or no cap.
        spend_cap: Estimated spend of one UTC day, or no cap.
        per_minute_cap: Calls and texts of 60 seconds, or no cap.
        blocked_countries: Countries that are neither called nor texted nor booked.
        sanctioned_countries: The same, and their numbers are not even imported.
        registry_stale: A national do-not-call list is out of date or missing.
        block_stale_registry: The account refuses launches while that is so.
        dnc_screen_available: Whether the Do-Not-Call screen can run.
    """

    model_config = ConfigDict(extra="forbid", frozen=True, strict=True)

    tier2_campaign_resume_enabled: bool = True
    tier2_callback_write_enabled: bool = True
    tier2_appointment_write_enabled: bool = True
    tier2_consent_write_enabled: bool = True
    tier2_sms_send_enabled: bool = True
    tier2_calls_originate_enabled: bool = True
    webhooks_enabled: bool = True
    api_access_enabled: bool = True
    sandbox_enabled: bool = True
    sending_suspended: bool = False
    outbound_approved: bool = True
    balance: Amount = 100
    daily_cap: Cap = None
    spend_cap: Cap = None
    per_minute_cap: Cap = None
    blocked_countries: tuple[Country, ...] = ()
    sanctioned_countries: tuple[Country, ...] = ("CU", "IR", "KP", "SY")
    calling_hours: CallingHours | None = None
    consent_required: bool = False
    registry_stale: bool = False
    block_stale_registry: bool = False
    dnc_screen_available: bool = True
    rate_limits: Literal["contract"] | None = "contract"
    allow_loopback_webhooks: bool = True
    ip_allow: tuple[Address, ...] = ()

    @property
    def unreachable(self) -> frozenset[str]:
        """Countries that are neither called nor texted nor booked."""
        return frozenset((*self.blocked_countries, *self.sanctioned_countries))

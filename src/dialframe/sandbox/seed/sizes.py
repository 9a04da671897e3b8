"""How much of an account is made at each size; knows names and numbers, draws nothing."""

from __future__ import annotations

from dataclasses import dataclass, replace

VOICEMAIL_AS_COMPLETED = "voicemail_as_completed"
DURATION_IS_TOTAL = "duration_is_total"


@dataclass(frozen=True, slots=True)
class CampaignPlan:
    """One campaign before it is made.

    Attributes:
        name: Its name.
        status: A state of the contract.
        dialer_mode: A word of the platform; the contract shows none.
        share: Its part of all leads.
        opens: When dialling begins, as a fraction of the history; None when it never did.
        closes: When dialling ends, as a fraction of the history; 1 is the history's end.
        trait: A fault that the whole campaign has, or nothing.
    """

    name: str
    status: str
    dialer_mode: str
    share: float
    opens: float | None
    closes: float = 1.0
    trait: str = ""


@dataclass(frozen=True, slots=True)
class FaultPlan:
    """How many of each scripted fault are planted; the rates are those of `marks`.

    Attributes:
        after_dnc: Calls after a Do-Not-Call disposition.
        late_summer_side: Calls at 21:00-21:55 local in the week of the clock change, on the days
            of daylight saving time: an audit with the standard offset takes them for 20:00-20:55.
        late_standard_side: The same on the days of standard time.
        decoys_standard_side: Calls at 20:30-20:59 local on the days of standard time, allowed: an
            audit with the daylight-saving offset takes them for 21:30-21:59.
        decoys_summer_side: The same on the days of daylight saving time.
        before_hours: Calls at 07:00-07:59 local.
        mixed_zone: Calls inside the hours in one zone of the area code, outside in another.
        too_often: Numbers dialled four times or more within 24 hours.
        dnc_not_listed: Do-Not-Call dispositions whose number never reached the list.
        unmapped: Calls with a disposition that no taxonomy knows.
    """

    after_dnc: int
    late_summer_side: int
    late_standard_side: int
    decoys_standard_side: int
    decoys_summer_side: int
    before_hours: int
    mixed_zone: int
    too_often: int
    dnc_not_listed: int
    unmapped: int


@dataclass(frozen=True, slots=True)
class Size:
    """Everything that a size decides.

    Attributes:
        leads: Leads, exactly.
        calls: Calls in any direction, exactly.
        history_days: Days of history before the as-of day.
        campaigns: The campaigns, the first of which is dialled over the whole history.
        further_attempts: Mean of the exponential part of a lead's attempts, set so that slightly
            more calls are drawn than wanted and the surplus can be left out.
        local_codes: Area codes in which the account owns a caller ID.
        agents: Agents.
        registry: Numbers on the Do-Not-Call list besides `places.REGISTRY_BLOCKS`.
        events: Webhook events of the last 30 days, at most.
        wide_lines: Whether leads may also have lines 0200 to 8999 of the 555 exchange.
        faults: What is planted.
    """

    leads: int
    calls: int
    history_days: int
    campaigns: tuple[CampaignPlan, ...]
    further_attempts: float
    local_codes: int
    agents: int
    registry: int
    events: int
    wide_lines: bool
    faults: FaultPlan


_SIX = (
    CampaignPlan("Home insurance renewals", "running", "predictive", 0.39, 0.0),
    CampaignPlan(
        "Solar survey follow-up", "running", "progressive", 0.20, 0.45, 1.0, VOICEMAIL_AS_COMPLETED
    ),
    CampaignPlan("Fibre upgrade spring", "completed", "predictive", 0.21, 0.02, 0.50),
    CampaignPlan(
        "Dental check-up reminders", "paused", "preview", 0.17, 0.30, 0.80, DURATION_IS_TOTAL
    ),
    CampaignPlan("Winter tyres", "ready", "progressive", 0.02, None),
    CampaignPlan("New year renewals", "draft", "preview", 0.01, None),
)

_TWELVE = (
    *(replace(plan, share=plan.share / 2) for plan in _SIX),
    CampaignPlan("Gym win-back", "running", "predictive", 0.12, 0.20),
    CampaignPlan("Car service reminders", "running", "progressive", 0.10, 0.55),
    CampaignPlan("Charity spring appeal", "completed", "predictive", 0.10, 0.05, 0.35),
    CampaignPlan("Energy tariff change", "completed", "predictive", 0.08, 0.25, 0.70),
    CampaignPlan("Hearing test invitations", "paused", "preview", 0.07, 0.40, 0.90),
    CampaignPlan("Travel insurance leads", "paused", "predictive", 0.03, 0.60, 0.75),
)

_FULL = FaultPlan(
    after_dnc=5,
    late_summer_side=5,
    late_standard_side=2,
    decoys_standard_side=3,
    decoys_summer_side=2,
    before_hours=3,
    mixed_zone=4,
    too_often=9,
    dnc_not_listed=2,
    unmapped=4,
)
_FEW = FaultPlan(
    after_dnc=1,
    late_summer_side=1,
    late_standard_side=1,
    decoys_standard_side=1,
    decoys_summer_side=1,
    before_hours=1,
    mixed_zone=2,
    too_often=2,
    dnc_not_listed=1,
    unmapped=1,
)

EMPTY = "empty"

SIZES: dict[str, Size] = {
    "tiny": Size(
        leads=300,
        calls=1_000,
        history_days=91,
        campaigns=_SIX,
        further_attempts=6.5,
        local_codes=4,
        agents=6,
        registry=300,
        events=40,
        wide_lines=False,
        faults=_FEW,
    ),
    "small": Size(
        leads=3_000,
        calls=10_000,
        history_days=182,
        campaigns=_SIX,
        further_attempts=5.4,
        local_codes=20,
        agents=12,
        registry=3_000,
        events=60,
        wide_lines=False,
        faults=_FULL,
    ),
    "medium": Size(
        leads=30_000,
        calls=100_000,
        history_days=182,
        campaigns=_TWELVE,
        further_attempts=4.9,
        local_codes=20,
        agents=40,
        registry=10_000,
        events=60,
        wide_lines=True,
        faults=_FULL,
    ),
    "large": Size(
        leads=300_000,
        calls=1_000_000,
        history_days=182,
        campaigns=_TWELVE,
        further_attempts=4.9,
        local_codes=20,
        agents=150,
        registry=20_000,
        events=60,
        wide_lines=True,
        faults=_FULL,
    ),
}

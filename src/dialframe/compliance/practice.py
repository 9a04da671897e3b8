"""What a firm says of its own calling, and what lifts a rule for a call.

The service tells neither the purpose of a call nor how it was dialed, and no consent. A firm that
knows says so here; what is not said is not assumed away: a rule that depends on it is not evaluable.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping
from dataclasses import dataclass, field, fields
from datetime import date
from typing import Annotated, Final, Literal

from pydantic import AfterValidator, BaseModel, ConfigDict, Field, TypeAdapter, ValidationError

from dialframe.compliance.rules.rule_model import nowhere
from dialframe.compliance.rules.toml_validation import read_form
from dialframe.errors import ConfigError
from dialframe.privacy import E164, mask

SALES: Final = "telemarketing_sales"
#: Purposes that sell: a rule on sales reaches each of them, a rule on one branch that branch alone.
SELLING: Final = (
    SALES, "telecom_sales", "payroll_credit_sales", "claims_management_sales", "pension_sales",
    "energy_supply_sales", "energy_renovation_sales", "home_adaptation_sales",
    "training_account_sales",
)  # fmt: skip
PURPOSES: Final = (*SELLING, "informational", "debt_collection", "survey", "charity", "political")
#: How calls are dialed, in the words of 47 U.S.C. 227(a)(1), (b)(1) and 16 CFR 310.4(b)(4).
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
    # FCC 24-17: a voice that is made by a machine is an artificial one of 47 U.S.C. 227(b)(1).
    "ai": "prerecorded",
    "ai_agent": "prerecorded",
}

#: Dialer modes of the service in which an artificial voice speaks.
_VOICES: Final = frozenset({"ai", "ai_agent", "ai_voice", "voice_ai", "voicebot"})


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
class Conduct:
    """What is said and recorded on calls; None where nobody says.

    Attributes:
        recorded: Whether calls are recorded.
        recording_announced: Whether the called person is told so at the start of the call.
        artificial_voice: Whether an artificial voice speaks.
        voice_announced: Whether the called person is told so at the start of the call.
        recording_agreed: Whether nothing is recorded before the called person agrees to it.
    """

    recorded: bool | None = None
    recording_announced: bool | None = None
    artificial_voice: bool | None = None
    voice_announced: bool | None = None
    recording_agreed: bool | None = None

    def over(self, other: Conduct) -> Conduct:
        """This where it says something, the other where it does not."""
        values = {
            each.name: mine if (mine := getattr(self, each.name)) is not None else getattr(other, each.name)
            for each in fields(self)
        }  # fmt: skip
        return Conduct(**values)


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
        sectors: What is sold, of `SELLING`; a rule on one sector reaches the firm's calls. Where
            there are several, a call whose campaign names none is not evaluable by such a rule.
        campaign_sectors: Campaign id to the sectors that it is of.
        caller_ids: Numbers (E.164) that are the firm's own to show; None where nobody says.
        callers_in: Where the callers sit, `US-CA` or `DE`: the other end of a recorded call.
        conduct: What is said and recorded on calls whose campaign has nothing of its own.
        conducts: Campaign id to what is said and recorded on its calls.
    """

    purpose: str = SALES
    purposes: Mapping[str, str] = field(default_factory=dict)
    dialing: str | None = None
    dialings: Mapping[str, str] = field(default_factory=dict)
    line_types: Mapping[str, str] = field(default_factory=dict)
    covers: tuple[Cover, ...] = ()
    sectors: tuple[str, ...] = ()
    campaign_sectors: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    caller_ids: frozenset[str] | None = None
    callers_in: tuple[str, ...] = ()
    conduct: Conduct = field(default_factory=Conduct)
    conducts: Mapping[str, Conduct] = field(default_factory=dict)

    def cover(self, registry: str, by: str) -> Cover | None:
        """What the firm declares of one list; None where it declares nothing.

        Args:
            registry: Name of the list, as in the rule book.
            by: How the list is consulted: `check` or `screen`.
        """
        for each in self.covers:
            if each.by == by and each.registry.casefold() == registry.casefold():
                return each
        return None


def speaks_artificially(mode: object) -> bool:
    """Whether an artificial voice speaks in a campaign, by the service's `dialer_mode`."""
    # FCC 24-17 (2024): the TCPA's words on artificial voices cover voices that a model makes.
    return isinstance(mode, str) and _plain(mode) in _VOICES


def _plain(mode: str) -> str:
    return mode.strip().lower().replace("-", "_").replace(" ", "_")


def dialing_of(mode: object) -> str | None:
    """How a campaign is dialed, by the service's `dialer_mode`; None where that says nothing."""
    if not isinstance(mode, str):
        return None
    return _MODES.get(_plain(mode))


def _one_of(allowed: Collection[str], what: str) -> AfterValidator:
    def known(value: str) -> str:
        if value not in allowed:
            raise ValueError(f"{value!r} is no {what}; use one of {', '.join(allowed)}")
        return value

    return AfterValidator(known)


def _whole_number(number: str) -> str:
    """Numbers are compared as text: another spelling would reach no call, or make each a violation."""
    if E164.fullmatch(number) is None:
        raise ValueError(f"{mask(number)} is not an E.164 number; write it as +12125550142")
    return number


def _check_place(place: str) -> str:
    """A place that does not exist would leave a rule out in silence."""
    problem = nowhere(place.upper())
    if problem is not None:
        raise ValueError(problem)
    return place.upper()


_Purpose = Annotated[str, _one_of(PURPOSES, "purpose")]
_Dialing = Annotated[str, _one_of(DIALING, "dialing")]
_Sectors = Annotated[
    tuple[Annotated[str, _one_of(SELLING, "sector")], ...], Field(default=(), strict=False)
]
_Number = Annotated[str, AfterValidator(_whole_number)]
_Place = Annotated[str, AfterValidator(_check_place)]


class _Form(BaseModel):
    model_config = ConfigDict(frozen=True, extra="forbid", strict=True, hide_input_in_errors=True)


class _Campaign(_Form):
    purpose: _Purpose | None = None
    dialing: _Dialing | None = None
    sectors: _Sectors
    recorded: bool | None = None
    recording_announced: bool | None = None
    recording_agreed: bool | None = None
    artificial_voice: bool | None = None
    voice_announced: bool | None = None

    @property
    def conduct(self) -> Conduct:
        return Conduct(**{each.name: getattr(self, each.name) for each in fields(Conduct)})


class _Covers(_Form):
    registry: str = Field(min_length=1)
    check: bool = False
    screen: bool = False
    since: date | None = None
    refreshed_days: int = Field(ge=0)
    by: str = Field(min_length=1)
    on: date


class _File(_Campaign):
    caller_ids: tuple[_Number, ...] | None = Field(default=None, strict=False)
    callers_in: tuple[_Place, ...] = Field(default=(), strict=False)
    campaigns: dict[str, _Campaign] = Field(default_factory=dict)
    line_types: dict[str, Literal["residential", "wireless", "business"]] = Field(
        default_factory=dict
    )
    covers: tuple[_Covers, ...] = Field(default=(), strict=False)


_FILE: Final = TypeAdapter(_File)


def read_practice(
    text: str, registries: Collection[str], *, name: str = "practice file"
) -> Practice:
    """What a firm declares of its calling, from TOML text; `dialframe firm` writes it into the firm file.

    Args:
        text: The text. `[[covers]]` names a list (`registry`), whether the service's `check` or its
            `screen` at import covers it, `since` when, how old its copy is at most
            (`refreshed_days`), and who says so (`by`, `on`). For the whole firm, or under
            `[campaigns.ID]`: `purpose`, `dialing`, `sectors`, `recorded`, `recording_announced`,
            `recording_agreed`, `artificial_voice`, `voice_announced`. For the whole firm: `caller_ids`, `callers_in`.
        registries: Names of the lists that the rules speak of.
        name: What errors call the file.

    Raises:
        ConfigError: The text is not TOML, has an unknown field, or names no list of the rules.
    """
    return _practice_of(read_form(_FILE, text, name), registries, name)


def practice_of(
    tables: Mapping[str, object], registries: Collection[str], *, name: str = "firm file"
) -> Practice:
    """What a firm declares of its calling, from the `[practice]` tables of its firm file.

    Args:
        tables: The tables, as `read_practice` reads them from text.
        registries: Names of the lists that the rules speak of.
        name: What errors call the file.

    Raises:
        ConfigError: A field is unknown or wrong, or a list is none of the rules.
    """
    try:
        form = _FILE.validate_python(dict(tables))
    except ValidationError as error:
        fault = error.errors(include_url=False, include_input=False)[0]
        where = ".".join(map(str, ("practice", *fault["loc"])))
        raise ConfigError(f"{name}: {where}: {fault['msg']}; correct the file") from None
    return _practice_of(form, registries, name)


def _practice_of(form: _File, registries: Collection[str], name: str) -> Practice:
    # A list that no rule speaks of would be declared, and cover nothing.
    known = {registry.casefold() for registry in registries}
    # A list that the check and the screen cover is declared twice: they prove different things.
    covers = []
    for cover in form.covers:
        if cover.registry.casefold() not in known:
            raise ConfigError(
                f"{name}: {cover.registry!r} is not a list of the rules; use one of {', '.join(sorted(registries))}"
            )
        for by, is_covered in (("check", cover.check), ("screen", cover.screen)):
            if is_covered:
                covers.append(Cover(cover.registry, by, cover.since, cover.refreshed_days))  # type: ignore[arg-type]
    for number in form.line_types:
        try:
            _whole_number(number)
        except ValueError as error:
            raise ConfigError(f"{name}: line_types: {error}") from None
    # What a campaign does not say goes by what the firm says.
    campaigns = form.campaigns.items()
    return Practice(
        purpose=form.purpose or SALES,
        purposes={c: v.purpose for c, v in campaigns if v.purpose is not None},
        dialing=form.dialing,
        dialings={c: v.dialing for c, v in campaigns if v.dialing is not None},
        line_types=dict(form.line_types),
        covers=tuple(covers),
        sectors=form.sectors,
        campaign_sectors={c: v.sectors for c, v in campaigns if v.sectors},
        caller_ids=None if form.caller_ids is None else frozenset(form.caller_ids),
        callers_in=form.callers_in,
        conduct=form.conduct,
        conducts={c: v.conduct for c, v in campaigns if v.conduct != Conduct()},
    )


def practice_text(covers: Collection[tuple[str, bool, bool, int]], *, by: str, on: date) -> str:
    """Text of a practice file from answers: list, whether check and screen cover it, age of the copy in days."""
    parts = [
        "# What this firm says of its calling. An answer of the service proves nothing of a list that is not here.\n"
        f'purpose = "{SALES}"\n'
    ]
    parts += [
        f"\n[[covers]]\nregistry = {_quote(registry)}\ncheck = {str(check).lower()}\nscreen = {str(screen).lower()}\n"
        f"refreshed_days = {days}\nby = {_quote(by)}\non = {on}\n"
        for registry, check, screen, days in covers
    ]
    return "".join(parts)


def _quote(text: str) -> str:
    return '"' + text.replace("\\", "\\\\").replace('"', '\\"') + '"'

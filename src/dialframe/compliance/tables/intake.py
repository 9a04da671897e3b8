"""Takes in frames of the account and the firm's records: columns and instants checked, nothing dropped or graded."""

from __future__ import annotations

from datetime import datetime
from typing import TYPE_CHECKING, Final, get_args

import pandas as pd

from dialframe import instants
from dialframe.compliance.rules.rule_model import FreshnessRule
from dialframe.compliance.rules.rule_parameters import ExemptionCode
from dialframe.compliance.tables import FRAMES
from dialframe.compliance.tables.law import KINDS
from dialframe.errors import ConfigError
from dialframe.frames import CALLBACKS, CALLS, DNC_CHECKS, LEADS, Column, Table
from dialframe.frames.frame_schemas import DTYPES

if TYPE_CHECKING:
    from dialframe.compliance.rules.rulebook import RuleBook

CALLS_READ: Final = (
    "id", "direction", "from_number", "to_number", "created_at", "ended_at", "campaign_id", "disposition",
)  # fmt: skip
#: Columns that some checks read where a frame has them; null throughout where it has not.
CALLS_WELCOME: Final = ("status", "answered_at", "duration_seconds", "hangup_cause")
LEADS_READ: Final = ("id", "campaign_id", "phone", "status", "created_at", "updated_at")
_CALLBACKS: Final = ("id", "lead_id", "campaign_id", "scheduled_at", "status")
CHECKS_READ: Final = ("phone", "listed", "checked_at", "request_id")

#: A number in E.164 as an integer; null for any other text. ITU-T E.164: 15 digits at most.
E164: Final = """
    create or replace macro e164(text) as
      case when '+' || try_cast(substr(text, 2) as bigint) = text and length(text) between 8 and 16
        then try_cast(substr(text, 2) as bigint) end"""
#: Integers beside the numbers of a table: every query goes by them.
OF_CALLS: Final = "e164(to_number) as to_phone"
OF_ROWS: Final = "e164(phone) as phone_key"

#: Among the fields that the service added to a call, as JSON: whether it was recorded.
RECORDING: Final = r'"recording"\s*:\s*(true|false)'

EXEMPTIONS: Final = FRAMES["exemptions"]
EXEMPTION_CODES: Final = frozenset(get_args(ExemptionCode))
#: What a relationship rests on.
_RELATIONSHIPS: Final = ("purchase", "inquiry")

CONSENTS: Final = FRAMES["consents"]
LOOK_UPS: Final = FRAMES["look_ups"]


def take_calls(calls: pd.DataFrame) -> pd.DataFrame:
    """Columns of the calls table that an audit reads, on a fresh index.

    Raises:
        ConfigError: A column is missing or an instant has no time zone.
    """
    kinds = {column.name: column.kind for column in CALLS.columns}
    absent = {
        name: pd.Series(None, index=calls.index, dtype=DTYPES[kinds[name]])
        for name in CALLS_WELCOME
        if name not in calls.columns
    }
    taken = checked(
        calls.assign(**absent) if absent else calls, CALLS, (*CALLS_READ, *CALLS_WELCOME)
    )
    return taken.assign(recorded=recorded(calls, len(calls)))


def recorded(calls: pd.DataFrame, rows: int) -> pd.Series:
    """Whether each call was recorded, where the service says so in a field of its own (`recording`)."""
    if "recording" in calls.columns:
        recording = calls["recording"].reset_index(drop=True)
        return (
            recording.astype("object").where(recording.isin([True, False]), None).astype("boolean")
        )
    none = pd.Series(None, index=range(rows), dtype="boolean")
    if "_extra" not in calls.columns or not calls["_extra"].notna().any():
        return none
    extra = calls["_extra"].reset_index(drop=True).astype("str")
    recording = extra.str.extract(RECORDING, expand=False)
    return recording.map({"true": True, "false": False}).astype("boolean")


def take_leads(leads: pd.DataFrame | None) -> pd.DataFrame:
    """Columns of the leads table; no rows for None.

    Raises:
        ConfigError: A column is missing or an instant has no time zone.
    """
    return checked(_or_empty(leads, LEADS_READ), LEADS, LEADS_READ)


def take_checks(checks: pd.DataFrame | None) -> pd.DataFrame:
    """Columns of the ledger of checks; no rows for None.

    Raises:
        ConfigError: A column is missing or an instant has no time zone.
    """
    return checked(_or_empty(checks, CHECKS_READ), DNC_CHECKS, CHECKS_READ)


def take_callbacks(callbacks: pd.DataFrame | None) -> pd.DataFrame:
    """Columns of the callbacks table; no rows for None.

    Raises:
        ConfigError: A column is missing or an instant has no time zone.
    """
    return checked(_or_empty(callbacks, _CALLBACKS), CALLBACKS, _CALLBACKS)


def moment(at: datetime) -> pd.Timestamp:
    """An aware moment as a UTC timestamp.

    Raises:
        ConfigError: The moment has no time zone.
    """
    if at.tzinfo is None:
        raise ConfigError(
            "compliance: the moment of the audit has no time zone; pass an aware datetime"
        )
    return pd.Timestamp(at).tz_convert("UTC").as_unit("us")


def checked(frame: pd.DataFrame, table: Table, names: tuple[str, ...]) -> pd.DataFrame:
    """The named columns of a frame with the table's dtypes, on a fresh index.

    Instants may be text with a zone; a text that names none is null, so its row is graded as one
    whose time is missing.

    Raises:
        ConfigError: A column is missing, of another kind, or an instant without a time zone.
    """
    missing = [name for name in names if name not in frame.columns]
    if missing:
        raise ConfigError(
            f"compliance: the {table.name} frame has no column {', '.join(missing)}; "
            f"pass a frame of the {table.name} table"
        )
    kinds = {column.name: column for column in table.columns}
    return pd.DataFrame({name: _column(frame[name], kinds[name], table) for name in names})


def _column(series: pd.Series, column: Column, table: Table) -> pd.Series:
    values = series.reset_index(drop=True)
    if column.kind == "instant" and _is_text(values):
        instants_read = [
            instants.parse(text) if isinstance(text, str) else None for text in values
        ]
        return pd.Series(instants_read, index=values.index, dtype=DTYPES["instant"])
    zoned = isinstance(values.dtype, pd.DatetimeTZDtype)
    if column.kind == "instant" and not zoned and values.notna().any():
        raise ConfigError(
            f"compliance: {column.name} of the {table.name} frame is not an instant with a time "
            "zone; convert it to UTC first"
        )
    try:
        if column.kind == "instant":
            return pd.to_datetime(values, utc=True).astype(DTYPES["instant"])
        return values.astype(DTYPES[column.kind])
    except (TypeError, ValueError) as error:
        raise ConfigError(
            f"compliance: {column.name} of the {table.name} frame cannot be read as "
            f"{column.kind}; pass a frame of the {table.name} table"
        ) from error


def _is_text(values: pd.Series) -> bool:
    """Whether a column is text throughout, some of which may name no instant."""
    if isinstance(values.dtype, pd.DatetimeTZDtype):
        return False
    present = values.dropna()
    return len(present) > 0 and all(isinstance(each, str) for each in present)


def _or_empty(frame: pd.DataFrame | None, names: tuple[str, ...]) -> pd.DataFrame:
    return pd.DataFrame({name: [] for name in names}) if frame is None else frame


def take_exemptions(records: pd.DataFrame | None, book: RuleBook | None = None) -> pd.DataFrame:
    """Records of exemptions at the door.

    A relationship (`ebr`) whose record says what it rests on ends by itself, for numbers of North
    America: so many months after a purchase or an inquiry as the book's rule on listed numbers says.

    Args:
        records: Columns `EXEMPTIONS`; those that are absent are null throughout. None for none.
        book: The rules; None: relationships end when their records say so.

    Raises:
        ConfigError: A code is not known, or a row has no record to show or nothing that it is for.
    """
    given = pd.DataFrame({c.name: [] for c in EXEMPTIONS}) if records is None else records
    frame = pd.DataFrame(
        {
            c.name: (
                given[c.name].reset_index(drop=True)
                if c.name in given.columns
                else pd.Series([None] * len(given))
            ).astype(DTYPES[c.kind])
            for c in EXEMPTIONS
        }
    )
    odd = sorted(set(frame["code"].dropna()) - EXEMPTION_CODES)
    if odd or frame["code"].isna().any():
        raise ConfigError(
            f"exemptions: {odd[0] if odd else 'a missing code'!r} is no code; use one of "
            f"{', '.join(sorted(EXEMPTION_CODES))}"
        )
    if frame["record"].isna().any():
        raise ConfigError(
            "exemptions: a row names no record; an exemption counts only with what shows it"
        )
    if frame[["call_id", "phone", "campaign_id"]].isna().all(axis=1).any():
        raise ConfigError("exemptions: a row names no call, number or campaign that it is for")
    odd_kinds = sorted(set(frame["kind"].dropna()) - set(_RELATIONSHIPS))
    if odd_kinds:
        raise ConfigError(
            f"exemptions: kind {odd_kinds[0]!r} is not known; use {', '.join(_RELATIONSHIPS)}"
        )
    return frame if book is None else _ended(frame, book)


def _ended(frame: pd.DataFrame, book: RuleBook) -> pd.DataFrame:
    """Relationships with the end that the rules set them."""
    rules = [r.parameters for r in book.of_kind(FreshnessRule) if r.parameters.ebr_purchase_months]
    if not rules:
        return frame
    here = frame["phone"].isna() | frame["phone"].str.startswith("+1").fillna(value=False)
    found = frame.copy()
    for kind, months in (
        (_RELATIONSHIPS[0], min(each.ebr_purchase_months for each in rules)),
        (_RELATIONSHIPS[1], min(each.ebr_inquiry_months for each in rules)),
    ):
        rows = (here & (frame["code"] == "ebr") & (frame["kind"] == kind)).to_numpy(dtype=bool)
        ends = frame["from_at"] + pd.DateOffset(months=months)
        sooner = rows & ~(frame["until_at"] <= ends).fillna(value=False).to_numpy(dtype=bool)
        found["until_at"] = found["until_at"].mask(sooner & ends.notna().to_numpy(), ends)
    return found


def take_consents(consents: pd.DataFrame | None) -> pd.DataFrame | None:
    """Records of consent, columns `CONSENTS`; None for None.

    Raises:
        ConfigError: A column is missing, an instant has no time zone, a kind is not known, or a
            number is not E.164.
    """
    taken = _shape(consents, CONSENTS, "consents")
    if consents is not None and "granted_at" not in consents.columns:
        raise ConfigError("consents: there is no column granted_at; add when each was given")
    if taken is not None:
        odd = sorted(set(taken["kind"].dropna()) - set(KINDS))
        if odd:
            raise ConfigError(f"consents: kind {odd[0]!r} is not known; use {', '.join(KINDS)}")
    return taken


def take_look_ups(look_ups: pd.DataFrame | None) -> pd.DataFrame | None:
    """Look-ups of numbers, columns `LOOK_UPS`; None for None.

    Raises:
        ConfigError: A column is missing, an instant has no time zone, or a number is not E.164.
    """
    return _shape(look_ups, LOOK_UPS, "look-ups")


def _shape(
    frame: pd.DataFrame | None, columns: tuple[Column, ...], name: str
) -> pd.DataFrame | None:
    if frame is None:
        return None
    if columns[0].name not in frame.columns:
        raise ConfigError(
            f"compliance: the frame of {name} has no column {columns[0].name}; add it"
        )
    unknown = sorted(set(map(str, frame.columns)) - {column.name for column in columns})
    if unknown:
        raise ConfigError(
            f"{name}: the column {unknown[0]!r} is none of {', '.join(c.name for c in columns)}; "
            "rename it, or leave it out: a column that is not read is a record that is ignored"
        )
    made = {}
    for column in columns:
        if column.name not in frame.columns:
            made[column.name] = pd.Series([None] * len(frame), dtype=DTYPES[column.kind])
            continue
        values = frame[column.name].reset_index(drop=True)
        try:
            made[column.name] = values.astype(DTYPES[column.kind])
        except (TypeError, ValueError) as error:
            raise ConfigError(
                f"compliance: {column.name} of the frame of {name} is not an aware instant; "
                "give it a time zone"
            ) from error
    taken = pd.DataFrame(made)
    odd = taken["phone"].notna() & ~taken["phone"].str.fullmatch(r"\+[1-9]\d{6,14}").fillna(
        value=False
    )
    if odd.any():
        raise ConfigError(
            f"{name}: row {int(odd.to_numpy().argmax()) + 1} has a phone that is no E.164 number; write +12125550142, "
            "or clean the file first: a number that is not read is a record that is ignored"
        )
    return taken

"""Takes in frames of the account and the firm's records: columns and instants checked, nothing dropped or graded."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from datetime import datetime
from typing import TYPE_CHECKING, Any, Final, get_args

import pandas as pd

from dialframe import instants, privacy
from dialframe.compliance.rules.rule_model import FreshnessRule
from dialframe.compliance.rules.rule_parameters import CONSENT_KINDS, ExemptionCode
from dialframe.compliance.tables import FRAMES
from dialframe.errors import ConfigError
from dialframe.frames import CALLS, Column, Table
from dialframe.frames.frame_schemas import DTYPES, Kind

if TYPE_CHECKING:
    from dialframe.compliance.rules.rulebook import RuleBook

#: Columns that an audit reads of each table of the account; a frame without one of them is refused.
NEEDED: Final[Mapping[str, tuple[str, ...]]] = {
    "calls": (
        "id", "direction", "from_number", "to_number", "created_at", "ended_at", "campaign_id", "disposition",
    ),
    "leads": ("id", "campaign_id", "phone", "status", "created_at", "updated_at"),
    "dnc_checks": ("phone", "listed", "checked_at", "request_id"),
    "callbacks": ("id", "lead_id", "campaign_id", "scheduled_at", "status"),
}  # fmt: skip
#: Columns that some checks read where a frame has them; null throughout where it has not.
WELCOME: Final[Mapping[str, tuple[str, ...]]] = {
    "calls": ("status", "answered_at", "duration_seconds", "hangup_cause")
}

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
SCRUBS: Final = FRAMES["scrubs"]
EVENTS: Final = FRAMES["events"]


def take(table: Table, frame: pd.DataFrame | None) -> pd.DataFrame:
    """Columns of a table of the account that an audit reads, on a fresh index; no rows for None.

    Raises:
        ConfigError: A column is missing, of another kind, or an instant without a time zone.
    """
    names = (*NEEDED[table.name], *WELCOME.get(table.name, ()))
    given = pd.DataFrame({name: [] for name in names}) if frame is None else frame
    taken = checked(given, table, names)
    return taken if table is not CALLS else taken.assign(recorded=recorded(given, len(given)))


def recorded(calls: pd.DataFrame, rows: int) -> pd.Series:
    """Whether each call was recorded, where the service says so in a field of its own (`recording`)."""
    # Contract, Call: no field says so. A service may add fields, which the store keeps in `_extra`.
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


def moment(at: datetime) -> pd.Timestamp:
    """An aware moment as a UTC timestamp.

    Raises:
        ConfigError: The moment has no time zone.
    """
    # In an hour that the clock has twice a bare time may be either.
    if at.tzinfo is None:
        raise ConfigError(
            "compliance: the moment of the audit has no time zone; pass an aware datetime"
        )
    return pd.Timestamp(at).tz_convert("UTC").as_unit("us")


def checked(frame: pd.DataFrame, table: Table, names: Sequence[str]) -> pd.DataFrame:
    """The named columns of a frame with the table's dtypes, on a fresh index; others are not looked at.

    Raises:
        ConfigError: A column is missing, of another kind, or an instant without a time zone.
    """
    columns = [column for name in names for column in table.columns if column.name == name]
    needed = [name for name in names if name not in WELCOME.get(table.name, ())]
    advice = f"pass a frame of the {table.name} table"
    return _take_columns(frame, columns, table.name, needed=needed, advice=advice)


def _take_columns(
    frame: pd.DataFrame, columns: Sequence[Column], what: str, *, needed: Sequence[str], advice: str,
    strict: bool = False,
) -> pd.DataFrame:  # fmt: skip
    """Columns of a frame with their dtypes, on a fresh index; null throughout where one that is not needed is absent.

    Instants may be text with a zone. A text that names none is null, so that its row is graded as one whose
    time is missing, but for `strict` records: one that is not read would be one that is ignored.
    """
    absent = [name for name in needed if name not in frame.columns]
    if absent:
        raise ConfigError(
            f"compliance: the {what} frame has no column {', '.join(absent)}; {advice}"
        )
    taken = {}
    for column in columns:
        values = frame.get(column.name, pd.Series([None] * len(frame)))
        try:
            taken[column.name] = _column(values.reset_index(drop=True), column.kind, strict=strict)
        except LookupError as error:
            raise ConfigError(
                f"compliance: {column.name} of the {what} frame is not an instant with a time zone; "
                "convert it to UTC first"
            ) from error
        except (TypeError, ValueError) as error:
            raise ConfigError(
                f"compliance: {column.name} of the {what} frame cannot be read as {column.kind}; {advice}"
            ) from error
    return pd.DataFrame(taken)


def _column(values: pd.Series, kind: Kind, *, strict: bool) -> pd.Series:
    """A column with the dtype of its kind.

    Raises:
        LookupError: An instant names no time zone.
        ValueError: A value is of another kind.
    """
    dtype: Any = DTYPES[kind]
    if kind != "instant":
        return values.astype(dtype)
    present = values.dropna()
    # Frames of several zones, put together, hold objects.
    zoned = isinstance(values.dtype, pd.DatetimeTZDtype) or all(
        isinstance(each, datetime) and each.tzinfo is not None for each in present
    )
    if zoned:
        return pd.to_datetime(values, utc=True).astype(dtype)
    if not all(isinstance(each, str) for each in present):
        raise LookupError(kind)
    read = [instants.parse(text) if isinstance(text, str) else None for text in values]
    if strict and sum(at is not None for at in read) < len(present):
        raise LookupError(kind)
    return pd.Series(read, index=values.index, dtype=dtype)


def without_rows(name: str) -> pd.DataFrame:
    """An empty table of a firm's records, columns `FRAMES[name]`."""
    return pd.DataFrame({c.name: pd.Series([], dtype=DTYPES[c.kind]) for c in FRAMES[name]})


def _records(
    frame: pd.DataFrame | None, name: str, needed: Sequence[str], *, numbers: bool = True
) -> pd.DataFrame:
    """A firm's records, columns `FRAMES[name]`; no rows for None.

    A column or a value that is not read would be a record that is ignored: it is refused. So is a
    number in another form, where `numbers` are the firm's to write.
    """
    what, names = name.replace("_", "-"), [column.name for column in FRAMES[name]]
    # Most audits are given no such table, and reading one without rows takes milliseconds.
    if frame is None:
        return without_rows(name)
    unknown = sorted(set(map(str, frame.columns)) - set(names))
    if unknown:
        raise ConfigError(
            f"{what}: the column {unknown[0]!r} is none of {', '.join(names)}; "
            "rename it, or leave it out: a column that is not read is a record that is ignored"
        )
    taken = _take_columns(frame, FRAMES[name], what, needed=needed, advice="add it", strict=True)
    odd = taken["phone"].notna() & ~taken["phone"].str.fullmatch(privacy.E164).fillna(value=False)
    if numbers and odd.any():
        raise ConfigError(
            f"{what}: row {int(odd.to_numpy().argmax()) + 1} has a phone that is no E.164 number; write +12125550142, "
            "or clean the file first: a number that is not read is a record that is ignored"
        )
    return taken


def _require_known(values: pd.Series, known: Sequence[str], what: str) -> None:
    odd = sorted(set(values.dropna()) - set(known))
    if odd:
        raise ConfigError(f"{what} {odd[0]!r} is not known; use {', '.join(known)}")


def take_exemptions(records: pd.DataFrame | None, book: RuleBook) -> pd.DataFrame:
    """Records of exemptions, columns `EXEMPTIONS`; no rows for None.

    A relationship (`ebr`) whose record says what it rests on ends by itself, for numbers of North
    America: so many months after a purchase or an inquiry as the book's rule on listed numbers says.

    Raises:
        ConfigError: A column or a code is not known, or a row has no record to show or nothing that it is for.
    """
    taken = _records(records, "exemptions", ["code"])
    _require_known(
        taken["code"].fillna("a missing code"), sorted(EXEMPTION_CODES), "exemptions: code"
    )
    if taken["record"].isna().any():
        raise ConfigError(
            "exemptions: a row names no record; an exemption counts only with what shows it"
        )
    if taken[["call_id", "phone", "campaign_id"]].isna().all(axis=1).any():
        raise ConfigError("exemptions: a row names no call, number or campaign that it is for")
    _require_known(taken["kind"], _RELATIONSHIPS, "exemptions: kind")
    # 47 CFR 64.1200(f)(5): a relationship ends 18 months after a purchase, 3 after an inquiry.
    rules = [r.parameters for r in book.of_kind(FreshnessRule) if r.parameters.ebr_purchase_months]
    here = taken["phone"].isna() | taken["phone"].str.startswith("+1").fillna(value=False)
    for kind in _RELATIONSHIPS if rules else ():
        months = min(getattr(each, f"ebr_{kind}_months") for each in rules)
        ends = taken["from_at"] + pd.DateOffset(months=months)
        later = here & (taken["code"] == "ebr") & (taken["kind"] == kind) & ends.notna()
        later &= ~(taken["until_at"] <= ends).fillna(value=False)
        taken["until_at"] = taken["until_at"].mask(
            later.fillna(value=False).to_numpy(dtype=bool), ends
        )
    return taken


def take_consents(consents: pd.DataFrame | None) -> pd.DataFrame | None:
    """Records of consent, columns `CONSENTS`; None for None.

    Raises:
        ConfigError: A column is missing or not known, an instant has no time zone, a kind is not known,
            or a number is not E.164.
    """
    if consents is None:
        return None
    taken = _records(consents, "consents", ["phone", "granted_at"])
    _require_known(taken["kind"], CONSENT_KINDS, "consents: kind")
    return taken


def take_look_ups(look_ups: pd.DataFrame | None) -> pd.DataFrame | None:
    """Look-ups of numbers, columns `LOOK_UPS`; None for None.

    Raises:
        ConfigError: A column is missing or not known, an instant has no time zone, or a number is not E.164.
    """
    return None if look_ups is None else _records(look_ups, "look_ups", ["phone"])


def take_scrubs(scrubs: pd.DataFrame | None) -> pd.DataFrame:
    """Numbers held against a list, columns `SCRUBS`; no rows for None.

    Raises:
        ConfigError: A column is missing or not known, an instant has no time zone, or a number is not E.164.
    """
    return _records(scrubs, "scrubs", ["phone", "list", "checked_at", "listed"])


def take_events(events: pd.DataFrame | None) -> pd.DataFrame:
    """Requests not to be called beside those of calls, columns `EVENTS`; no rows for None.

    Raises:
        ConfigError: A column or a source is not known, a column is missing, or an instant has no time zone.
    """
    # The service's own events are among them: a number that is none is kept, and noted (`notes.about_requests`).
    taken = _records(events, "events", ["phone", "at", "ref", "code"], numbers=False)
    _require_known(
        taken["source"], ("event", "dnc.add", "suppression", "own list"), "events: source"
    )
    return taken.assign(source=taken["source"].fillna("event"))

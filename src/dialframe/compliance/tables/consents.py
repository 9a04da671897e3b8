"""Takes in records of consent and look-ups of reassigned numbers."""

from __future__ import annotations

from typing import Final

import pandas as pd

from dialframe.compliance.tables.law import KINDS
from dialframe.errors import ConfigError
from dialframe.frames import Column
from dialframe.frames.columns import DTYPES

CONSENTS: Final = (
    Column("phone", "text", "number, E.164"),
    Column("kind", "text", "written, express or any: what kind of consent it is"),
    Column("granted_at", "instant", "given, UTC"),
    Column("expires_at", "instant", "ends by itself, UTC; null: no end"),
    Column("revoked_at", "instant", "taken back, UTC; null: not"),
    Column("revoked_for", "text", "the campaign that it was taken back for; null: for all calls"),
    Column("record", "text", "the record that shows it"),
)
LOOK_UPS: Final = (
    Column("phone", "text", "number, E.164"),
    Column("checked_at", "instant", "the database was asked, UTC"),
    Column("result", "text", "no: not reassigned since the consent; yes: reassigned; no data"),
    Column("ported_at", "instant", "the number moved to a mobile line, UTC; null: not known"),
)


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

"""Records that lift a rule for a call: consent to a time, a relationship, a business number, a request to be called."""

from __future__ import annotations

from typing import Final, get_args

import pandas as pd

from dialframe.compliance.rules.rule_model import FreshnessRule
from dialframe.compliance.rules.rule_parameters import ExemptionCode
from dialframe.compliance.rules.rulebook import RuleBook
from dialframe.errors import ConfigError
from dialframe.frames import Column
from dialframe.frames.columns import DTYPES

COLUMNS: Final = (
    Column("code", "text", "what lifts the rule, such as b2b, ebr, consent, requested"),
    Column("call_id", "text", "the one call that it is for, or null"),
    Column("phone", "text", "the number that it is for, E.164, or null"),
    Column("campaign_id", "text", "the campaign that it is for, or null"),
    Column("from_at", "instant", "it holds for calls from this instant on, UTC; null: always"),
    Column("until_at", "instant", "it holds for calls before this instant, UTC; null: no end"),
    Column("record", "text", "the record that shows it: an id, a file, a contract"),
    Column("kind", "text", "of a relationship: purchase or inquiry, made at from_at; or null"),
)
CODES: Final = frozenset(get_args(ExemptionCode))
#: What a relationship rests on.
_KINDS: Final = ("purchase", "inquiry")


def take(records: pd.DataFrame | None, book: RuleBook | None = None) -> pd.DataFrame:
    """Records of exemptions at the door.

    A relationship (`ebr`) whose record says what it rests on ends by itself, for numbers of North
    America: so many months after a purchase or an inquiry as the book's rule on listed numbers says.

    Args:
        records: Columns `COLUMNS`; those that are absent are null throughout. None for none.
        book: The rules; None: relationships end when their records say so.

    Raises:
        ConfigError: A code is not known, or a row has no record to show or nothing that it is for.
    """
    given = pd.DataFrame({c.name: [] for c in COLUMNS}) if records is None else records
    frame = pd.DataFrame(
        {
            c.name: (
                given[c.name].reset_index(drop=True)
                if c.name in given.columns
                else pd.Series([None] * len(given))
            ).astype(DTYPES[c.kind])
            for c in COLUMNS
        }
    )
    odd = sorted(set(frame["code"].dropna()) - CODES)
    if odd or frame["code"].isna().any():
        raise ConfigError(
            f"exemptions: {odd[0] if odd else 'a missing code'!r} is no code; use one of "
            f"{', '.join(sorted(CODES))}"
        )
    if frame["record"].isna().any():
        raise ConfigError(
            "exemptions: a row names no record; an exemption counts only with what shows it"
        )
    if frame[["call_id", "phone", "campaign_id"]].isna().all(axis=1).any():
        raise ConfigError("exemptions: a row names no call, number or campaign that it is for")
    odd_kinds = sorted(set(frame["kind"].dropna()) - set(_KINDS))
    if odd_kinds:
        raise ConfigError(
            f"exemptions: kind {odd_kinds[0]!r} is not known; use {', '.join(_KINDS)}"
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
        (_KINDS[0], min(each.ebr_purchase_months for each in rules)),
        (_KINDS[1], min(each.ebr_inquiry_months for each in rules)),
    ):
        rows = (here & (frame["code"] == "ebr") & (frame["kind"] == kind)).to_numpy(dtype=bool)
        ends = frame["from_at"] + pd.DateOffset(months=months)
        sooner = rows & ~(frame["until_at"] <= ends).fillna(value=False).to_numpy(dtype=bool)
        found["until_at"] = found["until_at"].mask(sooner & ends.notna().to_numpy(), ends)
    return found

"""Records that lift a rule for a call: consent to a time, a relationship, a business number, a request to be called; grades nothing."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final, get_args

import pandas as pd

from dialframe.compliance.facts import FreshnessRule
from dialframe.compliance.parameters import ExemptionCode
from dialframe.compliance.rulebook import RuleBook
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
NO_RECORD: Final = "a record that shows it"


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class Lifted:
    """Records of exemptions, columns `COLUMNS`."""

    records: pd.DataFrame

    def matches(self, calls: pd.DataFrame) -> pd.DataFrame:
        """Pairs of call and record: `row` (position of the call), `code`, `record`."""
        told = self.records.reset_index(drop=True)
        rows = calls[["id", "to_number", "campaign_id", "created_at"]].reset_index(drop=True)
        rows = rows.rename(columns={"id": "call_id", "to_number": "phone"}).assign(row=rows.index)
        found = []
        for key in ("call_id", "phone", "campaign_id"):
            given = told[told[key].notna()]
            others = [other for other in ("call_id", "phone", "campaign_id") if other != key]
            if key == "phone":
                given = given[given["call_id"].isna()]
            elif key == "campaign_id":
                given = given[given["call_id"].isna() & given["phone"].isna()]
            pairs = rows[rows[key].notna()].merge(given, on=key, suffixes=("", "_given"))
            for other in others:
                named = pairs.get(f"{other}_given")
                if named is not None:
                    pairs = pairs[named.isna() | (named == pairs[other]).fillna(value=False)]
            found.append(pairs)
        both = pd.concat(found, ignore_index=True)
        begun = both["from_at"].isna() | (both["created_at"] >= both["from_at"])
        open_ = both["until_at"].isna() | (both["created_at"] < both["until_at"])
        return both[begun & open_][["row", "code", "record"]]

    def codes(self, calls: pd.DataFrame) -> dict[int, frozenset[str]]:
        """Position of a call to the codes that a record shows for it."""
        pairs = self.matches(calls)
        return {
            int(row): frozenset(codes) for row, codes in pairs.groupby("row", sort=True)["code"]
        }


def take(records: pd.DataFrame | None, book: RuleBook | None = None) -> Lifted:
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
    return Lifted(frame if book is None else _ended(frame, book))


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

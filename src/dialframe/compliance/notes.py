"""What must be read with the counts of an audit, in sentences."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Final

import pandas as pd

from dialframe.compliance.practice import Practice
from dialframe.compliance.result import counted
from dialframe.compliance.rules.calendars import Declared
from dialframe.compliance.rules.rule_model import HolidayRule
from dialframe.compliance.rules.rulebook import RuleBook
from dialframe.phones.zones import unknown_states
from dialframe.privacy import E164

#: What an audit of this data can never know, said with every result.
LIMITS: Final = (
    "Facts for review, not legal advice.",
    "The service does not report line type, consent, business relationship or the purpose of a "
    "call: what is not given is not assumed away. A call that an exemption would permit is flagged "
    "unless a record of it is given, and a rule that needs a missing input is not evaluable.",
    "An area code is evidence of a place, not the place: numbers are ported and travel.",
    "A Do-Not-Call check says listed or not listed; it names no list and no date of the list.",
)


def about_book(book: RuleBook, at: pd.Timestamp) -> list[str]:
    """Version, age and reach of the rule book, and who changed it."""
    # Law changes: a book of last year may hold calls against a rule that is gone.
    age = book.age_note(at.date())
    days = book.age_days(at.date())
    asked = ", ".join(each.lower() for each in book.jurisdictions) or "none"
    sentences = [
        f"Rule book {book.version}, facts of {book.generated_on}, {counted(days, 'day')} old on the "
        f"day of the audit; {counted(len(book.rules), 'rule')} asked, of {asked}."
    ]
    sentences += [] if age is None else [f"{age[0].upper()}{age[1:]}."]
    asked_ids = {rule.id for rule in book.rules}
    sentences += [
        f"Rule {rule_id} {origin.what} on {origin.on} by {origin.by}: {origin.why}"
        for rule_id, origin in book.origins
        if rule_id in asked_ids or origin.what == "dropped"
    ]
    return sentences


def about_declared(book: RuleBook, declared: Declared) -> list[str]:
    """Rules whose further holidays are proclaimed from time to time, where nobody named them."""
    return [
        f"Rule {rule.id}: further holidays may have been proclaimed; a file of declared days that "
        "names the rule says which, and none was given."
        for rule in book.of_kind(HolidayRule)
        # La. PSC General Order R-29617 (V)(A)(2): the governor may proclaim more.
        if rule.parameters.proclaimed and not declared.has(rule.id)
    ]


def about_campaigns(practice: Practice, campaigns: Iterable[str]) -> list[str]:
    """Campaigns that a practice file speaks of and the account does not have: a slip of the pen counts for nothing."""
    declared = {
        *practice.purposes, *practice.dialings, *practice.campaign_sectors, *practice.conducts
    }  # fmt: skip
    unknown = sorted(declared.difference(campaigns))
    if not unknown:
        return []
    return [
        f"The practice file speaks of {counted(len(unknown), 'campaign')} that the account does not have, which "
        f"counts for nothing: {', '.join(map(repr, unknown))}."
    ]


def about_data(counts: Mapping[str, int], rows: int) -> list[str]:
    """What stands behind the records: import screens, callbacks that were due, rows that count for nothing."""
    screened, due, unused = counts["screened"], counts["due"], rows - counts["used"]
    notes = []
    if screened:
        notes.append(
            f"For {counted(screened, 'call')} the newest record is the service's screen at import, "
            "which leaves no answer of its own and is never a check."
        )
    if due:
        notes.append(
            f"{counted(due, 'call')} outside the hours in some zone may have been asked for "
            "by the customer: a callback was due."
        )
    if unused:
        notes.append(
            f"{counted(unused, 'row')} of the ledger of checks count for nothing: later than "
            "the audit, or without number, answer or time."
        )
    return notes


def about_not_asked(table: pd.DataFrame) -> list[str]:
    """Jurisdictions that were left out, with the calls that their rules would reach."""
    if table.empty:
        return []
    # Eight places are enough to read; the table `not_asked` has all.
    first = [
        f"{j.lower()} ({n:,})" for j, n in zip(table["jurisdiction"], table["calls"], strict=True)
    ][:8]
    more = f" and {len(table) - len(first)} more" if len(table) > len(first) else ""
    return [
        f"Not asked: rules of {counted(len(table), 'place')} that calls went to: {', '.join(first)}{more}. "
        "What is not asked is not passed."
    ]


def about_unmapped(table: pd.DataFrame) -> list[str]:
    """Dispositions that read like a refusal and that nobody mapped."""
    # A wording that nobody mapped may be a refusal: it is said before anybody dials the number again.
    like = table[table["like_refusal"].fillna(value=False).to_numpy(dtype=bool)]
    if like.empty:
        return []
    names = ", ".join(repr(name) for name in like["disposition"].head(5))
    return [
        f"{counted(len(like), 'disposition')} read like a request not to be called and are not mapped ({names}): "
        "calls after them are uncertain until a file of codes (`codes` under [audit] in the firm file) says what they mean."
    ]


def about_requests(requests: pd.DataFrame | None) -> list[str]:
    """Requests not to be called of which nobody can tell whose they are."""
    if requests is None:
        return []
    readable = requests["phone"].astype("str").str.fullmatch(E164).fillna(value=False)
    unread = len(requests) - int(readable.sum())
    if not unread:
        return []
    return [
        f"{counted(unread, 'request')} not to be called given beside the calls have no E.164 number, so that no "
        "call is held against them: find out whose they are."
    ]


def about_states(states: Mapping[str, str] | pd.Series | None) -> list[str]:
    """Values that were given as states and are none."""
    odd = unknown_states(states)
    if not odd:
        return []
    shown = ", ".join(repr(value) for value in odd[:5])
    return [
        f"{counted(len(odd), 'value')} given as a US state are none and were ignored: {shown}."
    ]


def about_state_fields(
    fields: Sequence[str], states: Mapping[str, str] | pd.Series | None
) -> list[str]:
    """Where the states of numbers were read from, or that nothing says them."""
    if not fields or states is None:
        return [
            "No lead names a state or ZIP code, so that numbers of the United States are placed by their area code alone."
        ]
    names = ", ".join(fields)
    return [
        f"The leads' own {names} was read for {counted(len(states), 'number')}: its zones and the rules of that state are "
        "asked beside those of the area code."
    ]


def about_consents(consents: pd.DataFrame | None, recorded: pd.DataFrame | None) -> list[str]:
    """Consents that went to the service, where the firm gave no table of all that it has."""
    # A whole table of consents speaks for itself.
    if recorded is None or consents is not None:
        return []
    return [
        f"{counted(len(recorded), 'consent')} recorded with the service count as consent. Of other "
        "numbers nothing is known without a table of the firm's consents (`consents` under [evidence] in the firm file)."
    ]

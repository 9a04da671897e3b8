"""Every reason for which a record of a lead file is not clean, as one table.

The order of the table is the order of precedence: a record with several reasons is known by the
first of them. Words of the service's own answers are kept where it has one (`missing_phone`,
`invalid_phone`, `blocked_country`, `field_rule`, `on_dnc`: contract, "LeadResult"), the others are
local and never sent. A prohibition comes before damage and bad numbers, so that whoever asked not
to be called is counted as that and nothing else; a blank or unclear consent in a damaged record,
whose cells may have moved, comes behind the damage.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final, Literal

#: What becomes of a record; `refused` is the service's own answer to one that was sent.
Outcome = Literal["rejected", "do_not_call", "duplicate", "skipped", "refused"]

#: Every outcome of a record, and the key under which it is counted.
COUNT_KEYS: Final[dict[str, str]] = {
    "clean": "clean",
    "rejected": "rejected",
    "duplicate": "duplicates",
    "do_not_call": "do_not_call",
    "skipped": "skipped",
}


@dataclass(frozen=True, slots=True)
class Reason:
    """One reason code.

    Attributes:
        code: Stable name, as it stands in `_reason` and in the report.
        outcome: What becomes of a record with this reason first.
        meaning: What is wrong, for a person.
        remedy: What a person can do about it.
    """

    code: str
    outcome: Outcome
    meaning: str
    remedy: str


@dataclass(frozen=True, slots=True)
class Warned:
    """One warning code: the record stays clean, and what was done to it is named."""

    code: str
    meaning: str


_FIX_QUOTES = "put the cells right in the reject file, then clean that; untouched, it stays there"

#: All reasons in order of precedence.
REASONS: Final[tuple[Reason, ...]] = (
    Reason("blank", "skipped", "the record has no filled cell", "nothing to do"),
    Reason("footer", "skipped", "a total or a remark, not a lead", "nothing to do"),
    Reason("repeated_header", "skipped", "the header line again", "nothing to do"),
    Reason("opt_out", "do_not_call", "the record says not to call", "nothing to do"),
    Reason("deceased", "do_not_call", "the record says that the person has died", "nothing to do"),
    Reason("undecodable", "rejected", "the record cannot be read as its format", "mend the line"),
    Reason("unclosed_quote", "rejected", "a quote opens and never closes", _FIX_QUOTES),
    Reason(
        "too_many_cells",
        "rejected",
        "the record has more cells than the file has columns",
        "put each cell into its column in the reject file, then clean that",
    ),
    Reason("no_consent", "do_not_call", "the consent column does not say yes", "nothing to do"),
    Reason(
        "opt_out_unclear",
        "do_not_call",
        "an opt-out or consent column holds a word that is neither yes nor no, or a note may be an "
        "opt-out",
        "write yes or no there, or relax the policy for notes",
    ),
    Reason(
        "on_dnc", "do_not_call", "the number is on the do-not-call list given", "nothing to do"
    ),
    Reason(
        "suppressed",
        "do_not_call",
        "the number is on your suppression list",
        "nothing to do; `dialframe suppress check` says since when and why",
    ),
    Reason(
        "opt_out_elsewhere",
        "do_not_call",
        "another record of the same number or person says not to call",
        "nothing to do",
    ),
    Reason(
        "row_too_large",
        "rejected",
        "the record is larger than a request may be",
        "shorten the long cells, or map fewer columns",
    ),
    Reason("missing_phone", "rejected", "no phone column is filled", "add a number"),
    Reason("fax_only", "rejected", "the only number is a fax number", "add a phone number"),
    Reason(
        "phone_precision_lost",
        "rejected",
        "a spreadsheet rounded the number, its last digits are gone",
        "export the list again with the phone column formatted as text",
    ),
    Reason(
        "wrong_number",
        "rejected",
        "the record says that the number is wrong, old or out of service",
        "add the right number",
    ),
    Reason(
        "phone_of_another",
        "rejected",
        "the phone cell says that the number is somebody else's",
        "add the person's own number",
    ),
    Reason("phone_placeholder", "rejected", "digits typed to get past a form", "add a number"),
    Reason(
        "phone_ambiguous_region",
        "rejected",
        "a number that may be of several countries, or of one that was not given",
        "pass the region, or write the number with + and country code",
    ),
    Reason("phone_too_short", "rejected", "digits are missing", "correct the number"),
    Reason("phone_too_long", "rejected", "there are too many digits", "correct the number"),
    Reason(
        "invalid_phone", "rejected", "no numbering plan knows this number", "correct the number"
    ),
    Reason(
        "phone_line_type",
        "rejected",
        "the number is of a premium line or another kind that the policy refuses",
        "add another number, or allow the kind in the rules",
    ),
    Reason(
        "phone_reserved",
        "rejected",
        "the number is reserved for films and samples and nobody has it",
        "add a real number",
    ),
    Reason("blocked_country", "rejected", "the number's country is blocked", "nothing to do"),
    Reason(
        "external_id_length",
        "rejected",
        "the external id is longer than the service allows",
        "shorten it, or map another column",
    ),
    Reason("name_length", "rejected", "a name is longer than the service allows", "shorten it"),
    Reason("email_invalid", "rejected", "the e-mail address is malformed", "correct it"),
    Reason("email_length", "rejected", "the e-mail address is too long", "correct it"),
    Reason("field_rule", "rejected", "a field rule is not met", "correct the field"),
    Reason(
        "duplicate_in_file",
        "duplicate",
        "an earlier record has the same number",
        "nothing to do",
    ),
    Reason(
        "duplicate_external_id",
        "duplicate",
        "an earlier record has the same external id and another number",
        "decide which of the two records holds",
    ),
    # What only the service can find (contract, "LeadResult"): answers to records that were sent.
    Reason(
        "duplicate_in_request",
        "refused",
        "the service found the lead twice in one request",
        "nothing to do",
    ),
    Reason(
        "duplicate_in_campaign",
        "refused",
        "the campaign has the lead already, by its number or its external id",
        "nothing to do, or update the lead that is there",
    ),
    Reason(
        "not_stored",
        "refused",
        "the service could not store the lead",
        "run the same import again",
    ),
    Reason(
        "unknown_source",
        "refused",
        "the campaign does not know the lead's source",
        "use a source of the campaign, or none",
    ),
    Reason(
        "unrecognised",
        "refused",
        "the service gave no reason that it can name",
        "look at the lead in the service's console",
    ),
)

#: All warnings; a record can have several.
WARNINGS: Final[tuple[Warned, ...]] = (
    Warned("short_row", "the record has fewer cells than the others; empty cells were added"),
    Warned("stray_quote", "a quote stands inside a cell; it was read as text"),
    Warned("encoding_repaired", "bytes of another encoding were read as that encoding"),
    Warned("phone_repaired", "what a spreadsheet added to the number was taken off"),
    Warned(
        "phone_split", "the phone cell holds more than one number; the first valid one is used"
    ),
    Warned("phone_fallback", "the preferred phone column is not valid; a further one is used"),
    Warned(
        "phone_other_forbidden",
        "a second number must not be called and was left out",
    ),
    Warned(
        "phone_line_type", "the number is of a premium or shared-cost line, a pager or a mailbox"
    ),
    Warned("phone_reserved", "the number is reserved for films and samples"),
    Warned("remark", "a note may forbid the call, and the policy lets the record pass"),
    Warned("field_rule", "a field rule of severity warn is not met"),
    Warned("email_invalid", "the e-mail address is malformed and was left out"),
    Warned("email_length", "the e-mail address is too long and was left out"),
    Warned("email_repaired", "a small slip in the e-mail address was mended"),
    Warned("email_split", "the e-mail cell holds more than one address; the first is used"),
)

#: Reason by code.
BY_CODE: Final[dict[str, Reason]] = {reason.code: reason for reason in REASONS}

#: Rank of each code: the lower one is the record's reason.
RANK: Final[dict[str, int]] = {reason.code: rank for rank, reason in enumerate(REASONS)}

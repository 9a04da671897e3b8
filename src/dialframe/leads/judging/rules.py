"""What a caller may decide about cleaning: policy and field rules, as values; they check single cells."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import Final, Literal

from dialframe.errors import ConfigError

#: Before the column of a custom field, as the service names it in its refusals.
CUSTOM: Final = "custom_fields."
#: Fields of a lead that a rule can name.
RULED: Final = (
    "phone",
    "first_name",
    "last_name",
    "full_name",
    "email",
    "external_id",
    "source",
)


@dataclass(frozen=True, slots=True)
class Policy:
    """Decisions that are not the contract's.

    Attributes:
        bad_email: Whether a malformed e-mail address is left out with a warning (`drop`) or
            rejects the record (`reject`).
        blank_consent: What an empty consent cell means: no consent (`do_not_call`), or nothing
            (`clean`).
        repeated_external_id: Whether a second number under an external id is set aside
            (`duplicate`; the service keeps ids unique) or stays (`keep`).
        remark: What a prohibition in a column that is not for prohibitions means (`Do not call` in
            a note, `DNC` among tags): `do_not_call`, or a warning and the record stays.
        unclear_remark: The same for what may be one: `removed`, `do not call before nine`.
        wrong_number: Whether `wrong number` and the like in another column sets the record aside
            (`reject`), or is a warning.
        refused_types: Line types (`phones.TYPES`) whose numbers are refused; a further phone
            column is then tried.
        warned_types: Line types that are a warning.
        reserved_number: What becomes of numbers that are reserved for films and samples
            (+1 212 555 01xx): `keep`, `warn` or `reject`.
        duplicates: Which of the records with one number stays: the `first`, the `newest` by a column
            of days (else the last), or the `fullest`, with most cells filled.
    """

    bad_email: Literal["drop", "reject"] = "drop"
    blank_consent: Literal["do_not_call", "clean"] = "do_not_call"
    repeated_external_id: Literal["duplicate", "keep"] = "duplicate"
    remark: Literal["do_not_call", "warn"] = "do_not_call"
    unclear_remark: Literal["do_not_call", "warn"] = "do_not_call"
    wrong_number: Literal["reject", "warn"] = "reject"
    refused_types: frozenset[str] = frozenset()
    warned_types: frozenset[str] = frozenset({"premium_rate", "shared_cost", "pager", "voicemail"})
    reserved_number: Literal["keep", "warn", "reject"] = "keep"
    duplicates: Literal["first", "newest", "fullest"] = "first"


@dataclass(frozen=True, slots=True)
class FieldRule:
    """A rule of the account for one field; a record that breaks it is rejected as `field_rule`.

    Attributes:
        field: A lead's field, or `custom_fields.<column>`.
        required: Whether the field must be filled.
        pattern: Regular expression that a filled field must match whole.
        max_length: Most characters.
        allowed: Values of which a filled field must be one; empty for any.
        severity: Whether the record is rejected, or stays with a warning.
    """

    field: str
    required: bool = False
    pattern: str | None = None
    max_length: int | None = None
    allowed: tuple[str, ...] = ()
    severity: Literal["reject", "warn"] = "reject"

    def __post_init__(self) -> None:
        if self.field not in RULED and not self.field.startswith(CUSTOM):
            known = ", ".join(RULED)
            raise ConfigError(
                f"a field rule names {self.field!r}; use {known} or custom_fields.<column>"
            )
        try:
            re.compile(self.pattern or "")
        except re.error as problem:
            raise ConfigError(
                f"the pattern of the rule for {self.field} is no regular expression: {problem}"
            ) from None

    @property
    def column(self) -> str:
        """The column of the cleaned frame that the rule looks at."""
        return self.field.removeprefix(CUSTOM)

    def is_broken_by(self, value: str) -> bool:
        """Whether the value breaks the rule."""
        if not value:
            return self.required
        if self.max_length is not None and len(value) > self.max_length:
            return True
        if self.allowed and value not in self.allowed:
            return True
        return self.pattern is not None and re.fullmatch(self.pattern, value) is None


@dataclass(frozen=True, slots=True)
class Rules:
    """All that one rules file decides.

    Attributes:
        policy: Decisions that are not the contract's.
        field_rules: The account's own rules of fields.
        blocked_countries: ISO 3166 regions whose numbers are rejected.
    """

    policy: Policy = Policy()
    field_rules: tuple[FieldRule, ...] = ()
    blocked_countries: tuple[str, ...] = ()

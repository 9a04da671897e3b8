"""What a caller may decide about cleaning: policy and field rules, as values; they check single cells."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import Final, Literal

from dialframe.errors import ConfigError

_CUSTOM: Final = "custom_fields."
_FIELDS: Final = (
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
    """

    bad_email: Literal["drop", "reject"] = "drop"
    blank_consent: Literal["do_not_call", "clean"] = "do_not_call"
    repeated_external_id: Literal["duplicate", "keep"] = "duplicate"


@dataclass(frozen=True, slots=True)
class FieldRule:
    """A rule of the account for one field; a record that breaks it is rejected as `field_rule`.

    Attributes:
        field: A lead's field, or `custom_fields.<column>`.
        required: Whether the field must be filled.
        pattern: Regular expression that a filled field must match whole.
        max_length: Most characters.
    """

    field: str
    required: bool = False
    pattern: str | None = None
    max_length: int | None = None

    def __post_init__(self) -> None:
        if self.field not in _FIELDS and not self.field.startswith(_CUSTOM):
            known = ", ".join(_FIELDS)
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
        return self.field.removeprefix(_CUSTOM)

    def is_broken_by(self, value: str) -> bool:
        """Whether the value breaks the rule."""
        if not value:
            return self.required
        if self.max_length is not None and len(value) > self.max_length:
            return True
        return self.pattern is not None and re.fullmatch(self.pattern, value) is None

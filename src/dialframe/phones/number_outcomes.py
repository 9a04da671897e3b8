"""What can come of reading a phone number, as small integers with their reason codes."""

from __future__ import annotations

from typing import Final

from phonenumbers import NumberParseException, ValidationResult

#: Outcomes below this one are the error types of phonenumbers' parse: no number was read.
#: From here on a number was read that no plan knows; the distance is the verdict on its length.
INVALID: Final = 10
VALID: Final = 20
MISSING: Final = 21
PRECISION_LOST: Final = 22
PLACEHOLDER: Final = 23
AMBIGUOUS_REGION: Final = 24
#: The scanner's table does not know the shape.
HANDED_OVER: Final = 25

#: No region is known.
NOWHERE: Final = -1
#: The region of numbers that belong to no country, and the home of who has none.
WORLD: Final = "001"

#: The type of what is no number.
NO_TYPE: Final = 255

#: Reason codes by outcome; None for a valid number.
REASONS: Final[dict[int, str | None]] = {
    NumberParseException.INVALID_COUNTRY_CODE: "invalid_phone",
    NumberParseException.NOT_A_NUMBER: "invalid_phone",
    NumberParseException.TOO_SHORT_AFTER_IDD: "phone_too_short",
    NumberParseException.TOO_SHORT_NSN: "phone_too_short",
    NumberParseException.TOO_LONG: "phone_too_long",
    INVALID + ValidationResult.IS_POSSIBLE: "invalid_phone",
    INVALID + ValidationResult.INVALID_COUNTRY_CODE: "invalid_phone",
    INVALID + ValidationResult.TOO_SHORT: "phone_too_short",
    INVALID + ValidationResult.TOO_LONG: "phone_too_long",
    # A local number (no area code) can be dialed from next door only.
    INVALID + ValidationResult.IS_POSSIBLE_LOCAL_ONLY: "phone_too_short",
    INVALID + ValidationResult.INVALID_LENGTH: "invalid_phone",
    VALID: None,
    MISSING: "missing_phone",
    PRECISION_LOST: "phone_precision_lost",
    PLACEHOLDER: "phone_placeholder",
    AMBIGUOUS_REGION: "phone_ambiguous_region",
}

"""Limits of the service (contract, Limits): numbers with their unit in the name, and nothing else."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final

BODY_BYTES: Final = 1_048_576
JSON_DEPTH: Final = 20

PAGE_DEFAULT: Final = 50
PAGE_MAX: Final = 100
CURSOR_CHARS: Final = 1024

LEADS_PER_IMPORT: Final = 200
PHONES_PER_DNC_CHECK: Final = 100
CUSTOM_FIELDS: Final = 20
REPORT_RANGE_DAYS: Final = 92

WEBHOOK_ENDPOINTS: Final = 10
WEBHOOK_REPLAYS_PER_DAY: Final = 5
WEBHOOK_URL_CHARS: Final = (9, 2048)
WEBHOOK_DESCRIPTION_CHARS: Final = 200
WEBHOOK_EVENTS: Final = (1, 6)
WEBHOOK_ANSWER_S: Final = 10
WEBHOOK_RETRY_MINUTES: Final = (1, 5, 15, 60, 240)
WEBHOOK_HISTORY_DAYS: Final = 30
# Events, Delivery: receiver rule 2.
SIGNATURE_TOLERANCE_S: Final = 300
# Endpoints, Webhooks: both secrets sign after a rotation.
SECRET_OVERLAP_HOURS: Final = 24

# Idempotency 1 and 2.
IDEMPOTENCY_KEY_CHARS: Final = (1, 255)
IDEMPOTENCY_RETENTION_HOURS: Final = 24
# Correlation.
CORRELATION_ID_CHARS: Final = (1, 128)
CORRELATION_ID_PATTERN: Final = r"^[A-Za-z0-9._:-]{1,128}$"
# Endpoints, Common request parts.
ETAG_CHARS: Final = 128
# Authentication 7.
ACCESS_CHANGE_LAG_S: Final = 15

DIAL_WITHIN_DEFAULT_S: Final = 300
DIAL_WITHIN_S: Final = (30, 3600)
# Endpoints, Calls 5: "ended after 30 minutes by default".
CALL_MAX_MINUTES: Final = 30

# Resources, Lead: the input fields.
EXTERNAL_ID_CHARS: Final = (1, 128)
PHONE_CHARS: Final = (1, 32)
FIRST_NAME_CHARS: Final = 100
LAST_NAME_CHARS: Final = 100
FULL_NAME_CHARS: Final = 200
EMAIL_CHARS: Final = 254
SOURCE_CHARS: Final = (1, 100)
AGENT_EMAIL_CHARS: Final = (3, 254)

CALLBACK_NOTES_CHARS: Final = 500
# Endpoints, Appointments.
APPOINTMENT_MINUTES: Final = (5, 480)
APPOINTMENT_NOTES_CHARS: Final = 1000
APPOINTMENT_SERVICE_CHARS: Final = 100
APPOINTMENT_NAME_CHARS: Final = 200
TIMEZONE_CHARS: Final = 64

SMS_BODY_CHARS: Final = (1, 918)
SMS_REFERENCE_CHARS: Final = (1, 64)


@dataclass(frozen=True, slots=True)
class Bucket:
    """One token bucket: requests a second that it refills by, and the burst that it holds."""

    level: str
    rate_per_s: float
    burst: int


#: Rate limits, innermost first; a request passes all four.
BUCKETS: Final[tuple[Bucket, ...]] = (
    Bucket("key", 10.0, 20),
    Bucket("client", 20.0, 40),
    Bucket("account", 30.0, 60),
    Bucket("address", 20.0, 40),
)

"""How secrets are shown: phone numbers masked, keys never; knows no HTTP and no frames."""

from __future__ import annotations

import re

KEY = re.compile(r"svc_(live|test)_[A-Za-z0-9._~+/=-]+")
SIGNING_SECRET = re.compile(r"whsec_[A-Za-z0-9._~+/=-]+")
PHONE = re.compile(r"(?<![\w-])\+\d{7,15}(?!\w)")

SHOWN_HEAD = 4
SHOWN_TAIL = 2


def mask_phone(phone: str) -> str:
    """A number with its middle replaced by stars, so that a person recognises only their own.

    Anything shorter than eight characters is masked whole.

    >>> mask_phone("+12125550142")
    '+121******42'
    """
    if len(phone) < SHOWN_HEAD + SHOWN_TAIL + 2:
        return "*" * len(phone)
    hidden = len(phone) - SHOWN_HEAD - SHOWN_TAIL
    return f"{phone[:SHOWN_HEAD]}{'*' * hidden}{phone[-SHOWN_TAIL:]}"


def redact(text: str) -> str:
    """The text with every key and signing secret removed and every E.164 number masked."""
    text = KEY.sub(r"svc_\1_[hidden]", text)
    text = SIGNING_SECRET.sub("whsec_[hidden]", text)
    return PHONE.sub(lambda match: mask_phone(match.group()), text)

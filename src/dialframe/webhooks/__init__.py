"""The receiving side of webhooks: deliveries checked, and a small receiver for them.

    delivery = dialframe.webhooks.verify(raw_body, request.headers, secret, datetime.now(UTC))

`verify` is all that a web application of one's own needs; `receiver` is one that is ready to run.
"""

from dialframe.webhooks.verifying import Delivery, verify

__all__ = ["Delivery", "verify"]


def __dir__() -> list[str]:
    """The public names alone."""
    return sorted(__all__)

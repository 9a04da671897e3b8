"""`client.webhooks` and `client.events`: where events are sent, and what was sent."""

from __future__ import annotations

from collections.abc import Sequence

from dialframe.client.client_settings import Options
from dialframe.client.pagination import Listing
from dialframe.client.resources import Resource, ShellT, listed, sent
from dialframe.contract import limits
from dialframe.contract import operations as rows
from dialframe.contract.models.base_models import Nothing
from dialframe.contract.models.webhook_models import (
    EventType,
    Replayed,
    SecretRotated,
    WebhookCreated,
    WebhookEndpoint,
    WebhookEvent,
    WebhookEventSummary,
)


class Webhooks(Resource[ShellT]):
    """Webhook endpoints: read, create, change, test. What a method raises is said at `Client`."""

    @listed(rows.WEBHOOKS_LIST)
    def list(
        self,
        *,
        limit: int = limits.PAGE_MAX,
        cursor: str | None = None,
        options: Options | None = None,
    ) -> Listing[WebhookEndpoint]:
        """List webhook endpoints."""

    # Idempotency 4: the service keeps no secret, so a replayed answer has none.
    @sent(rows.WEBHOOKS_CREATE)
    def create(
        self,
        *,
        url: str,
        events: Sequence[EventType],
        description: str | None = None,
        options: Options | None = None,
    ) -> WebhookCreated:
        """Create a webhook endpoint; its secret is shown once.

        Keep `.secret` of the answer: the service never shows it again. It is None on a replayed
        answer; rotate the secret then.

        Args:
            url: https, public, 9-2048 characters.
            events: 1-6 event types.
            description: At most 200 characters.
        """

    @sent(rows.WEBHOOKS_GET)
    def get(self, webhook_id: str, *, options: Options | None = None) -> WebhookEndpoint:
        """Read one webhook endpoint."""

    @sent(rows.WEBHOOKS_UPDATE)
    def update(
        self,
        webhook_id: str,
        *,
        url: str | None = None,
        events: Sequence[EventType] | None = None,
        description: str | None = None,
        enabled: bool | None = None,
        options: Options | None = None,
    ) -> WebhookEndpoint:
        """Change a webhook endpoint.

        What is not given, or None, is left alone.

        Args:
            url: https, public, 9-2048 characters.
            events: 1-6 event types.
            description: At most 200 characters.
            enabled: Whether events are sent.
        """

    # Endpoints: the answer to it is not shown, and may be no body at all.
    @sent(rows.WEBHOOKS_DELETE)
    def delete(self, webhook_id: str, *, options: Options | None = None) -> Nothing:
        """Delete a webhook endpoint."""

    @sent(rows.WEBHOOKS_TEST)
    def test(self, webhook_id: str, *, options: Options | None = None) -> Replayed:
        """Send a test event to a webhook endpoint."""

    # Endpoints, Webhooks: for 24 hours every delivery carries both signatures.
    @sent(rows.WEBHOOKS_ROTATE_SECRET)
    def rotate_secret(self, webhook_id: str, *, options: Options | None = None) -> SecretRotated:
        """Make a new signing secret; the old one signs along for 24 hours."""


class Events(Resource[ShellT]):
    """Webhook events: read, send again. What a method raises is said at `Client`."""

    # Events, Delivery 7: history is kept 30 days.
    @listed(rows.EVENTS_LIST)
    def list(
        self,
        *,
        limit: int = limits.PAGE_MAX,
        cursor: str | None = None,
        options: Options | None = None,
    ) -> Listing[WebhookEventSummary]:
        """List webhook events of the last 30 days."""

    @sent(rows.EVENTS_GET)
    def get(self, event_id: str, *, options: Options | None = None) -> WebhookEvent:
        """Read one webhook event with its deliveries."""

    # Endpoints, Webhooks: 5 replays of an event a UTC day; each is a delivery with an id of its own.
    @sent(rows.EVENTS_REPLAY)
    def replay(
        self, event_id: str, *, webhook_id: str | None = None, options: Options | None = None
    ) -> Replayed:
        """Send a webhook event again.

        Args:
            webhook_id: To this endpoint only; None sends it to every one that received it.
        """

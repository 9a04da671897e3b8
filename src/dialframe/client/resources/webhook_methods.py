"""`client.webhooks` and `client.events`: where events are sent, and what was sent."""

from __future__ import annotations

from collections.abc import Sequence

from dialframe.client.client_settings import Options
from dialframe.client.pagination import ListPlan
from dialframe.client.resources import Resource, ShellT, listed, operation
from dialframe.client.step_runners import Steps
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

    @listed
    def list(
        self,
        *,
        limit: int = limits.PAGE_MAX,
        cursor: str | None = None,
        options: Options | None = None,
    ) -> ListPlan[WebhookEndpoint]:
        """List webhook endpoints.

        Args:
            limit: Rows on a page, 1-100.
            cursor: Where to start, `next_cursor` of a page.
            options: Options of each page's request.
        """
        return self._list(rows.WEBHOOKS_LIST, options, limit=limit, cursor=cursor)

    @operation
    def create(
        self,
        *,
        url: str,
        events: Sequence[EventType],
        description: str | None = None,
        options: Options | None = None,
    ) -> Steps[WebhookCreated]:
        """Create a webhook endpoint; its secret is shown once.

        Keep `.secret` of the answer: the service never shows it again. It is None on a replayed
        answer; rotate the secret then.

        Args:
            url: https, public, 9-2048 characters.
            events: 1-6 event types.
            description: At most 200 characters.
            options: Options of this call.
        """
        # Idempotency 4: the service keeps no secret, so a replayed answer has none.
        return self._ask(
            rows.WEBHOOKS_CREATE, options, url=url, events=[*events], description=description
        )

    @operation
    def get(self, webhook_id: str, *, options: Options | None = None) -> Steps[WebhookEndpoint]:
        """Read one webhook endpoint.

        Args:
            webhook_id: `wh_` and a UUID.
            options: Options of this call.
        """
        return self._ask(rows.WEBHOOKS_GET, options, webhook_id=webhook_id)

    @operation
    def update(
        self,
        webhook_id: str,
        *,
        url: str | None = None,
        events: Sequence[EventType] | None = None,
        description: str | None = None,
        enabled: bool | None = None,
        options: Options | None = None,
    ) -> Steps[WebhookEndpoint]:
        """Change a webhook endpoint.

        Args:
            webhook_id: `wh_` and a UUID.
            url: https, public, 9-2048 characters; None leaves it alone.
            events: 1-6 event types; None leaves them alone.
            description: At most 200 characters; None leaves it alone.
            enabled: Whether events are sent; None leaves it alone.
            options: Options of this call.
        """
        fields = {
            "url": url,
            "events": None if events is None else [*events],
            "description": description,
            "enabled": enabled,
        }
        changed = {name: value for name, value in fields.items() if value is not None}
        return self._ask(rows.WEBHOOKS_UPDATE, options, webhook_id=webhook_id, **changed)

    @operation
    def delete(self, webhook_id: str, *, options: Options | None = None) -> Steps[Nothing]:
        """Delete a webhook endpoint.

        Args:
            webhook_id: `wh_` and a UUID.
            options: Options of this call.
        """
        # Endpoints: the answer to it is not shown, and may be no body at all.
        return self._ask(rows.WEBHOOKS_DELETE, options, webhook_id=webhook_id)

    @operation
    def test(self, webhook_id: str, *, options: Options | None = None) -> Steps[Replayed]:
        """Send a test event to a webhook endpoint.

        Args:
            webhook_id: `wh_` and a UUID.
            options: Options of this call.
        """
        return self._ask(rows.WEBHOOKS_TEST, options, webhook_id=webhook_id)

    @operation
    def rotate_secret(
        self, webhook_id: str, *, options: Options | None = None
    ) -> Steps[SecretRotated]:
        """Make a new signing secret; the old one signs along for 24 hours.

        Args:
            webhook_id: `wh_` and a UUID.
            options: Options of this call.
        """
        # Endpoints, Webhooks: for 24 hours every delivery carries both signatures.
        return self._ask(rows.WEBHOOKS_ROTATE_SECRET, options, webhook_id=webhook_id)


class Events(Resource[ShellT]):
    """Webhook events: read, send again. What a method raises is said at `Client`."""

    @listed
    def list(
        self,
        *,
        limit: int = limits.PAGE_MAX,
        cursor: str | None = None,
        options: Options | None = None,
    ) -> ListPlan[WebhookEventSummary]:
        """List webhook events of the last 30 days.

        Args:
            limit: Rows on a page, 1-100.
            cursor: Where to start, `next_cursor` of a page.
            options: Options of each page's request.
        """
        # Events, Delivery 7: history is kept 30 days.
        return self._list(rows.EVENTS_LIST, options, limit=limit, cursor=cursor)

    @operation
    def get(self, event_id: str, *, options: Options | None = None) -> Steps[WebhookEvent]:
        """Read one webhook event with its deliveries.

        Args:
            event_id: `evt_` and a UUID.
            options: Options of this call.
        """
        return self._ask(rows.EVENTS_GET, options, event_id=event_id)

    @operation
    def replay(
        self, event_id: str, *, webhook_id: str | None = None, options: Options | None = None
    ) -> Steps[Replayed]:
        """Send a webhook event again.

        Args:
            event_id: `evt_` and a UUID.
            webhook_id: To this endpoint only; None sends it to every one that received it.
            options: Options of this call.
        """
        # Endpoints, Webhooks: 5 replays of an event a UTC day; each is a delivery with an id of its own.
        return self._ask(rows.EVENTS_REPLAY, options, event_id=event_id, webhook_id=webhook_id)

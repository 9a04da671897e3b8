"""`client.sms` and `client.whatsapp`: text messages and what became of them."""

from __future__ import annotations

from dialframe.client.listing import Listing
from dialframe.client.options import Options
from dialframe.client.sender import Sender
from dialframe.contract import limits
from dialframe.contract import operations as rows
from dialframe.contract.models.contact import (
    SmsDeliveryReport,
    SmsMessage,
    SmsReportQuery,
    SmsSend,
    SmsUsage,
    WhatsAppMessage,
    WhatsAppSend,
)
from dialframe.contract.models.shape import Empty


class Sms:
    """Text messages. What a method raises is said at `Client`."""

    def __init__(self, sender: Sender) -> None:
        self._sender = sender

    def send(
        self, *, to: str, body: str, client_reference: str, options: Options | None = None
    ) -> SmsMessage:
        """Send a text message.

        Args:
            to: E.164.
            body: 1-918 characters.
            client_reference: Your own reference, 1-64 characters; a repeated one sends nothing.
            options: Options of this call.
        """
        return self._sender.ask(
            rows.SMS_SEND,
            lambda: SmsSend(to=to, body=body, client_reference=client_reference),
            options,
        )

    def delivery_reports(
        self,
        *,
        limit: int = limits.PAGE_MAX,
        cursor: str | None = None,
        options: Options | None = None,
    ) -> Listing[SmsDeliveryReport]:
        """List what became of text messages.

        Args:
            limit: Rows on a page, 1-100.
            cursor: Where to start, `next_cursor` of a page.
            options: Options of each page's request.
        """
        return self._sender.listing(
            rows.SMS_DELIVERY_REPORTS, lambda: SmsReportQuery(limit=limit, cursor=cursor), options
        )

    def usage(self, *, options: Options | None = None) -> SmsUsage:
        """Read how many text messages were sent.

        Args:
            options: Options of this call.
        """
        return self._sender.ask(rows.SMS_USAGE, Empty, options)


class WhatsApp:
    """WhatsApp messages. What a method raises is said at `Client`."""

    def __init__(self, sender: Sender) -> None:
        self._sender = sender

    def send(
        self,
        *,
        to: str,
        body: str | None = None,
        template: str | None = None,
        client_reference: str | None = None,
        options: Options | None = None,
    ) -> WhatsAppMessage:
        """Send a WhatsApp message; refused for every account until it is announced.

        Args:
            to: E.164.
            body: The text.
            template: Name of an approved template.
            client_reference: Your own reference.
            options: Options of this call.
        """
        return self._sender.ask(
            rows.WHATSAPP_SEND,
            lambda: WhatsAppSend(
                to=to, body=body, template=template, client_reference=client_reference
            ),
            options,
        )

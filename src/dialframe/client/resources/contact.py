"""`client.dnc` and `client.consents`: who may be contacted."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from datetime import datetime
from typing import Final

from pydantic import TypeAdapter

from dialframe.client.answers import Answered, DncChecked
from dialframe.client.bounds import checked
from dialframe.client.options import Options
from dialframe.client.sender import Sender
from dialframe.config import OnProgress, Progress, silent
from dialframe.contract import limits
from dialframe.contract import operations as rows
from dialframe.contract.models.contact import (
    Consent,
    ConsentRecord,
    DncAdd,
    DncAnswer,
    DncCheck,
    DncEntry,
)
from dialframe.contract.models.shape import E164
from dialframe.errors import ConfigError, ContractError

_NUMBERS: Final = TypeAdapter(list[E164])


class Dnc:
    """Do-Not-Call: check and add; removing is done in the console. What a method raises is said at `Client`."""

    def __init__(self, sender: Sender) -> None:
        self._sender = sender

    def check(
        self,
        phones: Iterable[str],
        *,
        on_progress: OnProgress | None = None,
        options: Options | None = None,
    ) -> list[DncChecked]:
        """Check any number of numbers against Do-Not-Call, a hundred in each request.

        Every number is looked at before the first is sent, so a malformed one costs no request.

        Args:
            phones: E.164 numbers; one that comes twice is asked twice.
            on_progress: Told after each request how many numbers are answered.
            options: Options of each request.

        Returns:
            One answer per number, in their order.

        Raises:
            ContractError: The service answered other numbers than it was asked.
        """
        if isinstance(phones, str):
            raise ConfigError(f"{rows.DNC_CHECK.name}: phones: give a list of numbers, not text")
        asked = checked(
            rows.DNC_CHECK.name, lambda: _NUMBERS.validate_python([*phones]), root="phones"
        )
        tell = on_progress or silent
        results: list[DncChecked] = []
        for start in range(0, len(asked), limits.PHONES_PER_DNC_CHECK):
            chunk = asked[start : start + limits.PHONES_PER_DNC_CHECK]
            results.extend(self._check(chunk, options))
            tell(Progress(rows.DNC_CHECK.name, len(results), len(asked)))
        return results

    def add(
        self, phone: str, *, reason: str | None = None, options: Options | None = None
    ) -> DncEntry:
        """Add a number to the account's Do-Not-Call list.

        Args:
            phone: E.164.
            reason: At most 200 characters.
            options: Options of this call.
        """
        return self._sender.ask(rows.DNC_ADD, lambda: DncAdd(phone=phone, reason=reason), options)

    def _check(self, phones: Sequence[str], options: Options | None) -> list[DncChecked]:
        answered = self._sender.ask_raw(
            rows.DNC_CHECK, lambda: DncCheck(phones=[*phones]), options
        )
        return _results(phones, answered)


class Consents:
    """Evidence of consent. What a method raises is said at `Client`."""

    def __init__(self, sender: Sender) -> None:
        self._sender = sender

    def record(
        self,
        *,
        phone: str,
        channel: str,
        source: str,
        obtained_at: datetime,
        evidence: str | None = None,
        options: Options | None = None,
    ) -> Consent:
        """Record evidence of consent.

        Args:
            phone: E.164.
            channel: What was consented to: calls, texts.
            source: Where the consent was given.
            obtained_at: When, with a time zone.
            evidence: What proves it.
            options: Options of this call.
        """
        return self._sender.ask(
            rows.CONSENTS_RECORD,
            lambda: ConsentRecord(
                phone=phone,
                channel=channel,
                source=source,
                obtained_at=obtained_at,
                evidence=evidence,
            ),
            options,
        )


def _results(phones: Sequence[str], answered: Answered[DncAnswer]) -> list[DncChecked]:
    answers = answered.value.data
    if [answer.phone for answer in answers] != list(phones):
        raise ContractError(
            f"{rows.DNC_CHECK.name}: {len(phones)} numbers were asked and the {len(answers)} "
            "answers are not theirs in their order; none of them is used "
            f"(request {answered.request_id})",
            operation=rows.DNC_CHECK.name,
            where="data",
        )
    return [
        DncChecked(answer.phone, answer.listed, answered.observed_at, answered.request_id)
        for answer in answers
    ]

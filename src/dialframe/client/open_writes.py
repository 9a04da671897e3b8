"""`client.writes`: writes whose outcome is open, listed with what they do to people, and settled."""

from __future__ import annotations

from dataclasses import replace

from dialframe.client.client_settings import DEFAULTS, Options
from dialframe.client.request_building import Write, too_late, too_old
from dialframe.client.resources import Resource, ShellT, operation
from dialframe.client.response_reading import Answered
from dialframe.contract.models.base_models import Answer
from dialframe.errors import ConfigError


class Writes(Resource[ShellT]):
    """`client.writes`: what was sent and not answered, also by a process that is gone."""

    @operation
    async def pending(self) -> list[Write]:
        """List the writes of this address and key whose outcome is open, oldest first.

        Those of a process that is still at work are among them. Each says in `.what` whom it reaches
        and how, in `.tier` and `.late_at` what that means for settling it.

        Returns:
            The open writes.

        Raises:
            StoreError: The journal cannot be read.
        """
        # From the disk: other processes' writes are among them.
        writes: list[Write] = await self._runner.on_disk(self._sender.journal.unsettled)
        return writes

    @operation
    async def settle(
        self, key: str, *, late: bool = False, options: Options | None = None
    ) -> Answered[Answer]:
        """Send a write again with the same key and the same bytes, to learn what became of it.

        If it happened, the stored answer comes back (`.replayed`); if the service never had it, *it
        happens now*. A write that would call or text somebody later than it was meant (five minutes,
        `dial_within_seconds`, or `scheduled_at` of a callback) is therefore refused. A signing secret
        is not in a replayed answer: rotate it then.

        Args:
            key: The idempotency key, from `pending()` or from an error.
            late: Send it although it would reach people late.
            options: Options of this call.

        Returns:
            The answer with everything that came along.

        Raises:
            ConfigError: The journal has no write of the key, it is settled, older than 24 hours, or it
                would reach people late.
            OutcomeUnknown: The service still cannot say.
            ApiError: The service refuses it; the write did not happen.
        """
        write = await self._find_write(key)
        now = self._sender.runner.clock.now()
        # Its bytes went with its outcome.
        if write.state in ("answered", "failed"):
            raise ConfigError(
                f"{write.operation}: the idempotency key {key!r} is settled ({write.state}, status "
                f"{write.status}) and its bytes are gone: there is nothing to ask"
            )
        # Idempotency 2: after 24 hours the same key is a new write.
        if write.expired(now):
            raise too_old(write)
        # A number was forgotten: what would be sent again named it.
        if write.request is None:
            raise ConfigError(
                f"{write.operation}: the bytes of the write {key!r} were erased: look at the "
                f"resource, then client.writes.dismiss({key!r})"
            )
        if write.late(now) and not late:
            raise too_late(write, "late=True")
        # The window ends attempts too, unless somebody wants it late.
        chosen = replace(options or DEFAULTS, late=late)
        # Idempotency 3: what happened is not done again, its stored answer comes.
        return await self._sender.resend(write, chosen)

    @operation
    async def problems(self) -> list[str]:
        """Say what of the journal is not as it was written, or is lost; sends and changes nothing.

        Returns:
            One sentence, or nothing, as far as opening it shows; `dialframe store info --verify` reads all of it.
        """
        problems: list[str] = await self._runner.on_disk(self._sender.journal.problems)
        return problems

    @operation
    async def dismiss(self, key: str) -> None:
        """Take a write off the list of open ones, after you have looked at its resource; sends nothing.

        Args:
            key: The idempotency key.

        Raises:
            ConfigError: The journal has no write of the key.
        """
        write = await self._find_write(key)
        # As if it had been answered: whoever dismisses it has seen what became of it.
        await self._runner.on_disk(
            lambda: self._sender.journal.finish(
                key, "answered", status=write.status, code=write.code, request_id=write.request_id
            )
        )

    @operation
    async def forget(self, phone: str) -> int:
        """Erase the bytes of every write in the journal that a number is in; sends nothing.

        Args:
            phone: E.164.

        Returns:
            How many writes lost their bytes; an open one among them can only be dismissed.

        Raises:
            StoreError: The journal cannot be written.
        """
        now = self._sender.runner.clock.now()
        count: int = await self._runner.on_disk(lambda: self._sender.journal.forget(phone, now))
        return count

    async def _find_write(self, key: str) -> Write:
        write: Write | None = await self._runner.on_disk(lambda: self._sender.journal.find(key))
        if write is None:
            raise ConfigError(
                f"no write with the idempotency key {key!r} in {self._sender.journal.file} for this "
                "address and key: client.writes.pending() lists the open ones"
            )
        return write

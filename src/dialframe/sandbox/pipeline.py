"""One request from the door to its answer; knows the order of the steps, not what a handler does.

`prepare` lets the request in and reserves its idempotency key, `perform` runs the handler and keeps
the answer. What has to wait in between waits outside, so that nothing is held up.
"""

from __future__ import annotations

import re
import sqlite3
from dataclasses import dataclass, replace
from typing import Any, Final

from dialframe.contract import limits
from dialframe.contract.row import Operation
from dialframe.sandbox import admission, body, idempotency
from dialframe.sandbox.access import Caller
from dialframe.sandbox.exchange import Ask, Bound, Inbound, Reply, refusal_answer
from dialframe.sandbox.faults import Rule
from dialframe.sandbox.idempotency import Reserved
from dialframe.sandbox.problems import Refusal, invalid
from dialframe.sandbox.validation import query_pairs, validate
from dialframe.sandbox.world import World

_CORRELATION: Final = re.compile(limits.CORRELATION_ID_PATTERN, re.ASCII)


@dataclass(frozen=True, slots=True)
class Ticket:
    """A request that was let in, its key reserved."""

    inbound: Inbound
    bound: Bound
    caller: Caller
    body: Any
    held: Reserved | None
    rule: Rule | None

    @property
    def delay_s(self) -> float:
        """Real seconds that the operation takes longer."""
        return (self.rule.delay_seconds or 0.0) if self.rule else 0.0


@dataclass(frozen=True, slots=True)
class Outcome:
    """What is sent.

    Attributes:
        reply: The answer, or None when the connection is cut before its first byte.
        half: Whether the connection is cut in the middle of it.
        delay_s: Real seconds to wait first.
    """

    reply: Reply | None
    half: bool = False
    delay_s: float = 0.0


class _Undone(Exception):
    """The connection is cut during a write: it never happened."""


def problem(world: World, refusal: Refusal, request_id: str) -> Reply:
    """The answer that a refusal becomes."""
    return refusal_answer(refusal, request_id=request_id, docs_base=world.docs_base)


def prepare(world: World, inbound: Inbound, bound: Bound) -> Ticket | Outcome:
    """Let a request in, or answer it at once: refused, failed on request, or answered before."""
    try:
        caller = admission.admit(
            inbound,
            bound.operation,
            access=world.access,
            buckets=world.buckets,
            now_us=world.clock.now_us(),
        )
        rule = world.fault_for(bound.operation.name)
        instead = _instead(world, inbound, rule)
        return instead or _accept(world, inbound, bound, caller, rule)
    except Refusal as refusal:
        return Outcome(problem(world, refusal, inbound.request_id))


def perform(world: World, ticket: Ticket) -> Outcome:
    """Run the operation and keep its answer, both or neither."""
    with idempotency.released(world.running, ticket.held):
        if not ticket.bound.operation.changes_data:
            return _sent(ticket.rule, _read(world, ticket))
        try:
            reply = _write(world, ticket)
        except _Undone:
            return Outcome(None)
    world.stir()
    return _sent(ticket.rule, reply)


def _instead(world: World, inbound: Inbound, rule: Rule | None) -> Outcome | None:
    if rule is None:
        return None
    delay_s = rule.delay_seconds or 0.0
    if rule.drop == "before":
        return Outcome(None, delay_s=delay_s)
    if rule.body is not None:
        headers = (("Content-Type", "application/json"),)
        return Outcome(Reply(rule.status or 200, rule.body.encode(), headers), delay_s=delay_s)
    if rule.refusal is not None:
        return Outcome(problem(world, rule.refusal, inbound.request_id), delay_s=delay_s)
    return None


def _accept(
    world: World, inbound: Inbound, bound: Bound, caller: Caller, rule: Rule | None
) -> Ticket | Outcome:
    given: Any = {}
    if inbound.body:
        body.check_media_type(inbound.header("content-type"))
        given = body.parse(inbound.body)
        body.refuse_credential(given)
    key = _key(inbound, bound.operation)
    correlation = inbound.header("x-correlation-id")
    if correlation is not None and not _CORRELATION.fullmatch(correlation):
        raise invalid("/X-Correlation-ID", "invalid_format")
    held = None
    if key is not None:
        rest = [given, inbound.header("if-match")]
        same = idempotency.fingerprint(
            bound.operation.method, inbound.path, query_pairs(inbound.query), rest
        )
        held = Reserved(caller.client.number, key, same)
        before = _reserve(world, held)
        if before is not None:
            delay_s = (rule.delay_seconds or 0.0) if rule else 0.0
            return replace(_sent(rule, before), delay_s=delay_s)
    return Ticket(inbound, bound, caller, given, held, rule)


def _key(inbound: Inbound, operation: Operation[Any, Any]) -> str | None:
    key = inbound.header("idempotency-key")
    if operation.key == "none" or (operation.key == "optional" and key is None):
        return None
    if not key and operation.key == "optional":
        raise invalid("/Idempotency-Key", "too_short")
    if not key:
        raise Refusal("idempotency_key_required", "A write needs the Idempotency-Key header.")
    if len(key) > limits.IDEMPOTENCY_KEY_CHARS[1]:
        raise invalid("/Idempotency-Key", "too_long")
    return key


def _reserve(world: World, held: Reserved) -> Reply | None:
    world.running.reserve(held)
    try:
        with world.database.read() as db:
            before = idempotency.stored(db, held, world.clock.now_us())
    except BaseException:
        world.running.release(held)
        raise
    if before is not None:
        world.running.release(held)
    return before


def _read(world: World, ticket: Ticket) -> Reply:
    try:
        with world.database.read() as db:
            return _run(world, db, ticket, world.clock.now_us())
    except Refusal as refusal:
        return problem(world, refusal, ticket.inbound.request_id)


def _write(world: World, ticket: Ticket) -> Reply:
    with world.database.write() as db:
        # Read when it is this write's turn, so that the order of instants is the order of commits.
        now_us = world.clock.now_us()
        db.execute("SAVEPOINT work")
        try:
            reply = _run(world, db, ticket, now_us)
        except Refusal as refusal:
            db.execute("ROLLBACK TO work")
            reply = problem(world, refusal, ticket.inbound.request_id)
        if ticket.held is not None:
            idempotency.keep(db, ticket.held, reply, now_us)
        if ticket.rule is not None and ticket.rule.drop == "during":
            raise _Undone
    return reply


def _run(world: World, db: sqlite3.Connection, ticket: Ticket, now_us: int) -> Reply:
    inbound, bound = ticket.inbound, ticket.bound
    request = validate(
        bound.operation,
        bound.shape,
        path=inbound.path_values,
        query=inbound.query,
        body=ticket.body,
    )
    if_match = inbound.header("if-match")
    if if_match is not None and len(if_match) > limits.ETAG_CHARS and bound.operation.if_match:
        raise invalid("/If-Match", "too_long")
    return bound.handle(
        Ask(request, bound.operation, db, ticket.caller, now_us, if_match, world.cursor_key)
    )


def _sent(rule: Rule | None, reply: Reply) -> Outcome:
    if rule is None or rule.drop is None:
        return Outcome(reply)
    return Outcome(None) if rule.drop == "after-commit" else Outcome(reply, half=True)

"""Takes one request from its arrival to its answer, and keeps answers for 24 hours.

`prepare` lets the request in and reserves its idempotency key, `perform` runs the handler and keeps
the answer. What has to wait in between waits outside, so that nothing is held up.

A key is reserved in memory before its operation runs and let go when that ended. The answer is kept
by the same transaction that holds the write. So a process that is killed leaves one of two things:
write and answer, which the next request is answered with, or neither, and the next request runs.
"""

from __future__ import annotations

import hashlib
import json
import re
import sqlite3
from dataclasses import dataclass, replace
from typing import Any, Final

from dialframe.contract import limits
from dialframe.contract.error_codes import NOT_STORED_STATUSES
from dialframe.contract.operations import Operation
from dialframe.sandbox import request_checks
from dialframe.sandbox.clock import SECOND_US
from dialframe.sandbox.dialer import automatic_dialing
from dialframe.sandbox.handlers import HANDLERS
from dialframe.sandbox.handlers.requests_and_replies import (
    Handler,
    Inbound,
    Reply,
    refusal_answer,
)
from dialframe.sandbox.request_checks import query_pairs, validate
from dialframe.sandbox.world import clients_and_keys
from dialframe.sandbox.world.api_objects import Json, Refusal, Transaction, etag, invalid
from dialframe.sandbox.world.clients_and_keys import Caller
from dialframe.sandbox.world.runtime_state import NO_FAULT, ReservedKey, Rule, World, key_reused

RETENTION_US: Final = limits.IDEMPOTENCY_RETENTION_HOURS * 3600 * SECOND_US
REPLAYED: Final = ("Idempotency-Replayed", "true")


def stored(db: sqlite3.Connection, wanted: ReservedKey, now_us: int) -> Reply | None:
    """The answer that was kept for this request, marked as replayed, or None."""
    # Contract, Idempotency 2: the key belongs to the client and is kept 24 hours; 7: unless open.
    row = db.execute(
        "SELECT fingerprint, status, headers, body, unconfirmed FROM idempotency"
        " WHERE client = ? AND key = ? AND (created_at > ? OR unconfirmed IS NOT NULL)",
        (wanted.client, wanted.key, now_us - RETENTION_US),
    ).fetchone()
    if row is None:
        return None
    # Idempotency 5: same key, different request.
    if row[0] != wanted.fingerprint:
        raise key_reused()
    # Idempotency 7: until reconciled, every retry answers that the outcome is not known.
    if row[4] is not None:
        raise _unknown()
    # Idempotency 3.
    headers = tuple((name, value) for name, value in json.loads(row[2]))
    return Reply(row[1], row[3], (*headers, REPLAYED))


def keep(db: sqlite3.Connection, reserved: ReservedKey, reply: Reply, now_us: int) -> None:
    """Keep an answer under its key, unless it says to try again; forget those that are too old."""
    # Errors: every 429 and 503 carries `Retry-After`: the same key has to be of use by then.
    if reply.status in NOT_STORED_STATUSES:
        return
    db.execute(
        "DELETE FROM idempotency WHERE created_at <= ? AND unconfirmed IS NULL",
        (now_us - RETENTION_US,),
    )
    # Idempotency 4: a signing secret is never stored.
    body = reply.body if reply.stored_body is None else reply.stored_body
    db.execute(
        "INSERT OR REPLACE INTO idempotency VALUES (?, ?, ?, ?, ?, ?, ?, NULL)",
        (
            reserved.client,
            reserved.key,
            reserved.fingerprint,
            reply.status,
            json.dumps(reply.headers),
            body,
            now_us,
        ),
    )


_CORRELATION: Final = re.compile(limits.CORRELATION_ID_PATTERN, re.ASCII)


@dataclass(frozen=True, slots=True)
class AcceptedRequest:
    """A request that was let in, its key reserved."""

    inbound: Inbound
    handler: Handler
    caller: Caller
    body: Any
    reserved: ReservedKey | None
    rule: Rule = NO_FAULT

    @property
    def delay_s(self) -> float:
        """Real seconds that the operation takes longer."""
        return self.rule.delay_seconds or 0.0


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


def problem(world: World, refusal: Refusal, request_id: str) -> Reply:
    """The answer that a refusal becomes."""
    return refusal_answer(refusal, request_id=request_id, docs_base=world.docs_base)


def prepare(world: World, inbound: Inbound, handler: Handler) -> AcceptedRequest | Outcome:
    """Let a request in, or answer it at once: refused, failed on request, or answered before."""
    now_us = world.clock.now_us()
    try:
        caller = request_checks.admit(
            inbound,
            handler.operation,
            access=world.access_of_requests(now_us),
            buckets=world.buckets,
            now_us=now_us,
        )
        rule = world.fault_for(handler.operation.name)
        keyed = handler.operation.key != "none" and bool(inbound.header("idempotency-key"))
        instead = _instead(world, inbound, rule, keyed=keyed)
        step = instead or _accept(world, inbound, handler, caller, rule)
    except Refusal as refusal:
        return Outcome(problem(world, refusal, inbound.request_id))
    return replace(step, delay_s=rule.delay_seconds or 0.0) if isinstance(step, Outcome) else step


def perform(world: World, accepted: AcceptedRequest) -> Outcome:
    """Run the operation and keep its answer, both or neither."""
    rule, changes_data = accepted.rule, accepted.handler.operation.changes_data
    try:
        # Idempotency 8: GET and POST /v1/dnc/check keep nothing under a key.
        if not changes_data:
            with world.database.read() as db:
                return _outcome_of(rule, _carry_out(world, db, accepted, world.clock.now_us()))
        if rule.leaves_unknown:
            return _outcome_of(rule, _leave_unconfirmed(world, accepted))
        with automatic_dialing.up_to_now(world) as (db, now_us):
            reply = _carry_out(world, db, accepted, now_us)
        return Outcome(None) if rule.drop == "during" else _outcome_of(rule, reply)
    finally:
        if accepted.reserved is not None:
            world.running.release(accepted.reserved)


def reconcile(world: World, key: str, *, done: bool) -> int | None:
    """End every `outcome_unknown` of a key; the status of the write where it was done.

    A write that was done is carried out here, before anybody hears that it was; one that was not
    leaves the key as if it had never been used.
    """
    status = None
    with automatic_dialing.up_to_now(world) as (db, now_us):
        rows = db.execute(
            "SELECT client, fingerprint, unconfirmed FROM idempotency"
            " WHERE key = ? AND unconfirmed IS NOT NULL ORDER BY client",
            (key,),
        ).fetchall()
        if not rows:
            raise Refusal("not_found", "No write with this key is unconfirmed.")
        for client, same, request in rows:
            reserved = ReservedKey(client, key, same)
            db.execute("DELETE FROM idempotency WHERE client = ? AND key = ?", (client, key))
            if done:
                accepted = _recall_request(world, reserved, json.loads(request))
                status = _carry_out(world, db, accepted, now_us).status
    return status


def _leave_unconfirmed(world: World, accepted: AcceptedRequest) -> Reply:
    """Keep the request under its key, which answers `outcome_unknown` until the console reconciles."""
    inbound, reserved = accepted.inbound, accepted.reserved
    request = {
        "operation": accepted.handler.operation.name,
        "credential": accepted.caller.credential.credential_id,
        "path": inbound.path,
        "path_values": dict(inbound.path_values),
        "query": inbound.query,
        "if_match": inbound.header("if-match"),
        "body": accepted.body,
    }
    if reserved is not None:
        with automatic_dialing.up_to_now(world) as (db, now_us):
            db.execute(
                "INSERT OR REPLACE INTO idempotency VALUES (?, ?, ?, 409, '[]', '', ?, ?)",
                (reserved.client, reserved.key, reserved.fingerprint, now_us, json.dumps(request)),
            )
    return problem(world, _unknown(), inbound.request_id)


def _recall_request(world: World, reserved: ReservedKey, request: Json) -> AcceptedRequest:
    if_match = request["if_match"]
    inbound = Inbound(
        path=request["path"],
        path_values=request["path_values"],
        query=request["query"],
        headers={} if if_match is None else {"if-match": (if_match,)},
        body=b"",
        # Checks of address and rate were made when it came; it is carried out for the console.
        address="127.0.0.1",
        request_id=clients_and_keys.new_request_id(),
    )
    # The key may have been revoked since: its request was let in before.
    access = world.access
    credential = access.credentials[request["credential"]]
    caller = Caller(access.clients[reserved.client], credential, access.settings)
    handler = HANDLERS[request["operation"]]
    return AcceptedRequest(inbound, handler, caller, request["body"], reserved)


def _unknown() -> Refusal:
    return Refusal("outcome_unknown", "Do not send it again with a new key.")


def _instead(world: World, inbound: Inbound, rule: Rule, *, keyed: bool) -> Outcome | None:
    if rule.drop == "before":
        return Outcome(None)
    if rule.body is not None:
        headers = (("Content-Type", "application/json"),)
        return Outcome(Reply(rule.status or 200, rule.body.encode(), headers))
    if rule.refusal is not None and not (rule.leaves_unknown and keyed):
        return Outcome(problem(world, rule.refusal, inbound.request_id))
    return None


def _accept(
    world: World, inbound: Inbound, handler: Handler, caller: Caller, rule: Rule
) -> AcceptedRequest | Outcome:
    body: Any = {}
    if inbound.body:
        request_checks.check_media_type(inbound.header("content-type"))
        body = request_checks.parse(inbound.body)
        request_checks.refuse_credential(body)
    key = _key(inbound, handler.operation)
    # Correlation: 1-128 of the characters A-Z a-z 0-9 . _ : -
    correlation = inbound.header("x-correlation-id")
    if correlation is not None and not _CORRELATION.fullmatch(correlation):
        raise invalid("/X-Correlation-ID", "invalid_format")
    reserved = None
    if key is not None:
        # Idempotency 3 and 5: "same request" is not defined; here all that its effect depends on.
        query, if_match = sorted(query_pairs(inbound.query)), inbound.header("if-match")
        parts = [handler.operation.method, inbound.path, query, [body, if_match]]
        same = hashlib.sha256(json.dumps(parts, sort_keys=True).encode()).hexdigest()
        # Two keys of one client share their idempotency keys: the scope is the client.
        reserved = ReservedKey(caller.client.number, key, same)
        before = _reserve(world, reserved)
        if before is not None:
            return _outcome_of(rule, before)
    return AcceptedRequest(inbound, handler, caller, body, reserved, rule)


def _key(inbound: Inbound, operation: Operation[Any, Any]) -> str | None:
    # Idempotency 1: POST and DELETE need one, PATCH may have one; 8: reads do not use it.
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


def _reserve(world: World, reserved: ReservedKey) -> Reply | None:
    # Idempotency 6: the same key while the first request still runs answers `conflict`.
    world.running.reserve(reserved)
    try:
        with world.database.read() as db:
            before = stored(db, reserved, world.clock.now_us())
    except BaseException:
        world.running.release(reserved)
        raise
    if before is not None:
        world.running.release(reserved)
    return before


def _carry_out(
    world: World, db: sqlite3.Connection, accepted: AcceptedRequest, now_us: int
) -> Reply:
    # A refusal undoes what its handler wrote, and is itself kept under the key.
    db.execute("SAVEPOINT work")
    try:
        reply = _run(db, accepted, now_us)
    except Refusal as refusal:
        db.execute("ROLLBACK TO work")
        reply = problem(world, refusal, accepted.inbound.request_id)
    if accepted.rule.drop == "during":
        # The connection breaks during the operation: a write never happened.
        db.execute("ROLLBACK TO work")
    elif accepted.reserved is not None:
        keep(db, accepted.reserved, reply, now_us)
    return reply


def _run(db: sqlite3.Connection, accepted: AcceptedRequest, now_us: int) -> Reply:
    inbound, operation = accepted.inbound, accepted.handler.operation
    request = validate(
        operation,
        accepted.handler.shape,
        path=inbound.path_values,
        query=inbound.query,
        body=accepted.body,
    )
    if_match = inbound.header("if-match")
    # Endpoints, Common request parts: `If-Match` has at most 128 characters.
    if if_match is not None and len(if_match) > limits.ETAG_CHARS and operation.if_match:
        raise invalid("/If-Match", "too_long")
    reply = accepted.handler.handle(Transaction(db, now_us, accepted.caller, if_match), request)
    # Endpoints, Leads and Appointments: the operations whose answers carry an `ETag`.
    tag = (("ETag", etag(reply.body)),) if operation.etag else ()
    return replace(reply, headers=(*reply.headers, *tag))


def _outcome_of(rule: Rule, reply: Reply) -> Outcome:
    if rule.drop is None:
        return Outcome(reply)
    return Outcome(None) if rule.drop == "after-commit" else Outcome(reply, half=True)

"""What the service does by itself as its clock goes on, played in order up to an instant.

Once a minute, and at once after a pause, every client's running campaigns take leads out of their
dialing order and give each its instant within that minute. At that instant every check is made again, and the lead is dialed or the
refusal kept. Callbacks are dialed when they are due. Calls under way take their next steps.

All of it happens inside the transaction of whoever moves the clock or writes: nothing is played twice,
nothing is lost, and a request sees everything that lies before it.
"""

from __future__ import annotations

import sqlite3
from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from typing import Final, Literal

from dialframe.sandbox.clock import DAY_US, SECOND_US
from dialframe.sandbox.dialer import call_life, contact_checks
from dialframe.sandbox.dialer.call_life import Agenda, DialContext, Due
from dialframe.sandbox.world.api_objects import Refusal, Transaction
from dialframe.sandbox.world.clients_and_keys import Access, Settings
from dialframe.sandbox.world.runtime_state import World
from dialframe.sandbox.world.sandbox_database import read_meta, write_meta

#: What an advance counts.
COUNTED: Final = (
    "calls", "dispositions", "callbacks", "appointments", "dnc_requests", "refusals", "events",
)  # fmt: skip

#: Part of the account's calls per minute that a campaign of a dialer mode takes at most.
# `dialer_mode` is a string whose values are not shown; these are the common ones.
MODE_SHARE: Final[dict[str, float]] = {"progressive": 0.6, "preview": 0.2}

_MINUTE_US: Final = 60 * SECOND_US
#: After a refusal that concerns the whole account its campaigns are not tried for so long.
_HOLD_US: Final = 60 * _MINUTE_US
#: A callback that is refused is tried again until so long after its time.
_CALLBACK_TRIES_US: Final = DAY_US
#: Far beyond any clock.
_NEVER_US: Final = 2**62
#: Somebody who is on the line already is tried again so much later.
_BUSY_US: Final = 2 * _MINUTE_US
#: A lead that goes first and is refused is tried again after so long, while its window lasts.
_FIRST_AGAIN_US: Final = 10 * SECOND_US
#: Leads that one minute looks at; what is left is looked at in the next.
_LOOKED_AT: Final = 3_000
# One query per so many leads, instead of one per lead.
_CHUNK: Final = 200
#: Refusals that concern one number only, with the wait until it is tried again.
_OWN_REFUSALS: Final = frozenset({"on_dnc", "blocked_country", "dial_refused"})


@dataclass(frozen=True, slots=True)
class Campaign:
    """A running campaign, as far as the dialer needs it."""

    id: str
    mode: str
    max_attempts: int | None
    calls_per_minute: float | None


def play(db: sqlite3.Connection, access: Access, until_us: int) -> dict[str, int]:
    """Play everything that lies between the last time and an instant; returns what was counted."""
    from_us = int(read_meta(db, "played_until_us"))
    playback = _Playback(db, access, from_us, Agenda(db, until_us), int(read_meta(db, "seed")))
    # Clocks of threads may differ by a moment: what was played is never played again.
    if until_us > from_us:
        playback.run()
        write_meta(db, "played_until_us", until_us)
    return {name: playback.played[name] for name in COUNTED}


@contextmanager
def up_to_now(world: World) -> Iterator[tuple[sqlite3.Connection, int]]:
    """The one writing connection, everything played until now, and now (microseconds).

    Read when it is this write's turn, so that the order of instants is the order of commits.
    """
    with world.database.write() as db:
        now_us = world.clock.now_us()
        play(db, world.access, now_us)
        yield db, now_us
    world.stir()


def catch_up(world: World) -> int | None:
    """Play what is due; says when the next thing is."""
    with world.database.read() as db:
        next_us = next_due_us(db, world.access)
    if next_us is None or next_us > world.clock.now_us():
        return next_us
    with world.database.write() as db:
        play(db, world.access, world.clock.now_us())
        return next_due_us(db, world.access)


def advance(world: World, seconds: float) -> tuple[int, dict[str, int]]:
    """Move the clock forward and play what falls into it: what the clock shows then, and the counts."""
    with world.database.write() as db:
        # Whole milliseconds, as the clock shows them.
        ahead_us = world.clock.ahead_us + int(seconds * 1000) * 1000
        until_us = world.clock.now_us() + ahead_us - world.clock.ahead_us
        played = play(db, world.access, until_us)
        write_meta(db, "clock_ahead_us", ahead_us)
        world.clock.ahead_us = ahead_us
    world.stir()
    return world.clock.now_us(), played


def next_due_us(db: sqlite3.Connection, access: Access) -> int | None:
    """When the next thing happens by itself; None where nothing lies ahead."""
    from_us = int(read_meta(db, "played_until_us"))
    # Callbacks of a synthetic history are only kept while the dialer is on, and not late.
    (step_us,) = db.execute(
        "SELECT min(at) FROM (SELECT min(at) AS at FROM agenda"
        " UNION ALL SELECT min(slot_at) FROM leads WHERE slot_at IS NOT NULL"
        " UNION ALL SELECT min(coalesce(call_at, scheduled_at)) FROM callbacks"
        " WHERE status = 'pending'"
        " AND (call_at < ?1 OR (call_at IS NULL AND ?2 AND scheduled_at > ?3)))",
        (_NEVER_US, access.settings.dialer.enabled, from_us),
    ).fetchone()
    ticks = (_next_tick(db, access.settings, client, from_us) for client in access.clients)
    return min((instant for instant in (step_us, *ticks) if instant is not None), default=None)


def dial_first(
    context: DialContext, lead_id: str, until_us: int, refused_before: str | None = None
) -> None:
    """Dial a lead that goes first: now, with every check, or else at a later instant of its window.

    A refusal is kept when its reason is a new one. After the window the lead has its normal place in
    the dialing order, which it keeps all the while.
    """
    tx = context.tx
    # Contract, Endpoints, Leads: compliance checks are still applied at dial time.
    called = call_life.lead_called(tx, lead_id)
    code = refused_before
    if not call_life.is_on_the_line(tx, called.phone):
        try:
            contact_checks.may_dial(tx, called.phone, "dial_now")
        except Refusal as refusal:
            code = refusal.code
            if code != refused_before:
                _record_refusal(context, "call", called.phone, lead_id, refusal)
        else:
            call_life.place(context, called, "dial_now")
            return
    key = tx.caller.credential.credential_id
    plan = {"until_us": until_us, "refused": code, "key": key}
    again_us = tx.now_us + _FIRST_AGAIN_US
    # Endpoints, Leads: after the window it keeps its normal place.
    if again_us <= until_us and code != "on_dnc":
        context.agenda.add(again_us, "first", tx.client, lead_id, plan)


def context_at(tx: Transaction) -> DialContext:
    """A place to start a call from inside a request."""
    return DialContext(tx, Agenda(tx.db, tx.now_us), int(read_meta(tx.db, "seed")))


@dataclass(frozen=True, slots=True)
class _Playback:
    """One stretch of time being played.

    Attributes:
        tick_at: At most one tick of each client lies ahead; an earlier one replaces it.
    """

    db: sqlite3.Connection
    access: Access
    from_us: int
    agenda: Agenda
    seed: int
    played: Counter[str] = field(default_factory=Counter)
    tick_at: dict[int, int] = field(default_factory=dict)

    def run(self) -> None:
        """Take every step in order."""
        self._load()
        take = {
            "tick": self._tick,
            "dial": self._dial,
            "callback": self._call_back,
            "first": self._dial_first,
        }
        while (due := self.agenda.take()) is not None:
            tx = Transaction(self.db, due.at_us, self.access.service(due.client))
            context = DialContext(tx, self.agenda, self.seed, self.played)
            take.get(due.step, call_life.take_step)(context, due)
            if due.step == "end":
                self._expect_tick(due.client, due.at_us)

    def _load(self) -> None:
        self.agenda.load()
        slots = self.db.execute(
            "SELECT slot_at, 'dial', client, id FROM leads WHERE slot_at <= ?",
            (self.agenda.until_us,),
        )
        # Those of a synthetic history are only kept while the dialer is on, and not late.
        callbacks = self.db.execute(
            "SELECT max(coalesce(call_at, scheduled_at), ?2), 'callback', client, id"
            " FROM callbacks"
            " WHERE status = 'pending' AND coalesce(call_at, scheduled_at) <= ?1"
            " AND (call_at IS NOT NULL OR (?3 AND scheduled_at > ?2))",
            (self.agenda.until_us, self.from_us, self.access.settings.dialer.enabled),
        )
        for due in (*slots, *callbacks):
            self.agenda.add(*due)
        for client in self.access.clients:
            self._expect_tick(client, self.from_us)

    def _expect_tick(self, client: int, after_us: int) -> None:
        tick_at = self.tick_at.get(client)
        if tick_at is not None and tick_at <= after_us + _MINUTE_US:
            return
        at_us = _next_tick(self.db, self.access.settings, client, after_us)
        if at_us is None or (tick_at is not None and tick_at <= at_us):
            return
        self.tick_at[client] = at_us
        self.agenda.add(at_us, "tick", client, "")

    def _tick(self, context: DialContext, due: Due) -> None:
        """Give leads of the running campaigns their instants in the minute that begins."""
        tx, client, at_us = context.tx, due.client, due.at_us
        if self.tick_at.get(client) != at_us:
            return
        del self.tick_at[client]
        self.db.execute("INSERT OR REPLACE INTO ticks VALUES (?, ?)", (client, at_us))
        room = _calls_until_next_minute(context.dialer.calls_per_minute, at_us)
        spacing_us = (_MINUTE_US - at_us % _MINUTE_US) // max(room, 1)
        try:
            contact_checks.account_may_dial(tx, "campaign")
        except Refusal as refusal:
            # What would have been dialed in this minute is kept as refused.
            for lead_id in self._choose(context, room):
                _record_refusal(
                    context, "call", call_life.lead_called(tx, lead_id).phone, lead_id, refusal
                )
            held = (client, at_us + _wait_us(refusal))
            self.db.execute("INSERT OR REPLACE INTO holds VALUES (?, ?)", held)
        else:
            for number, lead_id in enumerate(self._choose(context, room)):
                slot_us = at_us + number * spacing_us
                tx.update("leads", lead_id, slot_at=slot_us, next_attempt_at=slot_us)
                self.agenda.add(slot_us, "dial", client, lead_id)
        self._expect_tick(client, at_us)

    def _choose(self, context: DialContext, room: int) -> list[str]:
        """Leads that are dialed in this minute, the campaigns taking turns in who comes first."""
        rows = context.tx.rows(
            "SELECT id, dialer_mode, max_attempts, calls_per_minute FROM campaigns"
            " WHERE client = ? AND status = 'running' ORDER BY created_at, id"
        )
        campaigns = [Campaign(*row) for row in rows]
        turn = context.tx.now_us // _MINUTE_US % max(len(campaigns), 1)
        in_turn = (*campaigns[turn:], *campaigns[:turn])
        # Whoever begins changes from minute to minute: the first takes the odd call.
        chosen: dict[str, list[str]] = {}
        filled: list[tuple[Campaign, int]] = []
        left = room
        for position, campaign in enumerate(in_turn):
            # An even share of what is left, rounded up: no call of the minute is lost.
            fair = -(-left // (len(in_turn) - position))
            pace = campaign.calls_per_minute or room * MODE_SHARE.get(campaign.mode, 1.0)
            most = max(1, _calls_until_next_minute(pace, context.tx.now_us))
            wanted = min(fair, most, left)
            chosen[campaign.id] = self._callable(context, campaign, wanted)
            left -= len(chosen[campaign.id])
            if len(chosen[campaign.id]) == wanted < most:
                filled.append((campaign, most))
        # What the others leave over goes to whoever has more leads.
        for campaign, most in filled:
            if left:
                before = len(chosen[campaign.id])
                chosen[campaign.id] = self._callable(context, campaign, min(before + left, most))
                left -= len(chosen[campaign.id]) - before
        return [lead_id for leads in chosen.values() for lead_id in leads]

    def _callable(self, context: DialContext, campaign: Campaign, wanted: int) -> list[str]:
        """Leads of one campaign whose turn it is and whose hours are open; others are put off."""
        tx, at_us = context.tx, context.tx.now_us
        hours = call_life.permitted_hours(tx)
        most = campaign.max_attempts or context.dialer.max_attempts
        chosen: list[str] = []
        looked_at, behind = 0, (-1, "")
        while len(chosen) < wanted and looked_at < _LOOKED_AT + wanted:
            rows = tx.rows(
                "SELECT due_at, id, phone, attempts FROM leads WHERE client = ?"
                " AND campaign_id = ? AND due_at IS NOT NULL AND due_at <= ?"
                " AND (due_at, id) > (?, ?) ORDER BY due_at, id LIMIT ?",
                campaign.id,
                at_us,
                *behind,
                _CHUNK,
            )
            if not rows:
                break
            for due_at, lead_id, phone, attempts in rows:
                # Keyset paging: rows that are put off meanwhile do not shift what comes next.
                behind = (due_at, lead_id)
                looked_at += 1
                if attempts >= most:
                    tx.update("leads", lead_id, status="completed", next_attempt_at=None)
                    continue
                opens_at = contact_checks.next_opening(phone, hours, at_us)
                if opens_at == at_us:
                    chosen.append(lead_id)
                    if len(chosen) == wanted:
                        break
                    continue
                # Put off until the hours open; where they never do, that is kept as a refusal.
                if opens_at is None:
                    opens_at = _next_look(phone, at_us)
                    refusal = Refusal("dial_refused", "The called party's hours cannot be told.")
                    _record_refusal(context, "call", phone, lead_id, refusal)
                tx.update("leads", lead_id, next_attempt_at=opens_at)
        return chosen

    def _dial(self, context: DialContext, due: Due) -> None:
        """Dial a lead whose instant has come, if dialer and campaign still run and every check passes."""
        tx, lead_id = context.tx, due.about
        row = tx.row(
            "SELECT campaigns.status, leads.status FROM leads LEFT JOIN campaigns"
            " ON campaigns.client = leads.client AND campaigns.id = leads.campaign_id"
            " WHERE leads.client = ? AND leads.id = ? AND slot_at = ?",
            lead_id,
            due.at_us,
        )
        if row is None:
            return
        # States, Campaign: real calls start with `running`, and end with it.
        stopped = row[0] != "running" or not context.dialer.enabled
        if stopped or row[1] not in ("new", "contacted"):
            tx.update("leads", lead_id, slot_at=None)
            return
        called = call_life.lead_called(tx, lead_id)
        # Several leads may have one number: its owner counts the calls, not the lead.
        free_at = call_life.free_again_at(context, called.phone)
        if call_life.is_on_the_line(tx, called.phone):
            free_at = max(free_at, due.at_us + _BUSY_US)
        if free_at > due.at_us:
            tx.update("leads", lead_id, slot_at=None, next_attempt_at=free_at)
            self._expect_tick(due.client, due.at_us)
            return
        try:
            contact_checks.may_dial(tx, called.phone, "campaign")
        except Refusal as refusal:
            _record_refusal(context, "call", called.phone, lead_id, refusal)
            self._after_refusal(context, lead_id, called.phone, refusal)
            self._expect_tick(due.client, due.at_us)
            return
        call_life.place(context, called, "campaign")

    def _dial_first(self, context: DialContext, due: Due) -> None:
        """Try a lead that goes first again, unless it was dialed or its campaign or key stopped."""
        lead = context.tx.row(
            "SELECT 1 FROM leads JOIN campaigns ON campaigns.client = leads.client"
            " AND campaigns.id = leads.campaign_id WHERE leads.client = ? AND leads.id = ?"
            " AND leads.status = 'new' AND leads.attempts = 0 AND campaigns.status = 'running'",
            due.about,
        )
        key = self.access.credentials.get(due.plan["key"])
        # Authentication 4 and 7: a key that was revoked meanwhile reaches nobody any more.
        if lead is None or key is None or key.revoked:
            return
        tx = replace(context.tx, caller=replace(context.tx.caller, credential=key))
        again = replace(context, tx=tx)
        dial_first(again, due.about, due.plan["until_us"], due.plan["refused"])

    def _after_refusal(
        self, context: DialContext, lead_id: str, phone: str, refusal: Refusal
    ) -> None:
        tx, at_us = context.tx, context.tx.now_us
        next_at: int | None = at_us + _wait_us(refusal)
        if refusal.code == "on_dnc":
            tx.update("leads", lead_id, status="dnc", updated_at=at_us)
            next_at = None
        elif _outside_hours(refusal):
            hours = call_life.permitted_hours(tx)
            opens_at = contact_checks.next_opening(phone, hours, at_us)
            next_at = opens_at or _next_look(phone, at_us)
        tx.update("leads", lead_id, slot_at=None, next_attempt_at=next_at)

    def _call_back(self, context: DialContext, due: Due) -> None:
        """Dial the lead of a callback that is due; a refused one is tried again for a day."""
        tx, callback_id = context.tx, due.about
        lead_id, scheduled_at, status, campaign_status, asked_by, lead_status = tx.row(
            "SELECT callbacks.lead_id, callbacks.scheduled_at, callbacks.status, campaigns.status,"
            " callbacks.asked_by, leads.status"
            " FROM callbacks LEFT JOIN campaigns ON campaigns.client = callbacks.client"
            " AND campaigns.id = callbacks.campaign_id"
            " LEFT JOIN leads ON leads.client = callbacks.client AND leads.id = callbacks.lead_id"
            " WHERE callbacks.client = ? AND callbacks.id = ?",
            callback_id,
        )
        if status != "pending" or lead_id is None:
            return
        called = call_life.lead_called(tx, lead_id)
        if call_life.is_on_the_line(tx, called.phone):
            self._call_back_at(context, callback_id, due.at_us + _BUSY_US)
            return
        try:
            _may_be_called_back(campaign_status, asked_by, lead_status)
            contact_checks.may_dial(tx, called.phone, "callback")
        except Refusal as refusal:
            _record_refusal(context, "callback", called.phone, callback_id, refusal)
            next_at = self._next_try_at(context, called.phone, scheduled_at, refusal)
            self._call_back_at(context, callback_id, next_at)
            return
        # States, Callback: the move from pending to completed is not shown; this is ours.
        tx.update("callbacks", callback_id, status="completed")
        call_life.place(context, called, "callback", about=callback_id)

    def _next_try_at(
        self, context: DialContext, phone: str, scheduled_at: int, refusal: Refusal
    ) -> int:
        """When a refused callback is tried again: beyond any clock where nobody dials it any more."""
        at_us = context.tx.now_us
        # At its time the account's hours are enough; later than that it keeps to all of them.
        wait_us = 0 if _outside_hours(refusal) else max(_wait_us(refusal), _HOLD_US)
        hours = call_life.permitted_hours(context.tx)
        next_at = contact_checks.next_opening(phone, hours, at_us + wait_us)
        if next_at is None and contact_checks.zones(phone):
            # No hour is open by today's settings, which may change.
            next_at = at_us + _HOLD_US
        # A promise for yesterday is not kept today: whoever was promised has waited in vain already.
        if (
            next_at is None
            or next_at > scheduled_at + _CALLBACK_TRIES_US
            or refusal.code == "on_dnc"
        ):
            return _NEVER_US
        return next_at

    def _call_back_at(self, context: DialContext, callback_id: str, at_us: int) -> None:
        context.tx.update("callbacks", callback_id, call_at=at_us)
        self.agenda.add(at_us, "callback", context.tx.client, callback_id)


def _may_be_called_back(status: str | None, asked_by: str | None, lead_status: str | None) -> None:
    """A paused campaign still calls whom a request promised a call; a lead marked `dnc` nobody calls."""
    # Resources, Lead: `dnc` is a status of the lead, also where no list has its number.
    if lead_status == "dnc":
        raise Refusal("on_dnc", "The lead is marked as not to be called.")
    if status in ("completed", "archived") or (status == "paused" and asked_by != "request"):
        raise Refusal("campaign_not_running", f"The campaign is {status}.")


def _next_look(phone: str, at_us: int) -> int:
    """When to look again at a number without an open hour: settings may change, its zone will not."""
    return at_us + (DAY_US if contact_checks.zones(phone) else 7 * DAY_US)


def _outside_hours(refusal: Refusal) -> bool:
    return any(error.code == "outside_calling_hours" for error in refusal.errors)


def _wait_us(refusal: Refusal) -> int:
    """How long to wait after a refusal: what it says, an hour for the account, a day for a number."""
    if refusal.code in _OWN_REFUSALS:
        return DAY_US
    if refusal.retry_after_s is not None and refusal.code != "dnc_screen_unavailable":
        return refusal.retry_after_s * SECOND_US
    return _HOLD_US


def _record_refusal(
    context: DialContext,
    kind: Literal["call", "callback"],
    phone: str,
    about: str,
    refusal: Refusal,
) -> None:
    """Keep that nobody was dialed, and why; `about` names the lead, or the callback."""
    code, reason = refusal.code, refusal.errors[0].code if refusal.errors else None
    values = {"kind": kind, "recipient": phone, "at": context.tx.now_us, "about": about}
    context.tx.insert("refusals", {**values, "code": code, "reason": reason})
    context.played["refusals"] += 1


def _calls_until_next_minute(per_minute: float, at_us: int) -> int:
    """Whole calls of what is left of a minute; a broken rate is kept over many minutes."""
    minute = at_us // _MINUTE_US
    return int(per_minute * (minute + 1)) - int(per_minute * at_us / _MINUTE_US)


def _next_tick(
    db: sqlite3.Connection, settings: Settings, client: int, after_us: int
) -> int | None:
    """When leads of the running campaigns are next given their instants: at once, or next minute."""
    if not settings.dialer.enabled:
        return None
    # Campaigns without anybody to call set no tick, so an idle account costs nothing.
    (due_us,) = db.execute(
        "SELECT min((SELECT min(due_at) FROM leads WHERE leads.client = campaigns.client"
        " AND campaign_id = campaigns.id AND due_at IS NOT NULL))"
        " FROM campaigns WHERE client = ? AND status = 'running'",
        (client,),
    ).fetchone()
    if due_us is None:
        return None
    hold = db.execute("SELECT until FROM holds WHERE client = ?", (client,)).fetchone()
    earliest_us: int = max(due_us, after_us + 1, hold[0] if hold else 0)
    minute_us = earliest_us // _MINUTE_US * _MINUTE_US
    last = db.execute("SELECT at FROM ticks WHERE client = ?", (client,)).fetchone()
    if last is not None and last[0] >= minute_us:
        return minute_us + _MINUTE_US
    # To the next whole second: steps of one second need no finer order.
    return -(-earliest_us // SECOND_US) * SECOND_US

"""Listeners behind a queue: in order, and with a word about what they missed."""

from __future__ import annotations

import threading

from dialframe.errors import DialframeError
from dialframe.webhooks import Delivery, verify
from dialframe.webhooks.receiver import Announcer
from webhooks.made import NOW, SECRET, delivery, until


def one(number: int) -> Delivery:
    """A genuine delivery."""
    made = delivery(number=number)
    return verify(made.body, made.headers, SECRET, NOW)


def test_events_are_told_in_order() -> None:
    """As they were kept, so they are told, and the end waits for what was on its way."""
    told: list[Delivery] = []
    announcer = Announcer(told.append, lambda _: None)
    given = [one(number) for number in range(20)]

    for delivery_ in given:
        announcer.event(delivery_)
    announcer.close(within_s=2)

    assert told == given


def test_too_slow_a_listener_hears_how_many_it_missed() -> None:
    """What finds no place is counted and left out, instead of filling the memory."""
    gate, troubles, told = threading.Event(), list[DialframeError](), list[Delivery]()

    def listen(delivery_: Delivery) -> None:
        gate.wait()
        told.append(delivery_)

    announcer = Announcer(listen, troubles.append, places=3)
    announcer.event(one(0))
    until(lambda: announcer._worker._jobs.qsize() == 0)
    for number in range(1, 9):
        announcer.event(one(number))
    announcer.trouble(DialframeError("also left out"))
    gate.set()
    until(lambda: len(told) == 4)
    announcer.event(one(9))
    announcer.close(within_s=2)

    assert len(told) == 5
    assert [str(trouble)[:18] for trouble in troubles] == ["5 events were stor"]

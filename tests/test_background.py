"""Work in threads comes back in order, and ends where nobody listens any more."""

from __future__ import annotations

import threading
import time

import pytest

from dialframe.background import ahead


@pytest.mark.parametrize("threads", [1, 3])
@pytest.mark.parametrize("count", [0, 1, 2, 9])
def test_results_come_in_the_order_of_the_items(threads, count):
    """However long each of them takes."""

    def work(item):
        time.sleep(0.001 * (count - item))
        return item * item

    assert [*ahead(work, range(count), threads=threads)] == [item * item for item in range(count)]


def test_items_are_drawn_by_the_caller_and_worked_on_beside_it():
    """One more than there are threads; a single item is not worth a thread."""
    caller, drawn = threading.get_ident(), []

    def items():
        for item in range(5):
            drawn.append((item, threading.get_ident()))
            yield item

    results = ahead(lambda _: threading.get_ident(), items())
    assert next(results) != caller
    assert drawn == [(0, caller), (1, caller)]
    assert caller not in results
    assert [*ahead(lambda _: threading.get_ident(), [1])] == [caller]


def test_an_error_reaches_who_asks_for_the_result():
    """In its place: what comes before it is there."""
    results = ahead(lambda item: 6 // item, [3, 2, 0, 1])

    assert [next(results), next(results)] == [2, 3]
    with pytest.raises(ZeroDivisionError):
        next(results)


def test_nothing_is_begun_for_a_listener_who_is_gone():
    """And the thread ends."""
    begun, go_on = [], threading.Event()
    before = threading.active_count()

    def work(item):
        begun.append(item)
        if item == 1:
            go_on.wait(5)

    results = ahead(work, range(10), threads=1)
    next(results)
    results.close()
    go_on.set()
    until = time.monotonic() + 5
    while threading.active_count() > before and time.monotonic() < until:
        time.sleep(0.01)

    assert threading.active_count() <= before
    assert begun in ([0], [0, 1])

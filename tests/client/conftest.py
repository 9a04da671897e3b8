"""The suite of the client, held to both kinds of it."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from client import fakes

#: Modules whose tests connect a client to a service, whatever kind it is.
BOTH = {
    "test_against_sandbox", "test_codes_over_http", "test_late_writes", "test_listing", "test_methods",
    "test_operations", "test_retrying", "test_tolerance", "test_writes",
}  # fmt: skip
#: Tests of other modules that are held to both kinds too.
ALSO = {
    "test_import_takes_a_frame", "test_other_defaults_share_connections", "test_recording_goes_into_a_buffer_or_comes_in_chunks",
}  # fmt: skip
#: Tests that are about threads, or about a client's inside.
THREADS_ALONE = {
    "test_threads_that_share_a_key_are_never_refused": "its callers are threads",
    "test_nothing_is_dialed_late_after_a_kill": "it is about the journal, which both share",
    "test_answer_is_final_unless_it_says_not_now": "it is about the rule, which both share",
    "test_every_healthy_row_comes_and_every_bad_one_is_named": "it is about reading, which both share",
    "test_write_of_a_process_that_was_killed_is_settled_by_another": "it makes its own client",
}


def pytest_generate_tests(metafunc: pytest.Metafunc) -> None:
    """Each test of those modules for both kinds of client."""
    module = metafunc.module.__name__.rpartition(".")[2]
    name = metafunc.function.__name__
    connects = "tmp_path" in metafunc.fixturenames and name not in THREADS_ALONE
    if name in ALSO or (module in BOTH and connects):
        metafunc.fixturenames.append("client_kind")
        metafunc.parametrize("client_kind", ["threads", "event loop"], indirect=True)


@pytest.fixture
def client_kind(request: pytest.FixtureRequest) -> Iterator[str]:
    """The kind of client that `connected` gives."""
    fakes.KIND = request.param
    yield request.param
    fakes.KIND = "threads"

"""Where the documentation says a method is, there it is."""

from __future__ import annotations

from operator import attrgetter
from pathlib import Path

from client.fakes import Service, connected
from dialframe.client import method_path
from dialframe.contract import operations


def test_paths_are_the_methods_of_a_client(tmp_path: Path) -> None:
    """Every operation's path leads to a method, and a resource has no method beside them."""
    client = connected(Service(), tmp_path)
    resources = {
        name: value
        for name, value in vars(client).items()
        if type(value).__module__.startswith("dialframe.client.resources.")
    }
    methods = {
        f"{name}.{method}"
        for name, value in resources.items()
        for method in dir(value)
        if not method.startswith("_")
    }

    wider = {"calls.recording_into", "calls.recording_chunks"}
    assert {method_path(row) for row in operations.ALL} == methods - wider | {"me"}
    assert all(callable(attrgetter(method_path(row))(client)) for row in operations.ALL)
    assert method_path(operations.LEADS_IMPORT) == "leads.import_"

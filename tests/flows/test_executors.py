"""Files shared by processes come out as from one."""

from __future__ import annotations

from dialframe import leads
from dialframe.flows.executors import executor


def test_processes_write_the_same_lists(tmp_path):
    """Each process loads what it needs from the one that they are copies of."""
    paths = [tmp_path / "a.csv", tmp_path / "b.csv"]
    for path, tail in zip(paths, ("09", "10"), strict=True):
        path.write_text(f"Name,Phone\nAnn,21273600{tail}\nBob,2127360011\nCy,555\n")
    alone, shared = tmp_path / "alone", tmp_path / "shared"

    leads.clean_files(paths, alone, region="US")
    with executor(jobs=2, loads="dialframe.leads.cleaning") as workers:
        result = leads.clean_files(paths, shared, region="US", executor=workers)

    assert result.counts["clean"] == 3
    assert result.counts["duplicates"] == 1
    for name in ("clean", "set_aside"):
        file = f"a_and_1_more.{name}.csv"
        assert (shared / file).read_bytes() == (alone / file).read_bytes()

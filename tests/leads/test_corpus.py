"""A sample of the made corpus is read exactly right; `corpus_check` reads all of it."""

from __future__ import annotations

import pytest
from tests.leads.corpus.judge import cases, fault, shares
from tests.leads.corpus.suites import KINDS, SUITES

_EVERY = 9


def test_nearly_every_file_is_read_exactly_right(tmp_path):
    """Header, number of records, every cell and every line, in the share that each suite demands."""
    found = [(case, fault(case, tmp_path)) for case in cases(_EVERY)]

    for suite, share in shares(found).items():
        problems = [f"{case.name}: {why}" for case, why in found if case.suite == suite and why]
        assert share >= SUITES[suite]["share"], problems


def test_the_corpus_is_the_same_each_time():
    """Files are drawn by their number, so that a figure can be compared with yesterday's."""
    first, again = ([case.data for case in cases(50) if case.suite != "xlsx"] for _ in range(2))

    assert first == again


@pytest.mark.parametrize("suite", sorted(SUITES))
def test_each_suite_has_each_of_its_kinds(suite):
    """No kind of mess is left out because a suite is too short."""
    assert SUITES[suite]["files"] >= len(KINDS[suite])

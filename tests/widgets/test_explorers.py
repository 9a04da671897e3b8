"""Each widget takes the account, shows its answer, and says what is wrong in a sentence."""

from __future__ import annotations

import datetime as dt
from collections.abc import Iterator
from pathlib import Path

import pytest

import dialframe
from dialframe.errors import ConfigError
from dialframe.widgets import CoverageDashboard, FunnelExplorer, Workbench

pytest.importorskip("ipywidgets")


@pytest.fixture(scope="module")
def account(tmp_path_factory: pytest.TempPathFactory) -> Iterator[dialframe.Account]:
    """A tiny account that was synced."""
    store = tmp_path_factory.mktemp("store")
    with (
        dialframe.sandbox.start(size="tiny", as_of=dt.date(2026, 10, 30)) as box,
        dialframe.connect(box.base_url, box.api_key, store) as connected,
    ):
        connected.sync()
        yield connected


def test_a_funnel_explorer_shows_the_funnel_that_analytics_gives(
    account: dialframe.Account,
) -> None:
    """Whole first, then by what is chosen; a viewer without JavaScript sees the same."""
    explorer = FunnelExplorer(account)
    assert "<img alt=" in explorer.answer.value
    explorer.by.value = "lead_source"
    explorer.show()
    assert "web_form" in explorer.answer.value
    data = explorer._repr_mimebundle_()
    assert "web_form" in (data[0] if isinstance(data, tuple) else data)["text/html"]


def test_a_coverage_dashboard_shows_the_numbers_of_its_audit(account: dialframe.Account) -> None:
    """The sentence of the audit's first headline, and a card for a violation."""
    dashboard = CoverageDashboard(account, rules="us,us-*")
    dashboard.show()
    calls = dashboard.audit.findings.query("grade == 'violation'")["call_id"].nunique()
    assert (
        f"{calls:,} of {dashboard.audit.calls:,} calls have a violation." in dashboard.answer.value
    )


def test_a_workbench_cleans_the_chosen_file(tmp_path: Path) -> None:
    """And says what it wrote; without a file it asks for one."""
    bench = Workbench(folder=tmp_path)
    bench.show()
    assert "choose a lead file first" in bench.answer.value
    content = b"Name,Phone\nAda,(212) 555-0142\nBen,12\n"
    bench.upload.value = (
        {
            "name": "list.csv",
            "type": "text/csv",
            "size": len(content),
            "content": memoryview(content),
            "last_modified": dt.datetime.now(dt.UTC),
        },
    )
    bench.region.value = "US"
    bench.show()
    assert "1 clean" in bench.answer.value
    assert any("2125550142" in file.read_text() for file in tmp_path.glob("*clean.csv"))


@pytest.mark.parametrize("widget", [FunnelExplorer, CoverageDashboard, Workbench])
def test_anything_but_an_account_is_refused(widget: type) -> None:
    """In a sentence that names what to pass."""
    with pytest.raises(ConfigError, match=r"takes an account: pass the one of dialframe\.connect"):
        widget(lambda: None)

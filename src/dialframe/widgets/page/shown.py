"""What the page shows in its kernel; reads the environment, since it is a face of its own."""

from __future__ import annotations

import os
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Final
from urllib.parse import parse_qs

import ipywidgets as W  # noqa: N812 - its own documentation calls it so
from IPython.display import display

from dialframe.account import connect
from dialframe.config import ENVIRONMENT
from dialframe.errors import ConfigError
from dialframe.widgets.bench import Connect
from dialframe.widgets.frame import html, tabs
from dialframe.widgets.html import paragraph
from dialframe.widgets.jobs import outcome
from dialframe.widgets.page.names import FOLDER
from dialframe.widgets.workbench import Workbench

TITLES: Final = ("Leads", "Funnel", "Coverage")


class Pages(W.VBox):  # type: ignore[misc]  # it comes without types
    """Three tabs, each made when it is first looked at.

    Attributes:
        made: Title to the widget, for tabs that were looked at.
        tabs: The tabs.
    """

    def __init__(self, environment: Mapping[str, str]) -> None:
        super().__init__()
        self._makers = _makers(environment)
        self.made: dict[str, W.Widget] = {}
        self._places = {title: W.VBox() for title in TITLES}
        self.tabs = tabs(list(self._places.values()), TITLES)
        self.tabs.observe(lambda change: self.look(TITLES[change["new"]]), "selected_index")
        query = parse_qs(environment.get("QUERY_STRING", ""))
        wanted = query.get("tab", [TITLES[0]])[0].capitalize()
        self.children = [html("<h1>dialframe</h1>"), self.tabs]
        self.tabs.selected_index = TITLES.index(wanted) if wanted in TITLES else 0
        self.look(TITLES[self.tabs.selected_index or 0])

    def look(self, title: str) -> None:
        """Make a tab's widget, unless it is there; where it cannot be made, say why."""
        if title in self.made:
            return

        def make() -> str:
            self.made[title] = self._makers[title]()
            return ""

        said, failed = outcome(lambda _: make(), lambda _: None)
        self._places[title].children = [html(paragraph(said)) if failed else self.made[title]]


def show() -> None:
    """Show the page in this kernel."""
    display(Pages(os.environ))  # type: ignore[no-untyped-call]  # it comes without types


def account_of(environment: Mapping[str, str]) -> Connect | None:
    """What opens the account of the environment; None where it names none."""
    if not (environment.get(ENVIRONMENT["base_url"]) and environment.get(ENVIRONMENT["api_key"])):
        return None
    return connect


def _makers(environment: Mapping[str, str]) -> dict[str, Callable[[], W.Widget]]:
    opened = account_of(environment)
    folder = Path(environment.get(FOLDER) or ".")
    query = environment.get("QUERY_STRING", "")
    return {
        "Leads": lambda: Workbench(folder, connect=opened),
        "Funnel": lambda: _explorer(_given(opened), query),
        "Coverage": lambda: _dashboard(_given(opened), folder),
    }


def _given(opened: Connect | None) -> Connect:
    if opened is None:
        raise ConfigError(
            "there is no account; set DIALFRAME_BASE_URL and DIALFRAME_API_KEY, run dialframe sync, "
            "and start the page again"
        )
    return opened


def _explorer(opened: Connect, query: str) -> W.Widget:
    # Its libraries are heavy, and a list is cleaned without them.
    from dialframe.widgets.funnel import FunnelModel, FunnelState
    from dialframe.widgets.funnel_view import FunnelExplorer

    with opened() as account:
        model = FunnelModel.of(account)
    return FunnelExplorer(model, state=FunnelState.from_query(query))


def _dashboard(opened: Connect, folder: Path) -> W.Widget:
    from dialframe.widgets.coverage_view import CoverageDashboard

    return CoverageDashboard(opened, folder=folder)

"""Shows the page in its kernel, and reads the environment for it."""

from __future__ import annotations

import os
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any, Final
from urllib.parse import parse_qs

import anywidget
import ipywidgets as W  # noqa: N812 - its own documentation calls it so
import traitlets
from IPython.display import display

from dialframe.account import connect
from dialframe.config import ENVIRONMENT, silent
from dialframe.errors import ConfigError
from dialframe.widgets.file_transfer import script
from dialframe.widgets.html_and_controls import html, paragraph, tabs
from dialframe.widgets.jobs import as_sentence, outcome
from dialframe.widgets.lead_workbench import Workbench
from dialframe.widgets.lead_workbench_model import Connect
from dialframe.widgets.page_server import FOLDER

#: The tabs, in the order of a person's work; their small letters stand in the page's address.
TITLES: Final = ("Leads", "Funnel", "Coverage")


class Pages(W.VBox):  # type: ignore[misc]  # it comes without types
    """Three tabs, each made when it is first looked at; the page's address says which is shown.

    Attributes:
        address: The page's address: the tab, and the state of the funnel.
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
        self.address = Address(self._go)
        self.children = [html("<h1>dialframe</h1>"), self.address, self.tabs]
        shown = _tab(environment.get("QUERY_STRING", ""))
        self.tabs.selected_index = shown
        self.look(TITLES[shown])

    def look(self, title: str) -> None:
        """Make a tab's widget, unless it is there; where it cannot be made, say why."""

        def make(_: object) -> str:
            self.made[title] = self._makers[title]()
            return ""

        if title not in self.made:
            sentence, failed = outcome(make, silent)
            self._places[title].children = [
                html(paragraph(sentence)) if failed else self.made[title]
            ]
            if title == "Funnel" and not failed:
                self.made[title].observe(lambda _: self._tell(), "query")
        self._tell()

    def _tell(self) -> None:
        """Let the address say what is shown."""
        title = TITLES[self.tabs.selected_index or 0]
        more = self.made[title].query if title == "Funnel" and title in self.made else ""
        self.address.query = f"tab={title.lower()}" + (f"&{more}" if more else "")

    def _go(self, query: str) -> None:
        """Show what an address says that somebody went back or forward to."""
        wanted = _tab(query)
        if TITLES[wanted] == "Funnel" and "Funnel" in self.made:
            self.made["Funnel"].ask(query)
        self.tabs.selected_index = wanted


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


def _tab(query: str) -> int:
    """The place of the tab that an address names; of the first where it names none."""
    # The address is a stranger's text: what is no tab leads to the first.
    wanted = parse_qs(query).get("tab", [TITLES[0]])[0].capitalize()
    return TITLES.index(wanted) if wanted in TITLES else 0


def _given(opened: Connect | None) -> Connect:
    if opened is None:
        raise ConfigError(
            "there is no account; set DIALFRAME_BASE_URL and DIALFRAME_API_KEY, run dialframe sync, "
            "and start the page again"
        )
    return opened


def _explorer(opened: Connect, query: str) -> W.Widget:
    # Its libraries are heavy, and a list is cleaned without them.
    from dialframe.widgets.dashboard_models import FunnelModel, FunnelState
    from dialframe.widgets.dashboards import FunnelExplorer

    # Closed again: a page may stay open for days, and a sync needs the store.
    with opened() as account:
        model = FunnelModel.of(account)
    try:
        return FunnelExplorer(model, state=FunnelState.from_query(query))
    except ConfigError as error:
        shown = FunnelExplorer(model)
        shown.say(as_sentence(str(error)), failed=True)
        return shown


def _dashboard(opened: Connect, folder: Path) -> W.Widget:
    from dialframe.widgets.dashboards import CoverageDashboard

    return CoverageDashboard(opened, folder=folder)


class Address(anywidget.AnyWidget):
    """What the page's address says behind its question mark; in a notebook it changes nothing.

    Attributes:
        query: What is shown, as an address says it; the token is not part of it.
    """

    _esm = script("address.js")
    query = traitlets.Unicode("").tag(sync=True)

    def __init__(self, on_asked: Callable[[str], None]) -> None:
        """Call `on_asked` with the query that somebody went back or forward to."""
        super().__init__()
        self._on_asked = on_asked
        self.on_msg(self._receive)

    def _receive(self, _: object, message: Mapping[str, Any], buffers: object) -> None:
        del buffers
        if message.get("kind") == "asked":
            self._on_asked(str(message.get("query", "")))

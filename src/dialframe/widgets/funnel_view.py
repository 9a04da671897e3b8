"""The funnel explorer as a widget: shows a `FunnelModel` and passes on what is chosen."""

from __future__ import annotations

import ipywidgets as W  # noqa: N812 - its own documentation calls it so
import traitlets

from dialframe.errors import ConfigError
from dialframe.plots.style import Look
from dialframe.widgets.elements import (
    Panel,
    bullets,
    button,
    drawing,
    field,
    html,
    paragraph,
    row,
    snapshot,
    table,
    tabs,
)
from dialframe.widgets.funnel_state import FunnelModel, FunnelState
from dialframe.widgets.jobs import Jobs

_ORDERS = (
    ("in this order", "ordered"),
    ("without a call between", "strict"),
    ("in any order", "any"),
)


class FunnelExplorer(Panel):
    """A funnel by campaigns, dates and breakdown: a picture, and the same numbers as a table.

    Attributes:
        model: What is shown.
        campaigns, since, until, by, order, window: What is asked; `show` asks it.
        saved: The state as JSON; `load` takes what is written there.
        picture, numbers, notes: What came of it.
        query: The state as an address says it.
    """

    query = traitlets.Unicode("")

    def __init__(
        self, model: FunnelModel, *, state: FunnelState | None = None, jobs: Jobs | None = None
    ) -> None:
        """Explore a model's frames, beginning with a state."""
        super().__init__(jobs)
        self.model = model
        self._make_choices()
        self.picture, self.numbers, self.notes = html(), html(), html()
        self.tabs = tabs(
            [
                self.picture,
                self.numbers,
                W.VBox([self.notes, row(self.saved, self.load), self.link]),
            ],
            ["Picture", "Numbers", "Notes and state"],
        )
        self.children = [
            self.status,
            self.running,
            row(self.campaigns, W.VBox([self.since, self.until, self.by])),
            row(self.order, self.window),
            row(self.show, self.reset),
            self.tabs,
        ]
        self.status.observe(self._relook, "look")
        begin = state or model.state
        self.act(lambda: self.model.choose(begin))

    def _make_choices(self) -> None:
        named = [(name, each) for each, name in self.model.campaigns.items()]
        self.campaigns = field(W.SelectMultiple(description="Campaigns", options=named, rows=5))
        self.since = field(W.DatePicker(description="From (UTC)"))
        self.until = field(W.DatePicker(description="To (UTC)"))
        split = [
            ("nothing", ""),
            *((each.replace("_", " "), each) for each in self.model.breakdowns),
        ]
        self.by = field(W.Dropdown(description="Split by", options=split))
        self.order = field(W.Dropdown(description="Stages", options=_ORDERS))
        self.window = field(W.Text(description="Window, days", placeholder="any time"))
        self.saved = field(W.Text(description="State"))
        self.load = button("Load state", "Ask what is written beside this button")
        self.link = html()
        self.show = button("Show", "Draw the funnel that is chosen here", main=True)
        self.reset = button("Start over", "All campaigns, all dates, nothing split")
        self.show.on_click(lambda _: self.act(self._choose))
        self.load.on_click(
            lambda _: self.act(lambda: self.model.choose(FunnelState.from_json(self.saved.value)))
        )
        self.reset.on_click(lambda _: self.act(lambda: self.model.choose(FunnelState())))

    def chosen(self) -> FunnelState:
        """Read the controls.

        Returns:
            The state that they stand for.

        Raises:
            ConfigError: The window is no number, or the days are the wrong way round.
        """
        days = self.window.value.strip()
        return FunnelState(
            campaigns=tuple(self.campaigns.value),
            since=self.since.value,
            until=self.until.value,
            by=self.by.value or None,
            order=self.order.value,
            window_days=whole(days) if days else None,
        )

    def ask(self, query: str) -> None:
        """Show the funnel of an address; where the address is wrong, say so and change nothing.

        Args:
            query: The query of the address, as of `FunnelState.to_query`.
        """
        self.act(lambda: self.model.choose(FunnelState.from_query(query)))

    def _choose(self) -> str:
        return self.model.choose(self.chosen())

    def _relook(self, change: dict[str, Look]) -> None:
        self.model.look = change["new"]
        self._draw_safely()

    def draw(self) -> None:
        """Show the model as it is."""
        state = self.model.state
        campaigns = set(self.model.campaigns)
        self.campaigns.value = tuple(each for each in state.campaigns if each in campaigns)
        self.since.value, self.until.value = state.since, state.until
        self.by.value = state.by if state.by in self.model.breakdowns else ""
        self.order.value = state.order
        self.window.value = "" if state.window_days is None else str(state.window_days)
        self.saved.value = state.to_json()
        self.query = state.to_query()
        self.link.value = paragraph(f"In the page's address: ?tab=funnel&{state.to_query()}")
        funnel = self.model.result()
        self.picture.value = drawing(self.model.picture())
        self.numbers.value = table("Leads by stage", self.model.table())
        self.notes.value = bullets(
            filter(None, [self.model.freshness, *funnel.warnings, *funnel.explain().splitlines()])
        )

    def snapshot(self) -> str:
        """What a viewer without widgets shows.

        Returns:
            HTML: the picture with its alternative text, and its numbers.
        """
        return snapshot(
            "Funnel explorer",
            [self.model.picture().html(), table("Leads by stage", self.model.table())],
        )


def whole(text: str) -> int:
    """A whole number that was typed.

    Raises:
        ConfigError: It is none.
    """
    if not (text.isascii() and text.isdigit()):
        raise ConfigError(f"{text!r} is no number of days; leave it empty for any time")
    return int(text)

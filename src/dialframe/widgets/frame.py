"""What every widget of the room shares: a status line, progress with a stop, a snapshot; knows no analysis."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from html import escape
from typing import Any

import ipywidgets as W  # noqa: N812 - its own documentation calls it so

from dialframe.config import Progress
from dialframe.widgets.html import table
from dialframe.widgets.jobs import Jobs, Work, outcome
from dialframe.widgets.paging import Page
from dialframe.widgets.transfer import StatusLine

_STEPS = 1000


class Panel(W.VBox):  # type: ignore[misc]  # it comes without types
    """A box of controls with a status line that says in words how every action ended.

    Attributes:
        status: The status line.
        progress: How far the work is that is under way.
        stop: Stops it.
        jobs: Runs it.
    """

    def __init__(self, jobs: Jobs | None = None) -> None:
        super().__init__()
        self.jobs = jobs or Jobs()
        self.status = StatusLine()
        self.progress = W.FloatProgress(min=0, max=1, description="Progress")
        self.step = W.Label()
        self.stop = button("Stop", "Stop at the next step; what is finished is kept")
        self.stop.on_click(lambda _: self._stop())
        self.running = row(self.progress, self.step, self.stop)
        self.running.layout.display = "none"
        self.add_class("df-panel")

    def say(self, words: str, *, failed: bool = False) -> None:
        """Show a sentence in the status line."""
        with self.status.hold_sync():
            self.status.text, self.status.failed = words, failed

    def act(self, work: Callable[[], str]) -> None:
        """Do something short, and say how it ended."""
        said, failed = outcome(lambda _: work(), lambda _: None)
        self.say(said, failed=failed)
        self._draw_safely()

    def run(self, work: Work) -> None:
        """Do something long beside the page, with progress and a stop."""
        begun = self.jobs.start(work, on_progress=self._listen, on_end=self._end)
        if not begun:
            self.say("Something is under way; wait for its end, or stop it.", failed=True)
        elif self.jobs.running:
            self.say("Working.")
            self.progress.value, self.step.value = 0.0, ""
            self.running.layout.display = ""
            self.draw_running()

    def _stop(self) -> None:
        self.jobs.stop()
        if self.jobs.running:
            self.say("Stopping at the next step.")

    def draw(self) -> None:
        """Show the model as it is now."""

    def draw_running(self) -> None:
        """Show whether something is under way."""

    def snapshot(self) -> str:
        """The same without JavaScript, as HTML."""
        return ""

    def _listen(self, progress: Progress) -> None:
        if progress.total:
            share = progress.done / progress.total
            if abs(share - self.progress.value) * _STEPS >= 1 or share >= 1:
                self.progress.value = share
        of = f" of {progress.total:,}" if progress.total else ""
        far = f": {progress.done:,}{of}" if progress.done or of else ""
        self.step.value = f"{progress.step}{far}"

    def _end(self, said: str, failed: bool) -> None:  # noqa: FBT001 - the shape of `OnEnd`
        self.running.layout.display = "none"
        self._draw_safely()
        self.draw_running()
        self.say(said, failed=failed)

    def _draw_safely(self) -> None:
        self.attempt(self.draw)

    def attempt(self, draw: Callable[[], None]) -> None:
        """Show something; where that fails, say why."""

        def work(_: object) -> str:
            draw()
            return ""

        said, failed = outcome(work, lambda _: None)
        if failed:
            self.say(said, failed=True)

    def _repr_mimebundle_(self, **options: Any) -> dict[str, Any]:
        """The live widget, and beside it what a viewer without JavaScript shows."""
        made = super()._repr_mimebundle_(**options)
        bundle = dict(made[0] if isinstance(made, tuple) else made)
        return bundle | {"text/html": self.snapshot(), "text/plain": f"{type(self).__name__}()"}


def button(words: str, tip: str, *, main: bool = False) -> W.Button:
    """A button with words and a longer explanation."""
    return W.Button(
        description=words, tooltip=tip, button_style="primary" if main else "",
        layout=W.Layout(width="auto", min_height="36px"),
    )  # fmt: skip


def field(control: W.Widget) -> W.Widget:
    """A control whose label is read whole."""
    control.style = {"description_width": "7em"}
    if isinstance(control, W.Text):
        # Sent when it is left: letters that are still on their way would be overtaken by a click.
        control.continuous_update = False
    control.layout = W.Layout(width="25em", max_width="100%")
    return control


def row(*controls: W.Widget) -> W.HBox:
    """Controls beside each other, under each other where there is no room."""
    return W.HBox(list(controls), layout=W.Layout(flex_flow="row wrap", align_items="center"))


def html(words: str = "") -> W.HTML:
    """Words that are shown."""
    return W.HTML(words)


def titled(words: str, *controls: W.Widget) -> W.VBox:
    """Controls under a heading."""
    return W.VBox([html(f"<h3>{escape(words)}</h3>"), *controls])


def tabs(children: Sequence[W.Widget], titles: Sequence[str]) -> W.Tab:
    """Tabs with titles."""
    return W.Tab(children=list(children), titles=tuple(titles))


def turns(turn: Callable[[int], None]) -> tuple[W.Button, W.Label, W.Button]:
    """Buttons that turn pages, and between them which of how many is shown."""
    earlier, later = button("Earlier", "The page before"), button("Later", "The page behind")
    earlier.on_click(lambda _: turn(-1))
    later.on_click(lambda _: turn(1))
    return earlier, W.Label(), later


def turned(page: Page, caption: str, where: W.HTML, controls: tuple[Any, Any, Any]) -> None:
    """Show a page, and grey out the buttons that lead nowhere."""
    earlier, label, later = controls
    where.value = table(caption, page.rows)
    label.value = page.words
    earlier.disabled = page.number == 0
    later.disabled = page.number + 1 >= page.pages

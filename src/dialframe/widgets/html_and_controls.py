"""HTML and controls that the widgets share."""

from __future__ import annotations

from base64 import b64encode
from collections.abc import Callable, Iterable, Sequence
from html import escape
from typing import TYPE_CHECKING, Any, Final

import ipywidgets as W  # noqa: N812 - its own documentation calls it so
import numpy as np
import pandas as pd

from dialframe.config import Progress
from dialframe.widgets.cleaning_findings import Page
from dialframe.widgets.file_transfer import StatusLine
from dialframe.widgets.jobs import Jobs, Work, outcome

if TYPE_CHECKING:
    from dialframe.plots import Picture


#: Pixels of a page for each inch of a picture.
PAGE_DPI: Final = 100
#: Narrower than this the type of a picture is too small to be read.
_LEAST_PX: Final = 560
#: Cells longer than this are cut, with their end shown as an ellipsis; a proof never is.
_MOST_CHARS: Final = 600
#: Cells longer than this get a column of some width.
_LONG_CHARS: Final = 40
#: What is true or false is said in words: a screen reader reads a sign as its name.
_YES_NO: Final = {True: "yes", False: "no"}


def table(caption: str, frame: pd.DataFrame) -> str:
    """A frame as a table with a caption and column headings; wide ones scroll inside themselves."""
    # Whether each column holds numbers; what is true or false is none.
    kinds = pd.api.types
    right = [
        kinds.is_numeric_dtype(frame[name]) and not kinds.is_bool_dtype(frame[name])
        for name in frame.columns
    ]
    titles = [str(name).strip("_").replace("_", " ") for name in frame.columns]
    heads = "".join(
        f'<th scope="col" style="text-align:{"right" if number else "left"}">'
        f"{escape(title[:1].upper() + title[1:])}</th>"
        for title, number in zip(titles, right, strict=True)
    )
    body = "".join(
        f"<tr>{''.join(_cell(cell, number) for cell, number in zip(row, right, strict=True))}</tr>"
        for row in frame.itertuples(index=False, name=None)
    )
    # A region that scrolls has to be reachable by keyboard, and named (WCAG 2.1.1, 4.1.2).
    label = escape(caption, quote=True)
    return (
        f'<div class="df-table" role="region" tabindex="0" aria-label="{label}" '
        f'style="overflow-x:auto"><table><caption style="text-align:left">{escape(caption)}'
        f"</caption><thead><tr>{heads}</tr></thead><tbody>{body}</tbody></table></div>"
    )


def drawing(picture: Picture) -> str:
    """A picture for a live widget, sharp at every size; in a narrow window it scrolls rather than be too small."""
    # As an image and not as markup: nothing in a name from the data can run.
    encoded = b64encode(picture.svg().encode()).decode("ascii")
    width, height = (round(inches * PAGE_DPI) for inches in picture.get_size_inches())
    return (
        '<div class="df-picture" role="region" tabindex="0" aria-label="Picture" '
        f'style="overflow-x:auto"><img alt="{escape(picture.alt, quote=True)}" width="{width}" '
        f'height="{height}" style="max-width:100%;min-width:{_LEAST_PX}px;height:auto" '
        f'src="data:image/svg+xml;base64,{encoded}"></div>'
    )


def paragraph(*sentences: str) -> str:
    """Sentences as a paragraph."""
    return f"<p>{escape(' '.join(sentences))}</p>"


def bullets(lines: Iterable[str]) -> str:
    """Lines as a list; nothing where there are none."""
    items = "".join(f"<li>{escape(line)}</li>" for line in lines)
    return f"<ul>{items}</ul>" if items else ""


def snapshot(title: str, parts: Sequence[str]) -> str:
    """What stands for a widget where no JavaScript runs."""
    hint = paragraph(f"{title}. Open it in Jupyter or with dialframe app to work with it.")
    return f'<section class="df-snapshot">{hint}{"".join(parts)}</section>'


def _cell(cell: object, number: bool) -> str:  # noqa: FBT001 - of this module alone
    if cell is None or cell is pd.NA or (isinstance(cell, float) and cell != cell):
        return "<td></td>"
    if number:
        digits = f"{cell:,.3f}" if isinstance(cell, float) else f"{cell:,}"
        return f'<td style="text-align:right">{escape(digits)}</td>'
    words = _YES_NO[bool(cell)] if isinstance(cell, bool | np.bool_) else str(cell)
    shown = words if len(words) <= _MOST_CHARS else f"{words[:_MOST_CHARS]}..."
    wide = ";min-width:14em" if len(words) > _LONG_CHARS else ""
    return f'<td style="text-align:left{wide}">{escape(shown)}</td>'


#: Parts that a bar of progress moves by at least, so that a fast loop does not flood the page.
_STEPS: Final = 1000


class Panel(W.VBox):  # type: ignore[misc]  # it comes without types
    """A box of controls with a status line that says in words how every action ended.

    Attributes:
        model: What is shown; a panel holds no state of its own.
        status: The status line.
        progress: How far the work is that is under way.
        stop: Stops it.
        jobs: Runs it.
    """

    model: Any

    def __init__(self, jobs: Jobs | None = None) -> None:
        super().__init__()
        self.jobs = jobs or Jobs()
        self.status = StatusLine()
        self.progress = W.FloatProgress(min=0, max=1, description="Progress")
        self.step = W.Label()
        self.stop = button("Stop", "Stop at the next step; what is finished is kept")
        self.stop.on_click(self._stop)
        self.running = row(self.progress, self.step, self.stop)
        self.running.layout.display = "none"
        self.add_class("df-panel")

    def say(self, words: str, *, failed: bool = False) -> None:
        """Show a sentence in the status line."""
        with self.status.hold_sync():
            self.status.text, self.status.failed = words, failed

    def act(self, work: Callable[[], str]) -> None:
        """Do something short, and say how it ended."""
        # A click never ends in a traceback: that would be seen in the server's log alone.
        sentence, failed = outcome(lambda _: work(), lambda _: None)
        self.say(sentence, failed=failed)
        self.attempt(self.draw)

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

    def _stop(self, _: object) -> None:
        self.jobs.stop()
        if self.jobs.running:
            self.say("Stopping at the next step.")

    def change(self, **choices: object) -> None:
        """Set some choices of the model, and show it."""
        for name, value in choices.items():
            setattr(self.model, name, value)
        self.attempt(self.draw)

    def draw(self) -> None:
        """Show the model as it is now."""

    def draw_running(self) -> None:
        """Show whether something is under way."""

    def snapshot(self) -> str:
        """The same without JavaScript, as HTML."""
        return ""

    def _listen(self, progress: Progress) -> None:
        if progress.total:
            # Each message crosses the network.
            share = progress.done / progress.total
            if abs(share - self.progress.value) * _STEPS >= 1 or share >= 1:
                self.progress.value = share
        total = f" of {progress.total:,}" if progress.total else ""
        far = f": {progress.done:,}{total}" if progress.done or total else ""
        self.step.value = f"{progress.step}{far}"

    def _end(self, sentence: str, failed: bool) -> None:  # noqa: FBT001 - the shape of `OnEnd`
        self.running.layout.display = "none"
        self.attempt(self.draw)
        self.draw_running()
        self.say(sentence, failed=failed)

    def attempt(self, draw: Callable[[], None]) -> None:
        """Show something; where that fails, say why."""

        def work(_: object) -> str:
            draw()
            return ""

        sentence, failed = outcome(work, lambda _: None)
        if failed:
            self.say(sentence, failed=True)

    def _repr_mimebundle_(self, **options: Any) -> dict[str, Any]:
        """The live widget, and beside it what a viewer without JavaScript shows."""
        mime_bundle = super()._repr_mimebundle_(**options)
        bundle = dict(mime_bundle[0] if isinstance(mime_bundle, tuple) else mime_bundle)
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

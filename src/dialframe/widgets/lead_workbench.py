"""The lead workbench as a widget: shows a `LeadBench` and passes on what is clicked."""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from dataclasses import replace
from datetime import UTC, datetime
from functools import partial
from pathlib import Path
from typing import Final

import ipywidgets as W  # noqa: N812 - its own documentation calls it so
from platformdirs import user_state_path

from dialframe.config import OnProgress
from dialframe.errors import ConfigError
from dialframe.files import note_outputs
from dialframe.flows import cleaning_summary
from dialframe.flows.suppression_import import own_list
from dialframe.leads import MappingDecision
from dialframe.leads.columns.column_map import FIELDS, ColumnMap, Columns
from dialframe.leads.reading.layout import HeaderChoice
from dialframe.widgets.file_transfer import Downloads, Upload
from dialframe.widgets.html_and_controls import (
    Panel,
    bullets,
    button,
    field,
    html,
    paragraph,
    row,
    snapshot,
    table,
    tabs,
    titled,
    turned,
    turns,
)
from dialframe.widgets.jobs import Jobs
from dialframe.widgets.lead_workbench_model import Connect, LeadBench
from dialframe.widgets.work_folder import names, work_path

#: Endings of lead files, and of house rules.
LEAD_ENDINGS: Final = (
    ".csv", ".tsv", ".txt", ".tab", ".psv", ".xlsx", ".xlsm", ".xls", ".ods", ".json", ".jsonl",
    ".ndjson", ".parquet", ".gz", ".zip",
)  # fmt: skip
#: Rules are TOML or JSON, as for `--rules`.
RULE_ENDINGS: Final = (".toml", ".json")

#: Whatever was found is taken.
AS_FOUND: Final = "found"
#: The field is left out.
LEFT_OUT: Final = "none"
#: Before a column's name, which may itself be `found` or `none`.
_COLUMN: Final = "column:"

#: Words of a delimiter to what `read` takes.
DELIMITERS: Final = (
    ("as found", ""), ("comma", "comma"), ("semicolon", "semicolon"), ("tab", "tab"),
    ("pipe", "pipe"),
)  # fmt: skip

Option = tuple[str, str]


def field_options(
    name: str, columns: Sequence[str], decision: MappingDecision | None
) -> tuple[Option, ...]:
    """Options of one field: what was found with how sure that is, nothing, or any column."""
    none = () if name == "phone" else (("leave out", LEFT_OUT),)
    every = tuple((column, f"{_COLUMN}{column}") for column in columns)
    return ((found_words(name, decision), AS_FOUND), *none, *every)


def found_words(name: str, decision: MappingDecision | None) -> str:
    """What was found for a field: `Telefon (0.97)`."""
    column_map = None if decision is None else decision.columns
    columns = () if column_map is None else column_map.fields().get(name, ())
    if column_map is None or not columns:
        return "nothing found"
    sure = column_map.confidence.get(name)
    return f"found: {', '.join(columns)}" + ("" if sure is None else f" ({sure:.2f})")


def chosen_mapping(
    chosen: Mapping[str, str], mapping: ColumnMap | Mapping[str, Columns] | None
) -> dict[str, Columns] | None:
    """The mapping that a recipe takes, from the options chosen; a field that was set before stays set."""
    before: dict[str, Columns] = (
        dict(mapping.fields()) if isinstance(mapping, ColumnMap) else dict(mapping or {})
    )
    given: dict[str, Columns] = {
        name: None if option == LEFT_OUT else option.removeprefix(_COLUMN)
        for name, option in chosen.items()
        if option != AS_FOUND
    }
    return ({**before, **given}) or None


def header_choice(words: str) -> HeaderChoice:
    """The header that was typed: empty, `none`, or its line.

    Raises:
        ConfigError: It is none of them.
    """
    text = words.strip().lower()
    if text in ("", "auto"):
        return "auto"
    if text == "none":
        return "none"
    if not (text.isascii() and text.isdigit() and int(text)):
        raise ConfigError(f"the header is a line number, none, or empty to find it, not {words!r}")
    return int(text)


def questions(decisions: Sequence[MappingDecision]) -> list[str]:
    """What is not sure about the columns, one sentence each."""
    several = len(decisions) > 1
    return [
        f"{decision.name}: {question.why}" if several else question.why
        for decision in decisions
        for question in decision.questions
    ]


#: Fields that are shown at once; the others stand behind them.
FIRST_FIELDS: Final = (
    "phone",
    "first_name",
    "last_name",
    "full_name",
    "email",
    "external_id",
    "opt_out",
)
OTHER_FIELDS: Final = tuple(name for name in FIELDS if name not in FIRST_FIELDS)


#: Clean records that take long to compare.
_LONG: Final = 100_000
#: Place of the tab with what was changed.
CHANGES_TAB = 2


class Workbench(Panel):
    """A lead file in any shape to clean leads: read, mended, looked at, written, screened, imported.

    Attributes:
        model: The bench behind it.
        upload: Brings a file from the browser.
        path: Name of a file of the folder; `open` reads it, `go_on` continues an earlier session.
        region, encoding, delimiter, header, sheet: What was detected can be corrected; `decide`.
        fields: Field to the control with its columns.
        rules: House rules, a file of the folder.
        check, write, screen: Dry run, files, Do-Not-Call checks.
        campaign, bring_in: Import.
        reason, reveal: Filter of the issues, and whether values are shown whole.
        downloads: What was written.
    """

    model: LeadBench

    def __init__(
        self,
        folder: str | Path = ".",
        *,
        connect: Connect | None = None,
        jobs: Jobs | None = None,
        keep: Path | None = None,
    ) -> None:
        """A workbench.

        Args:
            folder: Reads and writes lists inside this folder alone.
            connect: Opens the account for screening and import; None where there is none.
            jobs: What runs the work; by default a thread beside the page.
            keep: Folder where the decisions about the last file are kept for the next start; by
                default that of the user's program states. Nothing of a record is in there.
        """
        super().__init__(jobs)
        clock = partial(datetime.now, UTC)
        note_outputs(clock)
        room = keep or user_state_path("dialframe") / "workbench"
        self.model = LeadBench(
            Path(folder),
            connect,
            clock,
            kept=work_path(room, Path(folder)),
            suppression=own_list(os.environ),
        )
        self._make_file()
        self._make_choices()
        self._make_actions()
        self._make_results()
        self.children = [
            self.status, self.running, self.file_box, self.choice_box, self.action_box, self.results
        ]  # fmt: skip
        left = self.model.left
        # Nothing is opened by itself: the file may be large, or not the one that is wanted.
        again = f" Go on takes up {left.name} as it was decided." if left else ""
        self.say(f"No file is open. Upload one, or name one of the folder.{again}")
        self.draw()

    def _make_file(self) -> None:
        self.upload = Upload(
            self.model.place_for,
            self._uploaded,
            lambda why: self.say(why, failed=True),
        )
        self.upload.accept = ",".join(LEAD_ENDINGS)
        self.path = field(
            W.Combobox(description="File", placeholder="name of a file of the folder")
        )
        self.open = button("Open", "Read the file that is named")
        self.open.on_click(lambda _: self.run(partial(self.model.open, self.path.value)))
        self.go_on = button("Go on", "Take up the file and the decisions that were left off")
        self.go_on.on_click(lambda _: self.run(self.model.go_on))
        self.file_box = titled(
            "1. A file", row(self.upload), row(self.path, self.open, self.go_on)
        )

    def _make_choices(self) -> None:
        self.region = field(W.Text(description="Region", value=self.model.recipe.region or ""))
        self.encoding = field(W.Text(description="Encoding", placeholder="as found"))
        self.delimiter = field(W.Dropdown(description="Delimiter", options=DELIMITERS, value=""))
        self.header = field(W.Text(description="Header line", placeholder="as found, or none"))
        self.sheet = field(W.Text(description="Sheet", placeholder="as found"))
        self.rules = field(
            W.Combobox(description="Policy file", placeholder="none, or a .toml of the folder")
        )
        self.fields = {
            name: field(
                W.Dropdown(
                    description=name.replace("_", " ").capitalize(),
                    options=[("nothing found", AS_FOUND)],
                )
            )
            for name in FIELDS
        }
        self.decide = button("Read it so", "Read the file again with what is told here")
        self.undo = button("Undo", "Go back to what was told before")
        self.decide.on_click(lambda _: self.run(self._decide))
        self.undo.on_click(lambda _: self.run(self.model.undo))
        self.detected = html()
        self.more = W.Accordion(
            children=[row(*(self.fields[name] for name in OTHER_FIELDS))],
            titles=("Further fields",),
        )
        self.choice_box = titled(
            "2. What was found",
            self.detected,
            row(self.region, self.encoding, self.delimiter, self.header, self.sheet, self.rules),
            row(*(self.fields[name] for name in FIRST_FIELDS)),
            self.more,
            row(self.decide, self.undo),
        )

    def _make_actions(self) -> None:
        self.check = button("Dry run", "Find out what becomes of every record; writes nothing",
                            main=True)  # fmt: skip
        self.write = button("Write files", "Write the lists, the report and a manifest")
        self.screen = button("Screen", "Ask the service which numbers are on a Do-Not-Call list")
        self.campaign = field(W.Text(description="Campaign", placeholder="cmp_..."))
        self.bring_in = button("Import", "Clean, screen and send to the campaign")
        self.check.on_click(lambda _: self.run(self.model.clean))
        self.write.on_click(lambda _: self.run(self.model.write))
        self.screen.on_click(lambda _: self.run(self.model.screen))
        self.bring_in.on_click(
            lambda _: self.run(partial(self.model.bring_in, self.campaign.value.strip()))
        )
        self.account_note = html(
            "" if self.model.connect else paragraph("Screening and import need an account.")
        )
        self.action_box = titled(
            "3. What becomes of it",
            row(self.check, self.write),
            row(self.screen, self.campaign, self.bring_in),
            self.account_note,
        )

    def _make_results(self) -> None:
        self.counts, self.issues, self.changes = html(), html(), html()
        self.reason = field(W.Dropdown(description="Reason", options=[("all reasons", "")]))
        self.reveal = W.Checkbox(description="Show values whole", indent=False)
        self.reason.observe(self._filter, "value")
        self.reveal.observe(lambda _: self.change(reveal=bool(self.reveal.value)), "value")
        self.issue_turns = turns(self._turn_issues)
        self.change_turns = turns(self._turn_changes)
        self.downloads, self.files_note, self.ledger = Downloads(), html(), html()
        self.tabs = tabs(
            [
                self.counts,
                W.VBox([row(self.reason, self.reveal), row(*self.issue_turns), self.issues]),
                W.VBox([row(*self.change_turns), self.changes]),
                W.VBox([self.files_note, self.downloads]),
                self.ledger,
            ],
            ["Outcome", "Issues", "Before and after", "Files", "Ledger"],
        )
        self.tabs.observe(lambda _: self._look_at_changes(), "selected_index")
        self.results = titled("4. Results", self.tabs)

    def _uploaded(self, path: Path) -> None:
        if self.jobs.running:
            self.say("Something is under way; upload the file again when it is done.", failed=True)
        else:
            self.run(partial(self.model.open_upload, path))

    def _decide(self, listen: OnProgress) -> str:
        recipe = replace(
            self.model.recipe,
            # An empty region is none: the service knows no default country, and neither does this.
            region=self.region.value.strip().upper() or None,
            encoding=self.encoding.value.strip() or None,
            delimiter=self.delimiter.value or None,
            header=header_choice(self.header.value),
            sheet=self.sheet.value.strip() or None,
            mapping=chosen_mapping(
                {name: str(control.value) for name, control in self.fields.items()},
                self.model.recipe.mapping,
            ),
        )
        return self.model.decide(recipe, listen, rules_file=self.rules.value.strip())

    def _filter(self, _: object) -> None:
        if self.model.prepared is not None and (self.reason.value or None) != self.model.reason:
            self.model.reason, self.model.page = self.reason.value or None, 0
            self.attempt(self._draw_issues)

    def _turn_issues(self, step: int) -> None:
        self.model.page += step
        self.attempt(self._draw_issues)

    def _turn_changes(self, step: int) -> None:
        self.model.changes_page += step
        self.attempt(self._draw_changes)

    def draw_running(self) -> None:
        """Grey out what cannot be clicked now."""
        idle, opened = not self.jobs.running, self.model.path is not None
        for control in (self.check, self.write, self.decide):
            control.disabled = not (idle and opened)
        for control in (self.screen, self.bring_in, self.campaign):
            control.disabled = not (idle and opened and self.model.connect is not None)
        self.undo.disabled = not (idle and self.model.can_undo)
        self.open.disabled = not idle
        self.go_on.disabled = not (idle and self.model.left is not None)

    def draw(self) -> None:
        """Show the bench as it is."""
        self.draw_running()
        self._draw_choices()
        self._draw_outcome()
        self.downloads.offer(self.model.written)
        self.files_note.value = (
            "" if self.model.written else paragraph("Nothing is written yet. Write files does it.")
        )
        self.ledger.value = ledger_html(self.model)

    def _draw_choices(self) -> None:
        recipe = self.model.recipe
        self.region.value = recipe.region or ""
        self.encoding.value = recipe.encoding or ""
        self.delimiter.value = recipe.delimiter or ""
        self.header.value = "" if recipe.header == "auto" else str(recipe.header)
        self.sheet.value = recipe.sheet or ""
        self.rules.value = self.model.rules_file
        self.rules.options = names(self.model.folder, RULE_ENDINGS)
        self.path.options = names(self.model.folder, LEAD_ENDINGS)
        self.detected.value = detected(self.model)
        decision = self.model.decisions[0] if self.model.decisions else None
        columns = [str(name) for name in self.model.files[0].frame] if self.model.files else []
        for name, control in self.fields.items():
            options = field_options(name, columns, decision)
            if control.options != options:
                control.options = options
            control.value = AS_FOUND

    def _draw_outcome(self) -> None:
        self.counts.value = outcome_html(self.model)
        if self.model.prepared is None:
            nothing = paragraph("Nothing was looked at yet. A dry run tells what becomes of it.")
            self.counts.value = self.issues.value = self.changes.value = nothing
            return
        reasons = [(f"{code} ({n:,})", code) for code, n in self.model.reasons().items()]
        # Setting equal options would throw away what is chosen.
        options = (("all reasons", ""), *reasons)
        if self.reason.options != options:
            self.reason.options = options
        self.reason.value = self.model.reason or ""
        self._draw_issues()
        self._draw_changes()

    def _draw_issues(self) -> None:
        page = self.model.issues()
        self.model.page = page.number
        turned(page, "Records set aside", self.issues, self.issue_turns)

    def _draw_changes(self) -> None:
        # Comparing every cell takes its time, so it waits until somebody looks.
        if self.model.prepared is None or self.tabs.selected_index != CHANGES_TAB:
            return
        page = self.model.changes()
        self.model.changes_page = page.number
        turned(page, "Cells changed", self.changes, self.change_turns)

    def _look_at_changes(self) -> None:
        prepared = self.model.prepared
        long = (
            prepared is not None
            and len(prepared.cleaned.clean) > _LONG
            and not self.model.compared
        )
        if long and self.tabs.selected_index == CHANGES_TAB and not self.jobs.running:
            self.run(self.model.compare)
        else:
            self.attempt(self._draw_changes)

    def snapshot(self) -> str:
        """What a viewer without widgets shows.

        Returns:
            HTML: what the file holds and what became of it, numbers masked.
        """
        return snapshot("Lead workbench", [detected(self.model), outcome_html(self.model)])


def detected(model: LeadBench) -> str:
    """How the open file was read, and what is not sure about its columns."""
    if not model.files:
        return paragraph("No file is open.")
    lines = [f"{file.name}: {'; '.join(cleaning_summary.decided(file.decisions))}"
             for file in model.files]  # fmt: skip
    return bullets([*lines, *questions(model.decisions)])


def outcome_html(model: LeadBench) -> str:
    """Counts that add up, reasons with what to do about them, what was mended."""
    if model.prepared is None:
        return ""
    cleaned = model.prepared.cleaned
    counts = ", ".join(f"{n:,} {name.replace('_', ' ')}" for name, n in cleaned.counts.items())
    parts = [paragraph(f"{counts}.")]
    for caption, frame in (
        ("Why records were set aside", cleaning_summary.reasons(cleaned)),
        ("Clean, and mended", cleaning_summary.warnings(cleaned)),
        ("Columns", cleaning_summary.columns(cleaned)),
    ):
        if len(frame):
            parts.append(table(caption, frame))
    return "".join(parts)


def ledger_html(model: LeadBench) -> str:
    """What became of the leads that were sent, and why some were not accepted."""
    if model.ledger is None:
        return paragraph("Nothing was sent yet.")
    why = cleaning_summary.refusals(model.ledger)
    counts = ", ".join(f"{n:,} {name}" for name, n in model.ledger.counts.items())
    return paragraph(f"{counts}.") + (table("Not accepted", why) if len(why) else "")

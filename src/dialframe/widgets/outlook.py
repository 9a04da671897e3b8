"""What a workbench has to say, as HTML: what was found in a file, what became of it, what the service answered."""

from __future__ import annotations

from dialframe.flows import lead_tables
from dialframe.widgets import choices
from dialframe.widgets.bench import LeadBench
from dialframe.widgets.html import bullets, paragraph, table


def detected(model: LeadBench) -> str:
    """How the open file was read, and what is not sure about its columns."""
    if not model.files:
        return paragraph("No file is open.")
    lines = [f"{file.name}: {'; '.join(lead_tables.decided(file.decisions))}"
             for file in model.files]  # fmt: skip
    return bullets([*lines, *choices.questions(model.decisions)])


def outcome_html(model: LeadBench) -> str:
    """Counts that add up, reasons with what to do about them, what was mended."""
    if model.prepared is None:
        return ""
    cleaned = model.prepared.cleaned
    counts = ", ".join(f"{n:,} {name.replace('_', ' ')}" for name, n in cleaned.counts.items())
    parts = [paragraph(f"{counts}.")]
    for caption, frame in (
        ("Why records were set aside", lead_tables.reasons(cleaned)),
        ("Clean, and mended", lead_tables.warnings(cleaned)),
        ("Columns", lead_tables.columns(cleaned)),
    ):
        if len(frame):
            parts.append(table(caption, frame))
    return "".join(parts)


def ledger_html(model: LeadBench) -> str:
    """What became of the leads that were sent, and why some were not accepted."""
    if model.ledger is None:
        return paragraph("Nothing was sent yet.")
    why = lead_tables.refusals(model.ledger)
    said = ", ".join(f"{n:,} {name}" for name, n in model.ledger.counts.items())
    return paragraph(f"{said}.") + (table("Not accepted", why) if len(why) else "")

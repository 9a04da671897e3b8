"""The report of a lead list as one HTML page."""

from __future__ import annotations

from collections.abc import Mapping
from functools import cache
from importlib import resources
from typing import Any, Final

import jinja2

#: Outcome to the words shown for it, in the order of the bar.
OUTCOMES: Final = {
    "clean": "clean",
    "rejected": "rejected",
    "duplicates": "duplicates",
    "do_not_call": "do not call",
    "skipped": "skipped",
}
#: Below this a decision is marked as one to look at.
SURE: Final = 0.8


def render(report: Mapping[str, Any]) -> str:
    """The page as HTML: styles inside, no script, nothing fetched from anywhere.

    Args:
        report: As `dialframe.leads.report` makes it; numbers in it are masked already.
    """
    return str(
        _template().render(
            report=report,
            outcomes=OUTCOMES,
            titles=[_decisions(file) for file in report["files"]],
            sure=SURE,
        )
    ) + "\n"  # fmt: skip


@cache
def _template() -> jinja2.Template:
    source = resources.files("dialframe.reports").joinpath("templates/leads.html.j2")
    environment = jinja2.Environment(
        autoescape=True, undefined=jinja2.StrictUndefined, trim_blocks=True, lstrip_blocks=True
    )
    environment.filters |= {"number": _number, "share": _share}
    return environment.from_string(source.read_text(encoding="utf-8"))


def _decisions(file: Mapping[str, Any]) -> list[tuple[str, str, float | None, str]]:
    """What was decided about a file: question, answer, confidence, the next best answer."""
    found = file["decisions"]
    dialect = found["dialect"]
    rows: list[tuple[str, str, float | None, str]] = [("Format", _form(found), None, "")]
    if found["encoding"]:
        rows.append(
            ("Encoding", _encoding(found), found["encoding_confidence"],
             found["encoding_runner_up"] or "")
        )  # fmt: skip
    if dialect:
        rows.append(
            ("Delimiter", delimiter(dialect["delimiter"]), found["delimiter_confidence"],
             found["delimiter_runner_up"] or "")
        )  # fmt: skip
    if found["sheet"]:
        others = ", ".join(found["other_sheets"])
        rows.append(("Sheet", found["sheet"], None, f"left alone: {others}" if others else ""))
    rows.append(("Header", header(found["header_line"]), found["header_confidence"], ""))
    for name, words in (("preamble_lines", "Lines above the header"),
                        ("repaired_lines", "Lines of another encoding")):  # fmt: skip
        if found[f"{name}_count"]:
            lines = ", ".join(f"{line:,}" for line in found[name][:10])
            rows.append((words, f"{found[f'{name}_count']:,} (first: {lines})", None, ""))
    if found["dropped_columns"]:
        rows.append(
            ("Columns of an earlier run, dropped", ", ".join(found["dropped_columns"]), None, "")
        )
    return rows


def delimiter(text: str) -> str:
    """A delimiter by its name."""
    names = {",": "comma", ";": "semicolon", "\t": "tab", "|": "pipe", "": "none: one column"}
    return names.get(text, repr(text))


def header(line: int | None) -> str:
    """Where the header is, in words."""
    return "none" if line is None else f"line {line:,}"


def _form(found: Mapping[str, Any]) -> str:
    return str(found["format"]) + (", gzipped" if found["gzipped"] else "")


def _encoding(found: Mapping[str, Any]) -> str:
    return str(found["encoding"]) + (", with a byte order mark" if found["bom"] else "")


def _number(value: int) -> str:
    return f"{value:,}"


def _share(part: int, whole: int) -> str:
    return f"{part / whole:.4f}" if whole else "0"

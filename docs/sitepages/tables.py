"""The tables of the site, each from the rows that the program itself uses."""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import Any, Final

from docutils import nodes
from sphinx.application import Sphinx
from sphinx.util.docutils import SphinxDirective

from sitepages.grid import Code, Link, Name, grid
from sitepages.rooms import constant_words


def setup(app: Sphinx) -> dict[str, Any]:
    """Join the directive to a build."""
    app.add_directive("made", Made)
    return {"parallel_read_safe": True}


class Made(SphinxDirective):
    """One table by name."""

    required_arguments = 1

    def run(self) -> list[nodes.Node]:
        """The table."""
        return [TABLES[self.arguments[0]]()]


def operations() -> nodes.table:
    """Every operation of the service, with the method that speaks to it."""
    from dialframe.client import method_path
    from dialframe.contract.operations import ALL

    rows = (
        (
            Code(row.name),
            row.summary,
            Code(f"{row.method} {row.path}"),
            (Code(row.scope), f"tier {row.tier}") if row.scope else "any key",
            _method(method_path(row)),
            "assumed" if row.assumed else "shown",
        )
        for row in ALL
    )
    return grid(
        ("operation", "what it does", "method and path", "scope", "in Python", "shapes"),
        rows, widths=(14, 28, 24, 14, 14, 6), prefix="operation",
    )  # fmt: skip


def metrics() -> nodes.table:
    """Every metric with its definition."""
    from dialframe.analytics import METRICS

    rows = ((Code(row.name), row.unit, row.definition, row.source) for row in METRICS.values())
    return grid(
        ("metric", "unit", "what is counted", "source"),
        rows,
        widths=(22, 8, 50, 20),
        prefix="metric",
    )


def not_available() -> nodes.table:
    """What this API cannot give, and why."""
    from dialframe.analytics import NOT_AVAILABLE

    rows = ((Code(name), why) for name, why in NOT_AVAILABLE.items())
    return grid(("not from this API", "why"), rows, widths=(30, 70), prefix="metric")


def outcomes() -> nodes.table:
    """Every class of outcome."""
    from dialframe.analytics import OUTCOMES

    said = {True: "yes", False: "no", None: "not known"}
    rows = (
        (
            Code(row.name), row.meaning, row.when, said[row.human], said[row.right_party],
            said[row.conversion], said[row.attempt], row.redial,
        )
        for row in OUTCOMES
    )  # fmt: skip
    return grid(
        ("class", "what happened", "call was", "a person", "the right person", "conversion", "attempt", "called again"),
        rows, widths=(18, 30, 10, 8, 8, 8, 8, 10), prefix="outcome",
    )  # fmt: skip


def stages() -> nodes.table:
    """The stages of the funnel."""
    from dialframe.analytics import STAGES

    rows = ((Code(row.name), row.label, row.definition) for row in STAGES)
    return grid(("stage", "label", "definition"), rows, widths=(20, 20, 60), prefix="stage")


def reasons() -> nodes.table:
    """Why a record is not clean, and what to do about it."""
    from dialframe.leads.reasons import REASONS

    rows = ((Code(row.code), Code(row.outcome), row.meaning, row.remedy) for row in REASONS)
    return grid(
        ("reason", "outcome", "what is wrong", "what to do"),
        rows, widths=(20, 14, 34, 32), prefix="reason",
    )  # fmt: skip


def warnings() -> nodes.table:
    """What was done to a record that stays clean."""
    from dialframe.leads.reasons import WARNINGS

    rows = ((Code(row.code), row.meaning) for row in WARNINGS)
    return grid(("warning", "what was found or done"), rows, widths=(25, 75), prefix="warning")


def rules() -> nodes.table:
    """Every rule of the audit with its citation."""
    from dialframe.compliance.rules import rulebook

    rows = (
        (
            Code(rule.id),
            rule.title,
            _citation(rule.citation, (rule.source,)),
            _force(rule),
            rule.confidence,
        )
        for rule in rulebook.load().rules
    )
    return grid(
        ("rule", "what it says", "citation", "in force", "confidence"),
        rows, widths=(16, 34, 26, 18, 6), prefix="rule",
    )  # fmt: skip


def grades() -> nodes.table:
    """What a call or a number is graded, in the words beside each."""
    from dialframe.compliance import checks as grades

    names = (
        "PASSED", "VIOLATION", "UNCERTAIN", "NOT_EVALUABLE", "PROVEN", "INDETERMINATE", "CLEAR",
    )  # fmt: skip
    rows = (
        (Code(getattr(grades, name)), " ".join(constant_words(grades.__name__, name)))
        for name in names
    )
    return grid(("grade", "what it means"), rows, widths=(20, 80), prefix="grade")


def errors() -> nodes.table:
    """The tree of errors, a class a line."""
    from dialframe.errors import DialframeError

    rows: list[tuple[Name, str, str]] = []

    def walk(kind: type, above: str) -> None:
        rows.append((_error(kind.__name__), above, (kind.__doc__ or "").split("\n", 1)[0]))
        for child in kind.__subclasses__():
            if child.__module__ == DialframeError.__module__:
                walk(child, f"{above} > {kind.__name__}" if above else kind.__name__)

    walk(DialframeError, "")
    return grid(("error", "below", "when"), rows, widths=(22, 33, 45))


def codes() -> nodes.table:
    """The service's error codes, the error that each becomes, and what may be done."""
    from dialframe.contract.error_codes import ALL

    rows = (
        (
            Code(row.code),
            ", ".join(map(str, row.statuses)),
            _error(row.family),
            row.condition,
            row.advice,
        )
        for row in ALL
    )
    return grid(
        ("code", "status", "error", "when", "what next"),
        rows, widths=(20, 8, 18, 24, 30), prefix="code",
    )  # fmt: skip


def columns() -> nodes.table:
    """Every column of every table."""
    from dialframe.frames import TABLES
    from dialframe.frames.frame_schemas import DTYPES

    rows = (
        (Code(table.name), Code(column.name), Code(DTYPES[column.kind]), column.meaning)
        for table in TABLES.values()
        for column in table.columns
    )
    return grid(("table", "column", "dtype", "meaning"), rows, widths=(15, 20, 20, 45))


def environment() -> nodes.table:
    """Every variable that is read."""
    rows = (
        (Code("DIALFRAME_BASE_URL"), "address of the service, https://..."),
        (Code("DIALFRAME_API_KEY"), "the key, svc_...; it is never an option"),
        (Code("DIALFRAME_STORE"), "folder of the local store; else the user's data folder"),
        (Code("DIALFRAME_WEBHOOK_SECRET"), "the endpoint's signing secret, whsec_..."),
        (Code("DIALFRAME_GATE_TOKEN"), "what each question to `dialframe gate serve` brings"),
        (Code("NO_COLOR"), "if set, no colors"),
        (Code("COLUMNS"), "width of tables and help, in characters"),
    )
    return grid(("variable", "what it holds"), rows, widths=(35, 65))


def statuses() -> nodes.table:
    """What the exit status of a command says."""
    from dialframe.cli import terminal

    words = {
        terminal.OK: "it did what was asked",
        terminal.FAILURE: "it could not: a file, the service, the store or the disk is in the way",
        terminal.USAGE: "wrong usage, or a setting that is missing or wrong; nothing was done",
        terminal.FINDINGS: "there are findings; the command's help says which",
        terminal.INTERRUPTED: "stopped with Ctrl-C; what was finished is kept",
    }
    rows = ((Code(str(status)), meaning) for status, meaning in words.items())
    return grid(("status", "what it says"), rows, widths=(15, 85))


def tools() -> nodes.table:
    """Every tool that an assistant can be given."""
    from dialframe.assistant.analysis_tools import ALL
    from dialframe.assistant.offered_operations import CONFIRMED, kind_of, tool_name
    from dialframe.contract.operations import ALL as OPERATIONS

    offered = {
        "read": "always",
        "write": "with `--allow`",
        "final": "with `--allow`, and you confirm each call",
        "outward": "with `--allow`, and you confirm each call",
    }
    rows = [
        (Code(row.name), row.description.split(". ")[0].rstrip(".") + ".", "always") for row in ALL
    ]
    rows += [
        (
            Code(tool_name(row.name)),
            row.summary + (f" It {CONFIRMED[row.name][1]}." if row.name in CONFIRMED else ""),
            offered[kind_of(row)],
        )
        for row in OPERATIONS
    ]
    return grid(("tool", "what it does", "offered"), rows, widths=(28, 47, 25), prefix="tool")


TABLES: Final[dict[str, Callable[[], nodes.table]]] = {
    made.__name__: made
    for made in (
        operations, metrics, not_available, outcomes, stages, reasons, warnings, rules, grades, errors,
        codes, columns, environment, statuses, tools,
    )
}  # fmt: skip


def _method(path: str) -> Name:
    import dialframe

    group, _, verb = path.rpartition(".")
    if not group:
        return Name(f"dialframe.client.Operations.{verb}", f"client.{path}")
    client = dialframe.Client("http://127.0.0.1", "svc_test_" + "0" * 32, limiter=None)
    kind = type(getattr(client, group))
    return Name(f"{kind.__module__}.{kind.__qualname__}.{verb}", f"client.{path}")


def _error(name: str) -> Name:
    return Name(f"dialframe.errors.{name}", name)


def _citation(citation: str, sources: tuple[str, ...]) -> Link | str:
    found = re.search(r"https?://[^\s)]+", " ".join(sources))
    return Link(citation, found[0]) if found else citation


def _force(rule: Any) -> str:
    begins, ends = rule.effective_from, rule.effective_to
    days = [f"from {begins}" if begins else "", f"to {ends}" if ends else ""]
    return " ".join([rule.status.replace("_", " "), *filter(None, days)])

"""Runs `dialframe rules`: the book listed, shown, compared, exported, and a lawyer's own rules checked and tested."""

from __future__ import annotations

import json
import re
from datetime import date
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from dialframe import instants
from dialframe.cli import completion_words
from dialframe.cli.terminal import FINDINGS, OK, Answer, Table, command
from dialframe.config import read_toml
from dialframe.errors import ConfigError

if TYPE_CHECKING:
    import pandas as pd

    from dialframe.compliance import RuleBook

app = typer.Typer(
    help="The rule book of the audit: facts with citations, not legal advice.",
    no_args_is_help=True,
)

Own = Annotated[Path | None, typer.Option("--own", help="Your own rules and changes (TOML).")]
Jurisdictions = Annotated[
    str | None,
    typer.Option(
        "--rules",
        help="Jurisdictions or rule ids, commas between: us, us-fl, us-*, gb. All by default.",
        autocompletion=completion_words.rules,
    ),
]
RuleFile = Annotated[
    Path | None,
    typer.Argument(help="A file of rules (TOML), from `dialframe rules new` for instance."),
]


def read_book(own_file: Path | None = None, book_file: Path | None = None) -> RuleBook:
    """The packaged book, or one of a file, with a firm's own file laid over it."""
    from dialframe.compliance.rules import overrides, rulebook

    book = rulebook.load()
    if book_file is not None:
        book = rulebook.parse(_text(book_file), name=str(book_file))
    if own_file is not None:
        book = overrides.apply(book, _text(own_file), name=str(own_file))
    return book


def split(names: str | None) -> list[str] | None:
    """Names between commas, or None for all."""
    return None if names is None else [name for name in names.split(",") if name.strip()]


@command(app, "list")
def list_(
    rules: Jurisdictions = None,
    kind: Annotated[
        str | None,
        typer.Option(
            help="Kind of rule: calling_hours, holiday, attempt_cap...",
            autocompletion=completion_words.rule_kinds,
        ),
    ] = None,
    since: Annotated[
        str | None, typer.Option(help="First day (UTC) or instant of the period.")
    ] = None,
    to: Annotated[
        Path | None,
        typer.Option(
            metavar="FILE",
            help="File to write; its ending names the format, such as .csv or .xlsx.",
        ),
    ] = None,
    own: Own = None,
) -> Answer:
    """List the rules, one line each.

    With --since only what becomes law or ends from that day on. With --to they go into a table, each with its quotation and its sources. Examples:

        dialframe rules list --rules us,us-fl
        dialframe rules list --kind calling_hours
        dialframe rules list --since 2026-11-01
        dialframe rules list --to rules.csv
    """
    if since is not None:
        answered = changes(since=since, rules=rules, own=own)
        assert isinstance(answered, Answer)  # noqa: S101 - a registered command is typed as any
        return answered
    if to is not None:
        answered = export(to=to, rules=rules, own=own)
        assert isinstance(answered, Answer)  # noqa: S101
        return answered
    # Selected first: an id or a place that the book does not have is a mistake, and no empty list.
    book = read_book(own).select(split(rules))
    kinds = sorted({rule.kind for rule in book.rules})
    if kind is not None and kind not in kinds:
        raise ConfigError(f"no rule here is of kind {kind!r}; choose from {', '.join(kinds)}")
    chosen = [rule for rule in book.rules if kind in (None, rule.kind)]
    rows = [
        {
            "id": rule.id, "title": rule.title, "status": rule.status, "force": rule.force,
            # A rule may be older than the day from which its text was read.
            "from": str(rule.effective_from or rule.since or ""),
            "to": str(rule.effective_to or ""),
            "confidence": rule.confidence, "citation": rule.citation,
        }
        for rule in chosen
    ]  # fmt: skip
    names = ["id", "title", "from", "to", "confidence"]
    table = Table([[row[name] for name in names] for row in rows], names, "Rules")
    return Answer({**_facts(book), "rules": rows}, [table, _line(book)])


@command(app, "show")
def show_(
    rule_id: Annotated[
        str,
        typer.Argument(
            help="Id of a rule (us-fl-hours), or a jurisdiction (us-fl), whose rules are listed.",
            autocompletion=completion_words.rules,
        ),
    ],
    own: Own = None,
) -> Answer:
    """Show one rule in full, or list the rules of a place.

    Values, citation, quotation and where it was read, exemptions, examples.

    Examples:
        dialframe rules show us-fl-hours
        dialframe rules show us-fl
    """
    from dialframe.compliance.rules import custody

    book = read_book(own)
    if rule_id.upper() in book.jurisdictions:
        listed = list_(rules=rule_id, own=own)
        assert isinstance(listed, Answer)  # noqa: S101 - a registered command is typed as any
        return listed
    rule = book.rule(rule_id)
    # As the book says it: defaults would look like law.
    values = rule.model_dump(mode="json", exclude_defaults=True)
    # What the book leaves implied is shown as well.
    values["force"] = rule.force_words
    if rule.ceiling_reason:
        values["uncertain_at_best"] = rule.ceiling_reason
    if not_quoted := custody.unquoted(rule):
        values["not_in_the_quotation"] = ", ".join(not_quoted)
    # What a firm changed is its own word, with a name under it.
    origin = dict(book.origins).get(rule_id)
    if origin is not None:
        values["own"] = {
            "what": origin.what,
            "by": origin.by,
            "why": origin.why,
            "on": str(origin.on),
        }
    texts = {
        name: value if isinstance(value, str) else json.dumps(value, ensure_ascii=False)
        for name, value in values.items()
    }
    lines = [f"{name.replace('_', ' ')}: {text}" for name, text in texts.items()]
    return Answer({**_facts(book), "rule": values}, [*lines, _line(book)])


@command(app, "history", hidden=True)
def history(
    code: Annotated[
        str,
        typer.Argument(
            help="A jurisdiction (us-ct) or a rule (us-ct-hours).",
            autocompletion=completion_words.rules,
        ),
    ],
) -> Answer:
    """Show the rules of a place, or one rule and those before it, in the order of their days.

    Example:
        dialframe rules history us-ct
    """
    from dialframe.compliance.rules import rule_changes

    book = read_book()
    return _rows(rule_changes.history(book, code), "history", "History", book)


@command(app, "diff")
def diff(
    first: Annotated[
        str | None, typer.Argument(help="A day (2025-01-01), or another rule book (TOML).")
    ] = None,
    second: Annotated[
        str | None, typer.Argument(help="A later day; today's law by default.")
    ] = None,
    own: Own = None,
) -> Answer:
    """Show what changed in the law between two days.

    Or how another rule book, or the firm's own file, differs.

    Examples:
        dialframe rules diff 2025-01-01 2026-11-01
        dialframe rules diff --own our-rules.toml
    """
    from dialframe.compliance.rules import rule_changes

    # A day compares the law with itself, anything else two books.
    day = _day(first)
    if day is None:
        if first is not None and not Path(first).exists():
            raise ConfigError(f"{first!r} is neither a day nor a file; write a day as 2026-11-01")
        before = read_book()
        after = read_book(own, None if first is None else Path(first))
        changes = rule_changes.between(before, after)
        return _rows(changes, "changes", "Changes", before, none="no rule differs")
    book = read_book(own)
    later = _day(second) if second is not None else book.generated_on
    if later is None:
        raise ConfigError(f"{second!r} is not a day; write it as 2026-11-01")
    # In whichever order somebody types the days.
    if later < day:
        day, later = later, day
    changes = rule_changes.of_days(book, day, later)
    none = f"no rule of the book begins or ends between {day} and {later}"
    return _rows(changes, "changes", f"Law on {day} and on {later}", book, none=none)


@command(app, "changes", hidden=True)
def changes(
    since: Annotated[str, typer.Option(help="First day.")],
    rules: Jurisdictions = None,
    own: Own = None,
) -> Answer:
    """List what becomes law or ends from a day on, the future included; the old name of `rules list --since`.

    Example:
        dialframe rules changes --since 2026-11-01
    """
    from dialframe.compliance.rules import rule_changes

    book = read_book(own).select(split(rules))
    first = _day(since)
    if first is None:
        raise ConfigError(f"{since!r} is not a day; write it as 2026-11-01")
    feed = rule_changes.since(book, first)
    none = f"no rule of the book begins or ends from {first} on"
    return _rows(feed, "changes", f"Law from {first} on", book, none=none)


@command(app, "export", hidden=True)
def export(
    to: Annotated[Path, typer.Option(help="File to write.")] = Path("rules.csv"),
    rules: Jurisdictions = None,
    own: Own = None,
) -> Answer:
    """Write the rules as a table, each with its quotation and its sources; the old name of `rules list --to`.

    Example:
        dialframe rules export --to rules.csv
    """
    from dialframe.compliance.rules import rule_changes
    from dialframe.flows import reporting

    reporting.writable(to)
    book = read_book(own).select(split(rules))
    table = rule_changes.table(book)
    reporting.write_table(table, to)
    facts = {**_facts(book), "file": str(to), "rows": len(table)}
    return Answer(facts, [f"{len(table):,} rules written to {to}"])


@command(app, "new")
def new(
    jurisdiction: Annotated[str, typer.Option("--in", help="Where the rule holds: US-FL, GB...")],
    kind: Annotated[
        str,
        typer.Option(
            help="Kind of rule: calling_hours, holiday, attempt_cap...",
            autocompletion=completion_words.rule_kinds,
        ),
    ] = "calling_hours",
    to: Annotated[
        Path | None,
        typer.Option(
            metavar="FILE",
            help="File to write; its ending names the format, such as .csv or .xlsx.",
        ),
    ] = None,
) -> Answer:
    """Write a template for a rule of your own.

    `rules check` says what is left to fill in. Without --to it is printed. Example:

        dialframe rules new --in US-FL --kind attempt_cap --to ours.toml
    """
    from dialframe.compliance.rules import overrides
    from dialframe.files import write_text

    text = overrides.skeleton(jurisdiction.upper(), kind)
    if to is not None and to.exists():
        raise ConfigError(f"{to} is there already; choose another name")
    if to is not None:
        write_text(text, to)
    written = f"template written to {to}; fill it in, then: dialframe rules check {to}"
    facts = {"file": None if to is None else str(to), "text": text}
    return Answer(facts, [text if to is None else written])


@command(app, "check")
def check(file: RuleFile = None, rules: Jurisdictions = None) -> Answer:
    """Check a file of rules, and run its examples through the audit.

    Status 3 if an example differs. Without a file the examples of the rule book run. Examples:

        dialframe rules check ours.toml
        dialframe rules check --rules us-fl
    """
    problems = [] if file is None else _problems(file)
    if problems:
        rows = [{"line": line, "problem": words} for line, words in problems]
        lines = [f"{file}, line {line}: {words}" for line, words in problems]
        wrong: dict[str, object] = {"file": str(file), "problems": rows}
        return Answer(wrong, [*lines, f"{len(problems)} to correct"], FINDINGS)
    answered = run_examples(file, rules)
    assert isinstance(answered, Answer)  # noqa: S101 - a registered command is typed as any
    name = None if file is None else str(file)
    fine = [] if file is None else [f"{file}: nothing is wrong"]
    facts: dict[str, object] = {"file": name, "problems": [], **answered.facts}
    return Answer(facts, [*fine, *answered.lines], answered.status)


@command(app, "test", hidden=True)
def run_examples(file: RuleFile = None, rules: Jurisdictions = None) -> Answer:
    """Run the examples of rules through the audit; a part of `rules check`.

    Examples:
        dialframe rules test ours.toml
        dialframe rules test --rules us-fl
    """
    from dataclasses import replace

    from dialframe.compliance.rule_examples import run

    book = read_book() if file is None else _book_of(file)
    book = book.select(split(rules))
    if file is not None and book.origins:
        # The packaged rules have their own tests.
        ours = {rule_id for rule_id, _ in book.origins}
        book = replace(book, rules=tuple(rule for rule in book.rules if rule.id in ours))
    # Each example is a call that the audit grades, as it would grade one of the account's.
    results = run(book)
    wrong = [result for result in results if not result.holds]
    rows = [
        {
            "rule": result.rule_id, "example": result.number, "at": result.example.at.isoformat(),
            "expected": result.expected, "actual": result.actual,
        }
        for result in wrong
    ]  # fmt: skip
    lines = [
        f"{result.rule_id}, example {result.number} at {result.example.at}: "
        f"{result.expected} in the file, {result.actual or 'not reached by the rule'} in the audit"
        for result in wrong
    ]
    lines.append(f"{len(results) - len(wrong):,} of {len(results):,} examples hold")
    facts = {**_facts(book), "examples": len(results), "wrong": rows}
    return Answer(facts, lines, FINDINGS if wrong else OK)


def _text(file: Path) -> str:
    try:
        return file.read_text(encoding="utf-8")
    except UnicodeDecodeError as error:
        raise ConfigError(f"{file}: no UTF-8 text; give a file of rules (TOML)") from error


def _is_book(text: str) -> bool:
    return any(line.strip() in ("[[rule]]", "[meta]") for line in text.splitlines())


def _book_of(file: Path) -> RuleBook:
    """A file as a whole book, or as a firm's own file over the packaged one."""
    text = _text(file)
    return read_book(book_file=file) if _is_book(text) else read_book(own_file=file)


def _problems(file: Path) -> list[tuple[int, str]]:
    """Everything that is wrong with a file: its form, then what contradicts, then what is missing."""
    import tomllib

    from pydantic import TypeAdapter, ValidationError

    from dialframe.compliance.rules import rulebook, toml_validation
    from dialframe.compliance.rules.rule_model import Book, OwnRules

    try:
        text = _text(file)
        values = read_toml(text)
        # A whole book, or what a firm's own file adds to the packaged one.
        if _is_book(text):
            rules = TypeAdapter(Book).validate_python(values).rule
        else:
            additions = TypeAdapter(OwnRules).validate_python(values).add
            rules = tuple(added.rule for added in additions)
    except ConfigError as error:
        return [(1, str(error).removeprefix(f"{file}: "))]
    except tomllib.TOMLDecodeError as error:
        # The parser of Python 3.11 gives the line in words alone.
        position = re.search(r"at line (\d+)", str(error))
        return [(int(position[1]) if position else 1, f"not valid TOML: {error}")]
    except ValidationError as error:
        return sorted(toml_validation.form_problems(error, text))
    # A file that says nothing would pass for one without a fault.
    if not rules and not values.get("change"):
        return [
            (1, "there is no rule in it and no change; `dialframe rules new` writes a template")
        ]
    try:
        _book_of(file)
    except ConfigError as error:
        # Errors of the book begin with file and line, which a row of the answer has apart.
        line, _, words = str(error).removeprefix(f"{file}, line ").partition(": ")
        return [(int(line) if line.isdigit() else 1, words)]
    return sorted(rulebook.evidence_problems(rules, text))


def _day(text: str | None) -> date | None:
    """A day written as 2026-11-01; None for anything else."""
    try:
        return instants.day("the day", text)
    except ConfigError:
        return None


def _rows(
    frame: pd.DataFrame, name: str, title: str, book: RuleBook, *, none: str = "no rule"
) -> Answer:
    facts = {**_facts(book), name: frame.to_dict("records")}
    return Answer(facts, [Table.of(frame, title) if len(frame) else none])


def _facts(book: RuleBook) -> dict[str, object]:
    return {
        "version": book.version,
        "generated": str(book.generated_on),
        "sha256": book.sha256,
        "count": len(book.rules),
    }


def _line(book: RuleBook) -> str:
    return (
        f"Rule book {book.version}, facts of {book.generated_on}, SHA-256 {book.sha256[:12]}. "
        "Facts with citations, not legal advice."
    )

"""`dialframe rules list`, `show`, `diff`: the rule book, read by people and machines."""

from __future__ import annotations

import json
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from dialframe.cli import completing
from dialframe.cli.face import AsJson, answer, say, show

if TYPE_CHECKING:
    from dialframe.compliance import RuleBook

app = typer.Typer(
    help="The rule book of the audit: facts with citations, not legal advice.",
    no_args_is_help=True,
)

Own = Annotated[
    Path | None,
    typer.Option("--own", help="The firm's own changes and rules (TOML).", show_default=False),
]
Jurisdictions = Annotated[
    str | None,
    typer.Option(
        "--rules",
        help="Jurisdictions or rule ids, commas between: us, us-fl, us-*, gb. All by default.",
        show_default=False,
        autocompletion=completing.rules,
    ),
]


def read_book(own_file: Path | None = None, book_file: Path | None = None) -> RuleBook:
    """The packaged book, or one of a file, with a firm's own file laid over it."""
    from dialframe.compliance import own, rulebook

    book = rulebook.load()
    if book_file is not None:
        book = rulebook.parse(book_file.read_text(encoding="utf-8"), name=str(book_file))
    if own_file is not None:
        book = own.apply(book, own_file.read_text(encoding="utf-8"), name=str(own_file))
    return book


def split(names: str | None) -> list[str] | None:
    """Names between commas, or None for all."""
    return None if names is None else [name for name in names.split(",") if name.strip()]


@app.command("list")
def list_(
    rules: Jurisdictions = None,
    kind: Annotated[
        str | None,
        typer.Option(
            "--kind",
            help="Only rules of one kind: calling_hours, holiday, attempt_cap...",
            show_default=False,
            autocompletion=completing.rule_kinds,
        ),
    ] = None,
    own: Own = None,
    as_json: AsJson = False,
) -> None:
    """List the rules, one line each.

    Examples:
        dialframe rules list --rules us,us-fl
        dialframe rules list --kind calling_hours
    """
    import pandas as pd

    book = read_book(own).select(split(rules))
    chosen = [rule for rule in book.rules if kind in (None, rule.kind)]
    rows = [
        {
            "id": rule.id, "title": rule.title, "status": rule.status, "force": rule.force,
            "from": str(rule.effective_from or ""), "to": str(rule.effective_to or ""),
            "confidence": rule.confidence, "citation": rule.citation,
        }
        for rule in chosen
    ]  # fmt: skip
    if as_json:
        answer({**_facts(book), "rules": rows})
        return
    names = ["id", "title", "from", "to", "confidence"]
    show(pd.DataFrame(rows, columns=[*names, "status", "force", "citation"])[names], "Rules")
    say(_line(book))


@app.command("show")
def show_(
    rule_id: Annotated[
        str,
        typer.Argument(
            help="Id of a rule, us-fl-hours for instance.",
            autocompletion=completing.rule_ids,
        ),
    ],
    own: Own = None,
    as_json: AsJson = False,
) -> None:
    """Show one rule whole: values, citation, sources, exemptions, notes.

    Example:
        dialframe rules show us-fl-hours
    """
    book = read_book(own)
    rule = book.rule(rule_id)
    values = rule.model_dump(mode="json", exclude_defaults=True)
    values["force"] = rule.force_words
    origin = dict(book.origins).get(rule_id)
    if origin is not None:
        values["own"] = {
            "what": origin.what,
            "by": origin.by,
            "why": origin.why,
            "on": str(origin.on),
        }
    if as_json:
        answer({**_facts(book), "rule": values})
        return
    for name, value in values.items():
        text = value if isinstance(value, str) else json.dumps(value, ensure_ascii=False)
        say(f"{name.replace('_', ' ')}: {text}")
    say(_line(book))


@app.command("diff")
def diff(
    other: Annotated[
        Path | None,
        typer.Argument(help="Another rule book (TOML) to compare with.", show_default=False),
    ] = None,
    own: Own = None,
    as_json: AsJson = False,
) -> None:
    """Show what differs: between the packaged book and another, or what the firm's own file changes.

    Example:
        dialframe rules diff --own our-rules.toml
    """
    from dialframe.compliance import changes

    before = read_book()
    found = changes.of_books(before, read_book(own, other))
    if as_json:
        answer({**_facts(before), "changes": found.to_dict("records")})
        return
    if len(found):
        show(found, "Changes")
    else:
        say("no rule differs")


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

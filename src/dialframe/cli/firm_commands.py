"""The command that asks a firm its questions and writes the firm file."""

from __future__ import annotations

import sys
from datetime import UTC, datetime
from functools import partial
from pathlib import Path
from typing import Annotated, Final

import typer

from dialframe.cli.audit_commands import RuleOptions
from dialframe.cli.terminal import AccountOptions, Answer, current
from dialframe.errors import ConfigError

#: Answers that stand under a name, since they are somebody's word.
SIGNED: Final = frozenset({"covers", "confirmed"})


def firm(
    *,
    answers: Annotated[
        list[str] | None,
        typer.Option(
            "--answer",
            metavar="KEY=ANSWER",
            help="Answer a question without being asked; repeatable.",
        ),
    ] = None,
    who: Annotated[str | None, typer.Option("--who", help="Who says so, for the record.")] = None,
    options: RuleOptions,
    account_options: AccountOptions,
) -> Answer:
    """Ask up to eight questions, and write the firm file.

    The questions are those that decide most of the stored calls. "don't know" is the default, and is written
    nowhere; run it again to continue. Without a terminal it lists the questions and takes --answer. Example:

        dialframe firm
    """
    from dialframe.flows import audit as flow
    from dialframe.flows import firm_questions, firm_records

    # What is wrong with an answer is said before the store is read.
    given = dict(_pair(each) for each in answers or ())
    for key in sorted(given.keys() & SIGNED):
        if not who:
            raise ConfigError(f"{key}: say who declares it with --who")
    with account_options.read() as account:
        result = flow.audit(
            account, now=partial(datetime.now, UTC), scope=options.scope(), keep=False
        )
    # Lists of the places that the calls reach; others would be questions about nobody.
    rows = result.engine.db.rows(
        "select distinct registry from reach join registries using (rule) order by 1"
    )
    registries = [name for (name,) in rows]
    open_questions = firm_questions.questions(result, registries)
    asks = sys.stdin.isatty() and not current().as_json and not given
    if asks:
        for question in open_questions:
            if question.key == "refreshed_days" and "covers" not in given:
                continue
            typer.echo(f"{question.text}\n  {question.consequence}")
            choices = f" ({', '.join(question.choices)})" if question.choices else ""
            text = typer.prompt(f"Answer{choices}", default=firm_questions.UNKNOWN)
            if text.strip() and text.strip() != firm_questions.UNKNOWN:
                given[question.key] = text
        if given.keys() & SIGNED and who is None:
            who = typer.prompt("Who says so")
    facts = {
        "questions": [
            {"key": q.key, "question": q.text, "consequence": q.consequence, "choices": [*q.choices, firm_questions.UNKNOWN], "calls": q.calls}
            for q in open_questions
        ],
        "answered": sorted(given), "file": None,
    }  # fmt: skip
    if not given:
        lines = [f"{q.key}: {q.text}\n  {q.consequence}" for q in open_questions]
        lines.append(
            "nothing was answered, so nothing was written: dialframe firm --answer KEY=ANSWER"
            if lines
            else "no question is open that a firm can answer"
        )
        return Answer(facts, lines)
    every = firm_records.registries(options.scope().question.rulebook)
    sections = firm_questions.sections_of(
        given, result, every, by=who or "", on=datetime.now(UTC).date()
    )
    path = firm_questions.write_firm(Path.cwd(), sections)
    return Answer(
        {**facts, "file": str(path)},
        [f"{path}: {len(given)} answers written; dialframe audit reads it"],
    )


def _pair(text: str) -> tuple[str, str]:
    key, equals, value = text.partition("=")
    if not equals:
        raise ConfigError(f"--answer {text!r}: write KEY=ANSWER, dialing=manual for instance")
    return key.strip(), value

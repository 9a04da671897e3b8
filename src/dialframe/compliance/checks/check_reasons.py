"""Puts the answers of queries into sentences: what `words.toml` says of each, with the values of the row and of its rule."""

from __future__ import annotations

import re
import tomllib
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cache
from importlib import resources
from string import Formatter
from typing import TYPE_CHECKING, Any, Final

import pandas as pd

if TYPE_CHECKING:
    from dialframe.compliance.rules.rule_model import Rule
    from dialframe.compliance.tables.law import Law

#: The grade to which the doubts about its rule are added, as `check_results` names it.
_UNCERTAIN: Final = "uncertain"


@dataclass(frozen=True, slots=True)
class Texts:
    """What `words.toml` says of a check; its fields are explained there."""

    title: str
    short: str
    finding: str
    advice: str
    lacking: Sequence[str] = ()
    reasons: Mapping[str, str] = field(default_factory=dict)


@cache
def texts() -> Mapping[str, Texts]:
    """What `words.toml` says of each check, by its name, gravest first."""
    text = (resources.files("dialframe.compliance.checks") / "words.toml").read_text("utf-8")
    return {name: Texts(**values) for name, values in tomllib.loads(text).items()}


#: What a reason may name beside the columns of its row and the parameters of its rule.
Values = Callable[[Any, Sequence["Rule"]], Mapping[str, object]]
#: Columns that are read whatever a reason names: for its rule, and for the further values of a check.
_READ: Final = frozenset({"grade", "rules", "first_rule", "lifted", "kind_asked"})
#: A part of a reason that stands in brackets, with a bar between its alternatives.
_PART: Final = re.compile(r"\[([^\]]*)\]")


class _Words(tuple[str, ...]):
    """Several words; what is between them stands behind the colon of their field."""

    __slots__ = ()

    def __format__(self, between: str) -> str:
        return between.join(self).replace("_", " ")


class _Said(dict[str, Any]):
    """Everything that a reason may name: columns of the row, other reasons, and what its first rule says."""

    def __init__(
        self, values: Mapping[str, Any], others: Mapping[str, str], law: Rule | None
    ) -> None:
        super().__init__(values)
        self._others, self._law = others, law

    def __missing__(self, name: str) -> object:
        if name in self._others:
            return filled(self._others[name], self)
        if self._law is None:
            return _Words()
        # A name that neither the row nor the rule has is a slip in `words.toml`, and fails.
        value = getattr(self._law.parameters, name)
        return _Words(value) if isinstance(value, tuple) else value

    def has(self, name: str) -> bool:
        """Whether there is a value; of `name?`, whether it is more than none, no or 0."""
        value = self[name.removesuffix("?")]
        if not pd.api.types.is_scalar(value):
            return len(value) > 0
        return not pd.isna(value) and (bool(value) if name.endswith("?") else value != "")


@cache
def _fields(template: str) -> tuple[str, ...]:
    return tuple(name for _, name, *_ in Formatter().parse(template) if name)


@cache
def _named(template: str) -> tuple[str, ...]:
    """Every name of a reason, those in its brackets too."""
    return _fields(template.translate(str.maketrans("[]|", "   ")))


def filled(template: str, said: _Said) -> str:
    """A reason with its values. Of a part in brackets the first alternative of which every value is there."""

    def chosen(part: re.Match[str]) -> str:
        fits = (each for each in part[1].split("|") if all(map(said.has, _fields(each))))
        return next(fits, "")

    # `{name?}` asks for a value and shows nothing.
    return re.sub(r"\{\w+\?\}", "", _PART.sub(chosen, template)).format_map(said)


def reasons(
    name: str, rows: pd.DataFrame, book: Law, answers: Iterable[Any] | None = None,
    values: Values = lambda row, laws: {},  # noqa: ARG005 - most name nothing else
) -> pd.Series:  # fmt: skip
    """The reason of each row: the sentence that `words.toml` has for its answer, or for its grade, with its values.

    Args:
        name: The check.
        rows: Rows with `grade` and `rules`; without `answers` their column `answer` decides, or else the grade.
        book: The rules behind their numbers.
        answers: The answer of each row.
        values: What the reason may name beside columns and parameters.
    """
    said = texts()[name].reasons
    # A row has some forty columns and a reason names a few: reading the others is most of the work.
    named = {field.removesuffix("?") for each in said.values() for field in _named(each)}
    names = [each for each in rows.columns if each in named or each in _READ]
    given = rows["answer"] if answers is None and "answer" in rows else answers
    sentences = []
    for answer, row in zip(
        rows["grade"] if given is None else given, rows[names].itertuples(), strict=True
    ):
        template = said.get(str(answer), said.get("else", ""))
        if template and not _fields(template) and row.grade != _UNCERTAIN:
            sentences.append(template)
            continue
        laws = book.named(row.rules)
        # Of several rules on requests the one speaks whose grace ends first.
        first = getattr(row, "first_rule", None)
        law = (
            next(iter(laws), None)
            if first is None or pd.isna(first)
            else book.by_number[int(first)]
        )
        doubts = dict.fromkeys(r.ceiling_reason for r in laws if r.ceiling_reason)
        columns = row._asdict() | {"doubts": "; ".join(doubts) if row.grade == _UNCERTAIN else ""}
        # Why a rule cannot be trusted belongs to whatever is uncertain by it.
        template += "" if "{doubts}" in template else "[; {doubts}]"
        sentences.append(filled(template, _Said({**columns, **values(row, laws)}, said, law)))
    return pd.Series(sentences, index=rows.index, dtype="object")

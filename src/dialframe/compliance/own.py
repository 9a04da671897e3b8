"""A firm's own rules: changes to rules of the book and rules beside them, with who decided and why; knows no calls.

The file is TOML. `[[change]]` names a rule of the book and gives new values of its `parameters`,
other days, `drop = true`, or `adopt = true` for a voluntary code that the firm joined; `[[add]]` with `[add.rule]` brings a rule of the firm. Both say `by`,
`why` and `on`. The book's own file stays as it is.
"""

from __future__ import annotations

import hashlib
import tomllib
from typing import Final

from pydantic import TypeAdapter, ValidationError

from dialframe.compliance import lines
from dialframe.compliance.facts import AnyRule, Change, OwnRules, Rule
from dialframe.compliance.rulebook import Origin, RuleBook, adopted
from dialframe.errors import ConfigError

_FILE: Final = TypeAdapter(OwnRules)
_RULE: Final[TypeAdapter[Rule]] = TypeAdapter(AnyRule)


def apply(book: RuleBook, text: str, *, name: str = "own rules") -> RuleBook:
    """The book with a firm's changes and rules.

    Args:
        book: The book.
        text: TOML text of the firm's file.
        name: What errors call it.

    Raises:
        ConfigError: The text is not TOML, does not fit its schema, changes a rule that is not in
            the book, or adds one whose id is taken; the line is named.
    """
    try:
        own = _FILE.validate_python(tomllib.loads(text))
    except tomllib.TOMLDecodeError as error:
        raise ConfigError(f"{name}: not valid TOML ({error}); correct the text") from error
    except ValidationError as error:
        raise ConfigError(lines.first_problem(error, text, name)) from error
    rules = {rule.id: rule for rule in book.rules}
    origins = list(book.origins)
    for change in own.change:
        where = f"{name}, line {lines.of_rule(text, change.id)}"
        if change.id not in rules:
            raise ConfigError(f"{where}: there is no rule {change.id!r} in the book")
        what = "dropped" if change.drop else "adopted" if change.adopt else "changed"
        origins.append((change.id, _origin(change, what)))
        if change.drop:
            del rules[change.id]
            continue
        rules[change.id] = _changed(rules[change.id], change, where)
        if change.adopt:
            rules[change.id] = _joined(rules[change.id], where)
    for added in own.add:
        where = f"{name}, line {lines.of_rule(text, added.rule.id)}"
        if added.rule.id in rules:
            raise ConfigError(f"{where}: the id {added.rule.id!r} is taken; choose another")
        rules[added.rule.id] = added.rule
        origins.append((added.rule.id, Origin(added.by, added.why, added.on, "added")))
    problem = lines.contradiction(tuple(rules.values()))
    if problem is not None:
        raise ConfigError(f"{name}, line {lines.of_rule(text, problem[0])}: {problem[1]}")
    both = hashlib.sha256(f"{book.sha256}\n{text}".encode()).hexdigest()
    return RuleBook(
        f"{book.version}+own",
        book.generated_on,
        both,
        book.scope,
        tuple(rules.values()),
        book.no_hours,
        tuple(origins),
    )


def _origin(change: Change, what: str) -> Origin:
    return Origin(change.by, change.why, change.on, what)


def _joined(rule: Rule, where: str) -> Rule:
    if rule.status != "voluntary_code":
        raise ConfigError(f"{where}: {rule.id} is no voluntary code, so there is nothing to adopt")
    return adopted(rule)


def _changed(rule: Rule, change: Change, where: str) -> Rule:
    values = rule.model_dump()
    values["parameters"] |= change.parameters
    for field in ("effective_from", "effective_to"):
        day = getattr(change, field)
        if day is not None:
            values[field] = day
    try:
        return _RULE.validate_python(values)
    except ValidationError as error:
        first = error.errors(include_url=False)[0]
        steps = ".".join(str(step) for step in first["loc"][1:])
        raise ConfigError(f"{where}: {steps}: {first['msg']}; correct the text") from error

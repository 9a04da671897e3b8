"""Plain words, the classes of words of `grammar.toml`, and what its rules find in a row of words.

A word is of every class that lists it: as it stands, by its beginning (`revok*`), or misspelled
(two letters swapped, one left out or doubled, the vowels dropped). Several words can be one
(`opt_out`). A rule names classes and how they must stand together; it is blind to languages, so that a
wording that nobody wrote down is found by its parts. Answers are put together in the same way: negations
turn a word of allowing, refusing or being listed round, as in `non presente` and `keine Erlaubnis`.
"""

from __future__ import annotations

import re
import tomllib
import unicodedata
from collections.abc import Iterator, Sequence
from functools import cache, lru_cache
from importlib import resources
from itertools import filterfalse, pairwise
from string import ascii_lowercase
from typing import Any, Final, Literal, NamedTuple

_CAMEL: Final = re.compile(r"(?<=[a-z0-9])(?=[A-Z])|(?<=[A-Z])(?=[A-Z][a-z])|(?<=[A-Za-z])(?=\d)")
_WORDS: Final = re.compile(r"[^\W_]+")
#: A text of so many characters is no name or phrase, and is read in another way.
_LONG_CHARS: Final = 1_000
_NO_WORDS: Final = re.compile(r"(?:[^\w|]|_)+")
#: Letters that have no decomposition and are still a plain letter with something added.
_STROKES: Final = str.maketrans(
    {"ł": "l", "Ł": "L", "ø": "o", "Ø": "O", "đ": "d", "Đ": "D", "ı": "i"}
)


def fold(text: str) -> str:
    """The text without accents and capitals."""
    if text.isascii():
        return text.lower()
    return _without_accents(text).casefold()


def _without_accents(text: str) -> str:
    """Letters alone: NFKD parts a letter from its marks (Unicode Standard Annex 15)."""
    if text.isascii():
        return text
    decomposed = unicodedata.normalize("NFKD", text.translate(_STROKES))
    return "".join(filterfalse(unicodedata.combining, decomposed))


def plain(text: str) -> str:
    """The text in plain words: no accents, capitals or punctuation; camel case taken apart.

    Args:
        text: A header, a cell, or a piece of one.

    Returns:
        Words parted by single blanks.

    Example:
        >>> plain("E-Mail_Adresse"), plain("CellPhone1"), plain("Nie dzwonić!")
        ('e mail adresse', 'cell phone 1', 'nie dzwonic')
    """
    return _plain(text) if len(text) < _LONG_CHARS else _plain_of_long(text)


def _plain(text: str) -> str:
    return " ".join(_WORDS.findall(_CAMEL.sub(" ", _without_accents(text)).casefold()))


#: A name of a column is asked for some fifty times, and may be a megabyte.
_plain_of_long: Final = lru_cache(maxsize=8)(_plain)


def plain_parts(text: str) -> list[str]:
    """Each part of a text parted by `|`, in plain words: for tables, where one by one would take long.

    Args:
        text: Parts with `|` between them.

    Example:
        >>> plain_parts("São Paulo|Rio-de-Janeiro")
        ['sao paulo', 'rio de janeiro']
    """
    words = _NO_WORDS.sub(" ", _CAMEL.sub(" ", _without_accents(text)).casefold())
    return [part.strip() for part in words.split("|")]


@cache
def word_set(name: str) -> frozenset[str]:
    """The words of one table of `words.toml`."""
    return frozenset(read_table("words.toml")[name]["words"].split())


@cache
def read_table(name: str) -> dict[str, Any]:
    """A table of this room by its file name."""
    return tomllib.loads(resources.files(__package__).joinpath(name).read_text(encoding="utf-8"))


#: How the classes of a rule stand: in order with light words between, so at the end, near
#: each other, or as all that there is.
Way = Literal["row", "end", "near", "alone"]
Kinds = Sequence[frozenset[str]]

_KEPT_WORDS: Final = 1 << 16
#: The class of words that no class lists: names, for the most part.
_UNLISTED: Final = frozenset({"unlisted"})
_NEAR_WORDS: Final = 6
_MOST_BETWEEN: Final = 9
_LEAST_MISSPELLED: Final = 5
_LEAST_SKELETON: Final = 4
#: So many vowels a word may keep whose vowels were dropped.
_KEPT_VOWELS: Final = 1
_VOWELS: Final = re.compile(r"[aeiouy]")
_DOUBLED: Final = re.compile(r"(.)\1+")


class Rule(NamedTuple):
    """Classes that mean something together, and all of them by name; see `grammar.toml`."""

    says: str
    way: Way
    classes: tuple[frozenset[str], ...]
    unless: frozenset[str]
    near: int
    least: int
    most: int
    named: frozenset[str]


@cache
def table() -> dict[str, Any]:
    """The table as it stands there."""
    return read_table("grammar.toml")


@cache
def class_words(name: str) -> frozenset[str]:
    """The words of a class, as the table has them."""
    return frozenset(fold(table()["classes"][name]["words"]).split())


@cache
def rules() -> tuple[Rule, ...]:
    """The rules, one for each line of their groups."""
    return tuple(
        Rule(
            group["says"],
            group.get("way", "near"),
            tuple(frozenset(each.split("|")) for each in line.split()),
            frozenset(group.get("unless", "").split()),
            group.get("near", _NEAR_WORDS),
            group.get("least", 1),
            group.get("most", 99),
            frozenset(line.replace("|", " ").split()),
        )
        for group in table()["rules"]
        for line in group["classes"].strip().splitlines()
    )


@lru_cache(_KEPT_WORDS)
def classes_of(token: str) -> frozenset[str]:
    """The classes of a plain word, none for a word that nobody listed.

    Args:
        token: One word of `plain`, or several joined by `_`.
    """
    whole, beginnings, _ = _forms()
    classes = whole.get(token, set()) | ({"figure"} if token.isdecimal() else set())
    for length in range(2, len(token) + 1):
        classes = classes | beginnings.get(token[:length], set())
    if token not in whole:
        classes = classes | _misspelled(token)
    return frozenset(classes) or _UNLISTED


def kinds_of(tokens: Sequence[str]) -> list[frozenset[str]]:
    """The classes of each word, with those of what it means together with its neighbors."""
    kinds = [classes_of(token) for token in tokens]
    for at, token in enumerate(tokens):
        for words in _joined().get(token, ()):
            end = at + len(words)
            if tuple(tokens[at:end]) == words:
                joined = classes_of("_".join(words))
                kinds[at:end] = [(kind - _UNLISTED) | joined for kind in kinds[at:end]]
    return kinds


def fulfilled(kinds: Kinds) -> Iterator[tuple[Rule, int, int]]:
    """Rules that the words fulfil, with the places of their first and their last word."""
    present = frozenset[str]().union(*kinds)
    for rule in dict.fromkeys(rule for name in present for rule in _by_telling().get(name, ())):
        if (
            all(not present.isdisjoint(each) for each in rule.classes)
            and present.isdisjoint(rule.unless)
            and rule.least <= len(kinds) <= rule.most
        ):
            yield from _WAYS[rule.way](rule, kinds)


def telling(rule: Rule) -> frozenset[str]:
    """The classes of the part of a rule of which a text hardly has a word by chance."""
    parts = (part for part in rule.classes if part.isdisjoint(_common_classes()))
    return next(parts, frozenset())


@cache
def _common_classes() -> frozenset[str]:
    common = {name for name, row in table()["classes"].items() if row.get("common")}
    return _UNLISTED.union(common)


@cache
def _by_telling() -> dict[str, list[Rule]]:
    by_class: dict[str, list[Rule]] = {}
    for rule in rules():
        for name in telling(rule):
            by_class.setdefault(name, []).append(rule)
    return by_class


def _in_row(rule: Rule, kinds: Kinds) -> Iterator[tuple[Rule, int, int]]:
    for begin, kind in enumerate(kinds):
        if rule.classes[0].isdisjoint(kind):
            continue
        at = begin
        for wanted in rule.classes[1:]:
            at = _next(wanted, kinds, at)
            if at < 0:
                break
        else:
            yield rule, begin, at


def _next(wanted: frozenset[str], kinds: Kinds, at: int) -> int:
    """The place of a word behind another and light ones, -1 for none."""
    for place in range(at + 1, min(at + 2 + _MOST_BETWEEN, len(kinds))):
        if not wanted.isdisjoint(kinds[place]):
            return place
        if kinds[place].isdisjoint({"light", "figure"}):
            return -1
    return -1


def _at_end(rule: Rule, kinds: Kinds) -> Iterator[tuple[Rule, int, int]]:
    for _, begin, end in _in_row(rule, kinds):
        if all("light" in kind for kind in kinds[end + 1 :]):
            yield rule, begin, end


def _nearby(rule: Rule, kinds: Kinds) -> Iterator[tuple[Rule, int, int]]:
    first, *others = (
        [at for at, kind in enumerate(kinds) if not kind.isdisjoint(each)] for each in rule.classes
    )
    if not others:
        # Words that are one together are found as one.
        for begin in (at for at in first if at - 1 not in first):
            end = next(at for at in range(begin, len(kinds) + 1) if at not in first) - 1
            yield rule, begin, end
        return
    for at in first:
        near = [next((o for o in each if 0 < abs(o - at) < rule.near), -1) for each in others]
        if -1 not in near:
            yield rule, min(at, *near), max(at, *near)


def _alone(rule: Rule, kinds: Kinds) -> Iterator[tuple[Rule, int, int]]:
    beside = frozenset({"beside", "light"}).union(*rule.classes)
    if all(not kind.isdisjoint(beside) for kind in kinds):
        yield rule, 0, len(kinds) - 1


_WAYS: Final = {"row": _in_row, "end": _at_end, "near": _nearby, "alone": _alone}


def _misspelled(token: str) -> frozenset[str]:
    """Classes of the word that a slip of the pen or haste made this one of."""
    whole, _, skeletons = _forms()
    if len(token) < _LEAST_SKELETON or token in class_words("spelled_alike"):
        return frozenset()
    spellings = _spellings(token) if len(token) >= _LEAST_MISSPELLED else ()
    known = next((whole[each] for each in spellings if each in whole), None)
    if known is not None or len(_VOWELS.findall(token[1:])) > _KEPT_VOWELS:
        return frozenset(known or ())
    same = skeletons.get(_skeleton(token), ()) if len(_skeleton(token)) >= _LEAST_SKELETON else ()
    longer = (classes for word, classes in same if len(word) > len(token))
    return frozenset[str]().union(*longer)


def _spellings(token: str) -> Iterator[str]:
    """The token with two letters in each other's place, one left out, or one put in; its ends stay."""
    for at in range(1, len(token) - 1):
        yield token[:at] + token[at + 1] + token[at] + token[at + 2 :]
    if len(token) > _LEAST_MISSPELLED:
        for at in range(1, len(token)):
            yield token[:at] + token[at + 1 :]
    for at in range(2, len(token)):
        for letter in ascii_lowercase:
            yield token[:at] + letter + token[at:]


def _skeleton(word: str) -> str:
    """The consonants of a word behind its first letter, doubled ones once, as people shorten it."""
    return word[:1] + _DOUBLED.sub(r"\1", _VOWELS.sub("", word[1:]))


@cache
def _forms() -> tuple[
    dict[str, set[str]], dict[str, set[str]], dict[str, list[tuple[str, frozenset[str]]]]
]:
    """Classes by whole word, by beginning and by skeleton."""
    whole: dict[str, set[str]] = {}
    beginnings: dict[str, set[str]] = {}
    skeletons: dict[str, list[tuple[str, frozenset[str]]]] = {}
    for name in table()["classes"].keys() - {"spelled_alike"}:
        for word in class_words(name):
            bare = word.rstrip("*")
            (beginnings if bare != word else whole).setdefault(bare, set()).add(name)
            if len(bare) > _LEAST_SKELETON:
                skeletons.setdefault(_skeleton(bare), []).append((bare, frozenset({name})))
    return whole, beginnings, skeletons


@cache
def _joined() -> dict[str, list[tuple[str, ...]]]:
    """Words that mean one thing together, by the first of them."""
    joined: dict[str, list[tuple[str, ...]]] = {}
    for name in table()["classes"]:
        for words in (tuple(word.split("_")) for word in class_words(name) if "_" in word):
            joined.setdefault(words[0], []).append(words)
    return joined


def said_unspaced(text: str) -> set[str]:
    """What the parts and forms of `unspaced.toml` say of a text without blanks between its words."""
    if text.isascii():
        return set()
    bare = plain(text).replace(" ", "")
    whole = "".join(unicodedata.normalize("NFKC", text).casefold().split())
    parts, forms = _unspaced()
    # Of nine hundred parts few begin with a letter of the text.
    by_parts = {
        says
        for at, letter in enumerate(bare)
        for part, says in parts.get(letter, ())
        if bare.startswith(part, at)
    }
    return by_parts | {says for form, says in forms if form.search(whole)}


@cache
def text_parts() -> dict[str, str]:
    """What parts of texts without blanks say: `refusal`, `doubt`, `deceased` and so on."""
    says: dict[str, str] = {}
    for group in read_table("unspaced.toml")["parts"]:  # a hint is also part of what says more
        for part in group["parts"].split("|"):
            says.setdefault(plain(part).replace(" ", ""), group["says"])
    return says


@cache
def _unspaced() -> tuple[dict[str, list[tuple[str, str]]], list[tuple[re.Pattern[str], str]]]:
    """Those parts by their first letter, and forms where other letters may stand between two parts."""
    parts: dict[str, list[tuple[str, str]]] = {}
    for part, says in text_parts().items():
        parts.setdefault(part[:1], []).append((part, says))
    forms = read_table("unspaced.toml")["forms"]
    return parts, [(re.compile(group["form"]), group["says"]) for group in forms]


def is_suspect(text: str, *, of_notes: bool = False) -> bool:
    """Whether a text has the begin of a word that some rule asks for: a quick look before it is read.

    Args:
        text: Any cell.
        of_notes: Whether what is a doubt in columns of notes alone counts too.

    Returns:
        False only where the text says nothing about calls.

    Example:
        >>> is_suspect("Do not call"), is_suspect("New York")
        (True, False)
    """
    folded = fold(text)
    if not folded.isascii():
        return True
    long, short = _anchors(of_notes=of_notes)
    if not short.isdisjoint(_LETTERS.findall(folded)):
        return True
    return any(
        folded[at : at + _ANCHOR_CHARS] in long for at in range(len(folded) - _ANCHOR_CHARS + 1)
    )


@cache
def _anchors(*, of_notes: bool) -> tuple[frozenset[str], frozenset[str]]:
    """Begins of telling words, and telling words too short to be looked for inside of others.

    They are the words of the telling part of every rule; of words that are one together the longest.
    """
    rules_asked = (rule for rule in rules() if of_notes or rule.says not in ("hint", "wish"))
    names = frozenset[str]().union(*map(telling, rules_asked))
    listed = (word for name in names for word in table()["classes"][name]["words"].split())
    words = {fold(max(word.rstrip("*").split("_"), key=len)) for word in listed}
    long = {word[:_ANCHOR_CHARS] for word in words if len(word) >= _ANCHOR_CHARS}
    short = {word for word in words if len(word) < _ANCHOR_CHARS}
    return frozenset(filter(str.isascii, long)), frozenset(filter(str.isascii, short))


_ANCHOR_CHARS: Final = 4
_LETTERS: Final = re.compile(r"[a-z0-9]+")
_LONGEST_ANSWER: Final = 5
_TURNED: Final = {
    "allows": "refuses",
    "given": "refuses",
    "refuses": "allows",
    "listed": "unlisted",
    "unlisted": "listed",
}
#: Meanings by the tables of answers and by the classes of the grammar; the first that fits counts.
_BY_TABLE: Final = (
    ("allows", ("opted_in",)),
    ("given", ("consents",)),
    ("refuses", ("opted_out", "failed")),
    ("unlisted", ("unlisted", "passed")),
    ("listed", ("listed",)),
)
_BY_CLASS: Final = (
    ("refuses", frozenset({"refuse", "revoke", "block", "delete"})),
    ("allows", frozenset({"accept", "agree", "wished"})),
    ("listed", frozenset({"entered"})),
)


@cache
def answer_set(name: str) -> frozenset[str]:
    """The answers of one table of `answers.toml`, without accents."""
    words = str(read_table("answers.toml")[name]["words"]).split("|")
    return frozenset(fold(word).strip(" \n\ufe0f") for word in words)


def composed_answer(word: str) -> str | None:
    """What words of one meaning say together, turned round by each negation.

    Args:
        word: An answer without capitals.

    Returns:
        `allows`, `given` (an allowance in columns of consents alone), `refuses`, `listed`,
        `unlisted`, or None where a word is of another meaning.
    """
    tokens = plain(word.replace("'", "").replace("’", "")).split()
    if not tokens or len(tokens) > _LONGEST_ANSWER:
        return None
    denied = ["not" in classes_of(token) for token in tokens]
    # Words that change nothing beside an answer: `on the register`, `calls allowed`.
    beside = word_set("between") - answer_set("listed")
    meanings = {
        _meaning(token)
        for token, negates in zip(tokens, denied, strict=True)
        if not negates
        and token not in beside
        and classes_of(token).isdisjoint({"filler", "calling"})
    }
    if len(meanings) != 1 or None in meanings:
        return None
    meaning = str(*meanings)
    # `Don't` is two words and one negation.
    turned = sum(here and not before for before, here in pairwise((False, *denied))) % 2
    return _TURNED[meaning] if turned else meaning


def _meaning(token: str) -> str | None:
    # `Phone` and `email` are answers of a list of channels, and nothing beside another word.
    if token not in word_set("other_channels"):
        for meaning, tables in _BY_TABLE:
            if any(token in answer_set(name) for name in tables):
                return meaning
    classes = classes_of(token)
    return next((meaning for meaning, names in _BY_CLASS if names & classes), None)

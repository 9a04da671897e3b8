"""The tables of refusals: phrases, words and answers in ten languages, and codes of scrubbing services."""

from __future__ import annotations

import csv
import re
import tomllib
import unicodedata
from collections.abc import Iterator, Mapping
from functools import cache, lru_cache, partial
from importlib import resources
from itertools import filterfalse, pairwise
from typing import Any, Final, Literal, NamedTuple

#: A form of a doubt as a row of parts, each with its choices.
_PartsOfForm = tuple[tuple[str, ...], ...]
#: What a code of a scrubbing service or dialer says of the number.
CodeMeaning = Literal["clear", "do_not_call", "unclear"]

_CAMEL: Final = re.compile(r"(?<=[a-z0-9])(?=[A-Z])|(?<=[A-Z])(?=[A-Z][a-z])|(?<=[A-Za-z])(?=\d)")
_WORDS: Final = re.compile(r"[^\W_]+")
_LETTERS: Final = re.compile(r"[a-z]+")
_MARKS: Final = re.compile(r"([()|])")
#: A text of so many characters is no name or phrase, and is read in another way.
_LONG_CHARS: Final = 1_000
_KEPT_WORDS: Final = 1 << 16
_NO_WORDS: Final = re.compile(r"(?:[^\w|]|_)+")
#: Letters that have no decomposition and are still a plain letter with something added.
_STROKES: Final = str.maketrans(
    {"ł": "l", "Ł": "L", "ø": "o", "Ø": "O", "đ": "d", "Đ": "D", "ı": "i"}
)


class ResultCode(NamedTuple):
    """What one code of a scrubbing service or dialer means.

    Attributes:
        system: The service or dialer.
        code: Its code, as it writes it.
        says: `do_not_call`, `clear` or `unclear`.
        meaning: In words.
        source: Where the service says so.
    """

    system: str
    code: str
    says: CodeMeaning
    meaning: str
    source: str


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
    return frozenset(_table("words.toml")[name]["words"].split())


@lru_cache(_KEPT_WORDS)
def is_word(token: str, name: str) -> bool:
    """Whether a word is of a table of `words.toml`: as it stands, as a beginning, misspelled or clipped.

    Args:
        token: A plain word.
        name: The table; a `*` ends its beginnings of words.
    """
    words, beginnings, skeletons = _forms(name)
    return (
        token in words
        or token.startswith(beginnings)
        or (len(token) >= _LEAST_SKELETON and _skeleton(token) in skeletons)
    )


@lru_cache(_KEPT_WORDS)
def tables_of(token: str) -> frozenset[str]:
    """The tables of the grammar that a word is of, named as they stand there."""
    return frozenset(
        name
        for name in _tables_of_rules()
        if (token in word_set(name[:-1]) if name.endswith("=") else begins_word(token, name))
    )


@cache
def _tables_of_rules() -> frozenset[str]:
    return frozenset(name for rule in rules() for name in rule.words)


@lru_cache(_KEPT_WORDS)
def begins_word(token: str, name: str) -> bool:
    """Whether a word begins as one of a table of beginnings does, misspelled or without its vowels."""
    if token.startswith(_beginnings(name)):
        return True
    shortened = _skeleton(token)
    return len(shortened) >= _LEAST_SKELETON and shortened.startswith(_shortened(name))


@cache
def _beginnings(name: str) -> tuple[str, ...]:
    return tuple({form for word in word_set(name) for form in (word, *_misspelled(word))})


@cache
def _shortened(name: str) -> tuple[str, ...]:
    skeletons = {_skeleton(word) for word in word_set(name)}
    return tuple(each for each in skeletons if len(each) > _LEAST_SKELETON)


@cache
def _forms(name: str) -> tuple[frozenset[str], tuple[str, ...], frozenset[str]]:
    written = word_set(name)
    beginnings = tuple(sorted(word[:-1] for word in written if word.endswith("*")))
    skeletons = {_skeleton(word.rstrip("*")) for word in written if len(word) > _LEAST_SKELETON}
    long = frozenset(each for each in skeletons if len(each) >= _LEAST_SKELETON)
    misspelled = (form for word in written for form in _misspelled(word))
    return written.union(misspelled), beginnings, long


def _misspelled(word: str) -> Iterator[str]:
    """A long word with two letters in each other's place, or one left out; the ends stay."""
    if len(word) < _LEAST_MISSPELLED or word.endswith("*"):
        return
    for at in range(1, len(word) - 1):
        swapped = word[:at] + word[at + 1] + word[at] + word[at + 2 :]
        yield from {swapped, word[:at] + word[at + 1 :]} - word_set("spelled_alike")


def _skeleton(word: str) -> str:
    """The consonants of a word behind its first letter, doubled ones once, as people shorten it."""
    return word[:1] + _DOUBLED.sub(r"\1", _VOWELS.sub("", word[1:]))


class Rule(NamedTuple):
    """Tables of words that mean something together; the columns are explained in `words.toml`."""

    words: tuple[str, ...]
    near: int
    unless: tuple[str, ...]
    calls: bool
    plainly: bool
    least: int
    says: str


@cache
def rules() -> tuple[Rule, ...]:
    """The grammar of `words.toml`."""
    return tuple(
        Rule(
            tuple(row["words"].split()),
            row.get("near", _NEAR),
            tuple(row.get("unless", "").split()),
            row.get("calls", False),
            row.get("plainly", False),
            row.get("least", 1),
            row.get("says", "opt_out_unclear"),
        )
        for row in _table("words.toml")["grammar"]["rules"]
    )


@cache
def rules_of(table: str) -> tuple[Rule, ...]:
    """The rules whose telling word is of the table."""
    return tuple(rule for rule in rules() if rule.words[0] == table)


@cache
def answer_set(name: str) -> frozenset[str]:
    """The answers of one table of `answers.toml`, without accents."""
    words = str(_table("answers.toml")[name]["words"]).split("|")
    return frozenset(fold(word).strip(" \n\ufe0f") for word in words)


def composed_answer(word: str) -> str | None:
    """What words of one meaning say together, turned round by each negation: `non presente`, `not allowed`.

    Returns:
        `allows`, `given` (an allowance in columns of consents alone), `refuses`, `listed`, `unlisted`,
        or None where a word is of another meaning.
    """
    tokens = plain(word.replace("'", "").replace("’", "")).split()
    if not tokens or len(tokens) > _LONGEST_ANSWER:
        return None
    negations = word_set("denied")
    meant = [token for token in tokens if token not in negations and token not in _beside()]
    kinds = {_kind(token) for token in meant}
    if len(kinds) != 1 or None in kinds:
        return None
    kind = str(*kinds)
    denied = [token in negations for token in tokens]
    # `Don't` is two words and one negation.
    turned = sum(here and not before for before, here in pairwise((False, *denied))) % 2
    return _TURNED[kind] if turned else kind


def _kind(token: str) -> str | None:
    """What one word of an answer means."""
    if _is_answer(token, "opted_in"):
        return "allows"
    if _is_answer(token, "consents") and token not in _channel_words():
        return "given"
    if _is_answer(token, "opted_out", "failed"):
        return "refuses"
    if _is_answer(token, "unlisted", "passed"):
        return "unlisted"
    if _is_answer(token, "listed") and token not in _channel_words():
        return "listed"
    if any(begins_word(token, name) for name in ("refusing", "revokes", "blocks", "erases")):
        return "refuses"
    if any(begins_word(token, name) for name in ("accepting", "agreed", "wanting")):
        return "allows"
    return "listed" if begins_word(token, "entered") else None


def _beside() -> frozenset[str]:
    """Words beside an answer that change nothing: `on the register`, `no longer allowed`."""
    return (word_set("between") | word_set("fillers") | word_set("calls")) - word_set("denied")


def _channel_words() -> frozenset[str]:
    """Words that are an answer in a list of channels, and nothing where something stands beside them."""
    return word_set("calls") | word_set("other_channels")


def _is_answer(token: str, *names: str) -> bool:
    return any(token in answer_set(name) for name in names)


@cache
def phrase_set(kind: str) -> frozenset[str]:
    """The phrases of one kind in all languages, in plain words.

    Args:
        kind: `calls`, `contact`, `threats`, `states`, `whole`, `doubtful`, `unwished`,
            `deceased` or `wrong`.
    """
    phrases: set[str] = set()
    for group in _table("phrases.toml")["phrases"]:
        if group["kind"] == kind:
            phrases.update(_expanded(group["phrases"]))
    return frozenset(phrases)


def phrases_from(first: str) -> tuple[Mapping[tuple[str, ...], str], tuple[int, ...]]:
    """Prohibitions that count anywhere in a text and begin with this word, with their kinds.

    Their lengths in words stand beside them, the longest first.
    """
    return _phrases_and_lengths(first) if first in _by_first() else _NO_PHRASES


@cache
def _phrases_and_lengths(first: str) -> tuple[Mapping[tuple[str, ...], str], tuple[int, ...]]:
    kinds: dict[tuple[str, ...], str] = {}
    for text, kind in _by_first()[first]:
        for phrase in map(str.split, _expanded(text)):
            if phrase[0] == first:
                kinds.setdefault(tuple(phrase), kind)
    return kinds, tuple(sorted({len(phrase) for phrase in kinds}, reverse=True))


@cache
def _by_first() -> dict[str, list[tuple[str, str]]]:
    """Prohibitions as the table has them by the words that they may begin with; few words are ever asked for."""
    by_first: dict[str, list[tuple[str, str]]] = {}
    for kind in ("states", "calls", "contact", "threats"):
        for group in _table("phrases.toml")["phrases"]:
            for text in _parted(group["phrases"]) if group["kind"] == kind else ():
                head, bracket, _ = text.partition("(")
                whole = not bracket or len(head.split()) > (not head[-1:].isspace())
                texts = [head] if whole and head.split() else _expanded(text)
                for first in dict.fromkeys(each.split()[0] for each in texts if each.split()):
                    by_first.setdefault(first, []).append((text, kind))
    return by_first


@cache
def text_parts() -> dict[str, str]:
    """What parts of texts without blanks say: a reason code, `doubt` or `invitation`."""
    says: dict[str, str] = {}
    for group in _table("phrases.toml")["parts"]:  # a doubt is also part of what says more
        for part in group["parts"].split("|"):
            says.setdefault(plain(part).replace(" ", ""), group["says"])
    return says


@cache
def text_forms() -> tuple[tuple[re.Pattern[str], str], ...]:
    """The same where other letters may stand between two parts."""
    forms = _table("phrases.toml")["forms"]
    return tuple((re.compile(group["form"]), group["says"]) for group in forms)


@cache
def suspect_pattern(*, of_notes: bool = False) -> str:
    """A regular expression that finds something in every cell that refuses.

    It has no look-around, so that Arrow's engine, linear in the text, can search whole columns. A
    cell in which it finds nothing says nothing.

    Args:
        of_notes: Whether to find what is a doubt in columns of notes alone, too.
    """
    holds_another = partial(_has_anchor_of_one_word, of_notes=of_notes)
    anchors = (
        anchor
        for anchor in sorted(_anchors(of_notes=of_notes))
        if not (holds_another(anchor[1:]) or holds_another(anchor[:-1]))
    )
    latin = ["".join(map(_letter_class, anchor)) for anchor in anchors]
    others = sorted(word_set("anchors_of_other_scripts"))
    if of_notes:
        short = ("".join(map(_letter_class, word)) for word in sorted(_short_anchors()))
        latin.append(f"(?:^|[^a-z])(?:{'|'.join(short)})(?:$|[^a-z])")
        others += sorted(_anchors_of_parts())
    return "(?i)" + "|".join([*latin, *others, _ODD_LETTERS])


@cache
def result_codes() -> tuple[ResultCode, ...]:
    """What scrubbing services and dialers answer, as a table with sources.

    Returns:
        One row per system and code.

    Example:
        >>> next(code.says for code in result_codes() if code.code == "D")
        'do_not_call'
    """
    with resources.files(__package__).joinpath("result_codes.csv").open(encoding="utf-8") as file:
        return tuple(ResultCode(**row) for row in csv.DictReader(file))  # type: ignore[arg-type]


@cache
def codes_by_text() -> dict[str, CodeMeaning]:
    """What each code says, without capitals; the worst of what several systems mean by it."""
    worst: dict[str, CodeMeaning] = {}
    order = ("clear", "unclear", "do_not_call")
    for row in result_codes():
        known = worst.get(row.code.lower(), "clear")
        worst[row.code.lower()] = max(row.says, known, key=order.index)
    return worst


@cache
def _table(name: str) -> dict[str, Any]:
    return tomllib.loads(resources.files(__package__).joinpath(name).read_text(encoding="utf-8"))


def _expanded(text: str) -> list[str]:
    """Phrases written as `stop (|the )calls | never call`, each alternative a phrase."""
    phrases = (" ".join(phrase.split()) for phrase in _alternatives(iter(_MARKS.split(text))))
    return [phrase for phrase in phrases if phrase]


def _parted(text: str) -> Iterator[str]:
    """The alternatives of a table's text as they stand there, with brackets."""
    depth, begun = 0, ""
    for piece in _MARKS.split(text):
        if piece == "|" and not depth:
            yield begun
            begun = ""
            continue
        depth += (piece == "(") - (piece == ")")
        begun += piece
    yield begun


def _alternatives(pieces: Iterator[str]) -> list[str]:
    """What may stand between two brackets, which may hold brackets again."""
    closed, begun = [], [""]
    for piece in pieces:
        if piece == "|":
            closed += begun
            begun = [""]
        elif piece == "(":
            middles = _alternatives(pieces)
            begun = [begin + middle for begin in begun for middle in middles]
        elif piece == ")":
            break
        elif piece:
            begun = [begin + piece for begin in begun]
    return closed + begun


def is_suspect(text: str, *, of_notes: bool = False) -> bool:
    """Whether `suspect_pattern` may find something in the text; for one text, much faster.

    Args:
        text: Any cell.
        of_notes: As for `suspect_pattern`.

    Returns:
        False only where the text says nothing about calls.

    Example:
        >>> is_suspect("Do not call"), is_suspect("New York")
        (True, False)
    """
    folded = fold(text)
    if not folded.isascii():
        return True
    if of_notes and not _short_anchors().isdisjoint(_LETTERS.findall(folded)):
        return True
    others = _pattern_of_others(of_notes=of_notes)
    return _has_anchor_of_one_word(folded, of_notes=of_notes) or bool(others.search(folded))


def _has_anchor_of_one_word(folded: str, *, of_notes: bool) -> bool:
    by_begin = _anchors_by_begin(of_notes=of_notes)
    for at in range(len(folded) - _LEAST_ANCHOR + 1):
        if folded.startswith(by_begin.get(folded[at : at + _LEAST_ANCHOR], ()), at):
            return True
    return False


@cache
def _anchors_by_begin(*, of_notes: bool) -> dict[str, tuple[str, ...]]:
    """Anchors of one word by their first letters: a pattern of them all takes a tenth of a second to compile."""
    by_begin: dict[str, list[str]] = {}
    for anchor in filter(_is_of_one_word, _anchors(of_notes=of_notes)):
        by_begin.setdefault(anchor[:_LEAST_ANCHOR], []).append(anchor)
    return {begin: tuple(anchors) for begin, anchors in by_begin.items()}


@cache
def _pattern_of_others(*, of_notes: bool) -> re.Pattern[str]:
    """The anchors of several words that hold none of one, and of notes the short ones that are no words of letters."""
    parted = filterfalse(_is_of_one_word, _anchors(of_notes=of_notes))
    holds_another = partial(_has_anchor_of_one_word, of_notes=of_notes)
    parts = ["|".join(map(_spaced, sorted(filterfalse(holds_another, parted))))]
    if of_notes:
        short = sorted(filterfalse(_LETTERS.fullmatch, _short_anchors()))
        parts.append(f"(?<![a-z])(?:{'|'.join(map(_spaced, short))})(?![a-z])")
    return re.compile("|".join(parts))


def _is_of_one_word(anchor: str) -> bool:
    return " " not in anchor and len(anchor) >= _LEAST_ANCHOR


def _spaced(anchor: str) -> str:
    return re.escape(anchor).replace(r"\ ", _GAP)


@cache
def _anchors_of_parts() -> frozenset[str]:
    """The begin of each part of a text that is written without blanks, as far as a cell may have none there."""
    texts = (
        part.split()
        for group in _table("phrases.toml")["parts"]
        if group["says"] == "doubt"
        for part in group["parts"].split("|")
    )
    return frozenset(words[0][:4] for words in texts if words and not words[0].isascii())


@cache
def _short_anchors() -> frozenset[str]:
    """Doubts of words that are too short to be looked for inside of others: `rip`, and not `trip`."""
    return frozenset(filter(_is_short, _anchors_of_doubts()))


def _is_short(anchor: str) -> bool:
    return len(anchor.replace(" ", "")) < _LEAST_DOUBT


@cache
def _anchors_of_doubts() -> frozenset[str]:
    """Pieces of text of which every doubt holds one: of each, those of its most telling part."""
    states = map(_anchor_of, phrase_set("note_states"))
    return frozenset(
        anchor for form in _forms_of("doubts") for anchor in _most_telling(form)
    ).union(states)


def _most_telling(form: _PartsOfForm) -> tuple[str, ...]:
    """Anchors of the part of which the shortest is longest."""
    anchors = [tuple(map(_anchor_of, choices)) for choices in form if all(choices)]
    return max(anchors, key=lambda part: min(map(_telling, part)))


def _telling(anchor: str) -> int:
    """How seldom an anchor is met: its letters, and none for a word that every text has."""
    return 0 if anchor in word_set("common") else len(anchor.replace(" ", ""))


def _anchor_of(words: str) -> str:
    words = words.replace("*", "").replace("_", "").strip()
    longest = max(words.split(), key=len, default="")
    return words if len(longest) < _LEAST_DOUBT else longest[:_ANCHOR_CHARS]


@cache
def _forms_of(kind: str) -> tuple[_PartsOfForm, ...]:
    """Each form of the table as a row of parts, each with its choices."""
    return tuple(
        tuple(
            tuple(" ".join(choice.split()) for choice in _alternatives(iter(_MARKS.split(part))))
            for part in _in_row(" ".join(form.split()))
        )
        for group in _table("phrases.toml")["phrases"]
        if group["kind"] == kind
        for form in _parted(fold(group["phrases"]))
        if form.strip()
    )


def _in_row(form: str) -> Iterator[str]:
    """The groups of a form, without their brackets, and what stands between them."""
    depth, begun = 0, ""
    for piece in _MARKS.split(form):
        ends = (piece == "(" and not depth) or (piece == ")" and depth == 1)
        depth += (piece == "(") - (piece == ")")
        if not ends:
            begun += piece
            continue
        if begun.strip():
            yield begun
        begun = ""
    if begun.strip():
        yield begun


@cache
def forms_from(kind: str, begin: str) -> re.Pattern[str] | None:
    """A pattern of the forms whose first word begins so, in plain words parted by single blanks.

    Args:
        kind: `doubts` or `invitations`.
        begin: The first `BEGIN_CHARS` letters of a word.
    """
    forms = _forms_by_begin(kind).get(begin)
    return re.compile(f"(?:{'|'.join(map(_expression, forms))})(?= |$)") if forms else None


@cache
def _forms_by_begin(kind: str) -> dict[str, list[_PartsOfForm]]:
    by_begin: dict[str, list[_PartsOfForm]] = {}
    for form in _forms_of(kind):
        begins: set[str] = set()
        for choices in form:
            begins.update(choice.split()[0][:BEGIN_CHARS] for choice in choices if choice)
            if all(choices):
                break
        for begin in begins:
            by_begin.setdefault(begin, []).append(form)
    return by_begin


def _expression(form: _PartsOfForm) -> str:
    """The form as a regular expression; a part with an empty choice may be missing."""
    expression, required = "", False
    for choices in form:
        words = "|".join(filter(None, choices)).replace("*", r"\w*").replace("_", r"\w+")
        blank, missing = " " if required else "", "" if all(choices) else "?"
        after = "" if required or all(choices) else " "
        expression += f"(?:{blank}(?:{words}){after}){missing}"
        required = required or all(choices)
    return expression


@cache
def _anchors(*, of_notes: bool) -> frozenset[str]:
    """Pieces of text of which every refusing cell holds one: those of the table and of telling words."""
    telling = {rule.words[0].removesuffix("=") for rule in rules()}.union(_TELLING)
    words = {word.rstrip("*")[:_ANCHOR_CHARS] for name in telling for word in word_set(name)}
    words = {word for word in words if len(word) >= _LEAST_ANCHOR}
    anchors = word_set("anchors").union(words, ("d n c", "do not"))
    return anchors.union(filterfalse(_is_short, _anchors_of_doubts())) if of_notes else anchors


_NO_PHRASES: Final[tuple[Mapping[tuple[str, ...], str], tuple[int, ...]]] = ({}, ())
#: Tables of single words that are looked for in rows.
_TELLING: Final = ("only", "dials", "called", "erasing", "dead", "misdialed")
_LONGEST_ANSWER: Final = 5
_TURNED: Final = {
    "allows": "refuses",
    "given": "refuses",
    "refuses": "allows",
    "listed": "unlisted",
    "unlisted": "listed",
}
_ANCHOR_CHARS: Final = 5
_LEAST_DOUBT: Final = 4
#: By so many letters of its first word a doubt is looked up.
BEGIN_CHARS: Final = 3
#: What stands between letters and words that are written apart.
_GAP: Final = r"[\s_/.+&'’-]*"
_LEAST_ANCHOR: Final = 3
_NEAR: Final = 6
_LEAST_MISSPELLED: Final = 6
_VOWELS: Final = re.compile(r"[aeiouy]")
_DOUBLED: Final = re.compile(r"(.)\1+")
_LEAST_SKELETON: Final = 4
#: Letters, each first in all of its spellings, of the alphabets of the ten languages and their neighbors.
_SPELLINGS: Final = {spellings[0]: spellings for spellings in (
    "aàáâãäåą", "cçćč", "dđď", "eèéêëęě", "gğ", "iìíîïı", "lł", "nñńň", "oòóôõöøő", "rř", "sśşš", "tť",
    "uùúûüűů", "yý", "zźżž", "ий", "её",
)}  # fmt: skip
#: Letters of full width and accents that stand behind their letter: always worth a look.
_ODD_LETTERS: Final = "[\uff21-\uff5a\u0300-\u036f\uff61-\uff9f]"


def _letter_class(char: str) -> str:
    """A letter in every spelling that `plain` makes one."""
    if char == " ":
        return _GAP
    return f"[{_SPELLINGS[char]}]" if char in _SPELLINGS else re.escape(char)

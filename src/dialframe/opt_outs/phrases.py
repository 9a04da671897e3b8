"""Strong phrases of refusals, deaths and wrong numbers in any text; what they mean is decided by a person.

`phrases.toml` has them by language. A text is parted at its punctuation, and each piece is compared with the phrases
of its own script, whole word by whole word. A phrase found says only that somebody should look: the column and the
phrase are put to a person, and the answer holds for the list and for the next ones of its source.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from functools import cache, lru_cache
from typing import Final, Literal, NamedTuple

from dialframe.opt_outs.text import fold, plain, read_table

#: What a phrase says of the record.
Says = Literal["refusal", "deceased", "wrong_number"]


class Phrase(NamedTuple):
    """A phrase in a text.

    Attributes:
        says: What it says.
        text: The phrase in plain words, as it is asked about.
        limited: Whether it is one of hours or days alone: `do not call before nine`.
    """

    says: Says
    text: str
    limited: bool = False


#: A longer text is cut: a refusal stands at the beginning of a note, and a megabyte would take minutes.
LONGEST_CHARS: Final = 4000
_KINDS: Final[tuple[Says, ...]] = ("refusal", "deceased", "wrong_number")
_PIECES: Final = re.compile(
    r"[;_&]{2}|[;|/!?\n\r\t()\[\]{}<>\"“”•·、。（）「」／；：:]+|,(?!\d)|\.(?=\s|$)|\s[-–—]+\s"
)
#: A negation right before a phrase takes it back: `not on DNC`.
_NOT: Final = frozenset(
    ["not", "nicht", "no", "pas", "non", "niet", "nie", "ej", "inte", "ikke", "nao", "не"]
)
#: Before a negation, what makes it a report: `could not be contacted`; before a way out, an offer.
_REPORTS: Final = frozenset(
    {"did", "could", "can", "have", "has", "had", "was", "were", "been", "how", "which"}
)
_OPTING: Final = ("opt", "unsub", "suppress", "deleted", "remove")
_MAILS: Final = frozenset(
    {"email", "emails", "mail", "newsletter", "newsletters", "sms", "fax", "text", "texts"}
)
_OF_CALLS: Final = re.compile(r"\b(?:call|calls|phone|telephone|dial|ring)")
#: `E-mail` and `e-post` are one word; a lone `e` may belong to `e-shop`.
_OF_MAIL: Final = re.compile(r"\be (?=mail|post)")
_APOSTROPHE: Final = re.compile(r"(?<=n)['’`´](?=t\b)", re.IGNORECASE)
_GAP: Final = r"(?:\S+ ){0,3}"
#: What makes a prohibition one of hours: asked about by itself.
_LIMITS: Final = re.compile(
    r" (?:before|after|until|till|between|during|vor|nach|bis|avant|apres|jusqu|antes|despues|hasta|depois|ate|prima|dopo|fino"
    r"|voor|na|tot|przed|po|do|fore|efter|innan|for|until)(?: \S+){1,3}"
)
#: The scripts, by a character of each.
_SCRIPTS: Final = {
    "japanese": re.compile(r"[\u3040-\u30ff]"),
    "han": re.compile(r"[\u4e00-\u9fff]"),
    "hangul": re.compile(r"[\uac00-\ud7af]"),
    "cyrillic": re.compile(r"[\u0400-\u04ff]"),
    "arabic": re.compile(r"[\u0600-\u06ff]"),
    "hebrew": re.compile(r"[\u0590-\u05ff]"),
    "thai": re.compile(r"[\u0e00-\u0e7f]"),
    "devanagari": re.compile(r"[\u0900-\u097f]"),
}
_SPACED: Final = ("latin", "cyrillic")


def find_phrase(text: str) -> Phrase | None:
    """The first strong phrase of a text, None for a text without one.

    Args:
        text: A note, tag, status or name.

    Example:
        >>> find_phrase("pls do not call again").text
        'do not call'
        >>> find_phrase("Bestellung über Shop") is None
        True
    """
    text = text[:LONGEST_CHARS].replace("#", " number ")
    for script in _scripts_of(text):
        phrase = _in_words(text, script) if script in _SPACED else _in_parts(text, script)
        if phrase is not None:
            return phrase
    return None


def is_refusal(text: str) -> bool:
    """Whether a disposition, status or note sounds like a refusal of calls.

    A death and a wrong number are no refusals; `find_phrase` tells them apart.

    Args:
        text: A disposition of a dialer, a status, or a note.

    Example:
        >>> is_refusal("Threatened legal action"), is_refusal("DNC"), is_refusal("No answer")
        (True, True, False)
    """
    phrase = find_phrase(text)
    return phrase is not None and phrase.says == "refusal"


def _scripts_of(text: str) -> Iterator[str]:
    """The scripts whose tables are read: those of which the text has letters."""
    if text.isascii():
        yield "latin"
        return
    scripts = [script for script, letter in _SCRIPTS.items() if letter.search(text)]
    # Kanji stand in Japanese and Chinese texts; without kana both are read.
    if "japanese" in scripts and "han" in scripts:
        scripts.remove("han")
    elif "han" in scripts and "hangul" not in scripts:
        scripts.insert(0, "japanese")
    yield from scripts
    yield "latin"


def _in_words(text: str, script: str) -> Phrase | None:
    table = _spaced_table(script)
    for piece in _PIECES.split(_APOSTROPHE.sub("", text)):
        words = plain(piece) if script == "latin" else " ".join(re.findall(r"\w+", fold(piece)))
        words = _OF_MAIL.sub("e", words)
        if not words:
            continue
        tokens = [table.spellings.get(word, word) for word in words.split()]
        words = " ".join(tokens)
        if _is_state(tokens):
            continue
        if says := table.alone.get(words):
            return Phrase(says, words)
        if table.anchors.keys().isdisjoint(tokens):
            continue
        # Every word of a pattern has a blank behind it.
        words += " "
        # A word that is repeated asks nothing new.
        for token in dict.fromkeys(tokens):
            for says, pattern, unless in table.anchors.get(token, ()):
                match = _pattern(pattern).search(words)
                if match and unless.isdisjoint(tokens) and not _is_taken_back(words, match):
                    limit = _LIMITS.match(words, match.end() - 1)
                    return Phrase(
                        says, match[0].strip() + (limit[0] if limit else ""), limit is not None
                    )
    return None


def _is_state(tokens: list[str]) -> bool:
    """Whether a piece says how far the work is, and nothing else: `nicht angerufen`."""
    negations, yet, done = _state_words()
    return not done.isdisjoint(tokens) and (negations | yet | done).issuperset(tokens)


@cache
def _state_words() -> tuple[frozenset[str], frozenset[str], frozenset[str]]:
    states = read_table("phrases.toml")["states"]
    negations, yet, done = (frozenset(states[name].split()) for name in ("not", "yet", "done"))
    return negations, yet, done


def _is_taken_back(words: str, match: re.Match[str]) -> bool:
    """Whether the words around a phrase make it something else."""
    before, text = words[: match.start()].split()[-1:], match[0]
    last, first = "".join(before), text.split(" ", 1)[0]
    if last in _NOT and first not in _NOT:
        return True
    if last == "may" and first.startswith("opt"):
        return True
    if last in _REPORTS and (first in ("not", "never") or first.startswith("opt")):
        return True
    # `Email opt-out` is of e-mail.
    return (
        first.startswith(_OPTING)
        and not _MAILS.isdisjoint(words.split())
        and not _OF_CALLS.search(words)
    )


def _in_parts(text: str, script: str) -> Phrase | None:
    whole = text.strip()
    for says, pattern, alone in _unspaced_patterns(script):
        if whole in alone:
            return Phrase(says, whole)
        if match := pattern.search(text):
            return Phrase(says, match[0])
    return None


class _Table(NamedTuple):
    """The phrases of the languages of one script: whole pieces, and patterns by a word that each has.

    `spellings` has the word that was meant by a slip.
    """

    alone: dict[str, Says]
    anchors: dict[str, list[tuple[Says, str, frozenset[str]]]]
    spellings: dict[str, str]


@cache
def _spaced_table(script: str) -> _Table:
    alone: dict[str, Says] = {}
    anchors: dict[str, list[tuple[Says, str, frozenset[str]]]] = {}
    spellings: dict[str, str] = {}
    for language in read_table("phrases.toml").values():
        if language["script"] != script:
            continue
        for word, slips in language.get("spellings", {}).items():
            spellings |= dict.fromkeys(slips.split(), word)
        lists = language["lists"]
        slots = {name: fold(words).split() for name, words in language.get("slots", {}).items()}
        unless = frozenset(fold(language.get("unless", "")).split())
        for name in lists.get("alone", "").replace("\n", " ").split("|"):
            alone.setdefault(fold(name).strip(), "refusal")
        for says in _KINDS:
            for line in lists.get(says, "").strip().splitlines():
                words, pattern = _pattern_of(fold(line), slots)
                for word in words:
                    anchors.setdefault(word, []).append((says, pattern, unless))
    return _Table(alone, anchors, spellings)


def _pattern_of(line: str, slots: dict[str, list[str]]) -> tuple[set[str], str]:
    """The pattern of a phrase, and the words of which a text has one where it fits."""
    parts, anchors = [], []
    for part in line.split():
        if part == "~":
            parts.append(_GAP)
            continue
        optional = part.endswith("?")
        words = {
            word
            for each in part.removesuffix("?").split("/")
            for word in (slots[each[1:-1]] if each.startswith("{") else [each.replace("'", "")])
        }
        either = "|".join(sorted(map(re.escape, words), key=len, reverse=True))
        parts.append(f"(?:(?:{either}) )" + ("?" if optional else ""))
        if not optional:
            anchors.append(words)
    # The position whose words say most: the shortest of them is the longest.
    best = max(anchors, key=lambda words: (min(map(len, words)), -len(words)))
    return best, rf"(?<!\S){''.join(parts)}"


#: Of some 700 patterns a list needs few, and compiling all takes longer than cleaning a small list.
_pattern: Final = lru_cache(maxsize=None)(re.compile)


@cache
def _unspaced_patterns(script: str) -> tuple[tuple[Says, re.Pattern[str], frozenset[str]], ...]:
    rows = []
    for language in read_table("phrases.toml").values():
        if language["script"] == script:
            alone = frozenset(each.strip() for each in language.get("alone", "").split("|")) - {""}
            for says in _KINDS:
                if says in language:
                    parts = "|".join(language[says].strip().splitlines())
                    rows.append(
                        (says, re.compile(parts), alone if says == "refusal" else frozenset())
                    )
    return tuple(rows)

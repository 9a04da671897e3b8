"""What a cell says about calling the person, whatever column it stands in.

A cell is taken apart at its punctuation, and each piece is looked up in `phrases.toml`. A
prohibition in so many words counts anywhere (`do not call`); the state of a person (`DNC`, `opted
out`) is taken back by `not` before it or `no` behind it, and what concerns e-mail alone forbids no
call. Ordinary sentences about calls (`did not call back`) say nothing.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterator, Sequence
from functools import cache, lru_cache
from itertools import pairwise
from typing import Final, Literal

from dialframe.opt_outs.words import (
    BEGIN_CHARS,
    Rule,
    answer_set,
    begins_word,
    composed_answer,
    forms_from,
    is_suspect,
    is_word,
    phrase_set,
    phrases_from,
    plain,
    rules_of,
    tables_of,
    text_forms,
    text_parts,
    word_set,
)

#: What a cell can say; each is a reason code.
Remark = Literal["opt_out", "opt_out_unclear", "deceased", "wrong_number"]
#: What of it counts in a column: anything; of names, no single word that may be one; of things and
#: of other channels, only prohibitions of calls in so many words; of notes and statuses, doubts too; of
#: wishes, more than anything.
Scope = Literal["any", "names", "calls", "notes", "wishes"]
Stance = Literal["yes", "no", "unclear"]

#: Scopes in which a note may be a refusal without so many words.
_OF_PEOPLE: Final = frozenset({"any", "notes", "wishes"})
#: A longer cell is cut: a refusal stands at the begin of a note, and a megabyte would take minutes.
LONGEST_CHARS: Final = 4000
#: `bloq. a pedido`, and a letter that somebody leans on.
_SHORTENED: Final = re.compile(r"(\b\w{1,4})\.(?=\s*[a-zà-ÿ])")
_LEANED_ON: Final = re.compile(r"(?<=\w)([^\W\d])\1{2,}")
_PIECES: Final = re.compile(
    r"\b(?:but|aber|pero)\b|[+,;|/.!?\n\r\t()\[\]{}<>\"“”•·、。（）「」／；，:：]+|\s[-–—]+\s"
)
_LINKS: Final = re.compile(
    r"(?:https?://|www\.)\S*|\b[\w-]{1,60}\.(?:com|org|net)\b|[^\s@]{1,100}@\S*"
)
#: Every link, address and abbreviation has one of these.
_IN_LINKS: Final = frozenset(".@:")
#: Every mark that a pattern for a piece of a cell looks for.
_MARKS: Final = frozenset(".@:：+/,'’`´")
#: A comma that the grammar of a language puts before a clause, as in `will nicht, dass ihr anruft`.
_CLAUSE: Final = re.compile(r",(?=\s*(?:dass|daß|mich|uns|ihn|że|żeby|zeby|aby)\b)")
_ABBREVIATED: Final = re.compile(r"\bd\s?\.\s?n\s?\.\s?c\b\.?", re.IGNORECASE)
#: Letters that stand for words: `d/n/c`, `R.I.P.`, `C+D`.
_SLASHED: Final = re.compile(r"\b[A-Za-z](?:[/.+][A-Za-z]\b){1,3}\.?")
#: `Don't forget to call` asks for a call.
_REMINDED: Final = re.compile(
    r"\b(?:do not|don['’]?t|never) forget\b(?! (?:me|about))", re.IGNORECASE
)
_APOSTROPHE: Final = re.compile(r"(?<=\w)['’`´](?=\w)")
_REMOVAL_WORDS: Final = 9
_SHORT_WORDS: Final = 6
#: A day beside a word, as in `Baja 01/02/2024`; any other figure is a number of something.
_DAY: Final = re.compile(r"\d{1,4}[-/.]\d{1,2}[-/.]\d{1,4}")
_FIGURES: Final = re.compile(r"\d")
#: A day inside a sentence, which the pieces must not be parted at: `DNC scrub 6/1: clear`.
_DAY_OF: Final = re.compile(r"\b\d{1,2}/\d{1,2}(?:/\d{2,4})?\b")
_NEGATED_VERBS: Final = frozenset({"not", "nicht", "niet", "inte", "ej", "nie", "ikke", "non"})


def is_refusal(text: str) -> bool:
    """Whether a disposition, status or note says that the person must not be called.

    A doubtful word (`Blocked`) counts as a refusal, since in doubt nobody is called. A dead person
    and a wrong number are no refusals; `read_remark` tells them apart.

    Args:
        text: A disposition of a dialer, a status, or a note in prose, in any of ten languages.

    Returns:
        True where somebody refused calls, asked for no contact, or threatened with the law.

    Example:
        >>> is_refusal("Threatened legal action"), is_refusal("DNC"), is_refusal("No answer")
        (True, True, False)
    """
    return read_remark(text) in ("opt_out", "opt_out_unclear")


def read_remark(cell: str, scope: Scope = "any") -> Remark | None:
    """What the cell says about calling the person, None for nothing.

    Args:
        cell: Any text. One in which `suspect_pattern` finds nothing, and one of digits and
            punctuation alone, says nothing.
        scope: What of it counts (`scope_of`).

    Returns:
        A reason code, or None.

    Example:
        >>> read_remark("niet meer bellen"), read_remark("Do not call before 9am")
        ('opt_out', 'opt_out_unclear')
    """
    if not is_suspect(cell[:LONGEST_CHARS], of_notes=counts_doubts(scope)):
        return None
    pieces = list(_pieces(cell))
    stances = [_stance(tokens, scope) for tokens in pieces]
    if "yes" in stances:
        return "opt_out"
    parts = _parts_in(cell)
    if "opt_out" in parts:
        return "opt_out"
    bare = [_bare(tokens) for tokens in pieces]
    if scope != "calls" and (
        phrase_set("deceased").intersection(bare)
        or "deceased" in parts
        or (scope != "names" and any(map(_has_died, pieces)))
    ):
        return "deceased"
    # `landline is dead, call her mobile`: who goes on with an invitation has refused nothing.
    if scope in _OF_PEOPLE and "invitation" not in parts and not any(map(_invites, pieces)):
        meanings = [
            meaning
            for tokens, stance in zip(pieces, stances, strict=True)
            for meaning in _meanings(tokens, denied=stance == "no")
        ]
        wrong = phrase_set("wrong").intersection(bare) or any(map(_is_of_another, pieces))
        if wrong or "wrong_number" in parts or "wrong_number" in meanings:
            return "wrong_number"
        if (
            meanings
            or "opt_out_unclear" in parts
            or _is_doubtful(cell, bare)
            or (
                counts_doubts(scope)
                and (
                    "doubt" in parts
                    or phrase_set("note_states").intersection(bare)
                    or any(map(_is_doubt, pieces))
                )
            )
            or (
                phrase_set("unwished").intersection(bare)
                and any(word_set("other_channels").intersection(tokens) for tokens in pieces)
            )
        ):
            return "opt_out_unclear"
    return "opt_out_unclear" if "unclear" in stances else None


def read_stance(cell: str) -> Stance | None:
    """Whether a text of an opt-out column says that the person refused, or that they did not.

    Args:
        cell: The text: `DNC` and `asked to be removed` are a yes, `not on DNC` and `DNC: no` a no.

    Returns:
        `yes`, `no`, `unclear` for a prohibition under a condition, None for any other text.
    """
    if "opt_out" in _parts_in(cell):
        return "yes"
    whole = _stance(plain(cell.replace(":", " ")).split(), "any")
    if whole == "no":
        return "no"
    stances = [_stance(tokens, "any") for tokens in _pieces(cell)]
    wanted: tuple[Stance, ...] = ("yes", "unclear", "no")
    return next((stance for stance in wanted if stance in stances), None)


def counts_doubts(scope: Scope) -> bool:
    """Whether a doubt counts in the column: in those of notes and of wishes."""
    return scope in ("notes", "wishes")


def scope_of(header: str) -> Scope:
    """What of a remark counts in the column: in names of things and of other channels, less.

    Args:
        header: Name of the column.
    """
    tokens = set(plain(header).split())
    if tokens & word_set("wishes") or (tokens & word_set("ways") and tokens & word_set("ways_of")):
        return "wishes"
    if plain("連絡方法") in plain(header).replace(" ", ""):
        return "wishes"
    of_things = tokens & (word_set("things") | word_set("mail_words"))
    if tokens & word_set("permissions") and not of_things:
        return "wishes"
    if tokens & _note_columns() and not of_things:
        return "notes"
    if tokens & word_set("calls"):
        return "any"
    if tokens & word_set("persons"):
        return "names"
    return "calls" if of_things else "any"


@cache
def _note_columns() -> frozenset[str]:
    return frozenset(map(plain, word_set("note_columns")))


def prohibits(tokens: Sequence[str]) -> Stance | None:
    """What the words of a header or of one piece of a cell say; see `read_stance`."""
    # Most headers say nothing of the kind, and the table of phrases is dear to a short list.
    return _stance(tokens, "any") if is_suspect(" ".join(tokens)) else None


def _parts_in(cell: str) -> set[str]:
    """What the parts of the table say that stand in a text without blanks between its words."""
    if cell.isascii():
        return set()
    text = plain(cell[:LONGEST_CHARS]).replace(" ", "")
    said = {says for part, says in text_parts().items() if part in text}
    whole = "".join(unicodedata.normalize("NFKC", cell[:LONGEST_CHARS]).casefold().split())
    return said | {says for form, says in text_forms() if form.search(whole)}


def _pieces(cell: str) -> Iterator[list[str]]:
    # Most cells have none of these marks, and a search for one costs a hundredth of a substitution.
    text = cell[:LONGEST_CHARS]
    marks = _MARKS.intersection(text)
    if not _IN_LINKS.isdisjoint(marks):
        text = _ABBREVIATED.sub("dnc", _LINKS.sub(" ", text))
    if "+" in marks:
        text = text.replace("ne +", "ne plus")  # `ne + appeler`
    if not marks.isdisjoint("/.+"):
        text = _SHORTENED.sub(r"\1 ", _SLASHED.sub(_joined, text))
    if "orget" in text:
        text = _REMINDED.sub(" ", text)
    text = _LEANED_ON.sub(r"\1\1", text)
    if "/" in marks:
        text = _DAY_OF.sub(" ", text)
    if marks:
        text = _APOSTROPHE.sub(" ", _CLAUSE.sub(" ", _denials(text)))
    for piece in _PIECES.split(text):
        tokens = plain(piece).split()
        # `Do not hesitate to call` is the opposite.
        if tokens and not any(begins_word(token, "urging") for token in tokens):
            yield tokens


def _joined(written: re.Match[str]) -> str:
    letters = [char for char in written.group() if char.isalpha()]
    return ("" if len(letters) > 2 else " ").join(letters)


def _denials(text: str) -> str:
    """The text with `DNC: no` as one piece, so that the answer stays beside its question."""
    return re.sub(r"[:：](?=\s*\w{1,9}\s*(?:$|[,;|.]))", " ", text)


def _bare(tokens: Sequence[str]) -> str:
    """The piece without digits and fillers."""
    fillers = word_set("fillers")
    return " ".join([token for token in tokens if token not in fillers and not token.isdecimal()])


def _is_doubtful(cell: str, bare: Sequence[str]) -> bool:
    """Whether the cell is a doubtful word and nothing else but perhaps a day.

    `Baja 01/02/2024` may be a refusal, `BAJA, 1` is the ground floor of a house.
    """
    words = {piece for piece in bare if piece}
    doubtful = phrase_set("doubtful")
    if not words & doubtful or not words <= doubtful | answer_set("opted_out"):
        return False
    return not _FIGURES.search(_DAY.sub("", cell))


def _has_died(tokens: Sequence[str]) -> bool:
    """`El titular falleció`: the person, in a short sentence of nobody else before it."""
    if len(tokens) > _SHORT_WORDS:
        return False
    dead = [at for at, token in enumerate(tokens) if is_word(token, "dead")]
    begins = not _begin_deaths().isdisjoint(tokens)
    if not (dead or begins) or not word_set("lifeless").isdisjoint(tokens):
        return False
    another = word_set("another")
    alive = next((at for at, word in enumerate(tokens) if word in another), len(tokens))
    dead = [at for at in dead if at < alive]
    behind = tokens[dead[-1] + 1 : alive] if dead else ()
    if dead and (alive < len(tokens) or not behind or _may_follow_death(behind[0])):
        return True
    if not begins:
        return False
    text = f"{' '.join(tokens[:alive])} "
    parted = (text.partition(f"{phrase} ") for phrase in phrase_set("deceased"))
    # `Deceased donor program` is no death.
    return any(hit and (not end or end.split()[0] in word_set("when")) for _, hit, end in parted)


def _may_follow_death(word: str) -> bool:
    return word in word_set("light") or word in word_set("when") or word.isdecimal()


@cache
def _begin_deaths() -> frozenset[str]:
    return frozenset(phrase.split()[0] for phrase in phrase_set("deceased"))


def _is_of_another(tokens: Sequence[str]) -> bool:
    """Whether the words say that the number is not the person's: `wrng nbr`, `pas son numéro`."""
    numbers = _places(tokens, "numbers")
    if not numbers:
        return False
    wrong = _places(tokens, "misdialed")
    numbers = [at for at in numbers if tokens[at + 1 : at + 2] not in (["of"], ("of",))]
    if any(0 < abs(at - other) <= 2 for at in wrong for other in numbers):
        return True
    if word_set("outcomes").intersection(tokens):
        return False
    somebody = [
        *_places(tokens, "somebody"),
        *(
            at
            for at in _places(tokens, "others")
            if word_set("persons_of").intersection(tokens[at + 1 : at + 2])
            or any(begins_word(token, "belongs") for token in tokens[:at])
            or word_set("of").intersection(tokens[max(at - 2, 0) : at])
        ),
    ]
    if any(0 < abs(at - other) < _SHORT_WORDS for at in somebody for other in numbers):
        return True
    denied = next(
        (at for at, word in enumerate(tokens) if word in word_set("denied")), len(tokens)
    )
    return any(
        token in word_set("his")
        and (at + 1 in numbers or at - 1 in numbers or (numbers and numbers[0] < denied))
        for at, token in enumerate(tokens)
        if at > denied
    )


def _places(tokens: Sequence[str], table: str) -> list[int]:
    return [at for at, token in enumerate(tokens) if is_word(token, table)]


def _refuses_in_a_row(tokens: Sequence[str]) -> bool:
    """Whether a negation or an end and a verb of contact follow each other, or a removal stands alone."""
    light, roles = word_set("light"), [_roles_of(token) for token in tokens]
    reported = not word_set("outcomes").isdisjoint(tokens)
    for at, role in enumerate(() if reported else roles):
        if "ends" in role:
            if not (at and tokens[at - 1] in word_set("happened")) and _is_dialed(tokens[at:]):
                return True
        elif "dials" in role:
            behind = next((word for word in tokens[at + 1 :] if word not in light), "")
            if behind in word_set("denied_behind"):
                return True
    rest = [role for role in roles if "beside" not in role]
    named = not word_set("firm").isdisjoint(tokens)
    return bool(rest) and not named and all("erasing" in role for role in rest)


@lru_cache(1 << 16)
def _roles_of(token: str) -> frozenset[str]:
    """What a word can be where words of refusal follow each other."""
    roles = {name for name in ("ends", "dials", "erasing") if is_word(token, name)}
    if token in word_set("denied"):
        roles.add("ends")
    if token in _beside_removals() or token.isdecimal() or is_word(token, "erased_from"):
        roles.add("beside")
    return frozenset(roles)


@cache
def _beside_removals() -> frozenset[str]:
    return word_set("light") | word_set("fillers")


def _is_dialed(tokens: Sequence[str]) -> bool:
    """Whether what a negation or an end in front stands for is a call."""
    for at, token in enumerate(tokens[1 : _REMOVAL_WORDS + 1], 1):
        if tokens[0] in word_set("not_doing") and token in word_set("doing"):
            return True
        if is_word(token, "dials"):
            # `They never call back` is a report, `said never call back` a wish.
            return not word_set("back").intersection(tokens[at + 1 :])
        if is_word(token, "called"):
            beside = (*tokens[1:at], *tokens[at + 1 : at + 3])
            return any(is_word(word, "passive") for word in beside)
        if is_word(token, "contacts"):
            return any(word in word_set("insisting") for word in tokens)
        if token not in word_set("light"):
            return False
    return False


def _meanings(tokens: Sequence[str], *, denied: bool) -> Iterator[str]:
    """What the words say together: a possible refusal, unless it was taken back, or another's number."""
    # `No contact`, `not contacted yet` and `do not contact by email` are no refusal of calls.
    others = word_set("other_channels").intersection(tokens)
    elsewhere = bool(others) and not word_set("calls").intersection(tokens)
    if word_set("trades").intersection(tokens):
        return
    if not denied and ((not elsewhere and _refuses_in_a_row(tokens)) or _is_by_mail_alone(tokens)):
        yield "opt_out_unclear"
    found = [tables_of(token) for token in tokens]
    every = frozenset[str]().union(*found)
    for rule in (rule for table in every for rule in rules_of(table)):
        if (
            every.issuperset(rule.words)
            and len(tokens) >= rule.least
            and not (rule.calls and elsewhere)
            and not (denied and rule.says == "opt_out_unclear")
            and not any(word_set(table).intersection(tokens) for table in rule.unless)
            and _are_near(tokens, found, rule)
        ):
            yield rule.says


def _is_by_mail_alone(tokens: Sequence[str]) -> bool:
    """`Contact only by mail`, `mail contact only`, and not `email only bounced once`."""
    places = [at for at, token in enumerate(tokens) if token in word_set("only")]
    if len(tokens) > _SHORT_WORDS or not places:
        return False
    behind = word_set("light") | word_set("denied")
    at_end = behind.issuperset(tokens[places[-1] + 1 : places[-1] + 2])
    named = tokens if at_end else tokens[places[0] :]
    return any(token.startswith(tuple(word_set("only_by"))) for token in named)


def _are_near(tokens: Sequence[str], found: Sequence[frozenset[str]], rule: Rule) -> bool:
    """Whether words of each table stand within a few words of one of the first, which nothing denies."""
    places = [[at for at, names in enumerate(found) if table in names] for table in rule.words]
    return any(
        all(any(0 < abs(at - other) < rule.near for other in own) for own in places[1:])
        for at in places[0]
        if not (rule.plainly and at and tokens[at - 1] in word_set("denied"))
    )


def _stance(tokens: Sequence[str], scope: Scope) -> Stance | None:
    stances: list[Stance] = []
    for start, stop, kind in _hits(tokens):
        if scope == "calls" and (kind not in ("calls", "threats") or stop - start < 2):
            continue
        stances.append(_weigh(tokens, start, stop, kind))
    for wanted in ("yes", "unclear", "no"):
        if wanted in stances:
            return wanted
    words = {_bare(tokens), " ".join(tokens)}
    if scope == "wishes" and (
        words & phrase_set("unwished") or composed_answer(" ".join(tokens)) == "refuses"
    ):
        return "yes"
    if scope in _OF_PEOPLE and words & phrase_set("whole"):
        return "yes"
    if scope in ("any", "notes") and words & _only_other_channels():
        return "unclear"
    return None


def _is_doubt(tokens: Sequence[str]) -> bool:
    """Whether a doubt of the table stands in a piece of a note."""
    # Words of business make a doubt none: `probate lawyer wants leads`. A refusal stays one.
    if word_set("business").intersection(tokens):
        return False
    text, start, before = " ".join(tokens), 0, ""
    for token in tokens:
        doubts = forms_from("doubts", token[:BEGIN_CHARS])
        doubt = None if doubts is None else doubts.match(text, start)
        # `No complaints` and `not TPS registered` take back what stands behind them.
        if doubt is not None and not (
            before in word_set("negators") and token not in word_set("negators")
        ):
            return True
        start, before = start + len(token) + 1, token
    return False


def _invites(tokens: Sequence[str]) -> bool:
    """Whether a piece of a note begins with a word of goodwill: `wants our bundle`, `ok to dial`."""
    invitations = forms_from("invitations", tokens[0][:BEGIN_CHARS])
    return invitations is not None and invitations.match(" ".join(tokens)) is not None


@cache
def _only_other_channels() -> frozenset[str]:
    """`Email only` where nobody asked for a wish: it may be one."""
    ways = re.compile(r"\b(?:e mail|email|mail|courriel|correo|e post|epost|sms|whatsapp)\b")
    return frozenset(
        phrase for phrase in phrase_set("unwished") if ways.search(phrase) and " " in phrase
    )


def _hits(tokens: Sequence[str]) -> Iterator[tuple[int, int, str]]:
    """Phrases of the tables in the piece: begin, end, kind; the longest at each place."""
    if (removal := _removal(tokens)) is not None:
        yield removal
    for start, token in enumerate(tokens):
        kinds, lengths = phrases_from(token)
        for length in lengths:
            kind = kinds.get(tuple(tokens[start : start + length]))
            if kind is not None:
                yield start, start + length, kind
                break


def _removal(tokens: Sequence[str]) -> tuple[int, int, str] | None:
    """`Remove him from the list`, whoever and whichever list."""
    take, remove = word_set("take"), word_set("remove")
    starts = [at for at, token in enumerate(tokens) if token in remove or token in take]
    for start in starts:
        behind = list(tokens[start : start + _REMOVAL_WORDS])
        ends = [at for at, token in enumerate(behind) if token in word_set("lists")]
        away = frozenset({"off"}) if tokens[start] in take else word_set("from")
        if ends and away.intersection(behind[: ends[-1]]):
            return start, start + ends[-1] + 1, "contact"
    return None


def _weigh(tokens: Sequence[str], start: int, stop: int, kind: str) -> Stance:
    """What a phrase says in its sentence."""
    if kind == "threats":
        return "yes"
    # `DNC Plumbing Ltd` and `our do-not-call product` name a firm and what it sells.
    named = word_set("trade_names").intersection(tokens[stop : stop + 3])
    if named or _is_denied(tokens, stop) or (kind == "states" and _is_no_state(tokens, start)):
        return "no"
    before = _before(tokens, start)
    if tokens[start] in _NEGATED_VERBS and before in word_set("happened"):
        return "no"
    if tokens[start] == "never" and list(tokens[stop : stop + 1]) == ["back"]:
        return "no"
    others = word_set("other_channels").intersection(tokens)
    if kind == "states":  # `opted out by sms` says how, `opted out of sms` of what
        pairs = pairwise(("", *tokens))
        others -= {token for way, token in pairs if way in word_set("ways_in")}
    if kind != "calls" and others and not word_set("calls").intersection(tokens):
        return "no"
    conditional = stop < len(tokens) and tokens[stop] in word_set("conditions")
    return "unclear" if conditional and kind != "states" else "yes"


def _before(tokens: Sequence[str], start: int) -> str:
    """The word before a phrase, over a `to`."""
    before = tokens[start - 1] if start else ""
    return tokens[start - 2] if before == "to" and start > 1 else before


def _is_no_state(tokens: Sequence[str], start: int) -> bool:
    """`Not on DNC`, `may opt out`, `removed from DNC`."""
    ended = {"removed", "taken"}.intersection(tokens[max(start - 2, 0) : start])
    offered = _before(tokens, start) in word_set("offers")
    return offered or bool(ended) or _is_negated(tokens, start)


def _is_negated(tokens: Sequence[str], start: int) -> bool:
    for token in reversed(tokens[:start]):
        if token in word_set("negators"):
            return True
        if token not in word_set("between"):
            return False
    return False


def _is_denied(tokens: Sequence[str], stop: int) -> bool:
    beside = ("list", "status", "flag", "is")
    behind = [word for word in tokens[stop:] if word not in beside and not word.isdecimal()]
    return bool(behind) and word_set("denials").issuperset(behind)

"""What a cell says about calling the person, whatever column it stands in.

A cell is taken apart at its punctuation; the rules of `grammar.toml` are held to the words of each
piece, and those of `unspaced.toml` to the whole where words have no blanks between them. There are
three answers: a refusal, a doubt (nobody is dialed before a person has read it), and nothing. What is
said in the same breath weakens a finding: `not` before a state and `no` behind it take it back,
`before 9am` makes a prohibition a doubt, and what concerns e-mail alone forbids no call.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence, Set
from functools import cache
from typing import Final, Literal, NamedTuple

from dialframe.opt_outs.words import (
    Kinds,
    Rule,
    classes_of,
    composed_answer,
    fulfilled,
    is_suspect,
    kinds_of,
    plain,
    said_unspaced,
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
_SHORTENED: Final = re.compile(r"(\b\w{1,4})\.(?=\s*[a-zà-ÿ])|\b([DHMS]rs?|Fr|Mme|Ms|Sra)\.")
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
#: `DNC: no` is one piece, so that the answer stays beside its question.
_DENIED: Final = re.compile(r"[:：](?=\s*\w{1,9}\s*(?:$|[,;|.]))")
#: Letters that stand for words: `d/n/c`, `R.I.P.`, `C+D`.
_SLASHED: Final = re.compile(r"\b[A-Za-z](?:[/.+][A-Za-z]\b){1,3}\.?")
#: `Don't forget to call` asks for a call.
_REMINDED: Final = re.compile(
    r"\b(?:do not|don['’]?t|never) forget\b(?! (?:me|about))", re.IGNORECASE
)
_APOSTROPHE: Final = re.compile(r"(?<=\w)['’`´](?=\w)")
#: `N0T`: a digit that stands for a letter it looks like.
_ZERO_AS_O: Final = re.compile(r"(?<=[A-Za-z])0(?=[A-Za-z])")
#: A day beside a word, as in `Baja 01/02/2024`; any other figure is a number of something.
_DAY: Final = re.compile(r"\d{1,4}[-/.]\d{1,2}[-/.]\d{1,4}")
_FIGURES: Final = re.compile(r"\d")
#: A day inside a sentence, which the pieces must not be parted at: `DNC scrub 6/1: clear`.
_DAY_OF: Final = re.compile(r"\b\d{1,2}/\d{1,2}(?:/\d{2,4})?\b")
_WORD: Final = re.compile(r"[^\W\d_]+")
#: Classes of rules that speak of contact, which may be that by another channel alone.
_OF_CONTACT: Final = frozenset(
    {"call", "called", "contact", "contacts", "reach", "state", "list", "remove", "delete"}
    | {"consent", "refuse", "work", "revoke"}
)


#: Classes of rules that speak of a list and of no call.
_OF_LISTS: Final = frozenset({"delete", "list", "remove"})
#: What may be a refusal, each in fewer columns than the one before it.
_DOUBTS: Final = frozenset({"doubt", "hint", "wish"})
#: Classes of rules that hold a negation themselves, so that one before them takes nothing back.
_NEGATED_INSIDE: Final = frozenset(
    {"not", "none", "dont", "ever", "list", "want", "longer", "know"}
)


class Finding(NamedTuple):
    """What a rule says of one piece of a cell, and how sure that is in its sentence."""

    says: str
    stance: Stance
    rule: Rule


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
        cell: Any text. One that is not `is_suspect`, and one of digits and punctuation alone,
            says nothing.
        scope: What of it counts (`scope_of`).

    Returns:
        A reason code, or None.

    Example:
        >>> read_remark("niet meer bellen"), read_remark("Do not call before 9am")
        ('opt_out', 'opt_out_unclear')
    """
    if not is_suspect(cell[:LONGEST_CHARS], of_notes=counts_doubts(scope)):
        return None
    pieces = [(tokens, kinds_of(tokens)) for tokens in _pieces(cell)]
    meanings = _meanings(cell, pieces, scope)
    wished = scope == "wishes" and meanings & _DOUBTS and "unclear" not in meanings
    if "refusal" in meanings or wished:
        return "opt_out"
    # `Di (deceased)`: of a name, its first or last word; `Mort` and `Tot` are names of people.
    beside_name = scope == "names" and any("dead" in kinds[0] | kinds[-1] for _, kinds in pieces)
    if "deceased" in meanings and (scope in _OF_PEOPLE or beside_name):
        return "deceased"
    if "wrong_number" in meanings and scope in _OF_PEOPLE:
        return "wrong_number"
    # `Landline is dead, call her mobile`: who goes on with an invitation has refused nothing.
    doubted = scope in _OF_PEOPLE and meanings & _DOUBTS and "invitation" not in meanings
    return "opt_out_unclear" if "unclear" in meanings or doubted else None


def _meanings(cell: str, pieces: Sequence[tuple[Sequence[str], Kinds]], scope: Scope) -> set[str]:
    """What the rules say of the cell, as far as it counts in the column."""
    meanings = said_unspaced(cell[:LONGEST_CHARS])
    if not counts_doubts(scope):
        meanings.discard("hint")
    for tokens, kinds in pieces:
        if _has("invite", kinds):
            meanings.add("invitation")
        if scope == "wishes" and composed_answer(" ".join(tokens)) == "refuses":
            meanings.add("refusal")
        for finding in _findings(kinds, scope):
            if finding.stance != "no" and _counts(finding, cell, kinds, scope):
                says = "refusal" if finding.says == "state" else finding.says
                meanings.add("unclear" if finding.stance == "unclear" else says)
    return meanings


def read_stance(cell: str) -> Stance | None:
    """Whether a text of an opt-out column says that the person refused, or that they did not.

    Args:
        cell: The text: `DNC` and `asked to be removed` are a yes, `not on DNC` and `DNC: no` a no.

    Returns:
        `yes`, `no`, `unclear` for a prohibition under a condition, None for any other text.
    """
    if "refusal" in said_unspaced(cell[:LONGEST_CHARS]):
        return "yes"
    whole = _stance(plain(cell.replace(":", " ")).split())
    if whole == "no":
        return "no"
    return _most_cautious({_stance(tokens) for tokens in _pieces(cell)})


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
    if any("calling" in classes_of(token) for token in tokens):
        return "any"
    if tokens & word_set("persons"):
        return "names"
    return "calls" if of_things else "any"


@cache
def _note_columns() -> frozenset[str]:
    return frozenset(map(plain, word_set("note_columns")))


def prohibits(tokens: Sequence[str]) -> Stance | None:
    """What the words of a header or of one piece of a cell say; see `read_stance`."""
    # Most headers say nothing of the kind.
    return _stance(tokens) if is_suspect(" ".join(tokens)) else None


def _stance(tokens: Sequence[str]) -> Stance | None:
    stances = {
        finding.stance
        for finding in _findings(kinds_of(tokens), "any")
        if finding.says in ("refusal", "state")
    }
    return _most_cautious(stances)


def _most_cautious(stances: Set[Stance | None]) -> Stance | None:
    wanted: tuple[Stance, ...] = ("yes", "unclear", "no")
    return next((stance for stance in wanted if stance in stances), None)


def _pieces(cell: str) -> Iterator[list[str]]:
    # Most cells have none of these marks, and a search for one costs a hundredth of a substitution.
    text = cell[:LONGEST_CHARS]
    marks = _MARKS.intersection(text)
    if not _IN_LINKS.isdisjoint(marks):
        text = _ABBREVIATED.sub("dnc", _LINKS.sub(" ", text))
    if "+" in marks:
        text = text.replace("ne +", "ne plus")  # `ne + appeler`
    if not marks.isdisjoint("/.+"):
        text = _SHORTENED.sub(r"\1\2 ", _SLASHED.sub(_joined, text))
    if "orget" in text:
        text = _REMINDED.sub(" ", text)
    text = _ZERO_AS_O.sub("o", _LEANED_ON.sub(r"\1\1", text))
    if "/" in marks:
        text = _DAY_OF.sub(" ", text)
    if marks:
        text = _APOSTROPHE.sub(" ", _CLAUSE.sub(" ", _DENIED.sub(" ", text)))
    for piece in _PIECES.split(text):
        tokens = plain(piece).split()
        # `Do not hesitate to call` is the opposite.
        if tokens and not any("urging" in classes_of(token) for token in tokens):
            yield tokens


def _joined(written: re.Match[str]) -> str:
    letters = [char for char in written.group() if char.isalpha()]
    return ("" if len(letters) > 2 else " ").join(letters)


def _findings(kinds: Kinds, scope: Scope) -> Iterator[Finding]:
    """What the rules say of a piece, as far as it counts in so many words."""
    matches = list(fulfilled(kinds))
    # `Not on the do not call registry` holds a prohibition inside of what it takes back.
    back = [
        (begin, end)
        for rule, begin, end in matches
        if rule.says == "state" and _is_taken_back(rule, kinds, begin)
    ]
    for rule, begin, end in matches:
        inside = any(first <= begin and end <= last for first, last in back)
        stance: Stance = "no" if inside else _weigh(rule, kinds, begin, end)
        # A street may be called `Stop`, and a person too.
        if scope == "names" and rule.says == "refusal" and (rule.way == "alone" or len(kinds) < 3):
            continue
        if scope == "calls" and (
            rule.says != "refusal"
            or rule.way != "row"
            or stance == "unclear"
            or rule.named <= _OF_LISTS  # the label `Blacklist Records`
            or _has("unlisted", kinds)
        ):
            continue
        yield Finding(rule.says, stance, rule)


def _counts(finding: Finding, cell: str, kinds: Kinds, scope: Scope) -> bool:
    """Whether a doubt, a death or another's number counts where it stands."""
    if finding.says == "wish" or (finding.says == "hint" and not counts_doubts(scope)):
        return finding.says == "wish" and scope == "wishes"
    # `Baja 01/02/2024` may be a refusal, `BAJA, 1` is the ground floor of a house.
    if "doubtful" in finding.rule.named and _FIGURES.search(_DAY.sub("", cell)):
        return False
    # Where nobody said that the column holds notes, `Robinson Club`, `Greg Mort` and `Tot` are names.
    # In names every word begins with a capital, and not all letters are capitals.
    if scope != "any" or cell.isupper():
        return True
    if not all(word[0].isupper() for word in _WORD.findall(cell)):
        return True
    of_death = finding.says == "deceased" and finding.rule.named & {"dead", "dead_last"}
    alone = finding.rule.way == "alone" and "dead_last" not in finding.rule.named
    return alone if of_death else not _has("unlisted", kinds)


def _weigh(rule: Rule, kinds: Kinds, begin: int, end: int) -> Stance:
    """What a finding says in its sentence."""
    behind = kinds[end + 1 :]
    if _is_taken_back(rule, kinds, begin) or _is_denied(rule, behind):
        return "no"
    if rule.named & _OF_CONTACT and not rule.named & {"written", "legal"}:
        # Where other channels are named and calls are not; `opted out by sms` says how.
        by_mail = any(
            "mail" in kind and not (rule.says == "state" and at and "way_in" in kinds[at - 1])
            for at, kind in enumerate(kinds)
        )
        if by_mail and not _has("calling", kinds):
            return "no"
    if rule.says == "refusal" and behind and "condition" in behind[0]:
        return "unclear"
    return "yes"


def _is_taken_back(rule: Rule, kinds: Kinds, begin: int) -> bool:
    """`Not on DNC`, `may opt out`, `removed from DNC`, `could not be contacted`, `they never call back`."""
    before = list(kinds[max(begin - 3, 0) : begin])
    if rule.says == "refusal":
        reported = "reported" in kinds[begin] and len(kinds) > begin + 2
        return _has("happened", before[-1:]) or (reported and "back" in kinds[begin + 2])
    if rule.says not in ("state", "hint", "doubt") or rule.named & _NEGATED_INSIDE:
        return False
    if rule.says == "state" and (_has("offer", before[-2:]) or _has("taken", before)):
        return True
    for kind in reversed(kinds[:begin]):
        if "not" in kind and "hit" not in kind:
            return True
        if kind.isdisjoint({"light", "between"}):
            return False
    return False


def _is_denied(rule: Rule, behind: Kinds) -> bool:
    """`DNC: no`, `DNC scrub 6/1 clear`; and `DNC Plumbing Ltd`, which is a firm."""
    if rule.says in ("refusal", "state") and _has("trade_name", behind[:3]):
        return True
    if rule.says in ("deceased", "wrong_number") or not behind:
        return False
    if rule.says == "refusal":
        return all("fine" in kind for kind in behind)
    answers = [kind for kind in behind if not kind & {"figure", "beside"} or "fine" in kind]
    weak = "not" if rule.says == "hint" else ""
    return bool(answers) and all("fine" in kind and weak not in kind for kind in answers)


def _has(name: str, kinds: Kinds) -> bool:
    return any(name in kind for kind in kinds)

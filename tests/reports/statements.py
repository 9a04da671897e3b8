"""Reads every number that a page, a sentence or a JSON answer states about one thing, and finds where two differ."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from html.parser import HTMLParser
from typing import Any, Final

N: Final = r"([\d,]+(?: to [\d,]+)?)"
STAGES: Final = {
    "loaded": ("loaded", "Loaded"), "accepted": ("accepted", "Accepted"), "attempted": ("attempted", "Attempted"),
    "connected": ("connected", "Connected"), "human": ("human", "Reached a person"),
    "right_party": ("right_party", "Right person"), "positive": ("positive", "Positive"),
    "appointment": ("appointment", "Appointment"),
}  # fmt: skip
#: How a table heads the columns of an audit's counts.
GRADES: Final = {
    "checked": "checked", "pass": "passed", "violation": "violation", "violations": "violation", "viol.": "violation",
    "uncertain": "uncertain", "unc.": "uncertain", "not evaluable": "not_evaluable", "not eval.": "not_evaluable",
    "lack an input": "not_evaluable", "not asked": "not_asked",
}  # fmt: skip


@dataclass(frozen=True)
class Statement:
    """One number: what it is of, how it is said, and where in the text it stands."""

    subject: str
    value: str
    where: str
    at: tuple[int, int] = (0, 0)


#: Subject to the ways of saying it; the first group is the number.
WAYS: Final[Mapping[str, tuple[str, ...]]] = {
    "calls with a violation": (
        rf"{N} of [\d,]+ calls have a violation", rf"{N} of [\d,]+\s+calls with a violation",
    ),
    "calls audited": (
        rf"[\d,]+ of {N} calls have a violation", rf"[\d,]+ of {N}\s+calls with a violation",
        rf"How many calls: {N} outbound calls?",
    ),
    "questions with an answer": (
        rf"{N} of [\d,]+ questions have an answer", rf"{N} of [\d,]+\s+questions with an answer",
    ),
    "questions": (
        rf"[\d,]+ of {N} questions have an answer", rf"[\d,]+ of {N}\s+questions with an answer",
    ),
    "numbers checked": (
        rf"{N} of [\d,]+ callable or called numbers were checked", rf"{N} of [\d,]+\s+numbers checked in the last",
    ),
    "numbers": (
        rf"[\d,]+ of {N} callable or called numbers were checked", rf"[\d,]+ of {N}\s+numbers checked in the last",
    ),
    "numbers to check": (rf"{N} numbers? to check next",),
    "check Calling hours and days, violation": (
        rf"calling hours {N} of [\d,]+ calls", rf"outside the permitted hours or days, {N} of [\d,]+ calls",
        rf"Calling hours and days {N}\b(?! of)", rf"permitted hours or days, {N} violations?:",
        rf"permitted hours or days \({N}\)",
    ),
    "records": (
        rf"{N} records: [\d,]+ clean", rf"add up to the {N} records of the file",
        rf"[\d,]+ of {N} records are clean", rf"[\d,]+ of {N}\s+rejected",
    ),
    "records clean": (
        rf"records: {N} clean", rf"{N} of [\d,]+ records are clean", rf"{N} of [\d,]+\s+clean\b",
        rf"^{N} clean", r"clean \(written[^)]*\) \| ([\d,]+)",
    ),
    "records rejected": (rf"{N} (?:of [\d,]+\s+)?rejected", rf"[Rr]ejected: {N}"),
    "records duplicates": (rf"{N} (?:of [\d,]+\s+)?duplicates", rf"[Dd]uplicates: {N}"),
    "records do_not_call": (
        rf"(?:duplicates, |^){N} not to be called", rf"{N} of [\d,]+\s+not to be called", rf"(?<!request )[Nn]ot to be called: {N}",
    ),
    "records skipped": (rf"{N} (?:of [\d,]+\s+)?skipped", rf"[Ss]kipped: {N}"),
    "records held": (rf"{N} records? (?:is|are) held for this list", rf"until you say: {N} records?"),
    "leads attempted": (
        rf"{N} (?:of [\d,]+ leads )?were attempted", rf"{N} of [\d,]+\s+Attempted", rf"Attempted {N} \(",
    ),
    "leads accepted": (rf"Of {N} leads accepted", rf"Accepted {N} \("),
    "leads human": (rf"{N} (?:of [\d,]+ leads )?reached a person", rf"{N} of [\d,]+\s+Reached a person"),
    "leads right_party": (rf"{N} (?:of [\d,]+ leads )?reached the right person", rf"{N} of [\d,]+\s+Right person"),
    "leads appointment": (
        rf"{N} (?:of [\d,]+ leads )?made an appointment", rf"{N} of [\d,]+\s+Appointment",
    ),
}  # fmt: skip

#: Where a headline's key is not the subject.
KEYS: Final = {
    "calls_with_a_violation": ("calls with a violation", "calls audited"),
    "questions_with_an_answer": ("questions with an answer", "questions"),
    "numbers_checked_recently": ("numbers checked", "numbers"),
}


class _Text(HTMLParser):
    """A page as lines: cells parted by bars, and the words of pictures, which few see, among them."""

    _BLOCKS: Final = frozenset(
        [
            "p",
            "li",
            "tr",
            "h1",
            "h2",
            "h3",
            "summary",
            "dt",
            "dd",
            "div",
            "caption",
            "figcaption",
            "title",
        ]
    )

    def __init__(self) -> None:
        super().__init__()
        self.parts: list[str] = []
        self._unseen = 0

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        if tag in ("style", "script"):
            self._unseen += 1
        elif tag == "img":
            self.parts.append(f"\n{dict(attrs).get('alt')}\n")
        elif tag in ("td", "th"):
            self.parts.append(" | ")
        elif tag in self._BLOCKS:
            self.parts.append("\n")

    def handle_endtag(self, tag: str) -> None:
        if tag in ("style", "script"):
            self._unseen -= 1

    def handle_data(self, data: str) -> None:
        if not self._unseen:
            self.parts.append(re.sub(r"\s+", " ", data))


def text_of(html: str) -> str:
    """The words of a page as somebody reads them."""
    parser = _Text()
    parser.feed(html)
    return re.sub(r"\n\s*\n+", "\n", "".join(parser.parts))


def of_text(text: str, where: str) -> Iterator[Statement]:
    """The statements of a text: its sentences, then the rows of its tables."""
    for subject, ways in WAYS.items():
        for way in ways:
            for match in re.finditer(way, text, re.MULTILINE):
                yield Statement(subject, match[1], where, match.span(1))
    for match in re.finditer(r"[Gg]ive ([^:\n]*?)(?:: |, and )([\d,]+) calls? ", text):
        yield Statement(f"worth of {match[1]}", match[2], where, match.span(2))
    yield from _of_counts(text, where)
    yield from _of_stages(text, where)


def _cells(line: str) -> list[tuple[str, int]]:
    """The cells of a row with their places; on a terminal two blanks part them."""
    parting = r"\s*[|│┃]\s*" if re.search("[|│┃]", line) else r"\s{2,}"
    cells, begin = [], 0
    for match in [*re.finditer(parting, line), None]:
        end = len(line) if match is None else match.start()
        if line[begin:end].strip():
            cells.append(
                (line[begin:end].strip(), begin + line[begin:end].index(line[begin:end].strip()))
            )
        begin = end if match is None else match.end()
    return cells


def _of_counts(text: str, where: str) -> Iterator[Statement]:
    """Tables of an audit's checks, by their headings."""
    heads: list[str] = []
    begin = 0
    for line in text.split("\n"):
        cells = _cells(line)
        words = [cell.lower() for cell, _ in cells]
        if words[:1] == ["check"] and "checked" in words:
            heads = words
        elif heads and len(cells) == len(heads):
            for head, (cell, place) in zip(heads, cells, strict=True):
                if head in GRADES and re.fullmatch(r"[\d,]+", cell):
                    at = begin + place
                    yield Statement(
                        f"check {cells[0][0]}, {GRADES[head]}", cell, where, (at, at + len(cell))
                    )
        elif cells:
            heads = []
        begin += len(line) + 1


def _of_stages(text: str, where: str) -> Iterator[Statement]:
    """Tables of a funnel, whole: stage, then leads."""
    names = {label: stage for stage, labels in STAGES.items() for label in labels}
    inside, begin = False, 0
    for line in text.split("\n"):
        cells = _cells(line)
        if cells and cells[0][0].lower() == "stage":
            inside = len(cells) > 1 and cells[1][0].lower() in ("leads", "count")
        elif inside and cells and cells[0][0] in names and len(cells) > 1:
            cell, place = cells[1]
            at = begin + place
            yield Statement(f"known leads {names[cells[0][0]]}", cell, where, (at, at + len(cell)))
        begin += len(line) + 1


def of_facts(
    facts: Mapping[str, Any], where: str, titles: Mapping[str, str]
) -> Iterator[Statement]:
    """The statements of an answer for machines.

    Args:
        facts: The object.
        where: Which face gave it.
        titles: Name of a check to the words of its row in a table.
    """
    for subject, value in _said(facts, titles):
        yield Statement(subject, f"{value:,}" if isinstance(value, int) else str(value), where)
    sentences = [each["sentence"] for each in facts.get("headlines", ())]
    for sentence in (*sentences, *filter(None, [facts.get("verdict")])):
        yield from of_text(sentence, f"{where}, in words")


def _said(facts: Mapping[str, Any], titles: Mapping[str, str]) -> Iterator[tuple[str, Any]]:
    """Subject and number of each key that states one."""
    for each in facts.get("headlines", ()):
        subject, *whole = KEYS.get(each["key"], (each["key"].replace("_", " ", 1),))
        yield subject, _shown(each)
        yield from ((name, each["of"]) for name in whole)
        if subject.startswith("leads "):
            yield f"known {subject}", int(each["value"])
    for check in facts.get("checks", ()):
        if isinstance(check, Mapping) and "not_evaluable" in check:
            for grade in sorted(set(GRADES.values())):
                yield f"check {titles[check['check']]}, {grade}", check[grade]
    for each in facts.get("worth", ()):
        yield f"worth of {each['input']}", each["calls"]
    for row in (*facts.get("stages", ()), *facts.get("table", ())):
        if "stage" in row:
            yield f"known leads {row['stage']}", row["count"]
    if (due := facts.get("to_check")) is not None:
        yield "numbers to check", due["numbers"] if isinstance(due, Mapping) else due
    yield from _sums(facts)


def _sums(facts: Mapping[str, Any]) -> Iterator[tuple[str, Any]]:
    """What parts add up to, and counts that stand by themselves."""
    if "groups" in facts:
        yield "numbers checked", sum(each["fresh"] for each in facts["groups"])
        yield "numbers", sum(each["numbers"] for each in facts["groups"])
    if "skipped" in facts:
        names = ("clean", "rejected", "duplicates", "do_not_call", "skipped", "held")
        yield from ((f"records {name}", facts[name]) for name in names)
        yield "records", facts["records"]
    if "calls" in facts and "checks" in facts:
        yield "calls audited", facts["calls"]


def _shown(each: Mapping[str, Any]) -> str:
    value = f"{each['value']:,.0f}"
    return value if each["at_most"] is None else f"{value} to {each['at_most']:,.0f}"


def contradictions(statements: Iterator[Statement] | list[Statement]) -> list[str]:
    """Each subject of which two statements differ, with who says what."""
    said: dict[str, dict[str, list[str]]] = {}
    for each in statements:
        said.setdefault(each.subject, {}).setdefault(each.value, []).append(each.where)
    return [
        f"{subject}: " + " against ".join(f"{value} ({', '.join(sorted(set(where))[:4])})" for value, where in values.items())
        for subject, values in said.items()
        if len(values) > 1
    ]  # fmt: skip


def loads(text: str) -> dict[str, Any]:
    """The object of an answer for machines."""
    return dict(json.loads(text))

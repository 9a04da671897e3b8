"""A page is one file that says everything and fetches nothing."""

from __future__ import annotations

import dataclasses
from html.parser import HTMLParser
from pathlib import Path

import pandas as pd

from compliance import hand
from dialframe.compliance import overrides, rulebook
from dialframe.flows import pack
from dialframe.reports import Figure, Page, Section, Sheet, audit_page, render, result_sections
from dialframe.reports.html_page import words

PNG = bytes.fromhex("89504e470d0a1a0a")


_GRADES = ("violation", "uncertain", "not evaluable", "not asked")


class _Outline(HTMLParser):
    """Collects tags, attributes and text of a page."""

    def __init__(self) -> None:
        super().__init__()
        self.tags: list[tuple[str, dict[str, str | None]]] = []
        self.text = ""

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.tags.append((tag, dict(attrs)))

    def handle_data(self, data: str) -> None:
        self.text += data

    def all(self, tag: str) -> list[dict[str, str | None]]:
        return [attributes for name, attributes in self.tags if name == tag]


def _page(frame: pd.DataFrame) -> Page:
    return Page(
        title="Lists & <calls>",
        summary=("2 calls checked.",),
        sections=(
            Section(
                title="Hours",
                finding="1 call before 08:00.",
                figures=(Figure(PNG, alt='bars: 1 "early"', caption="by hour"),),
                sheets=(Sheet("Calls", frame, {"calls": "Calls"}),),
                notes=("Facts, not legal advice.",),
            ),
        ),
        facts={"Rule book": "2026-11-21"},
    )


def _read(page: Page) -> _Outline:
    outline = _Outline()
    outline.feed(render(page))
    return outline


def test_page_fetches_nothing() -> None:
    """No script, no link to a style, and every address is inside the file."""
    outline = _read(_page(pd.DataFrame({"calls": [1]})))

    assert not outline.all("script")
    assert not outline.all("link")
    assert [str(image["src"])[:22] for image in outline.all("img")] == ["data:image/png;base64,"]
    assert all(str(anchor["href"]).startswith("#") for anchor in outline.all("a"))


def test_every_picture_has_words() -> None:
    """Each picture carries its alternative text."""
    outline = _read(_page(pd.DataFrame({"calls": [1]})))

    assert [image["alt"] for image in outline.all("img")] == ['bars: 1 "early"']


def test_text_is_escaped() -> None:
    """What stands in data and titles is shown as text, never taken for markup."""
    page = _page(pd.DataFrame({"name": ["<img src=x onerror=alert(1)>"]}))
    outline = _read(page)

    assert len(outline.all("img")) == 1
    assert "<img src=x onerror=alert(1)>" in outline.text
    assert "Lists & <calls>" in outline.text


def test_long_table_says_how_much_is_shown() -> None:
    """A table that is cut says how many rows there are."""
    outline = _read(_page(pd.DataFrame({"calls": range(1234)})))

    assert "first 50 of 1,234 rows" in outline.text
    assert len(outline.all("tr")) == 51


def test_missing_values_are_blank() -> None:
    """Nulls of every kind are shown as nothing, never as NaN or NaT."""
    frame = pd.DataFrame(
        {
            "a": pd.Series([None], dtype="str"),
            "b": pd.Series([None], dtype="Int64"),
            "c": pd.Series([None], dtype="datetime64[us, UTC]"),
            "d": pd.Series([float("nan")]),
            "e": pd.Series([None], dtype="boolean"),
        }
    )

    assert Sheet("nulls", frame).cells == [["", "", "", "", ""]]


def test_values_read_well() -> None:
    """Counts have separators, instants end at the second, flags are words."""
    frame = pd.DataFrame(
        {
            "n": [12345],
            "rate": [0.12345],
            "at": pd.to_datetime(["2026-09-14T15:04:05.123456Z"]),
            "listed": [True],
        }
    )

    assert Sheet("values", frame).cells == [["12,345", "0.1235", "2026-09-14 15:04:05", "yes"]]


def test_a_table_of_an_analysis_has_shares_and_words() -> None:
    """Each stage by its label, each share as per cent, each heading without a code."""
    row = {"stage": "right_party", "count": 30, "of_previous": 0.941, "low": 0.85, "high": 1.0, "of_loaded": 0.333}  # fmt: skip
    shown = result_sections.sheet("The numbers", pd.DataFrame([row]))
    assert shown.cells == [["Right person", "30", "94.1%", "85.0%", "100.0%", "33.3%"]]
    assert [heading for heading, _ in shown.columns][:3] == [
        "Stage", "Leads", "Share of stage before",
    ]  # fmt: skip
    assert [words(name) for name in ("created_at_utc", "call_id", "utc_offset")] == [
        "Created at UTC", "Call ID", "UTC offset",
    ]  # fmt: skip


def test_empty_table_keeps_its_headings() -> None:
    """A table without rows still says which columns it would have."""
    outline = _read(_page(pd.DataFrame({"calls": pd.Series(dtype="Int64")})))

    assert "0 rows" in outline.text
    assert outline.all("th") == [{"scope": "col", "class": "number"}]


def test_a_row_of_an_audit_says_which_call_by_which_law_and_at_what_cost() -> None:
    """Call, campaign by name, zones and their source, citation, exposure; the number masked."""
    night = hand.utc("2026-07-07T02:30")
    audit = hand.audit(
        hand.leads(), hand.calls(hand.call(at=night, id="call_7")), hand.checks(),
        now=night, rules=["us-tcpa-hours"],
    ).joined({"campaigns": pd.DataFrame({"id": ["cmp_1"], "name": ["Autumn"]})})  # fmt: skip
    section = next(each for each in audit_page.page(audit).sections if each.title == "Violations")
    (card,) = section.cards
    facts = dict(card.facts)
    assert card.call_id == "call_7"
    assert facts["Campaign"] == "Autumn"
    assert facts["Number"] == "+121******42"
    assert facts["Local time"] == "Mon, Jul 6, 2026 22:30 in New York"
    assert facts["Proof"] == "area code"
    assert facts["Law"] == "47 CFR 64.1200(c)(1)"
    assert "47 U.S.C. 227(c)(5)" in facts["Exposure"]


def test_a_rule_that_the_firm_loosened_stands_on_the_first_page_of_an_audit() -> None:
    """With who did so and why."""
    change = (
        '[[change]]\nid = "us-fl-cap"\nby = "An officer"\nwhy = "counsel"\non = 2026-11-01\n'
        "loosens = true\nparameters = { max_attempts = 4 }\n"
    )
    audit = hand.audit(
        hand.leads(), hand.calls(), hand.checks(), now=hand.utc("2026-11-02"),
        book=overrides.apply(rulebook.load(), change), rules=["us-fl"],
    )  # fmt: skip
    words = "Rule us-fl-cap loosened on 2026-11-01 by An officer: counsel"
    assert words in audit_page.page(audit).summary


def test_a_table_that_was_never_read_is_said_without_denying_what_was_audited() -> None:
    """Only an audit of no call says that nothing was audited."""
    noon = hand.utc("2026-07-07T16:00")
    for calls, opening in ((hand.calls(hand.call(at=noon)), "This audit says less than it seems to"),
                           (hand.calls(), "Nothing was audited")):  # fmt: skip
        audit = hand.audit(hand.leads(), calls, hand.checks(), now=noon, rules=["us-tcpa-hours"])
        audit = dataclasses.replace(audit, gaps=("the table callbacks was never read",))
        summary = audit_page.page(audit).summary
        assert f"{opening}: the table callbacks was never read." in summary


def test_rules_of_other_countries_do_not_swell_what_calls_were_held_against() -> None:
    """The whole book is asked of one call to New York: the rules that reach it are counted apart."""
    noon = hand.utc("2026-07-07T16:00")
    audit = hand.audit(hand.leads(), hand.calls(hand.call(at=noon)), hand.checks(), now=noon)
    reached = {rule for ids in audit.checks["rule_id"] for rule in ids.split("; ") if rule}
    assert {rule for rule in reached if rule.startswith("br-")} == set()
    words = f"held against {len(reached)} rules that reach any of it, of {len(rulebook.load().rules)} asked."
    assert audit_page.answers(audit)[0].endswith(words)


def test_the_findings_of_a_pack_are_sorted_by_grade_in_the_table_and_in_the_workbook(
    tmp_path: Path,
) -> None:
    """Violations first, wherever their check stands; with a key no number is in either."""
    days = [
        hand.utc(f"2026-07-{day:02}T{hour}")
        for day, hour in ((7, "16:00"), (8, "02:30"), (9, "16:00"))
    ]
    audit = hand.audit(
        hand.leads(), hand.calls(*(hand.call(at=at, id=f"call_{n}") for n, at in enumerate(days))), hand.checks(),
        now=hand.utc("2026-07-10"), rules=["us"],
    )  # fmt: skip
    for key in (None, b"k" * 32):
        files = pack.write(audit, tmp_path / f"pack{key is None}", summary={}, pseudonyms=key)
        table = pd.read_csv(files["findings"], dtype="str")
        book = pd.read_excel(
            files["findings_xlsx"], sheet_name="findings", dtype="str", engine="calamine"
        )
        assert (
            list(book["grade"])
            == list(table["grade"])
            == sorted(table["grade"], key=_GRADES.index)
        )
        assert {"violation", "uncertain"} <= set(table["grade"]) or len(set(table["grade"])) > 1
        assert list(book["call_id"].dropna()) == list(table["call_id"].dropna())
        whole = table["phone"].dropna().str.startswith("+1") & book[
            "phone"
        ].dropna().str.startswith("+1")
        assert whole.all() if key is None else not whole.any()

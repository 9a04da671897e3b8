"""`dialframe rules`: the book listed, one rule whole, and what a firm's file changes."""

from __future__ import annotations

from pathlib import Path

import pytest

from cli.commands import invoke

OWN = '[[change]]\nid = "us-fl-cap"\nby = "An officer"\nwhy = "stricter"\non = 2026-11-01\nparameters = { max_attempts = 2 }\n'


def test_every_rule_is_listed() -> None:
    """All of them with version and hash; jurisdictions and kinds narrow the list."""
    told = invoke("rules list --json").facts
    assert len(told["rules"]) == told["count"] > 200
    assert len(told["sha256"]) == 64
    ids = [
        rule["id"]
        for rule in invoke("rules list --rules us-fl,gb --kind attempt_cap --json").facts["rules"]
    ]
    assert ids == ["us-fl-cap", "gb-abandoned-72h", "gb-amd-24h"]


def test_one_rule_is_shown_with_its_citation() -> None:
    """In words, and that it is no legal advice; an unknown id ends with status 2."""
    said = invoke("rules show us-fl-hours").out
    assert "Fla. Stat. 501.616(6)(a)" in said
    assert "not legal advice" in said
    invoke("rules show us-fl-houers", ends=2, err="there is no rule 'us-fl-houers'")


def test_a_firms_changes_are_told(tmp_path: Path) -> None:
    """Field by field, with who decided and why in the rule itself."""
    own = tmp_path / "own.toml"
    own.write_text(OWN)
    (change,) = invoke("rules diff --json --own", own).facts["changes"]
    assert (change["field"], change["before"], change["after"]) == (
        "parameters.max_attempts",
        "3",
        "2",
    )
    assert (
        invoke("rules show us-fl-cap --json --own", own).facts["rule"]["own"]["by"] == "An officer"
    )
    own.write_text(OWN.replace("max_attempts", "max_atempts"))
    invoke("rules list --own", own, ends=2, err="line 2")


def test_the_history_of_a_place_shows_what_held_before() -> None:
    """Connecticut's hours ended at 21:00 up to 2023-09-30; one rule brings those before it."""
    rows = invoke("rules history us-ct-hours --json").facts["history"]
    assert [(row["rule_id"], row["from"], row["to"]) for row in rows] == [
        ("us-ct-hours-pre2023", "always", "2023-09-30"),
        ("us-ct-hours", "2023-10-01", ""),
    ]
    invoke("rules history us-xx", ends=2)


def test_the_law_of_two_days_is_compared() -> None:
    """Pennsylvania between July and November 2026: one rule ends, the next begins."""
    rows = invoke("rules diff 2026-07-01 2026-11-01 --json").facts["changes"]
    changes = {row["rule_id"]: row["change"] for row in rows}
    assert changes["us-pa-hours-pre2026"] == "ends"
    assert changes["us-pa-hours"] == "begins"
    invoke("rules diff 2026-07-01 someday", ends=2)


def test_the_book_is_exported_with_its_quotations(tmp_path: Path) -> None:
    """One row per rule, read back as CSV."""
    import pandas as pd

    file = tmp_path / "rules.csv"
    invoke("rules export --to", file)
    table = pd.read_csv(file, dtype="str").set_index("rule_id")
    assert len(table) > 200
    row = table.loc["us-fl-hours"]
    assert "before 8 a.m. or after 8 p.m." in row["quotation"]
    assert row["text_from"].startswith("Fla. Stat. 501.616(6)")
    assert row["read_on"] == "2026-11-22"


def test_a_rule_is_written_checked_and_tested(tmp_path: Path) -> None:
    """The skeleton lacks what only a lawyer knows; filled in it is whole, and its examples run."""
    file = tmp_path / "ours.toml"
    new = ["rules", "new", "--in", "us-tx", "--kind", "calling_hours", "--to", str(file)]
    invoke(*new)
    invoke(*new, ends=2)
    invoke("rules check", file, ends=3, out=f"{file}, line 3: add.0.by: is empty; fill it in")
    text = file.read_text()
    for name in ("by", "why", "title", "citation", "quotation", "text_from", "since_reason"):
        text = text.replace(f'{name} = ""', f'{name} = "as the house decided"')
    text = text.replace('confidence_reason = ""', 'confidence_reason = "the text was read"')
    file.write_text(text)
    out = invoke("rules check", file, ends=3).out
    assert "add.0.rule.source: is empty; fill it in" in out
    file.write_text(text.replace('source = ""', 'source = "https://house.example/manual"'))
    invoke("rules check", file)
    assert invoke("rules test --json", file).facts["examples"] == 2
    wrong = file.read_text().replace('T23:00:00, grade = "violation"', 'T23:00:00, grade = "pass"')
    file.write_text(wrong)
    invoke("rules test", file, ends=3, out="pass in the file, violation in the audit")


#: A slip in the file of `own_rule`, and what is said of it, with its line.
SLIPS = [
    ('"US-VT"', '"VT"', "line 6: there is no country 'VT'; for the state write US-VT"),
    ('["telemarketing_sales"]', '["sales"]', "line 13: add.0.rule.applies_to.0: 'sales' is none of"),
    (
        '["telemarketing_sales"]\ndialing = "any"', '["prerecorded"]\ndialing = "predictive"',
        "line 6: the rule reaches no call: it applies to prerecorded and its dialing is 'predictive'",
    ),
    ("2026-07-08T23", "2019-07-08T23", "lies outside the days of the rule"),
    ("end = 20:00:00", "end = 08:00:00", "a window ends after it starts"),
    ('title = "ours"', 'titel = "ours"', "titel: is no field of it"),
    ('title = "ours"', "title = ", "line 7: not valid TOML"),
]  # fmt: skip


def own_rule(file: Path) -> str:
    """A rule of the firm's own with nothing wrong."""
    text = """[[add]]
by = "A. Officer"
why = "counsel"
on = 2026-01-01
[add.rule]
id = "own-vt-hours"
title = "ours"
jurisdiction = "US-VT"
kind = "calling_hours"
status = "in_force"
effective_from = 2020-01-01
applies_text = "sales calls"
applies_to = ["telemarketing_sales"]
dialing = "any"
line_types = ["residential", "wireless"]
citation = "manual 1"
source = "https://house.example/manual"
quotation = "nobody is called at night"
text_from = "https://house.example/manual"
read_on = 2026-01-01
confidence = "medium"
confidence_reason = "the manual was read"
exemptions = []
inputs = ["created_at", "to_number"]
examples = [
  { at = 2026-07-08T12:00:00, grade = "pass", why = "noon" },
  { at = 2026-07-08T23:00:00, grade = "violation", why = "night" },
]
[add.rule.parameters]
timezone_basis = "called_party"
event = "call_start"
closed_days = ["sun"]
windows = [{ days = ["mon", "tue", "wed", "thu", "fri", "sat"], start = 09:00:00, end = 20:00:00 }]
"""
    file.write_text(text)
    return text


@pytest.mark.parametrize(("right", "slip", "said"), SLIPS, ids=[said for _, _, said in SLIPS])
def test_a_slip_in_a_file_of_rules_is_said_in_words(
    tmp_path: Path, right: str, slip: str, said: str
) -> None:
    """One sentence with the line, and status 3; the whole file has nothing wrong."""
    file = tmp_path / "ours.toml"
    text = own_rule(file)
    invoke("rules check", file)
    assert right in text
    file.write_text(text.replace(right, slip))
    invoke("rules check", file, ends=3, out=said)


def test_a_day_ends_at_24_o_clock(tmp_path: Path) -> None:
    """The last minute is inside, and the words say 24:00; so does the rule when it is shown."""
    file = tmp_path / "ours.toml"
    text = own_rule(file).replace("end = 20:00:00", 'end = "24:00"')
    text = text.replace('T23:00:00, grade = "violation"', 'T23:59:00, grade = "pass"')
    text = text.replace(
        '"night" }',
        '"night" },\n  { at = 2026-07-08T00:00:00, grade = "violation", why = "early" }',
    )
    file.write_text(text)
    invoke("rules check", file)
    invoke("rules test", file)
    invoke("rules show own-vt-hours --own", file, out='"end": "24:00"')


def test_what_is_no_text_no_day_and_no_place_is_refused(tmp_path: Path) -> None:
    """In words with what to write instead, status 2 or 3 and no fault of the program."""
    file = tmp_path / "ours.toml"
    file.write_bytes(b"\xff\xfe")
    invoke("rules check", file, ends=3, out="line 1: no UTF-8 text")
    invoke("rules test", file, ends=2)
    invoke("rules new --in VT", ends=2, err="for the state write US-VT")
    invoke("rules diff 2025-13-01", ends=2, err="is neither a day nor a file")


def test_an_exported_book_runs_in_no_spreadsheet(tmp_path: Path) -> None:
    """A quotation that begins like a formula has an apostrophe before it."""
    file, table = tmp_path / "ours.toml", tmp_path / "rules.csv"
    file.write_text(own_rule(file).replace('"nobody is called at night"', '"=1+1 nobody"'))
    command = [
        "rules",
        "export",
        "--own",
        str(file),
        "--rules",
        "own-vt-hours",
        "--to",
        str(table),
    ]
    invoke(*command)
    assert "'=1+1 nobody" in table.read_text(encoding="utf-8")


def test_a_file_without_a_rule_is_no_file_of_rules(tmp_path: Path) -> None:
    """An empty file, or one with a comment alone, would look checked."""
    file = tmp_path / "ours.toml"
    for text in ("", "# rules of ours\n"):
        file.write_text(text, "utf-8")
        invoke("rules check", file, ends=3, out="line 1: there is no rule in it")


def test_a_jurisdiction_lists_its_rules_and_a_feed_its_changes() -> None:
    """`rules show us-fl` is no error; `rules changes` names what begins and ends, the future included."""
    listed = invoke("rules show us-fl --json").facts["rules"]
    assert {"us-fl-hours", "us-fl-internal-dnc"} <= {row["id"] for row in listed}
    feed = invoke("rules changes --since 2026-08-01 --json").facts["changes"]
    assert [row["day"] for row in feed] == sorted(row["day"] for row in feed)
    said = {(row["day"], row["change"], row["rule_id"]) for row in feed}
    # What ends does so on the day on which what follows begins.
    assert ("2026-10-18", "begins", "us-pa-hours") in said
    assert ("2026-10-18", "ends", "us-pa-hours-pre2026") in said
    assert invoke("rules changes --since 2090-01-01").out.startswith("no rule of the book begins")
    assert "is not a day" in invoke("rules changes --since soon", ends=2).err

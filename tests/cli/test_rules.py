"""`dialframe rules`: the book listed, one rule whole, and what a firm's file changes."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from dialframe.cli.run import run

OWN = '[[change]]\nid = "us-fl-cap"\nby = "An officer"\nwhy = "stricter"\non = 2026-11-01\nparameters = { max_attempts = 2 }\n'


def test_every_rule_is_listed(capsys: pytest.CaptureFixture[str]) -> None:
    """All of them with version and hash; jurisdictions and kinds narrow the list."""
    assert run(["rules", "list", "--json"]) == 0
    told = json.loads(capsys.readouterr().out)
    assert len(told["rules"]) == told["count"] > 200
    assert len(told["sha256"]) == 64
    assert run(["rules", "list", "--rules", "us-fl,gb", "--kind", "attempt_cap", "--json"]) == 0
    ids = [rule["id"] for rule in json.loads(capsys.readouterr().out)["rules"]]
    assert ids == ["us-fl-cap", "gb-abandoned-72h", "gb-amd-24h"]


def test_one_rule_is_shown_with_its_citation(capsys: pytest.CaptureFixture[str]) -> None:
    """In words, and that it is no legal advice; an unknown id ends with status 2."""
    assert run(["rules", "show", "us-fl-hours"]) == 0
    said = capsys.readouterr().out
    assert "Fla. Stat. 501.616(6)(a)" in said
    assert "not legal advice" in said
    assert run(["rules", "show", "us-fl-houers"]) == 2
    assert "there is no rule 'us-fl-houers'" in capsys.readouterr().err


def test_a_firms_changes_are_told(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """Field by field, with who decided and why in the rule itself."""
    own = tmp_path / "own.toml"
    own.write_text(OWN)
    assert run(["rules", "diff", "--own", str(own), "--json"]) == 0
    (change,) = json.loads(capsys.readouterr().out)["changes"]
    assert (change["field"], change["before"], change["after"]) == (
        "parameters.max_attempts",
        "3",
        "2",
    )
    assert run(["rules", "show", "us-fl-cap", "--own", str(own), "--json"]) == 0
    assert json.loads(capsys.readouterr().out)["rule"]["own"]["by"] == "An officer"
    own.write_text(OWN.replace("max_attempts", "max_atempts"))
    assert run(["rules", "list", "--own", str(own)]) == 2
    assert "line 2" in capsys.readouterr().err


def test_the_history_of_a_place_shows_what_held_before(capsys: pytest.CaptureFixture[str]) -> None:
    """Connecticut's hours ended at 21:00 up to 2023-09-30; one rule brings those before it."""
    assert run(["rules", "history", "us-ct-hours", "--json"]) == 0
    rows = json.loads(capsys.readouterr().out)["history"]
    assert [(row["rule_id"], row["from"], row["to"]) for row in rows] == [
        ("us-ct-hours-pre2023", "always", "2023-09-30"),
        ("us-ct-hours", "2023-10-01", ""),
    ]
    assert run(["rules", "history", "us-xx"]) == 2


def test_the_law_of_two_days_is_compared(capsys: pytest.CaptureFixture[str]) -> None:
    """Pennsylvania between July and November 2026: one rule ends, the next begins."""
    assert run(["rules", "diff", "2026-07-01", "2026-11-01", "--json"]) == 0
    rows = json.loads(capsys.readouterr().out)["changes"]
    changes = {row["rule_id"]: row["change"] for row in rows}
    assert changes["us-pa-hours-pre2026"] == "ends"
    assert changes["us-pa-hours"] == "begins"
    assert run(["rules", "diff", "2026-07-01", "someday"]) == 2


def test_the_book_is_exported_with_its_quotations(tmp_path: Path) -> None:
    """One row per rule, read back as CSV."""
    import pandas as pd

    file = tmp_path / "rules.csv"
    assert run(["rules", "export", "--to", str(file)]) == 0
    table = pd.read_csv(file, dtype="str").set_index("rule_id")
    assert len(table) > 200
    row = table.loc["us-fl-hours"]
    assert "before 8 a.m. or after 8 p.m." in row["quotation"]
    assert row["quoted_from"].startswith("Fla. Stat. 501.616(6)")
    assert row["read_on"] == "2026-11-22"


def test_a_rule_is_written_checked_and_tested(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """The skeleton lacks what only a lawyer knows; filled in it is whole, and its examples run."""
    file = tmp_path / "ours.toml"
    new = ["rules", "new", "--in", "us-tx", "--kind", "calling_hours", "--to", str(file)]
    assert run(new) == 0
    assert run(new) == 2  # it is there already
    capsys.readouterr()
    assert run(["rules", "check", str(file)]) == 3
    assert f"{file}, line 3: add.0.by: String should have at least 1" in capsys.readouterr().out
    text = file.read_text()
    for name in ("by", "why", "title", "citation", "quotation", "quoted_from", "since_reason"):
        text = text.replace(f'{name} = ""', f'{name} = "as the house decided"')
    text = text.replace('confidence_reason = ""', 'confidence_reason = "the text was read"')
    file.write_text(text)
    assert run(["rules", "check", str(file)]) == 3
    out = capsys.readouterr().out
    assert 'a source with an address, or confidence = "low" is missing' in out
    file.write_text(text.replace('sources = [""]', 'sources = ["https://house.example/manual"]'))
    assert run(["rules", "check", str(file)]) == 0
    capsys.readouterr()
    assert run(["rules", "test", str(file), "--json"]) == 0
    assert json.loads(capsys.readouterr().out)["examples"] == 2
    wrong = file.read_text().replace('T23:00:00, grade = "violation"', 'T23:00:00, grade = "pass"')
    file.write_text(wrong)
    assert run(["rules", "test", str(file)]) == 3
    assert "pass in the file, violation in the audit" in capsys.readouterr().out

"""`dialframe rules`: the book listed, one rule whole, and what a firm's file changes."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from dialframe.cli.run import run

OWN = '[[change]]\nid = "us-fl-cap"\nby = "An officer"\nwhy = "stricter"\non = 2026-11-01\nparameters = { max_attempts = 2 }\n'


def test_every_rule_is_listed(capsys: pytest.CaptureFixture[str]) -> None:
    """134 of them with version and hash; jurisdictions and kinds narrow the list."""
    assert run(["rules", "list", "--json"]) == 0
    told = json.loads(capsys.readouterr().out)
    assert len(told["rules"]) == told["count"] == 134
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

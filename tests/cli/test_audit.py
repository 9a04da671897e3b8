"""`dialframe audit` end to end: status, findings on the screen, a pack that shows every changed byte."""

from __future__ import annotations

import json
import random
import shutil
import subprocess
import sys
from collections.abc import Iterator
from datetime import UTC, date, datetime
from pathlib import Path

import pandas as pd
import pytest

from dialframe import connect, sandbox
from dialframe.cli.run import run
from dialframe.flows import pack as packs
from dialframe.privacy import PHONE

SECRET = b"a key of pseudonyms, long enough\n"


@pytest.fixture(scope="module")
def store(tmp_path_factory: pytest.TempPathFactory) -> Iterator[list[str]]:
    """Options that name a store of the tiny account, read once; the service is gone."""
    folder = tmp_path_factory.mktemp("store")
    with sandbox.start(seed=7, size="tiny", as_of=date(2026, 11, 21)) as service:
        with connect(service.base_url, service.api_key, folder, environment={}) as account:
            account.sync()
            read_at = datetime.now(UTC)
        with pytest.MonkeyPatch.context() as patch:
            patch.setenv("DIALFRAME_API_KEY", service.api_key)
            patch.setenv("DIALFRAME_BASE_URL", service.base_url)
            yield ["--store", str(folder), "--as-of", read_at.isoformat()]


@pytest.fixture(scope="module")
def pack(store: list[str], tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A signed pack of the federal rules."""
    room = tmp_path_factory.mktemp("packs")
    assert run(["audit", "keygen", "-o", str(room / "key")]) == 0
    status = run(
        [
            "audit",
            *store,
            "--rules",
            "us",
            "-o",
            str(room / "pack"),
            "--zip",
            "--key",
            str(room / "key"),
        ]
    )
    assert status == 3
    return room / "pack"


def _told(capsys: pytest.CaptureFixture[str]) -> dict[str, object]:
    return dict(json.loads(capsys.readouterr().out))


def test_violations_end_with_status_3_and_are_shown(
    store: list[str], capsys: pytest.CaptureFixture[str]
) -> None:
    """Without a folder the gravest findings are on the screen, numbers masked."""
    assert run(["audit", *store, "--rules", "us"]) == 3
    said = capsys.readouterr().out
    assert "Findings, gravest first" in said
    assert "violation" in said
    assert "555" not in said


def test_a_moment_before_anything_was_read_is_refused(
    store: list[str], capsys: pytest.CaptureFixture[str]
) -> None:
    """An empty past is no clean past."""
    assert run(["audit", *store[:2], "--as-of", "2001-01-01", "--rules", "us"]) == 1
    assert "nothing had been read by then" in capsys.readouterr().err


def test_a_period_without_calls_is_said_and_never_ends_with_0(
    store: list[str], capsys: pytest.CaptureFixture[str]
) -> None:
    """Nothing was audited, so that nothing is shown; --fail-on never ends with 0 whatever is found."""
    early = ["--since", "2020-01-01", "--until", "2020-02-01"]
    for grade in ("violation", "uncertain", "not-evaluable", "empty"):
        assert run(["audit", *store, "--rules", "us-tsr-hours", *early, "--fail-on", grade]) == 3
    assert (
        "nothing was audited: there is no outbound call in the period" in capsys.readouterr().out
    )
    assert run(["audit", *store, "--rules", "us", "--since", "2030-01-01"]) == 3
    assert run(["audit", *store, "--rules", "us", "--fail-on", "never"]) == 0


def test_the_same_audit_twice_gives_the_same_bytes(
    store: list[str], pack: Path, tmp_path: Path
) -> None:
    """Folder and zip, file by file; a zip name writes the zip alone."""
    key = str(pack.parent / "key")
    again = tmp_path / "pack.zip"
    assert run(["audit", *store, "--rules", "us", "-o", str(again), "--key", key]) == 3
    assert again.read_bytes() == pack.with_name("pack.zip").read_bytes()


def test_a_whole_pack_is_verified_with_its_key(
    pack: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """Folder and zip; another key, and a missing signature, are said."""
    key = pack.parent / "key.pub"
    for path in (pack, pack.with_name("pack.zip")):
        assert run(["audit", "verify", str(path), "--key", str(key), "--json"]) == 0
        assert _told(capsys)["signed"] == "yes"
    other = pack.parent / "other"
    assert run(["audit", "keygen", "-o", str(other)]) == 0
    assert run(["audit", "verify", str(pack), "--key", f"{other}.pub"]) == 3


def test_a_changed_byte_anywhere_is_found(pack: Path, tmp_path: Path) -> None:
    """Drawn places in every file of the folder, and in the zip; added and missing files too."""
    draw = random.Random(11)
    copy = tmp_path / "copy"
    shutil.copytree(pack, copy)
    for file in sorted(each for each in copy.rglob("*") if each.is_file()):
        content = file.read_bytes()
        for _ in range(2):
            place = draw.randrange(len(content))
            changed = bytearray(content)
            changed[place] ^= 1 << draw.randrange(8)
            file.write_bytes(bytes(changed))
            assert not packs.verify(copy).whole, (file.name, place)
        file.unlink()
        assert not packs.verify(copy).whole, file.name
        file.write_bytes(content)
    (copy / "more.csv").write_text("x")
    assert run(["audit", "verify", str(copy)]) == 3
    zipped = tmp_path / "pack.zip"
    content = pack.with_name("pack.zip").read_bytes()
    for _ in range(10):
        changed = bytearray(content)
        changed[draw.randrange(len(content))] ^= 1 << draw.randrange(8)
        zipped.write_bytes(bytes(changed))
        assert not packs.verify(zipped).whole
    assert run(["audit", "verify", str(zipped)]) == 3


def _again(pack: Path) -> int:
    """Status of the pack's own program, which knows DuckDB and nothing of this package."""
    code = "import sys; sys.modules['dialframe'] = None; sys.argv = sys.argv[1:]; import runpy; runpy.run_path(sys.argv[0], run_name='__main__')"
    return subprocess.run(
        [sys.executable, "-c", code, str(pack / "verify.py")],
        check=False,
        stdout=subprocess.DEVNULL,
    ).returncode


def test_the_pack_runs_its_queries_again_and_finds_the_same(pack: Path, tmp_path: Path) -> None:
    """With another row in a table the findings differ, and the program says so."""
    assert _again(pack) == 0
    copy = tmp_path / "copy"
    shutil.copytree(pack, copy)
    calls = pd.read_parquet(copy / "tables" / "checks.parquet")
    calls.iloc[:0].to_parquet(copy / "tables" / "checks.parquet")
    results = copy / "results" / "calling_hours.parquet"
    pd.read_parquet(results).iloc[1:].to_parquet(results)
    assert _again(copy) == 3


def test_a_pack_that_was_rewritten_is_found_out_by_its_signature(
    pack: Path, tmp_path: Path
) -> None:
    """Whoever changes a finding and seals the whole again has not the officer's key."""
    copy = tmp_path / "copy"
    shutil.copytree(pack, copy)
    findings = copy / "findings.csv"
    findings.write_text(findings.read_text().replace("violation", "uncertain"))
    old = json.loads((copy / "manifest.json").read_text())
    for name in ("manifest.json", "manifest.sig", "manifest.tsq"):
        (copy / name).unlink()
    rows = {each["name"]: each["rows"] for each in old["files"]}
    raw = packs._manifest(copy, rows, old["facts"] | {"public_key": ""})
    (copy / "manifest.json").write_bytes(raw)
    (copy / "manifest.tsq").write_bytes(packs._time_stamp_request(packs._head(raw)))
    unsigned = packs.verify(copy)
    assert unsigned.whole
    assert unsigned.proves.startswith("unsigned: proves no author")
    key = str(pack.parent / "key.pub")
    assert run(["audit", "verify", str(copy), "--key", key]) == 3
    assert run(["audit", "verify", str(pack), "--key", key]) == 0


@pytest.mark.parametrize(
    "raw",
    [
        b"",
        b"{}",
        b"[" * 100_000,
        b'{"files": 3}',
        b'{"files": [{}], "head": 1' + b"0" * 5000 + b"}",
        b"\xff\xfe",
        b"null",
    ],
)
def test_no_mangled_pack_gives_a_traceback(raw: bytes, tmp_path: Path) -> None:
    """Deep nesting, missing keys, huge numbers, no text: status 3 and a sentence."""
    (tmp_path / "manifest.json").write_bytes(raw)
    assert run(["audit", "verify", str(tmp_path)]) == 3
    (tmp_path / "pack.zip").write_bytes(raw)
    assert run(["audit", "verify", str(tmp_path / "pack.zip")]) == 3


def test_a_pack_is_not_replaced_unless_it_is_said(
    store: list[str], pack: Path, tmp_path: Path
) -> None:
    """What stands there is evidence."""
    copy = tmp_path / "copy"
    shutil.copytree(pack, copy)
    assert run(["audit", *store, "--rules", "us", "-o", str(copy)]) == 2
    assert run(["audit", *store, "--rules", "us", "-o", str(copy), "--replace"]) == 3
    assert packs.verify(copy).whole


def test_the_first_page_answers_how_many_and_which_first(
    store: list[str], pack: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """Screen and report begin with the same sentences; their numbers are those of the counts."""
    told = json.loads((pack / "summary.json").read_text())
    checks = told["checks"]
    assert isinstance(checks, list)
    wrong = sum(each["violation"] for each in checks)
    assert run(["audit", *store, "--rules", "us"]) == 3
    said = capsys.readouterr().out
    page = (pack / "report.html").read_text()
    for words in (f"{told['calls']:,} outbound calls", f"{wrong:,} violation", "Which first: "):
        assert words in said
        assert words in page.split("<section", 1)[0]
    first = told["first"]
    assert isinstance(first, list)
    assert [row["order"] for row in first] == list(range(1, len(first) + 1))
    assert first[0]["grade"] == "violation"


def test_coverage_and_the_next_numbers_are_in_the_pack(pack: Path) -> None:
    """Every view counts every number once; the numbers to check are those that are not fresh."""
    by = pd.read_csv(pack / "coverage_by.csv")
    due = pd.read_csv(pack / "next_checks.csv", dtype={"phone": "str"})
    for view in ("campaign", "source", "state", "week"):
        rows = by[by["view"] == view]
        parts = rows["fresh"] + rows["screened"] + rows["stale"] + rows["never"]
        assert parts.tolist() == rows["numbers"].tolist()
        assert rows[["screened", "stale", "never"]].to_numpy().sum() == len(due)
    to_check = json.loads((pack / "summary.json").read_text())["to_check"]
    assert isinstance(to_check, dict)
    assert (to_check["numbers"], to_check["requests"]) == (len(due), -(-len(due) // 100))


def test_the_pack_holds_numbers_and_the_report_none(pack: Path) -> None:
    """Whole numbers are evidence; the page may be handed on."""
    assert PHONE.search((pack / "findings.csv").read_text())
    assert not PHONE.search((pack / "report.html").read_text())
    assert all(path.stat().st_mode & 0o077 == 0 for path in pack.iterdir())


def test_pseudonyms_are_the_same_for_the_same_number(store: list[str], tmp_path: Path) -> None:
    """With a key no number is in the pack, and rows of one number still join."""
    (tmp_path / "key").write_bytes(SECRET)
    out = tmp_path / "pack"
    hidden = ["--pseudonyms", str(tmp_path / "key"), "-o", str(out)]
    assert run(["audit", *store, "--rules", "us", *hidden]) == 3
    texts = {
        path.name: path.read_text()
        for path in out.iterdir()
        if path.suffix in (".csv", ".json", ".html", ".py")
    }
    assert not [name for name, text in texts.items() if PHONE.search(text)]
    assert "number-" in texts["findings.csv"]
    for path in (out / "tables").glob("*.parquet"):
        assert not PHONE.search(pd.read_parquet(path).to_csv()), path.name
    assert _again(out) == 0
    assert run(["audit", "verify", str(out)]) == 0


def test_two_audits_are_compared_with_their_causes(
    store: list[str], pack: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """With another rule book the findings that differ are named, and the book as the cause."""
    own = tmp_path / "own.toml"
    own.write_text(
        '[[change]]\nid = "us-tsr-hours"\nby = "An officer"\nwhy = "a stricter house"\n'
        "on = 2026-11-01\n[change.parameters]\n"
        'windows = [{ days = ["mon", "tue", "wed", "thu", "fri", "sat", "sun"], '
        "start = 09:00:00, end = 20:00:00 }]\n"
    )
    out = tmp_path / "later"
    assert run(["audit", *store, "--rules", "us", "--own", str(own), "-o", str(out)]) == 3
    capsys.readouterr()
    assert run(["audit", "diff", str(pack), str(out), "--json"]) == 0
    changes = _told(capsys)["changes"]
    assert isinstance(changes, list)
    assert {change["because"] for change in changes} == {
        "the rule book, the files that were given"
    }
    assert "new" in {change["change"] for change in changes}
    assert run(["audit", "diff", str(pack), str(pack)]) == 0
    assert "no finding differs" in capsys.readouterr().out


def test_what_is_no_pack_or_no_day_is_said(
    store: list[str], tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """One sentence and status 2."""
    assert run(["audit", "verify", str(tmp_path / "none")]) == 2
    assert run(["audit", *store, "--since", "yesterday"]) == 2
    assert run(["audit", *store, "--rules", "atlantis"]) == 2
    assert run(["audit", *store, "--since", "2026-11-01", "--until", "2026-10-01"]) == 2
    (tmp_path / "mine.txt").write_text("keep")
    assert run(["audit", *store, "--rules", "us", "-o", str(tmp_path)]) == 2
    said = capsys.readouterr().err
    for words in (
        "there is no pack",
        "takes a day such as",
        "is no jurisdiction",
        "exchange the two",
        "exists already",
    ):
        assert words in said

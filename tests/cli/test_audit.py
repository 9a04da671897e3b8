"""`dialframe audit` end to end: status, findings on the screen, a pack that shows every changed byte."""

from __future__ import annotations

import hashlib
import json
import random
import re
import shutil
import subprocess
import venv
from collections.abc import Callable, Iterator
from datetime import UTC, date, datetime
from pathlib import Path
from types import SimpleNamespace
from typing import get_args

import duckdb
import fsspec
import pandas as pd
import pytest

from cli.commands import invoke
from dialframe import connect, sandbox
from dialframe.cli.audit_commands import FailOn, _fails
from dialframe.compliance.pack.verify import Pack, load, verify
from dialframe.flows import pack as packs
from dialframe.flows import pack_seal
from dialframe.privacy import PHONE
from flows import der

NINE_DAYS_LATER = [FAKETIME, "-f", "+9d"] if (FAKETIME := shutil.which("faketime")) else []
GRADES = ("pass", "violation", "uncertain", "not_evaluable")
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
    invoke("audit keygen -o", room / "key")
    named = ["-o", room / "pack", "--zip", "--key", room / "key"]
    ran = invoke("audit --timestamp --rules us", *store, *named, ends=3)
    (room / "screen").write_text(ran.out)
    return room / "pack"


@pytest.fixture(scope="module")
def second(store: list[str], pack: Path) -> Path:
    """A signed pack of one rule that follows the first: what does not depend on the rules is held on it."""
    key, out = pack.parent / "key", pack.parent / "second"
    audit = ["audit --timestamp --rules us-tsr-hours", *store, "--after", pack, "--key", key]
    invoke(*audit, "-o", out, "--zip", ends=3)
    return out


@pytest.fixture(scope="module")
def elsewhere(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The interpreter of an environment that has DuckDB and nothing else."""
    room = tmp_path_factory.mktemp("elsewhere")
    venv.create(room / "venv", with_pip=False, symlinks=True)
    libraries = room / "libraries"
    libraries.mkdir()
    for source in Path(duckdb.__file__).parent.parent.glob("*duckdb*"):
        (libraries / source.name).symlink_to(source)
    site = next((room / "venv").rglob("site-packages"))
    (site / "only_duckdb.pth").write_text(f"{libraries}\n", encoding="utf-8")
    return room / "venv" / "bin" / "python"


def test_a_moment_before_anything_was_read_is_refused(store: list[str]) -> None:
    """An empty past is no clean past."""
    invoke(
        "audit --as-of 2001-01-01 --rules us",
        *store[:2],
        ends=1,
        err="nothing had been read by then",
    )


@pytest.mark.parametrize("line", ["audit --rules us", "analyze hours", "analyze funnel"])
def test_rows_that_were_read_too_long_ago_are_refused(store: list[str], line: str) -> None:
    """`--fresh 1s` refuses what was read a second ago or more, and an audit says when its rows were read."""
    place = store[:2]
    refused = invoke(f"{line} --fresh 1s --json", *place, ends=1).err
    assert "rows were last looked at before" in refused
    assert "dialframe sync" in refused
    facts = invoke(f"{line} --fresh 10d --json", *place, ends=None).facts
    if line.startswith("audit"):
        looked = facts["last_looked_at"]
        assert {"calls", "leads", "dnc_checks", "campaigns"} <= looked.keys()
        assert datetime.fromisoformat(looked["calls"]) <= datetime.now(UTC)


def test_a_period_without_calls_is_said_and_never_ends_with_0(store: list[str]) -> None:
    """Nothing was audited, so that nothing is shown; --fail-on never ends with 0 whatever is found."""
    early = ["--since", "2020-01-01", "--until", "2020-02-01"]
    invoke(
        "audit --fail-on empty",
        *store,
        "--rules",
        "us-tsr-hours",
        *early,
        ends=3,
        out="nothing was audited: there is no outbound call in the period",
    )
    nothing = SimpleNamespace(
        gaps=("there is no outbound call in the period",), checks=pd.DataFrame(columns=GRADES)
    )
    assert all(_fails(nothing, grade) is (grade != "never") for grade in get_args(FailOn))  # type: ignore[arg-type]


def test_the_same_audit_twice_gives_the_same_bytes(
    store: list[str], pack: Path, tmp_path: Path
) -> None:
    """Folder and zip, file by file; a zip name writes the zip alone."""
    key = str(pack.parent / "key")
    again = tmp_path / "pack.zip"
    invoke("audit --timestamp", *store, "--rules", "us", "-o", again, "--key", key, ends=3)
    assert again.read_bytes() == pack.with_name("pack.zip").read_bytes()


def test_a_whole_pack_is_verified_with_its_key(pack: Path, second: Path) -> None:
    """Folder and zip; another key is said."""
    key = pack.parent / "key.pub"
    for path in (pack, second.with_name("second.zip")):
        assert invoke("audit verify --json", path, "--public-key", key).facts["signed"] == "yes"
    other = pack.parent / "other"
    invoke("audit keygen -o", other)
    invoke("audit verify", second, "--public-key", f"{other}.pub", ends=3)


def _flipped(content: bytes, draw: random.Random) -> bytes:
    """The content with one bit changed at a drawn place."""
    changed = bytearray(content)
    changed[draw.randrange(len(content))] ^= 1 << draw.randrange(8)
    return bytes(changed)


def test_a_changed_byte_anywhere_is_found(pack: Path, tmp_path: Path) -> None:
    """Drawn places in every file of the folder, and in the zip; added and missing files too."""
    draw = random.Random(11)
    copy = tmp_path / "copy"
    shutil.copytree(pack, copy)
    contents = {file: file.read_bytes() for file in copy.rglob("*") if file.is_file()}
    seals = [file for file in contents if file.stem == "manifest"]
    named = {file.relative_to(copy).as_posix() for file in contents.keys() - set(seals)}
    assert len(seals) == 3
    assert len(named) > 50
    # What the manifest names is found file by file, what seals it by the one fault that there is.
    for broken in (contents.keys() - set(seals), *({seal} for seal in seals)):
        for file in sorted(broken):
            file.write_bytes(_flipped(contents[file], draw))
        changed = packs.verify(copy).faults
        for file in broken:
            file.unlink()
        missing = packs.verify(copy).faults
        for file in broken:
            file.write_bytes(contents[file])
        assert changed
        assert missing
        if len(broken) > 1:
            assert set(changed) == {f"{name} was changed" for name in named}
            assert set(missing) == {f"{name} is missing" for name in named}
    assert packs.verify(copy).whole
    (copy / "more.csv").write_text("x")
    invoke("audit verify", copy, ends=3)
    zipped = tmp_path / "pack.zip"
    content = pack.with_name("pack.zip").read_bytes()
    for _ in range(10):
        zipped.write_bytes(_flipped(content, draw))
        assert not packs.verify(zipped).whole
    invoke("audit verify", zipped, ends=3)


def _again(pack: Path, python: Path) -> tuple[int, str]:
    """Status and words of a pack's own program, at another place of the world, nine days later where a clock can be set."""
    environment = {"TZ": "Asia/Tokyo", "LANG": "C", "HOME": str(python.parent)}
    done = subprocess.run(
        [*NINE_DAYS_LATER, python, pack / "verify.py"], env=environment, cwd="/", capture_output=True, text=True, check=False
    )  # fmt: skip
    return done.returncode, done.stdout + done.stderr


def test_a_pack_of_another_day_is_made_again_where_there_is_duckdb_alone(
    pack: Path, second: Path, elsewhere: Path, tmp_path: Path
) -> None:
    """Law, findings and lists agree, which is said to be the word of one author; a query that reaches for a file fails."""
    without = subprocess.run(
        [elsewhere, "-Ic", "import dialframe"], capture_output=True, check=False
    )
    assert b"ModuleNotFoundError" in without.stderr
    status, said = _again(pack, elsewhere)
    assert status == 0, said
    assert said.count("results found again") == len(list((pack / "results").glob("*.parquet"))) > 4
    assert "every comparison is of two things in this pack, by one author" in said
    assert "not covered: who made the pack" in said
    assert said.startswith("signed: whose signature it is, and whether it holds, dialframe audit")
    for query in (pack / "checks").glob("*.sql"):
        assert f"{hashlib.sha256(query.read_bytes()).hexdigest()}  checks/{query.name}\n" in said
    copy = tmp_path / "copy"
    shutil.copytree(second, copy)
    (copy / "manifest.sig").unlink()
    with (copy / "report.html").open("ab") as report:
        report.write(b" ")
    # Queries of a forged pack reach no file.
    with (copy / "checks" / "calling_hours.sql").open("a") as query:
        query.write(f"; copy (select 1) to '{tmp_path / 'stolen'}'")
    status, said = _again(copy, elsewhere)
    assert (status, "Permission Error" in said) == (2, True)
    assert not (tmp_path / "stolen").exists()
    shutil.copy(second / "checks" / "calling_hours.sql", copy / "checks")
    status, said = _again(copy, elsewhere)
    assert (status, "report.html was changed" in said) == (3, True)
    assert said.startswith("UNSIGNED: nothing here proves who made this pack, or when, or that")
    (copy / "manifest.json").write_text("[", encoding="utf-8")
    assert _again(copy, elsewhere)[0] == 2


#: Hours of every rule, as whoever wants no violation would have them.
ALL_DAY = "select * replace (time '00:00:00' as opens, time '24:00:00' as closes) from {}"


def _widen_table(pack: Path) -> None:
    hours = str(pack / "tables" / "hours.parquet")
    rows = duckdb.sql(ALL_DAY.format(f"read_parquet('{hours}')")).to_arrow_table()
    duckdb.from_arrow(rows).write_parquet(hours)


def _widen_rule(pack: Path) -> None:
    _widen_table(pack)
    _replace(pack, "rules/in_this_audit.json", '"08:00:00"', '"00:00:00"')
    _replace(pack, "rules/in_this_audit.json", '"21:00:00"', '"24:00"')


def _widen_book(pack: Path) -> None:
    _widen_rule(pack)
    for book in (pack / "rules").glob("*.toml"):
        text = book.read_text().replace("start = 08:00:00", "start = 00:00:00")
        book.write_text(text.replace("end = 21:00:00", 'end = "24:00"'))
    _release(pack)


def _release(pack: Path) -> None:
    """The digests of what the pack has now."""
    said = json.loads((pack / "release.json").read_text())
    said["files"] = {
        name: hashlib.sha256((pack / name).read_bytes()).hexdigest() for name in said["files"]
    }
    (pack / "release.json").write_text(json.dumps(said))


def _replace(pack: Path, name: str, old: str, new: str) -> None:
    text = (pack / name).read_text(encoding="utf-8")
    assert old in text
    (pack / name).write_text(text.replace(old, new), encoding="utf-8")


def _edit_lists(pack: Path) -> None:
    for name, old, new in (
        ("findings.csv", ",violation,", ",uncertain,"),
        ("summary.json", "Violations found by", "No violation found by"),
        ("summary.json", '"violation": 3,', '"violation": 0,'),
        ("counts.csv", "3 violations", "no violations"),
        ("calls.csv", ",violation,", ",pass,"),
        ("report.html", '<td class="number short">3</td>', '<td class="number short">0</td>'),
    ):
        _replace(pack, name, old, new)


def _edit_query(pack: Path) -> None:
    _replace(pack, "checks/calling_hours.sql", "'violation'", "'pass'")
    _release(pack)


def _edit_program(pack: Path) -> None:
    (pack / "verify.py").write_text("print('all of it agrees')\n")


#: What is forged; what the pack's own program finds, and what `audit verify` says, where the installed release alone
#: can tell.
FORGERIES = [
    (_widen_table, ["law: hours: "], []),
    (_widen_rule, ['windows.start is "00:00:00", in the book "08:00:00"'], []),
    (_widen_book, ["counts.csv: calling_hours"], ["rules/us_federal.toml is not that of dialframe"]),
    (_edit_lists, [
        "findings.csv: 3 rows are not in the results, 3 are missing", "counts.csv: calling_hours", "calls.csv: ", "report.html: ",
        "summary.json: its verdict is not", "summary.json: the counts of calling_hours are others",
    ], []),
    (_edit_query, ["findings.csv: "], ["checks/calling_hours.sql is not that of dialframe"]),
    (_edit_program, ["verify.py is not that of"], ["verify.py is not that of dialframe"]),
]  # fmt: skip


@pytest.mark.parametrize(("forge", "found", "said"), FORGERIES)
def test_a_pack_that_the_officer_forged_and_signed_again_fails(
    second: Path,
    tmp_path: Path,
    forge: Callable[[Path], None],
    found: list[str],
    said: list[str],
) -> None:
    """By its own program as the release has it, and by `audit verify` with the officer's key."""
    copy, key = tmp_path / "copy", second.parent / "key"
    shutil.copytree(second, copy)
    forge(copy)
    _run_again(copy)
    _seal(copy, key)
    told = invoke("audit verify --json", copy, "--public-key", f"{key}.pub", ends=3).facts
    assert told["signed"] == "yes"
    for sentence in said or found:
        assert any(sentence in fault for fault in told["faults"]), told["faults"]
    # What the installed release does not tell alone, the program of the pack has found for it.
    if said:
        lines, faults = verify(copy)
        for sentence in found:
            assert any(sentence in fault for fault in faults), "\n".join(lines)


def _run_again(folder: Path) -> None:
    """The pack's own queries over its tables as they are now, into its results."""
    pack = Pack(folder)
    with pack.con as con:
        load(pack, set())
        for name in pack.order:
            con.execute(pack.text(f"checks/{name}.sql"))
            if name in pack.checks:
                result = pack.text(f"checks/{name}.result.sql")
                con.execute(
                    f"copy (select list(item) as items, grade, rules, missing from ({result}) group by all) "
                    f"to '{folder}/results/{name}.parquet' (format parquet)"
                )


def _seal(folder: Path, key: Path | None) -> None:
    """A manifest, and a signature, of the pack as it is now."""
    old = json.loads((folder / "manifest.json").read_text())
    for name in ("manifest.json", "manifest.sig", "manifest.tsq"):
        (folder / name).unlink(missing_ok=True)
    rows = {each["name"]: each["rows"] for each in old["files"]}
    facts = old["facts"] if key is not None else old["facts"] | {"public_key": ""}
    raw = packs._manifest(folder, rows, facts)
    (folder / "manifest.json").write_bytes(raw)
    if facts["time_stamp_requested"]:
        (folder / "manifest.tsq").write_bytes(pack_seal.time_stamp_request(packs._head(raw)))
    if key is not None:
        signature = pack_seal.signature(packs._head(raw), pack_seal.read_signing_key(key))
        (folder / "manifest.sig").write_bytes(signature)


def test_the_manifest_names_the_options_and_every_input(pack: Path) -> None:
    """What was asked for, and the hash of everything that was read beside the tables."""
    facts = packs.manifest_of(pack)["facts"]
    assert isinstance(facts, dict)
    assert facts["options"]["rules"] == ["us"]
    assert facts["options"]["fail_on"] == "violation"
    assert {"since", "until", "as_of", "check", "state_field", "region"} <= set(facts["options"])
    assert {"practice", "requests"} <= set(facts["inputs"]) or "practice" in facts["inputs"]
    assert all(len(digest) == 64 for digest in facts["inputs"].values())


def test_a_practice_file_with_an_unknown_campaign_is_said(
    store: list[str], tmp_path: Path
) -> None:
    """What is declared of a campaign that the account does not have counts for nothing, and a note says so."""
    practice = tmp_path / "practice.toml"
    practice.write_text('[campaigns.cmp_slip]\npurpose = "debt_collection"\n')
    audit = ["audit --rules us-tsr-hours --fail-on never", *store, "--practice", practice]
    said = invoke(*audit, out="1 campaign that the account does not have").out
    assert "'cmp_slip'" in said


def test_a_pack_follows_the_one_before_it_and_is_replaced_only_where_it_is_said(
    store: list[str], pack: Path, second: Path, tmp_path: Path
) -> None:
    """It names the hash of the one before; after a signed one a missing or foreign signature is found.

    What stands there is evidence.
    """
    audit = ["audit", *store, "--rules", "us-tsr-hours", "--after", pack, "-o"]
    strange, foreign = tmp_path / "strange", str(tmp_path / "foreign")
    invoke("audit keygen -o", foreign)
    invoke(*audit, tmp_path / "unsigned", ends=2, err="was signed")
    invoke("audit verify --json", second, "--after", pack, out=str(packs.verify(pack).head))
    invoke("audit verify", second, "--after", second, ends=3)
    shutil.copytree(second, strange)
    before = invoke("audit history --json", *store[:2]).facts["audits"]
    # Said before an audit was made for nothing: of this period none was made before.
    new = [strange, "--key", foreign, "--since", "2026-11-02"]
    invoke(*audit, *new, ends=2, err="exists already")
    assert invoke("audit history --json", *store[:2]).facts["audits"] == before
    invoke(*audit, *new, "--replace", ends=3)
    invoke("audit verify", strange, ends=3)
    invoke("audit verify", strange, "--public-key", f"{foreign}.pub")
    (strange / "manifest.sig").unlink()
    invoke("audit verify", strange, ends=3, out="there is no signature, though one was expected")


def test_a_time_stamp_is_held_against_the_manifest(second: Path, tmp_path: Path) -> None:
    """The request is of this manifest; an answer beside it, or beside the zip, is read and compared."""
    head = packs.verify(second).head
    assert (second / "manifest.tsq").read_bytes() == pack_seal.time_stamp_request(head)
    copy = tmp_path / "copy"
    shutil.copytree(second, copy)
    (copy / "manifest.tsr").write_bytes(der.response(head))
    invoke("audit verify", copy, out="was there on 2026-11-21 08:00:00 UTC")
    zipped = tmp_path / "pack.zip"
    shutil.copy(second.with_name("second.zip"), zipped)
    for token, status in ((der.response(head), 0), (der.response("ab" * 32), 3), (b"0", 3)):
        zipped.with_suffix(".tsr").write_bytes(token)
        invoke("audit verify", zipped, ends=status)


def test_a_pack_that_was_rewritten_is_found_out_by_its_signature(
    pack: Path, tmp_path: Path
) -> None:
    """Whoever changes a finding and seals the whole again has not the officer's key."""
    copy = tmp_path / "copy"
    shutil.copytree(pack, copy)
    _replace(copy, "findings.csv", "violation", "uncertain")
    _seal(copy, None)
    unsigned = packs.verify(copy)
    assert unsigned.whole
    assert unsigned.proves.startswith("unsigned: proves no author")
    key = str(pack.parent / "key.pub")
    told = invoke("audit verify", copy, ends=3, out="findings.csv: ").out
    assert told.startswith("signature: no; proven: unsigned: proves no author, nor when")
    invoke("audit verify", copy, "--public-key", key, ends=3)
    invoke("audit verify", pack, "--public-key", key)


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
    invoke("audit verify", tmp_path, ends=3)
    (tmp_path / "pack.zip").write_bytes(raw)
    invoke("audit verify", tmp_path / "pack.zip", ends=3)


def test_the_first_page_answers_how_many_and_which_first(pack: Path) -> None:
    """Status 3; the screen begins with sentences, the report with tiles, and their numbers are those of the counts.

    The gravest findings are on the screen, numbers masked.
    """
    told = json.loads((pack / "summary.json").read_text())
    checks = told["checks"]
    assert isinstance(checks, list)
    wrong = [each for each in checks if each["violation"]]
    several = sum(each["violation"] for each in wrong)
    assert len(wrong) > 1
    said = pack.with_name("screen").read_text()
    assert "Findings, gravest first" in said
    assert "violation" in said
    assert "555" not in said
    page = (pack / "report.html").read_text()
    by_check = [
        f", {each['violation']:,} of {each['checked']:,} {each['counted']}" for each in wrong
    ]
    of_all = f"violations by {len(wrong)} of {len(checks)} checks"
    for words in (f"{told['calls']:,} outbound calls", of_all, *by_check, "What to do first: "):
        assert words in said
    first_page = page.split("<section", 1)[0]
    assert re.search(rf"\d+ of {told['calls']:,}</p><p>calls with a violation", first_page)
    assert '<a href="#part-1">Violations</a>' in first_page
    # Calls, numbers and requests are never added up.
    assert f"{several:,} violations" not in said + page
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


def test_every_call_of_the_pack_has_the_grades_that_are_counted(pack: Path) -> None:
    """Passes, what nobody could say and what no rule reaches, call by call, come to the counts of each check."""
    calls = pd.read_csv(pack / "calls.csv", dtype="str")
    counted = pd.read_csv(pack / "counts.csv").set_index("check")
    graded = [name for name in counted.index if name in calls]
    assert len(graded) > 5
    for name in graded:
        of_check = {g.replace(" ", "_"): n for g, n in calls[name].value_counts().items()}
        assert of_check == {g: n for g in (*GRADES, "not_asked") if (n := counted.loc[name, g])}, (
            name
        )


def test_the_pack_holds_numbers_and_the_report_none(pack: Path) -> None:
    """Whole numbers are evidence; the page may be handed on."""
    assert PHONE.search((pack / "findings.csv").read_text())
    assert not PHONE.search((pack / "report.html").read_text())
    assert all(path.stat().st_mode & 0o077 == 0 for path in pack.iterdir())


def test_pseudonyms_are_the_same_for_the_same_number(
    store: list[str], pack: Path, tmp_path: Path
) -> None:
    """With a key no number is in the pack, and rows of one number still join."""
    (tmp_path / "key").write_bytes(SECRET)
    out = tmp_path / "pack"
    hidden = ["--pseudonyms", str(tmp_path / "key"), "-o", str(out)]
    invoke("audit", *store, "--rules", "us", *hidden, ends=3)
    texts = {
        path.name: path.read_text()
        for path in out.iterdir()
        if path.suffix in (".csv", ".json", ".html", ".py")
    }
    assert not [name for name, text in texts.items() if PHONE.search(text)]
    assert "number-" in texts["findings.csv"]
    for path in (out / "tables").glob("*.parquet"):
        assert not PHONE.search(pd.read_parquet(path).to_csv()), path.name
    # A key of a finding holds a number without its plus.
    whole = set(pd.read_csv(pack / "coverage.csv", dtype="str")["phone"].str.removeprefix("+"))
    for path in (out / "results").glob("*.parquet"):
        text = pd.read_parquet(path).to_csv()
        assert not [number for number in whole if number in text], path.name
    invoke("audit verify", out)


def test_two_audits_are_compared_with_their_causes(
    store: list[str], second: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """With another rule book the findings that differ are named, and the book as the cause."""
    own = tmp_path / "own.toml"
    own.write_text(
        '[[change]]\nid = "us-tsr-hours"\nby = "An officer"\nwhy = "a stricter house"\n'
        "on = 2026-11-01\n[change.parameters]\n"
        'windows = [{ days = ["mon", "tue", "wed", "thu", "fri", "sat", "sun"], '
        "start = 09:00:00, end = 20:00:00 }]\n"
    )
    (tmp_path / "dialframe.toml").write_text('[audit]\nown_rules = "own.toml"\n')
    monkeypatch.chdir(tmp_path)
    out = tmp_path / "later"
    invoke("audit", *store, "--rules", "us-tsr-hours", "-o", out, ends=3)
    changes = invoke("audit diff --json", second, out).facts["changes"]
    assert isinstance(changes, list)
    assert {change["because"] for change in changes} == {"the rule book, what was given as own"}
    assert "new" in {change["change"] for change in changes}
    invoke("audit diff", second, second, out="no finding differs")


def test_the_store_keeps_what_each_audit_said(store: list[str], pack: Path) -> None:
    """When it was made, over what, and what it said, without a number of anybody."""
    text = invoke("audit history --json", *store[:2]).out
    audits = json.loads(text)["audits"]
    summary = json.loads((pack / "summary.json").read_text())
    violations = {check["name"]: check["violation"] for check in summary["checks"]}
    one = next(audit for audit in audits if audit["checks"].keys() == violations.keys())
    for name in ("calls", "left_out", "gaps"):
        assert one[name] == summary[name], name
    assert one["data"] == summary["data"]
    assert one["verdict"] == summary["verdict"]
    assert {name: row["violation"] for name, row in one["checks"].items()} == violations
    assert not PHONE.search(text)
    invoke("audit history", *store[:2], out=one["verdict"])


def test_what_the_account_has_not_is_said(store: list[str], tmp_path: Path) -> None:
    """One sentence and status 2; a folder of something else is not replaced."""
    (tmp_path / "mine.txt").write_text("keep")
    for words, *command in (
        ("is neither a jurisdiction", "audit --rules atlantis"),
        ("exchange the two", "audit --since 2026-11-01 --until 2026-10-01"),
        ("exists already", "audit --rules us-tsr-hours -o", tmp_path),
    ):
        invoke(*command, *store, ends=2, err=words)
    assert (tmp_path / "mine.txt").read_text() == "keep"


def test_parquet_of_a_folder_or_an_object_store_is_audited_like_the_store(
    store: list[str], pack: Path, tmp_path: Path
) -> None:
    """The tables as `export` writes them, read in parts from a folder, and whole from a URL by who never synced."""
    memory = fsspec.filesystem("memory")
    memory.makedirs("/exported", exist_ok=True)
    for table in ("calls", "leads", "dnc_checks", "campaigns", "callbacks", "events"):
        path = tmp_path / f"{table}.parquet"
        invoke("export", table, *store[:2], "--to", path)
        memory.pipe_file(f"/exported/{path.name}", path.read_bytes())
    expected = json.loads((pack / "summary.json").read_text())["checks"]
    empty = ["--store", str(tmp_path / "empty"), *store[2:]]
    parts = ["--partitions", "3", "--jobs", "2"]
    for place, of, how in ((str(tmp_path), store, parts), ("memory://exported", empty, [])):
        audited = invoke(
            "audit --json", *of, "--rules", "us", "--tables", place, *how, ends=3
        ).facts
        assert (audited["checks"], audited["gaps"]) == (expected, [])
    invoke("audit", *store, *parts, ends=2, err="--partitions needs --tables")
    invoke(
        "audit", *store, "--tables", tmp_path / "nowhere", ends=2, err="there is no leads.parquet"
    )

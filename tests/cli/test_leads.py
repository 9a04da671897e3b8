"""`dialframe leads` says what it decided, where the wrong line is, and takes what a person decides."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

import openpyxl
import pytest

from cli.commands import invoke

LIST = "Phone,Name,City\n(212) 555-0142,Ada,Berlin\n(212) 555-0143,Bob,Rome\n"


@pytest.fixture(autouse=True)
def narrow(tmp_path_factory: pytest.TempPathFactory, monkeypatch: pytest.MonkeyPatch) -> None:
    """A terminal of 80 columns, and a home in which nothing is remembered."""
    monkeypatch.setenv("COLUMNS", "80")
    monkeypatch.setenv("XDG_DATA_HOME", str(tmp_path_factory.mktemp("home")))


@pytest.fixture
def file(tmp_path: Path) -> Path:
    """A list of two leads."""
    path = tmp_path / "list.csv"
    path.write_text(LIST)
    return path


def test_one_wrong_line_is_found_at_once(tmp_path: Path) -> None:
    """One bad record in many is named with its line, and `--show` says more; the number is masked."""
    path = tmp_path / "list.csv"
    rows = [f"(212) 555-01{at % 100:02d},Ada {at},x" for at in range(3000)]
    rows[1233] = "(212) 555-019,Ada,x"
    path.write_text("\n".join(["Phone,Name,City", *rows]) + "\n")

    out = invoke("leads check --region US --show phone_too_short", path).out
    assert "1 phone_too_short line 1235 digits are missing" in " ".join(out.split())
    assert "list.csv:1235" in out
    assert "digits are missing; correct the number" in out
    assert "555-019" not in out
    assert list(tmp_path.iterdir()) == [path]

    facts = invoke("leads check --region US --show phone_too_short --json", path).facts
    assert [one["line"] for one in facts["examples"]["phone_too_short"]] == [1235]
    assert [one["line"] for one in facts["lines"]["phone_too_short"]] == [1235]


def test_decisions_are_shown(tmp_path: Path) -> None:
    """Sheet, sheets left alone, header line and columns with their confidence are on the screen."""
    book = openpyxl.Workbook()
    first = book.active
    assert first is not None
    first.title = "Leads"
    for row in (["Phone", "Name"], ["(212) 555-0142", "Ada"]):
        first.append(row)
    second = book.create_sheet("More")
    second.append(["something else"])
    third = book.create_sheet("Spring")
    for row in (["phone", "name"], ["(212) 555-0143", "Ben"]):
        third.append(row)
    third.row_dimensions[2].hidden = True
    book.save(tmp_path / "list.xlsx")

    out = invoke("leads check --region US", tmp_path / "list.xlsx").out
    assert (
        "list.xlsx: 2 records; workbook; sheets 'Leads', 'Spring'; LEFT ALONE: sheets 'More'"
        in out
    )
    for words in ("--sheet", "1 hidden row read too", "header line 1"):
        assert words in out, words


def test_encoding_and_delimiter_are_shown(tmp_path: Path) -> None:
    """A guess comes with its confidence, and with the next best one."""
    path = tmp_path / "list.csv"
    path.write_bytes("Telefon;Name\n0171 3920001;Jörg Müller\n0171 3920002;Ute\n".encode("cp1252"))

    (told,) = invoke("leads check --region DE --json", path).facts["inputs"]
    assert told["decisions"]["encoding"] == "cp1252"
    assert told["decisions"]["dialect"]["delimiter"] == ";"
    assert told["columns"]["confidence"]["phone"] > 0.5

    out = invoke("leads check --region DE", path).out
    assert "cp1252 (" in out
    assert "semicolon" in out


def test_what_a_person_decides(tmp_path: Path) -> None:
    """Delimiter by its name, no header, the column."""
    path = tmp_path / "list.txt"
    path.write_text("(212) 555-0142\tAda\n(212) 555-0143\tBob\n")
    told = ["--delimiter", "tab", "--header", "none", "--column", "phone=column_1", "--json"]

    facts = invoke("leads check --region US", path, *told).facts
    assert facts["clean"] == 2
    assert facts["inputs"][0]["decisions"]["header_line"] is None


def test_a_region_is_said_with_its_share(tmp_path: Path) -> None:
    """Where few numbers are of the region a person is told so; no message names another as right."""
    path = tmp_path / "list.csv"
    rows = "".join(f"020 7946 01{at:02},Ada,London\n" for at in range(12))
    path.write_text(f"phone,name,town\n{rows}")

    refused = invoke("leads check", path, "--region", "US", ends=1).err
    assert "0% of its numbers fit the plan of United States (US)" in refused
    assert "GB" not in refused
    assert "100% of them fit its plan" in invoke("leads check", path, "--region", "GB").out
    asked = invoke("leads check", path, ends=3).err
    assert "United Kingdom GB (100%)" in asked


@pytest.mark.parametrize(
    ("text", "title"),
    [
        ("Record ID,First Name,Phone Number,Lifecycle Stage\n1,Ada,212 555 0142,Lead\n", "HubSpot"),
        ("number1,number2,first_name,last_name\n2125550142,,Ada,Lee\n", "Five9"),
        ("1,2026-11-02 09:14:00,2026-11-03 10:00:00,NEW,,,web,101,-5.00,N,1,2125550142\n", "VICIdial"),
    ],
)  # fmt: skip
def test_the_source_is_shown_by_its_name(tmp_path: Path, text: str, title: str) -> None:
    path = tmp_path / "list.csv"
    path.write_text(text)
    assert f"read as {title}" in invoke("leads clean --region US --dry-run", path).out
    facts = invoke("leads clean --region US --dry-run --json", path).facts
    assert facts["inputs"][0]["columns"]["profile"].startswith(title)


def test_several_files_and_patterns(tmp_path: Path) -> None:
    """A pattern is every file that it matches, and files are cleaned against each other."""
    for name in ("a1.csv", "a2.csv", "b.csv"):
        (tmp_path / name).write_text(LIST)

    facts = invoke(
        "leads check --region US --json", tmp_path / "a*.csv", tmp_path / "a1.csv"
    ).facts
    assert [one["name"] for one in facts["inputs"]] == ["a1.csv", "a2.csv"]
    assert (facts["records"], facts["duplicates"]) == (4, 2)

    invoke("leads check --region US", tmp_path / "z*.csv", ends=2, err="no file matches")


@pytest.mark.parametrize("form", ["csv", "xlsx", "parquet", "jsonl"])
def test_formats(file: Path, tmp_path: Path, form: str) -> None:
    """Outputs in the format asked for can be cleaned again, and the report is for people too."""
    out = tmp_path / "out"

    files = invoke("leads clean --region US --json", file, "--out", out, "--format", form).facts[
        "files"
    ]
    assert Path(files["clean"]).suffix == f".{form}"
    assert Path(files["report_page"]).read_text().startswith("<!doctype html>")
    assert invoke("leads check --region US --json", files["clean"]).facts["clean"] == 2


def test_mapping_is_kept_for_the_next_list(file: Path, tmp_path: Path) -> None:
    """What was told once needs not be told again."""
    saved = str(tmp_path / "mapping.json")
    told = ["--column", "full_name=City", "--save-mapping", saved]

    invoke("leads check --region US", file, *told)
    (one,) = invoke("leads check --region US --json", file, "--mapping", saved).facts["inputs"]
    assert one["columns"]["fields"]["full_name"] == ["City"]


def test_rules_of_the_account(file: Path, tmp_path: Path) -> None:
    """A rules file decides what is refused."""
    rules = tmp_path / "rules.toml"
    rules.write_text('[[field]]\nfield = "custom_fields.City"\npattern = "Berlin"\n')

    facts = invoke("leads check --region US --json", file, "--policy", rules).facts
    assert facts["reasons"]["rejected"] == {"field_rule": 1}
    assert facts["examples"]["field_rule"][0]["line"] == 3


def test_messages_speak_of_options(tmp_path: Path) -> None:
    """A person at the command line is not told Python."""
    path = tmp_path / "list.csv"
    path.write_text("Name,City\nAda,Berlin\nBob,Rome\n")

    err = invoke("leads check --region US", path, ends=1).err
    assert "--column phone=" in err
    assert "mapping=" not in err


def test_too_many_columns_cost_no_check(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """More than 20 custom fields end an import before anything is asked or written."""
    path = tmp_path / "list.csv"
    names = [f"Measure {at}" for at in range(25)]
    path.write_text(",".join(["Phone", *names]) + "\n(212) 555-0142" + ",1" * 25 + "\n")
    monkeypatch.setenv("DIALFRAME_BASE_URL", "http://127.0.0.1:9")
    monkeypatch.setenv("DIALFRAME_API_KEY", "svc_test_some_secret")
    monkeypatch.setenv("DIALFRAME_STORE", str(tmp_path / "store"))
    campaign = "cmp_00000000-0000-4000-8000-000000000003"
    # The campaign is looked up before a file is read; here it is as if it took leads.
    monkeypatch.setattr("dialframe.flows.lead_import.importable_campaign", lambda *_: None)
    told = ["--campaign", campaign, "--out", str(tmp_path / "o"), "--yes"]
    err = invoke("leads import --region US", path, *told, ends=2).err

    assert "--keep NAME" in err
    assert "Measure 24" in err
    assert list((tmp_path / "o").iterdir()) == []


@pytest.mark.skipif(sys.platform == "win32", reason="there is no pseudo-terminal")
def test_bars_leave_a_question_on_the_screen() -> None:
    """They are drawn again and again, over what stands below them, until they are hidden."""
    code = (
        "import sys, time\n"
        "from dialframe.cli.terminal import begin, current, progress\n"
        "from dialframe.config import Progress\n"
        "begin([])\n"
        "with progress() as draw:\n"
        "    draw(Progress('records cleaned', 0, 2))\n"
        "    current().hide_bars()\n"
        "    print('Send 2 leads?', end=' ', flush=True)\n"
        "    time.sleep(0.4)\n"
        "    print('answered', flush=True)\n"
    )
    screen, terminal = os.openpty()
    process = subprocess.run(
        [sys.executable, "-c", code],
        stdin=terminal,
        stdout=terminal,
        stderr=terminal,
        env={**os.environ, "TERM": "xterm", "COLUMNS": "100"},
        check=True,
    )
    os.close(terminal)
    shown = os.read(screen, 100_000).decode()
    os.close(screen)

    assert process.returncode == 0
    assert "records cleaned" in shown.partition("Send 2 leads?")[0]
    assert "Send 2 leads? answered" in shown


@pytest.mark.parametrize(("header", "kept"), [("Ph. Nr", False), ("Phone", True)])
def test_answers_about_words_confirm_no_guessed_column(
    tmp_path: Path, header: str, kept: bool
) -> None:
    """What a person said of a phrase is kept with the columns of its source, unless the phones are a guess."""
    path, answers = tmp_path / "list.csv", tmp_path / "answers.json"
    notes = ["", "please never call again", *[""] * 10]
    phones = [f"212 555 01{at:02}" if at % 3 else "unknown" for at in range(12)]
    rows = "".join(f"Ada;{phone};{note}\n" for phone, note in zip(phones, notes, strict=True))
    path.write_text(f"Contact Name;{header};Notes\n{rows}")
    cleaned = invoke("leads clean --region US --dry-run --json", path, ends=None).facts
    assert (cleaned["inputs"][0]["columns"]["confidence"]["phone"] < 0.8) is not kept
    for question in cleaned["questions"]:
        question["answer"] = "nothing"
    answers.write_text(json.dumps(cleaned["questions"]))

    invoke(
        "leads clean --region US --json --answers",
        answers,
        path,
        "--out",
        tmp_path / "out",
        ends=None,
    )
    again = invoke("leads clean --region US --dry-run --json", path, ends=None).facts
    assert again["inputs"][0]["saved_mapping"] is kept
    assert (again["questions"] == []) is kept

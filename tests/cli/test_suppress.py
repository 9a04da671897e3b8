"""`dialframe suppress` keeps the firm's own list: what comes on it, what it says, what it tells the service."""

from __future__ import annotations

import hashlib
import stat
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from cli.commands import invoke

ADA, BOB = "+12125550142", "+12125550143"

Command = Callable[..., tuple[int, dict[str, Any]]]


@pytest.fixture
def command(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Command:
    """Runs `dialframe suppress ... --json` on a store of its own: status and answer."""
    monkeypatch.setenv("DIALFRAME_STORE", str(tmp_path / "store"))
    monkeypatch.setenv("XDG_CONFIG_HOME", str(tmp_path / "config"))

    def runs(*words: str) -> tuple[int, dict[str, Any]]:
        ran = invoke("suppress", *words, "--json", ends=None)
        return ran.status, ran.facts

    return runs


def test_a_number_that_was_added_is_listed_masked(command: Command) -> None:
    status, facts = command("add", "212 555 0142", "--region", "us", "--source", "Ada's call")
    assert (status, facts["added"], facts["on_list"]) == (0, 1, 1)
    status, facts = command("list")
    (entry,) = facts["entries"]
    assert entry["number"] == "+121******42"
    assert (entry["reason"], entry["source"]) == ("opt_out", "Ada's call")
    assert "0142" not in invoke("suppress list").out


def test_check_ends_with_status_3_when_a_number_is_listed(command: Command) -> None:
    command("add", ADA)
    assert command("check", BOB)[0] == 0
    status, facts = command("check", ADA, BOB)
    assert (status, facts["checked"], facts["listed"]) == (3, 2, 1)


def test_removing_needs_a_reason(command: Command) -> None:
    command("add", ADA)
    invoke("suppress remove", ADA, ends=2)
    status, facts = command("remove", ADA, BOB, "--reason", "consent of 2 October")
    assert (status, facts) == (0, {"removed": 1, "not_on_list": 1})
    assert command("check", ADA)[0] == 0


@pytest.mark.parametrize(
    "text",
    [
        "2125550142\n2125550143\n",
        "Phone,Name\n(212) 555-0142,Ada\n(212) 555-0143,Bob\n",
        "Name;Mobile;Phone\nAda;;+1 212 555 0142\nBob;212-555-0143;\n",
        "Tel,Note\n212 555 0142 / 212 555 0143,a\n2125550142,b\n",
        "areacode,number\n212,5550142\n212,5550143\n",
        "".join(hashlib.sha256(one.encode()).hexdigest() + "\n" for one in (ADA, BOB)),
        "sha256,added\n"
        + "".join(f"{hashlib.sha256(one.encode()).hexdigest()},2026\n" for one in (ADA, BOB)),
    ],
)
def test_a_file_of_any_form_is_read(command: Command, tmp_path: Path, text: str) -> None:
    """Plain numbers, columns of several names, several numbers in a cell, split numbers, hashes."""
    path = tmp_path / "stop.csv"
    path.write_text(text)
    status, facts = command("add", "--file", str(path), "--region", "US")
    assert (status, facts["added"], facts["unreadable"]) == (0, 2, {})
    assert command("check", ADA, BOB)[1]["listed"] == 2


def test_national_numbers_without_a_region_are_refused(command: Command, tmp_path: Path) -> None:
    path = tmp_path / "stop.txt"
    path.write_text("2125550142\n2125550143\n")
    status, facts = command("add", "--file", str(path))
    assert status != 0
    assert "--region" in facts["error"]["message"]
    path.write_text("+12125550142\n+12125550143\n")
    assert command("add", "--file", str(path))[1]["added"] == 2


def test_what_cannot_be_read_is_named_by_its_line(command: Command, tmp_path: Path) -> None:
    path = tmp_path / "stop.csv"
    path.write_text("Phone\n212 555 0142\n12\n212 555 0143\n")
    _, facts = command("add", "--file", str(path), "--region", "US")
    assert facts["unreadable"] == {"stop.csv": [3]}


CODED = [
    ("dncscrub", "ResultCode", ["C", "D", "W", "P", "E", "?"], ["C", "E"]),
    ("realphonevalidation", "national_dnc", ["N", "Y", "?"], ["N"]),
    ("blacklist_alliance", "Message", ["Good", "Blacklisted", ""], ["Good"]),
    ("data8_tps", "Flag", ["", "TPS", "CTPS"], [""]),
    ("dncscrub_litigator", "IsLitigator", ["true", "false"], ["false"]),
]


@pytest.mark.parametrize(("table", "column", "codes", "free"), CODED)
def test_result_codes_are_read_by_the_service_s_table(
    command: Command, tmp_path: Path, table: str, column: str, codes: list[str], free: list[str]
) -> None:
    """What the service does not call free is suppressed, unknown codes too."""
    path = tmp_path / "scrubbed.csv"
    rows = [f"+1212555010{at},{code}" for at, code in enumerate(codes)]
    path.write_text("\n".join([f"Phone,{column}", *rows]) + "\n")
    _, facts = command("add", "--file", str(path), "--as", table)
    assert (facts["added"], facts["free"]) == (len(codes) - len(free), len(free))
    for at, code in enumerate(codes):
        assert command("check", f"+1212555010{at}")[0] == (0 if code in free else 3)


def test_a_code_table_whose_column_is_missing_is_refused(command: Command, tmp_path: Path) -> None:
    path = tmp_path / "scrubbed.csv"
    path.write_text("Phone,Other\n+12125550142,D\n")
    status, facts = command("add", "--file", str(path), "--as", "dncscrub")
    assert status == 2
    assert "ResultCode" in facts["error"]["message"]


def test_export_is_whole_and_the_owners_alone(command: Command, tmp_path: Path) -> None:
    command("add", ADA)
    path = tmp_path / "out" / "list.csv"
    assert command("export", "--to", str(path))[0] == 0
    assert ADA in path.read_text()
    assert stat.S_IMODE(path.stat().st_mode) == 0o600
    command("export", "--to", str(path), "--hashed")
    assert ADA not in path.read_text()
    assert hashlib.sha256(ADA.encode()).hexdigest() in path.read_text()


def test_opt_outs_of_one_list_are_honored_by_the_next(command: Command, tmp_path: Path) -> None:
    """Whoever says no in October is not called from the list of November, in whatever file."""
    october, november = tmp_path / "october.csv", tmp_path / "november.csv"
    october.write_text("Phone,Do not call\n(212) 555-0142,yes\n(212) 555-0143,\n")
    november.write_text("Phone,Name\n(212) 555-0142,Ada\n(212) 555-0143,Bob\n")
    told = ["--region", "US", "--out", str(tmp_path / "out"), "--json"]
    assert invoke("leads clean", october, *told).facts["suppression_list"]["added"] == 1
    assert command("check", ADA)[1]["entries"][0]["source"] == "october.csv"
    facts = invoke("leads clean", november, *told).facts
    assert facts["reasons"]["do_not_call"] == {"suppressed": 1}
    assert (facts["clean"], facts["suppression_list"]["added"]) == (1, 0)


def test_looking_at_a_list_adds_nothing(command: Command, tmp_path: Path) -> None:
    path = tmp_path / "october.csv"
    path.write_text("Phone,Do not call\n(212) 555-0142,yes\n(212) 555-0143,no\n")
    invoke("leads check --region US", path)
    assert command("check", ADA)[0] == 0


def test_a_missing_consent_is_no_opt_out(command: Command, tmp_path: Path) -> None:
    """It holds the record of this list back; the person said nothing for the next."""
    path = tmp_path / "october.csv"
    path.write_text("Phone,Consent\n(212) 555-0142,no\n(212) 555-0143,yes\n")
    invoke("leads clean", path, "--region", "US", "--out", tmp_path / "o")
    assert command("check", ADA)[0] == 0


def test_hashes_suppress_a_list(command: Command, tmp_path: Path) -> None:
    path, hashes = tmp_path / "list.csv", tmp_path / "hashes.txt"
    path.write_text("Phone,Name\n(212) 555-0142,Ada\n(212) 555-0143,Bob\n")
    hashes.write_text(hashlib.sha256(ADA.encode()).hexdigest() + "\n")
    told = ["--region", "US", "--json", "--suppress", str(hashes)]
    facts = invoke("leads check", path, *told).facts
    assert facts["reasons"]["do_not_call"] == {"suppressed": 1}


@pytest.mark.usefixtures("command")
def test_every_input_says_what_it_met(tmp_path: Path) -> None:
    """One without a number, too; words that wait for an answer are shown without a wrong count."""
    path, hashes, none = (tmp_path / name for name in ("list.csv", "hashes.txt", "none.csv"))
    path.write_text(
        "Phone,Consent,Notes\n(212) 555-0142,yes,\n(212) 555-0143,no,dceased\n(212) 555-0144,yes,\n"
    )
    hashes.write_text(hashlib.sha256(ADA.encode()).hexdigest() + "\n")
    none.write_text("phone\n")
    lists = ["--suppress", str(hashes), "--suppress", str(none)]
    ran = invoke("leads clean", path, "--region", "US", "--out", tmp_path / "o", *lists, ends=3)

    assert "hashes.txt: read 1, met 1 of this list" in ran.out
    assert "none.csv: read 0, met 0 of this list" in ran.out
    assert "records with these words are held" in ran.out
    assert "0 records are held" not in ran.out


def test_the_same_list_again_gives_the_same_files(command: Command, tmp_path: Path) -> None:
    """Its own opt-outs, which are on the list by then, are said of its records; the report alone counts them there."""
    path = tmp_path / "october.csv"
    path.write_text("Phone,Do not call\n(212) 555-0142,yes\n(212) 555-0142,\n(212) 555-0143,\n")
    written = []
    for _ in range(2):
        invoke("leads clean", path, "--region", "US", "--out", tmp_path / "o")
        written.append({one.name: one.read_bytes() for one in (tmp_path / "o").glob("*.csv")})
    assert written[0] == written[1]


@pytest.mark.parametrize("lines", [1, 2, 40])
def test_a_registry_s_flat_file_of_area_codes_and_numbers_is_read(
    command: Command, tmp_path: Path, lines: int
) -> None:
    path = tmp_path / "registry.txt"
    path.write_text("".join(f"212,73600{at}\n" for at in range(10, 10 + lines)))
    status, facts = command("add", "--file", str(path))
    assert (status, facts["added"], facts["unreadable"]) == (0, lines, {})
    assert [entry["reason"] for entry in command("list")[1]["entries"]] == ["registry"] * lines


@pytest.mark.parametrize(
    ("full", "changes"),
    [
        (
            "212,7360011\n212,7360012\n",
            "212,7360011,2026-11-03,D\n212,7360013,2026-11-03,A\n212,7360014,2026-11-05,D\n",
        ),
        (
            "212,7360011\n212,7360012\n",
            # The newest line of a number counts, wherever it stands.
            "phone,action,date\n212-736-0011,Delete,2026-11-04\n212-736-0011,Add,2026-11-03\n"
            "2127360013,Add,2026-11-03\n212 736 0014,Delete,2026-11-05\n",
        ),
    ],
)
def test_a_deletion_takes_off_what_the_register_put_there_and_nothing_that_a_person_asked_for(
    command: Command, tmp_path: Path, full: str, changes: str
) -> None:
    for name, text in (("full.txt", full), ("changes.csv", changes)):
        (tmp_path / name).write_text(text)
    command("add", "--file", str(tmp_path / "full.txt"))
    command("add", "+12127360014", "--source", "Ada's call")
    facts = command("add", "--file", str(tmp_path / "changes.csv"), "--region", "US")[1]
    assert (facts["added"], facts["deletions"], facts["removed"]) == (1, 2, 1)
    listed = [command("check", f"+121273600{at}")[1]["listed"] for at in (11, 12, 13, 14)]
    assert listed == [0, 1, 1, 1]

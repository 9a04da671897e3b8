"""One person erased from all that dialframe keeps, and named in every file that people asked for."""

from __future__ import annotations

import gzip
import json
import sqlite3
import zipfile
from collections.abc import Iterator
from datetime import UTC, datetime
from pathlib import Path

import pandas as pd
import pytest

import dialframe
from cli.commands import invoke
from dialframe.account import Account
from dialframe.files import Outputs
from dialframe.flows import audit as auditing
from dialframe.flows import reporting
from dialframe.flows.erasing import forget, holds
from dialframe.leads import ColumnMap
from dialframe.store import backups
from dialframe.suppression import Entry, SuppressionList

NOW = datetime(2026, 11, 22, tzinfo=UTC)


@pytest.fixture
def account(tmp_path: Path) -> Iterator[Account]:
    """An account that was synced, in a store of its own."""
    with (
        dialframe.sandbox.start(size="tiny") as service,
        dialframe.connect(
            base_url=service.base_url, api_key=service.api_key, store=tmp_path / "store"
        ) as account,
    ):
        account.sync(["leads", "calls", "callbacks"])
        yield account


def somebody(account: Account) -> str:
    """The number of a lead."""
    return str(account.leads()["phone"].dropna().iloc[0])


def lead_id_of(account: Account, phone: str) -> str:
    """The lead of a number."""
    leads = account.leads()
    return str(leads.loc[leads["phone"] == phone, "id"].iloc[0])


def test_nothing_under_the_store_holds_the_number_afterwards(
    account: Account, tmp_path: Path
) -> None:
    """Rows, second copy, journal and suppression list: no byte of it; what was erased stays out."""
    phone = somebody(account)
    account.store.compact()
    suppressed = SuppressionList.beside(tmp_path / "store")
    suppressed.add([Entry(phone, "opt_out", "a.csv", NOW.date())], NOW)
    journal = tmp_path / "store" / "journal" / "writes.sqlite3"
    account.client.leads.update(lead_id_of(account, phone), full_name="Ada Example")
    account.client.dnc.add(phone=phone)

    erasure = forget(account.store.folder.parent, phone, NOW)

    assert erasure.versions > 0
    assert erasure.evidence >= 1
    assert suppressed.check([phone])[0] is not None
    for path in (tmp_path / "store").rglob("*"):
        if path.is_file() and path.suffix != ".parquet":
            assert phone[1:].encode() not in path.read_bytes(), path
    assert not journal.exists() or not holds(journal, phone)
    again = account.sync(["leads"])
    assert again is not None
    assert phone not in set(account.leads()["phone"])


def test_published_tables_are_written_anew(account: Account, tmp_path: Path) -> None:
    """Where the tables were published is known; afterwards no file there has the number, and all are private."""
    pytest.importorskip("deltalake")
    phone = somebody(account)
    place = tmp_path / "lake"
    account.store.publish(str(place))
    files = [path for path in place.rglob("*") if path.is_file()]
    assert {path.stat().st_mode & 0o777 for path in files} == {0o600}

    erasure = forget(account.store.folder.parent, phone, NOW)

    assert erasure.published == (str(place),)
    for path in place.rglob("*"):
        if path.is_file():
            assert path.stat().st_mode & 0o777 == 0o600
            assert not holds(path, phone), path


@pytest.mark.parametrize(
    "form", ["csv", "spaced", "gz", "zip", "xlsx", "parquet", "sqlite", "utf-16"]
)
def test_a_number_is_found_however_a_file_holds_it(tmp_path: Path, form: str) -> None:
    """Text in any writing, packed, as a workbook, as columns, as rows of a database."""
    phone, text = "+12125550142", "name,phone\nAda,+12125550142\n"
    path = tmp_path / f"list.{form}"
    frame = pd.DataFrame({"phone": [phone]})
    if form == "csv":
        path.write_text(text)
    elif form == "spaced":
        path.write_text("Ada (212) 555-0142")
    elif form == "gz":
        path.write_bytes(gzip.compress(text.encode()))
    elif form == "zip":
        with zipfile.ZipFile(path, "w") as archive:
            archive.writestr("a.csv", text)
    elif form == "xlsx":
        pytest.importorskip("openpyxl")
        frame.to_excel(path, index=False)
    elif form == "parquet":
        frame.to_parquet(path)
    elif form == "sqlite":
        made = sqlite3.connect(path)
        made.execute("create table t (phone integer)")
        made.execute("insert into t values (12125550142)")
        made.commit()
        made.close()
    else:
        path.write_bytes(text.encode("utf-16"))

    assert holds(path, phone)
    assert not holds(path, "+12125550143")


def test_the_report_names_every_file_that_a_command_wrote(
    account: Account, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Lists and exports with the number in them are named as the user's; others are not."""
    phone = somebody(account)
    monkeypatch.setenv("DIALFRAME_BASE_URL", account.client.base_url)
    leads = tmp_path / "autumn.csv"
    leads.write_text(f"name,phone\nAda,{phone}\n")
    invoke("leads clean --region US", leads, "--out", tmp_path / "out")
    other = tmp_path / "other.csv"
    other.write_text("name,phone\nBob,+12025550177\n")
    invoke("leads clean --region US", other, "--out", tmp_path / "out")
    register = Outputs.of_this_user()
    assert register.path.stat().st_mode & 0o777 == 0o600
    assert phone[1:] not in register.path.read_text()
    assert all(json.loads(line)["path"] for line in register.path.read_text().splitlines())

    erasure = forget(account.store.folder.parent, phone, NOW)

    named = {one.path.name for one in erasure.remaining}
    assert any(name.startswith("autumn") for name in named)
    assert not any(name.startswith("other") for name in named)
    assert all("yours" in one.why for one in erasure.remaining)
    assert phone not in json.dumps(erasure.as_dict())


def test_the_report_names_every_file_that_python_wrote(account: Account, tmp_path: Path) -> None:
    """Exports, lists, packs, backups: whatever holds the number afterwards is in the report, or in the store."""
    phone = somebody(account)
    out = tmp_path / "out"
    out.mkdir()
    leads = tmp_path / "autumn.csv"
    leads.write_text(f"name,phone\nAda,{phone}\nBob,+12025550177\n")
    dialframe.leads.clean_files([leads], out / "lists", region="US")
    reporting.write_table(account.leads(), out / "leads.parquet")
    reporting.write_table(account.calls(), out / "calls.csv")
    result = dialframe.audit(account, rules=["us"])
    auditing.write_pack(result, out / "pack", zipped=True)
    auditing.write_pack(result, out / "alone.zip")
    backups.backup(account.store.folder, out / "backup")
    ColumnMap(phone="phone").save(out / f"{phone}.columns.json")
    calls = account.calls()
    recorded = str(calls.loc[calls["status"] == "completed", "id"].iloc[0])
    account.client.calls.recording(recorded, out / "call.wav")

    erasure = forget(account.store.folder.parent, phone, NOW)

    named = {left.path for left in erasure.remaining}
    holding = {path for path in out.rglob("*") if path.is_file() and holds(path, phone)}
    assert {path.relative_to(out).parts[0] for path in holding} >= {"lists", "leads.parquet"}
    assert holding <= named
    # Sound cannot be searched, so each recording is named; and the name of a file can hold a number too.
    assert named - holding >= {out / "call.wav", out / f"{phone}.columns.json"}
    assert Outputs.of_this_user().path in named
    outside = {path for path in tmp_path.rglob("*") if path.is_file() and holds(path, phone)}
    assert outside == {*holding, leads} <= named
    assert out / "alone.zip" in Outputs.of_this_user().paths()
    assert ".tmp" not in Outputs.of_this_user().path.read_text()


def test_the_register_of_outputs_does_not_grow_for_ever(tmp_path: Path) -> None:
    """Written often is noted once, what was deleted is dropped, and what a missing disk held stays."""
    register = Outputs(tmp_path / "outputs.jsonl")
    kept, gone, away = tmp_path / "kept", tmp_path / "gone", tmp_path / "disk" / "away"
    kept.touch()
    for _ in range(12):
        register.add([kept, gone, away] * 200, NOW)

    assert register.path.stat().st_size < 1 << 18
    assert register.paths() == [kept]
    noted = {json.loads(line)["path"] for line in register.path.read_text().splitlines()}
    assert noted >= {str(kept), str(away)}
    assert register.path.stat().st_mode & 0o777 == 0o600

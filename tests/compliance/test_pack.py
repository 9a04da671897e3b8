"""A pack is held against its own rules, calendars and clocks: whatever table is forged, its program names it."""

from __future__ import annotations

import shutil
from datetime import UTC, datetime, timedelta
from pathlib import Path

import duckdb
import pytest

from compliance import hand
from dialframe.compliance import Declared, Practice, Question, pack
from dialframe.compliance.engine import Engine
from dialframe.compliance.pack.verify import Pack, law, results

AT = datetime(2026, 6, 24, 18, tzinfo=UTC)
NUMBERS = [
    *(f"+121255501{n:02}" for n in range(3)),
    "+34911234567",
    "+34612345678",
    "+33142345678",
]
#: What no pack can show: records as they came and what they come to, and the word of the firm.
RECORDS = {
    "attempts_after_events", "caller_numbers", "calls_before", "calls_in", "checks", "checks_in", "circumstances", "consents",
    "due_callbacks", "exemptions", "flags", "inbound", "inputs", "known_outcomes", "leads", "left_out", "lifted_codes",
    "line_types", "look_ups", "named_places", "numbers", "records_after", "records_around", "refusals", "request_days",
    "request_spans", "requests", "requests_before", "screens", "scrubs", "scrubs_around", "settings", "spoken",
    "spoken_calls", "spoken_facts", "words",
}  # fmt: skip
FIRM = {"callers", "campaign_settings", "conduct", "consent_given", "covers", "declared_rules"}
#: Places of numbers, which only the numbering plans can show (`misplaced`), and words for hours.
ELSEWHERE = {"places", "place_zones", "hours_words"}


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A pack of calls to three countries, with a request, declared days and callers of two rooms."""
    days = range(0, 40, 7)
    rows = [
        hand.call(phone, AT + timedelta(days=day), id=f"c{n}-{day}", campaign_id=f"cmp_{n % 2}")
        for n, phone in enumerate(NUMBERS)
        for day in days
    ]
    rows += [hand.call(NUMBERS[0], AT, id="refused", disposition="DNC")]
    practice = Practice(dialings={"cmp_1": "predictive"}, callers_in=("US-CA", "DE"))
    storm = Declared({"us-ny-emergency": {(AT + timedelta(days=7)).date(): "storm"}})
    asked = Question(now=AT + timedelta(days=90), practice=practice, declared=storm)
    engine = Engine({"calls": hand.calls(*rows)}, asked)
    engine.run()
    made = tmp_path_factory.mktemp("pack")
    pack.write(engine, made)
    (made / "manifest.json").write_text('{"files": [], "facts": {}}')
    return made


def faults_of(folder: Path, *, whole: bool = False) -> list[str]:
    """What the program of a pack finds in its law, and in its results where the whole is asked."""
    found = Pack(folder)
    with found.con:
        law(found)
        if whole:
            results(found)
    return found.faults


def forged(folder: Path, into: Path, changes: dict[str, str]) -> Path:
    """A copy of a pack whose tables are what queries make of them."""
    copy = into / "forged"
    shutil.copytree(folder, copy)
    for name, query in changes.items():
        path = copy / "tables" / f"{name}.parquet"
        duckdb.from_arrow(duckdb.sql(query.format(f"'{path}'")).to_arrow_table()).write_parquet(str(path))  # fmt: skip
    return copy


def test_a_pack_that_nobody_touched_is_made_again(folder: Path) -> None:
    """Law, reach, holidays, deadlines, clocks, cases and results; its numbers are where their plans say."""
    assert faults_of(folder, whole=True) == []
    assert pack.misplaced(folder) == []


def test_every_table_is_made_again_or_is_a_record(folder: Path, tmp_path: Path) -> None:
    """A row less in each table of the law at once: each is named, and no other table decides in silence."""
    tables = {path.stem: duckdb.sql(f"from '{path}'") for path in (folder / "tables").glob("*.parquet")}  # fmt: skip
    assert tables.keys() >= RECORDS | FIRM | ELSEWHERE
    filled = {name for name, rows in tables.items() if len(rows)}
    made_again = filled - RECORDS - FIRM - ELSEWHERE
    assert len(made_again) > 25
    cut = "from (select *, row_number() over () as n from {0}) select * exclude (n) qualify n < max(n) over ()"
    faults = faults_of(forged(folder, tmp_path, dict.fromkeys(made_again, cut)))
    assert {name for name in made_again if not any(f"{name}: " in fault for fault in faults)} == set()  # fmt: skip


#: What whoever wants no violation makes of tables, and which of them are named.
FORGERIES = [
    {
        "circumstance_rules": "select * replace (true as doubtful) from {0}",
        "special_days": "select * replace (false as closed) from {0}",
        "offsets": "select * replace (utc_offset + 21600000000 as utc_offset) from {0}",
        "deadlines": "select * replace (ends_at + interval 1 year as ends_at) from {0}",
        "law_days": "select * replace (0::bigint as period) from {0}",
    },
    {
        "circumstance_rules": "select * replace (true as lifted) from {0}",
        "special_days": "select * replace ('ES-GA' as part) from {0}",
        "calls": "select * replace (date_trunc('day', at_utc) + interval 16 hour as at_utc) from {0}",
        "cases": "select * replace (0::bigint as circumstance) from {0}",
    },
    {"calls": "select * replace (first_day + 3 as first_day, last_day + 3 as last_day) from {0}"},
    {"calls": "select * replace ((select min(case_id) from {0}) as case_id) from {0}"},
]  # fmt: skip


@pytest.mark.parametrize("tables", FORGERIES, ids=["law", "days", "another day", "another case"])
def test_a_forged_table_is_named(folder: Path, tmp_path: Path, tables: dict[str, str]) -> None:
    """By the pack's own program, whatever else was made to agree with it."""
    faults = faults_of(forged(folder, tmp_path, tables))
    assert {name for name in tables if not any(f"{name}: " in fault for fault in faults)} == set()


def test_a_number_that_was_moved_is_found_by_the_numbering_plans(
    folder: Path, tmp_path: Path
) -> None:
    """Zones of New York numbers three hours behind."""
    zones = "case when zones = 'America/New_York' then 'America/Los_Angeles' else zones end"
    copy = forged(folder, tmp_path, {"places": f"select * replace ({zones} as zones) from {{0}}"})
    assert "3 of 6 numbers are placed otherwise" in pack.misplaced(copy)[0]

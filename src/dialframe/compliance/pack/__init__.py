"""The part of an evidence pack that anybody can run again: tables, rules, queries and `verify.py`.

`write(engine, folder)` lays four things into a folder: `tables/*.parquet` (every row that the
queries read), `rules/` (the rule book that was asked, whole), `checks/*.sql` (the queries, in the
order of `checks/order.txt`) and `results/*.parquet` (every call, number or request that did not
pass, together with all of the same grade, rules and missing input). `verify.py` beside them runs the queries
over the tables again and compares every row; it needs DuckDB and nothing of this package.

An audit in parts has tables and results of each part under `parts/`, and at the top those of the
checks over the sums of all parts.
"""

from __future__ import annotations

import hashlib
import hmac
import json
import os
import shutil
from collections.abc import Collection
from dataclasses import dataclass
from importlib import metadata, resources
from pathlib import Path
from typing import TYPE_CHECKING, Final

from dialframe import csv_safety
from dialframe.compliance.check_runner import CHECKS, Engine
from dialframe.compliance.checks.check_results import GRADES, Check
from dialframe.compliance.tables import Database, query, utc_offsets

if TYPE_CHECKING:
    import duckdb

__all__ = ["Kept", "versions", "write", "write_rows"]

#: Every table that a query reads and no query makes.
TABLES: Final = (
    "settings", "rules", "asked_by", "turns", "places", "place_zones", "place_clocks", "offsets",
    "numbers", "situations", "situation_rules", "cases", "case_rules", "not_asked", "calls",
    "calls_in", "checks_in", "inbound", "checks", "leads", "screens", "requests", "refusals", "flags", "due_callbacks",
    "windows", "fixed_clocks", "special_days", "caps", "cap_limits", "registries",
    "request_rules", "deadlines", "abandonment_rules", "known_outcomes", "consent_rules",
    "consent_given", "consents", "look_ups", "inputs", "retention_rules", "emergency_rules", "words",
    "conduct", "caller_numbers", "shown", "recording_rules", "caller_id_rules", "voice_rules",
    "weak_cases",
)  # fmt: skip
#: Tables of rows as they came, each a folder of files: an audit in parts has laid them out already.
ROWS: Final = ("calls_in", "checks_in")
#: Columns of `calls` that are those of `calls_in`; the pack holds them once.
_AS_THEY_CAME: Final = {
    "call_id": "id", "from_number": "from_number", "to_number": "to_number", "phone": "to_phone",
    "campaign_id": "campaign_id", "disposition": "disposition", "at_utc": "created_at",
    "answered_at": "answered_at", "ended_at": "ended_at", "duration_seconds": "duration_seconds",
    "recorded": "recorded",
}  # fmt: skip
#: The first query of a pack.
CALLS: Final = "calls"
_CALLS_SQL: Final = f"""-- Calls: where each went and under which law it stood, and what its row says.

create or replace table calls as
select c.*, {", ".join(f"r.{name} as {column}" for column, name in _AS_THEY_CAME.items())}
from calls c join calls_in r using (call);
"""
#: Every rule behind the numbers of the tables, whole, the firm's own among them.
HELD: Final = "in_this_audit.json"
#: Every call with its grade by each check, and every number with its newest Do-Not-Call record.
LISTS: Final = ("calls.csv", "coverage.csv")
#: Columns that hold a number as an integer, and those that hold it as text.
_KEYS: Final = ("phone", "to_phone", "phone_key")
_TEXTS: Final = ("to_number", "from_number", "number")
#: Ids and numbers are not worth a dictionary.
PARQUET: Final = (
    "format parquet, compression zstd, compression_level 1, parquet_version v2, "
    "dictionary_size_limit 10000"
)
_CSV: Final = "format csv, header"


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class Kept:
    """An audit in parts, as far as it can be run again.

    Attributes:
        sums: The checks over the sums of all parts, run.
        parts: A folder for each part, as `write_rows` fills it.
        ran: Checks that were run on the parts or on their sums.
    """

    sums: Engine
    parts: Path
    ran: tuple[str, ...]


def write(audit: Engine | Kept, folder: Path, *, pseudonyms: bytes | None = None) -> None:
    """Lay what is needed to run the audit again into a folder.

    Args:
        audit: The audit, with its checks run.
        folder: The folder of the pack; it is there.
        pseudonyms: Key with which every number becomes a pseudonym, the same for the same number;
            the parts of an audit were written with it.

    Raises:
        OSError: The disk is full or the folder cannot be written.
    """
    engine, ran = (audit.sums, audit.ran) if isinstance(audit, Kept) else (audit, audit.ran)
    for name in ("checks", "rules"):
        (folder / name).mkdir(mode=0o700)
    write_rows(engine, folder, pseudonyms=pseudonyms)
    if isinstance(audit, Kept):
        shutil.copytree(audit.parts, folder / "parts", copy_function=_link)
    # `verify.py` runs the queries in this order: later ones read tables of earlier ones.
    order = [CALLS]
    _text(folder / "checks" / f"{CALLS}.sql", _CALLS_SQL)
    for check in (check for check in CHECKS if check.name in ran):
        if check.name == "abandonment":
            order.append("abandonment_days")
            _text(folder / "checks" / "abandonment_days.sql", query("abandonment_days", "checks"))
        order.append(check.name)
        text = query(check.name, "checks") + check.settling()
        _text(folder / "checks" / f"{check.name}.sql", text)
        _text(folder / "checks" / f"{check.name}.result.sql", result_query(check))
    _text(folder / "checks" / "order.txt", "\n".join(order) + "\n")
    _rules(folder / "rules")
    held = [
        {"rule": each.rule, "asked": each.asked, **each.law.model_dump(mode="json")}
        for each in engine.question.law.rules
    ]
    _text(folder / "rules" / HELD, json.dumps(held, indent=1, ensure_ascii=False) + "\n")
    source = resources.files("dialframe.compliance.pack") / "verify.py"
    _text(folder / "verify.py", source.read_text(encoding="utf-8"))


def write_rows(
    engine: Engine,
    folder: Path,
    *,
    pseudonyms: bytes | None = None,
    without: Collection[str] = (),
    listed: bool = True,
) -> None:
    """Lay the tables of an audit and what it found into `tables` and `results`.

    Args:
        engine: The audit, with its checks run.
        folder: The folder that the two are made in.
        pseudonyms: Key with which every number becomes a pseudonym.
        without: Checks whose results are left out: those over the sums of all parts.
        listed: Whether to write `LISTS`, whose numbers are whole.

    Raises:
        OSError: The disk is full or the folder cannot be written.
    """
    for name in ("tables", "results"):
        (folder / name).mkdir(mode=0o700)
    if pseudonyms is not None:
        _pseudonyms(engine.db, pseudonyms)
    _tables(engine, folder / "tables", hidden=pseudonyms is not None)
    for check in (each for each in CHECKS if each.name in engine.ran and each.name not in without):
        result = result_query(check)
        # Its items are numbers, which the pack hides.
        if pseudonyms is not None and check.name == "scrub_coverage":
            result = f"select r.* replace (p.name as item) from ({result}) r join pseudonym_texts p on p.number = r.item"
        query = (
            f"select list(item) as items, severity, rules, missing from ({result}) group by all"
        )
        if check.grouped:
            query = f"""
                select flatten(list(s.members)) as items, g.severity::int as severity, g.rules, g.missing
                from {check.name}_grades g join {check.name}_situations s using (situation) where g.severity > 1 group by all"""
        _copy(engine.con, query, folder / "results" / f"{check.name}.parquet")
    if listed and "scrub_coverage" in engine.ran:
        for name, query in zip(LISTS, (_every_call(engine), _EVERY_NUMBER), strict=True):
            _copy(engine.con, query, folder / name, _CSV)


def _tables(engine: Engine, folder: Path, *, hidden: bool) -> None:
    """Every table; rows that were laid out as files are not written twice."""
    for name in TABLES:
        target = folder / f"{name}.parquet"
        if name in ROWS:
            target = folder / name / "rows.parquet"
            target.parent.mkdir(mode=0o700)
        if name not in engine.files or name not in ROWS or hidden:
            _copy(engine.con, _selected(engine.con, name, hidden=hidden), target)
            continue
        for file in engine.files[name]:
            _link(str(file), str(target.parent / file.name))
            file.chmod(0o600)


def _every_call(engine: Engine) -> str:
    """The query of the calls with their grade by each check; nothing where no rule of it reaches the call."""
    grades, joins = [], []
    for check in (each for each in CHECKS if each.by_call and each.name in engine.ran):
        name = check.name
        reached = "c.missing_input is null" + (" and c.attempt" if check.attempts_only else "")
        by_case = f"""case when {reached} then
          case when n_{name}.case_id is not null and coalesce(d_{name}.severity, 0) = 0 then 1 else d_{name}.severity end end"""
        grades.append(
            f"list_extract({list(GRADES)}, 1 + coalesce(g_{name}.severity, {by_case})) as {name}"
        )
        joins.append(f"""
        left join {name}_graded g_{name} on g_{name}.call = c.call
        left join (select case_id, max(severity) as severity from {name}_default group by case_id) d_{name} on d_{name}.case_id = c.case_id
        left join (select distinct case_id from not_asked where check_name = '{name}') n_{name} on n_{name}.case_id = c.case_id""")
    return f"""
        select {_safe("c.call_id")} as call_id, {_safe("c.to_number")} as to_number,
          {_safe("c.campaign_id")} as campaign_id, {_instant("c.at_utc")} as created_at, p.zones,
          p.source as zone_source, p.confidence as zone_confidence, {", ".join(grades)}
        from calls c left join places p using (place) {"".join(joins)}
        where c.graded order by c.call"""


def _instant(at: str) -> str:
    return f"strftime({at}, '%Y-%m-%dT%H:%M:%S.%fZ')"


def _safe(column: str) -> str:
    """A text that no spreadsheet runs, as `csv_safety.escape` says."""
    begins, number = (each.replace("'", "''") for each in csv_safety.PATTERNS)
    return f"""case when regexp_matches({column}, '^{begins}') and not regexp_full_match({column}, '{number}')
      then '''' || {column} else {column} end"""


#: The query of the numbers that are callable or were called, with the newest record of each.
_EVERY_NUMBER: Final = f"""
    select {_safe("number")} as phone, {_safe("lead_id")} as lead_id, callable, called,
      {_instant("case newest when 'check' then check_at else screen_at end")} as checked_at,
      case when check_at is not null or screen_at is not null then newest end as source,
      {_safe("case newest when 'check' then check_ref else screen_ref end")} as ref,
      case newest when 'check' then listed else false end as listed,
      date_diff('day', timestamp '2000-01-01', timestamp '2000-01-01' + max_age) as max_age_days, state
    from coverage order by lead_place nulls last, call_place"""


def _link(source: str, target: str) -> None:
    """The same file under another name, or a copy of it on another disk."""
    try:
        os.link(source, target)
    except OSError:
        shutil.copy2(source, target)


def result_query(check: Check) -> str:
    """The query of everything that a check did not pass: `item, severity, rules, missing`."""
    if check.by_call:
        return f"select g.call as item, g.severity::int as severity, g.rules, g.missing from {check.name}_graded g where g.severity > 1"
    item = {
        "scrub_coverage": "number", "internal_dnc": "place::varchar", "retention": "rule::varchar",
        "abandonment": "concat_ws(' ', rule, campaign_id, from_day)",
    }[check.name]  # fmt: skip
    return f"select {item} as item, severity::int as severity, rules, missing from {check.name} where severity > 1"


def versions() -> dict[str, str]:
    """Versions of everything that the grades depend on beside the rule book."""
    # Each of them may change a grade: the engine, the days, the plans of numbers, the clocks.
    names = ("duckdb", "holidays", "phonenumbers", "tzdata")
    zones = f"tzdata {utc_offsets.version()}, from the package and never the host"
    return {name: metadata.version(name) for name in names} | {"zones": zones}


def _selected(con: duckdb.DuckDBPyConnection, name: str, *, hidden: bool) -> str:
    """The query of a table as it is written: calls looked at as they were, numbers hidden where that is asked."""
    # A pack is run again without the frames that somebody read of the audit.
    if name == "settings":
        return "select * replace (false as every_row) from settings"
    if name == "shown":
        return "select null::bigint as call where false"
    kinds = {row[0]: row[1] for row in con.execute(f"describe {name}").fetchall()}
    kept = [c for c in kinds if name != "calls" or c not in _AS_THEY_CAME]
    return f"select {', '.join(_shown(c, kinds[c]) if hidden else c for c in kept)} from {name} t"


def _shown(column: str, kind: str) -> str:
    """A column as a pack without numbers has it."""
    if column in _TEXTS or (column in _KEYS and kind == "VARCHAR"):
        return f"(select p.name from pseudonym_texts p where p.number = t.{column}) as {column}"
    if column in _KEYS:
        return f"(select p.secret from pseudonym_keys p where p.phone = t.{column}) as {column}"
    return column


def _pseudonyms(db: Database, key: bytes) -> None:
    """A pseudonym for every number of the tables."""
    texts = db.con.execute("""
        select to_number from calls_in where to_number is not null union select from_number from calls_in where from_number is not null
        union select phone from checks_in where phone is not null
        union select number from leads where number is not null union select '+' || phone from requests
        union select '+' || phone from checks union select '+' || phone from inbound where phone is not null
        union select '+' || phone from consents where phone is not null union select '+' || phone from look_ups where phone is not null""").fetchall()
    rows = []
    for (text,) in texts:
        # RFC 2104: without the key nobody finds a number by trying all that there are.
        digest = hmac.new(key, text.encode(), hashlib.sha256).hexdigest()
        # Sixty bits: the queries keep a number as a signed integer of 64.
        rows.append((text, f"number-{digest[:16]}", int(digest[:15], 16)))
    db.load("pseudonym_texts", {"number": "text", "name": "text", "secret": "int"}, rows)
    db.run("""
        create or replace table pseudonym_keys as
        select try_cast(substr(number, 2) as bigint) as phone, any_value(secret) as secret from pseudonym_texts
        where try_cast(substr(number, 2) as bigint) is not null group by 1""")


def _copy(con: duckdb.DuckDBPyConnection, query: str, path: Path, form: str = PARQUET) -> None:
    con.execute(f"copy ({query}) to '{path}' ({form})")
    path.chmod(0o600)


def _text(path: Path, text: str) -> None:
    path.write_text(text, encoding="utf-8")
    path.chmod(0o600)


def _rules(folder: Path) -> None:
    """The rule book as it comes with the package: values, days, quotations and sources."""
    book = resources.files("dialframe.compliance.rules") / "book"
    for file in sorted(book.iterdir(), key=lambda each: each.name):
        if file.name.endswith(".toml"):
            _text(folder / file.name, file.read_text(encoding="utf-8"))
    calendars = resources.files("dialframe.compliance.rules") / "calendars.toml"
    _text(folder / "calendars.toml", calendars.read_text(encoding="utf-8"))


def __dir__() -> list[str]:
    """The names that the room exports."""
    return sorted(__all__)

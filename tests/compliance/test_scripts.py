"""The scripts of the audit: what each statement says of empty tables follows from its own joins.

A statement that says `Empty without a, b` is left out where one of these tables has no row. So the
words are held against the statement as DuckDB itself parses it: inner joins need both sides, a left
join its left one, a union any of its parts, and sums without groups give a row of nothing.
"""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from functools import cache
from pathlib import Path
from typing import Any

import duckdb
import pytest

from dialframe import compliance
from dialframe.compliance import tables

SCRIPTS = sorted(Path(compliance.__file__).parent.glob("*/*.sql"))
ALWAYS = frozenset({frozenset[str]()})
NEVER_EMPTY = ("settings", "turns")


@cache
def aggregates() -> frozenset[str]:
    """Names of the functions that sum rows up."""
    query = "select function_name from duckdb_functions() where function_type = 'aggregate'"
    return frozenset(name for (name,) in duckdb.execute(query).fetchall())


@pytest.mark.parametrize("path", SCRIPTS, ids=lambda path: path.stem)
def test_a_statement_says_without_which_tables_it_gives_no_row(path: Path) -> None:
    """Neither too much, which would lose rows, nor too little, which would cost time."""
    for step in tables.steps(path.read_text(encoding="utf-8")):
        if step.table:
            text = re.sub(r"--[^\n]*", "", step.statement.query)
            select = re.split(rf"(?i)\b{step.table}\b(?:\s+as\b)?", text, maxsplit=1)[1]
            needs = derived(select.strip().rstrip(";"))
            said = frozenset(step.needs) or ALWAYS
            assert said == needs, (step.table, needs)


def derived(select: str) -> frozenset[frozenset[str]]:
    """Sets of tables of which one must have rows throughout, so that the query can give any."""
    row = duckdb.execute("select json_serialize_sql(?)", [select]).fetchone()
    assert row is not None
    tree = json.loads(row[0])
    assert not tree["error"], tree
    return _node(tree["statements"][0]["node"], {})


Needs = frozenset[frozenset[str]]


def _node(node: Any, known: Mapping[str, Needs]) -> Needs:
    names = dict(known)
    for entry in node["cte_map"]["map"]:
        names[entry["key"]] = _node(entry["value"]["query_node"], names)
    if node["type"] == "SET_OPERATION_NODE":
        assert node["setop_type"] in ("UNION", "UNION_BY_NAME")
        parts = node.get("children") or [node["left"], node["right"]]
        return _least(frozenset[frozenset[str]]().union(*(_node(part, names) for part in parts)))
    assert node["type"] == "SELECT_NODE"
    sums = _has_sums(node["select_list"]) or _has_sums(node["having"])
    if (
        sums
        and not node["group_expressions"]
        and node["aggregate_handling"] == "STANDARD_HANDLING"
    ):
        return ALWAYS
    return _source(node["from_table"], names)


def _source(source: Any, names: Mapping[str, Needs]) -> Needs:
    if source["type"] == "BASE_TABLE":
        name = source["table_name"]
        return names.get(
            name, ALWAYS if name in NEVER_EMPTY else frozenset({frozenset({str(name)})})
        )
    if source["type"] == "SUBQUERY":
        return _node(source["subquery"]["node"], names)
    if source["type"] != "JOIN":
        return ALWAYS
    left, right = _source(source["left"], names), _source(source["right"], names)
    if source["join_type"] == "LEFT":
        return left
    if source["join_type"] in ("FULL", "OUTER"):
        return _least(left | right)
    assert source["join_type"] in ("INNER", "SEMI")
    return _least(frozenset(a | b for a in left for b in right))


def _least(needs: Needs) -> Needs:
    return frozenset(a for a in needs if not any(b < a for b in needs))


def _has_sums(part: Any) -> bool:
    if isinstance(part, dict):
        if part.get("class") == "FUNCTION" and part.get("function_name") in aggregates():
            return True
        return part.get("class") != "SUBQUERY" and any(_has_sums(each) for each in part.values())
    return isinstance(part, list) and any(_has_sums(each) for each in part)

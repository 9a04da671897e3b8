"""Nobody who refused is called: headers by values in ten languages; and few others are held back."""

from __future__ import annotations

import csv
import tomllib
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

import numpy as np
import pyarrow as pa
import pytest

from dialframe import leads, opt_outs
from leads.national_lists import COUNTRIES, national_list


def _read_columns() -> list[tuple[str, list[str], list[str]]]:
    """Headers of `permission_columns.tsv`, each with values that forbid the call and others."""
    text = Path(__file__).with_name("permission_columns.tsv").read_text("utf-8")
    rows = csv.DictReader(text.splitlines(), delimiter="\t", quoting=csv.QUOTE_NONE)
    kinds = ("forbidding", "allowing")
    return [
        (row["header"], *(row[kind].split("|") if row[kind] else [] for kind in kinds))
        for row in rows
    ]


def _read_notes(name: str) -> dict[str, dict[str, list[str]]]:
    """Notes, and headers with a value, by language."""
    tables = tomllib.loads(Path(__file__).with_name(name).read_text("utf-8"))
    return {
        language: {kind: text.strip().splitlines() for kind, text in table.items()}
        for language, table in tables.items()
    }


def _header_and_value(line: str) -> tuple[str, str]:
    header, _, value = line.partition(" =>")
    return header, value.strip()


COLUMNS = _read_columns()
REFUSALS, ORDINARY = _read_notes("refusals.toml"), _read_notes("ordinary_notes.toml")
#: Notes of agents and dispositions of dialers, by language.
REMARKS = {language: tuple(table["notes"]) for language, table in REFUSALS.items()}
#: Headers and values of each that forbid nothing.
ALLOWING = [
    _header_and_value(line) for table in ORDINARY.values() for line in table.get("headers", ())
]
#: Headers and one value of each that forbids the call.
FORBIDDING = [
    _header_and_value(line) for table in REFUSALS.values() for line in table.get("headers", ())
]
#: Headers, each with its refusing values and what the others of the list have in that column.
CASES = [
    (header, forbidding, ((allowing or [""])[0], (allowing or [""])[-1]))
    for header, forbidding, allowing in COLUMNS
    if forbidding
]
Case = tuple[str, Sequence[str], tuple[str, str]]


@pytest.fixture(scope="module")
def list_of(tmp_path_factory):
    """Makes a list of names, numbers and one more column, each list with numbers of its own."""
    path = tmp_path_factory.mktemp("lists") / "list.csv"
    path.write_text("Name,Phone,Note\nKim,212-555-0142,\n", encoding="utf-8")
    # Reading a file takes longer than cleaning the few records of one, so one is read for all.
    read = leads.read(path)

    def make(code: int, header: str, cells: Sequence[str]) -> leads.LeadFile:
        # With a calling code: nothing is to be weighed of which country they are.
        phones = [f"+1 212-{code}-{at:04}" for at in range(len(cells))]
        columns = {"Name": ["Kim"] * len(cells), "Phone": phones, header: list(cells)}
        rows = np.arange(1, len(cells) + 1)
        return replace(
            read,
            path=path.with_name(f"{code}.csv"),
            table=pa.table(
                {name: pa.array(cells, pa.large_string()) for name, cells in columns.items()}
            ),
            header=tuple(columns),
            left_out=read.left_out.rename_columns(
                [header if name == "Note" else name for name in read.left_out.column_names]
            ),
            lines=rows + 1,
            rows=rows,
        )

    return make


def leaks(list_of, cases: Sequence[Case]) -> dict[str, list[str]]:
    """By header, values by which somebody may still be called; each header in a list of its own.

    In each list are others who may be called. All lists are cleaned at once, no number is in two.
    """
    files = [
        list_of(
            code, header, [cell for value in values for cell in (value, first, second, second)]
        )
        for code, (header, values, (first, second)) in enumerate(cases, 200)
    ]
    cleaned = leads.clean(files, region="US", force_region=True)
    clean = set(cleaned.clean["phone"])
    leaked = {}
    for code, (header, values, _) in enumerate(cases, 200):
        kept = [value for at, value in enumerate(values) if f"+1212{code}{4 * at:04}" in clean]
        if kept:
            leaked[header] = kept
    return leaked


def test_the_corpus_is_large_enough():
    """A hundred headers and five hundred values."""
    assert len({header for header, _, _ in CASES}) >= 100
    assert sum(len(values) for _, values, _ in CASES) >= 500


def test_no_refusal_leaks(list_of):
    """Whatever the header and the value, in both polarities."""
    assert leaks(list_of, CASES) == {}


@pytest.mark.parametrize("language", [
    *("es", "fr", "de", "pt", "it", "nl", "pl", "sv", "ru", "ko"),
    *("da", "no", "fi", "cs", "ar", "hi", "hu", "ro", "id", "zh"),
])  # fmt: skip
def test_strong_phrases_of_notes_are_put_to_a_person(language):
    """Nine of ten refusals; a phrase that no table has is read by nobody."""
    notes = REMARKS[language]
    missed = [note for note in notes if opt_outs.find_phrase(note) is None]

    assert len(missed) <= len(notes) / 10, missed


@pytest.mark.parametrize("language", ["en", "ja", "zh"])
def test_most_phrases_of_hurried_notes_are_put_to_a_person(language):
    """Notes of agents with slips and slang: four of five."""
    notes = REMARKS[language]

    assert sum(opt_outs.find_phrase(note) is not None for note in notes) >= 0.8 * len(notes)


@pytest.mark.parametrize(
    ("note", "says"),
    [
        ("dceased", "deceased"),
        ("pt passed 3/2/24", "deceased"),
        ("lost to cancer, sadly", "deceased"),
        ("pls remve my nmber", "refusal"),
        ("unsubscibe", "refusal"),
        ("contact through attorney only", "refusal"),
        ("some other guy has this number", "wrong_number"),
        ("died laughing, loves the product", None),
        ("customer passed the credit check", None),
        ("asked us to stop by the office", None),
        ("lead reassigned to John", None),
        ("Phone No 555", None),
        ("take part in our campaign", None),
        ("wedding registry list", None),
    ],
)
def test_a_note_says_what_its_words_say(note, says):
    """Common slips are read as the word that was meant; a word alone is no phrase."""
    phrase = opt_outs.find_phrase(note)

    assert (phrase and phrase.says) == says


def test_no_header_with_a_refusing_value_leaks(list_of):
    """Each in a list whose other cells have a value that forbids nothing."""
    others = {header: value for header, value in ALLOWING if value}
    values: dict[str, list[str]] = {}
    for header, value in FORBIDDING:
        values.setdefault(header, []).append(value)
    cases = [(header, own, (others.get(header, ""), "")) for header, own in values.items()]

    assert leaks(list_of, cases) == {}


def test_ordinary_notes_are_hardly_held():
    """Fewer than one in a hundred, though many use the words of refusals."""
    notes = [note for table in ORDINARY.values() for note in table["notes"]]
    held = [note for note in notes if opt_outs.find_phrase(note)]

    assert len(held) < len(notes) / 100, held


def test_no_header_leaks_in_another_spelling(list_of):
    """By the first of its values: in capitals with underscores, which are read away one by one."""
    spelled = [
        (spelling, values[:1], others)
        for header, values, others in CASES
        if (spelling := header.upper().replace(" ", "_")) != header
    ]
    assert leaks(list_of, spelled) == {}


def test_allowing_values_hold_nobody(list_of):
    """Nor do words of other columns that look like refusals and are none; each header in a list of its own."""
    columns = [(header, allowing) for header, _, allowing in COLUMNS if allowing]
    files = [
        list_of(code, header, (allowing * 20)[:20])
        for code, (header, allowing) in enumerate(columns, 200)
    ]
    held = leads.clean(files, region="US").do_not_call

    assert held[["_field", "_value", "_reason"]].drop_duplicates().to_numpy().tolist() == []


@pytest.mark.parametrize("region", list(COUNTRIES)[::4])
def test_national_lists_are_clean(lead_file, region):
    """With their cities, names and mails."""
    cleaned = leads.clean(lead_file(national_list(region, 20)), region=region)

    assert len(cleaned.do_not_call) == 0

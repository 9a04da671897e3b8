"""Nobody who refused is called: headers by values in ten languages; and few others are held back."""

from __future__ import annotations

import csv
import tomllib
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

import numpy as np
import pandas as pd
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
#: A header of remarks and an innocent one, by language.
REMARK_HEADERS = {
    "en": ("Notes", "interested"),
    "es": ("Observaciones", "interesado"),
    "fr": ("Remarques", "rappeler lundi"),
    "de": ("Bemerkung", "am Montag anrufen"),
    "pt": ("Observações", "ligar segunda"),
    "it": ("Note", "richiamare lunedì"),
    "nl": ("Opmerking", "maandag bellen"),
    "pl": ("Uwagi", "zadzwonić w poniedziałek"),
    "sv": ("Anteckningar", "ring på måndag"),
    "ja": ("備考", "月曜に電話"),
    "da": ("Noter", "ring mandag"),
    "no": ("Notater", "ring mandag"),
    "fi": ("Huomautukset", "soita maanantaina"),
    "cs": ("Poznámky", "zavolat v pondělí"),
    "tr": ("Notlar", "pazartesi ara"),
    "ru": ("Примечания", "перезвонить в понедельник"),
    "zh": ("备注", "周一再打"),
    "ko": ("비고", "월요일에 전화"),
    "ar": ("ملاحظات", "اتصل يوم الاثنين"),
    "hi": ("Remarks", "kal phone karo"),
    "hu": ("Megjegyzés", "holnap visszahívni"),
    "ro": ("Observații", "revin luni"),
    "id": ("Catatan", "hubungi besok"),
}
#: Headers, each with its refusing values and what the others of the list have in that column.
CASES = [
    *(
        (header, forbidding, ((allowing or [""])[0], (allowing or [""])[-1]))
        for header, forbidding, allowing in COLUMNS
        if forbidding
    ),
    *(
        (header, REMARKS[language], ("", innocent))
        for language, (header, innocent) in REMARK_HEADERS.items()
    ),
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
            frame=pd.DataFrame(columns, dtype="str"),
            header=tuple(columns),
            skipped=read.skipped.rename(columns={"Note": header}),
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
    """A hundred headers, five hundred values, twenty languages and more."""
    assert len({header for header, _, _ in CASES}) >= 100
    assert len({value for _, values, _ in CASES for value in values}) >= 500
    assert len(REMARKS) == len(REMARK_HEADERS) >= 20


def test_no_refusal_leaks(list_of):
    """Whatever the header and the value."""
    assert leaks(list_of, CASES) == {}


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
    held = [note for note in notes if opt_outs.read_remark(note, "notes")]

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

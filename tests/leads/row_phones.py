"""The phone number of every record of one file, and why there is none; knows cells and columns of phones only."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import pandas as pd

from dialframe.leads.columns.column_map import ColumnMap
from dialframe.leads.columns.country_names import Regions, read_region
from dialframe.leads.columns.region_signs import unnamed_countries
from dialframe.leads.columns.split_phones import phone_columns
from dialframe.leads.judging.phone_cells import (
    PhoneReading,
    fit,
    is_fax,
    read_extension,
    read_phone,
    type_column,
)
from dialframe.leads.judging.rules import Policy
from dialframe.leads.lead_file import LeadFile
from dialframe.leads.names_and_emails import is_nothing, read_name, tidy
from dialframe.phones import normalize
from leads.row_findings import Assessed, by_distinct


def row_regions(file: LeadFile, columns: ColumnMap, region: str | None) -> Regions:
    """The region of national numbers: one for all rows, or one each where a column names it.

    A blank country is the region given, if its number is none of another country of the list. A
    country that nobody knows is None, so that a national number of it is refused rather than read
    as one of another country.
    """
    if columns.country is None:
        return region
    countries = file.frame[columns.country]
    regions = by_distinct(
        countries, lambda cell: region if is_nothing(tidy(cell)) else read_region(cell)
    )
    phones = phone_columns(file.frame, columns.phone, columns.joined)
    beside = unnamed_countries(countries, [*phones.values()], region) if region else ()
    blank = [is_nothing(tidy(cell)) for cell in countries]
    for other in beside:
        for column in phones.values():
            valid = normalize(column, region=other)["valid"].fillna(value=False)
            for row, (is_blank, is_valid) in enumerate(zip(blank, valid, strict=True)):
                if is_blank and is_valid:
                    regions[row] = None
    return regions


def read_phones(cells: pd.Series, regions: Regions, policy: Policy) -> list[PhoneReading]:
    """The number in each cell, and whether the policy takes it, asked once for each distinct cell.

    Plain cells: see `phone_cells`; of a plain valid number only its line type is left to ask
    (`line_types.fit`).
    """
    if isinstance(regions, str | None):
        return by_distinct(cells, lambda cell: fit(read_phone(cell, regions), policy))
    known: dict[tuple[str, str | None], PhoneReading] = {}
    readings = []
    for key in zip(cells.tolist(), regions, strict=True):
        if key not in known:
            known[key] = fit(read_phone(*key), policy)
        readings.append(known[key])
    return readings


def find_phones(
    assessed: Assessed,
    regions: Regions,
    policy: Policy,
    blocked: frozenset[str],
) -> dict[str, list[PhoneReading]]:
    """The first column of the preference that has a number, or the first reason why none has.

    Returns:
        What was read in each phone column, row by row.
    """
    frame, columns = assessed.file.frame, assessed.columns
    phones = phone_columns(frame, columns.phone, columns.joined)
    cells = {name: text.tolist() for name, text in phones.items()}
    cells |= {name: frame[name].tolist() for name in columns.fax}
    tried = {
        name: _without_faxes(assessed, name, read_phones(text, regions, policy))
        for name, text in phones.items()
    }
    chosen: list[PhoneReading] = []
    for row, readings in enumerate(zip(*tried.values(), strict=True)):
        for name, reading in zip(columns.phone, readings, strict=True):
            if reading.remark is not None:
                assessed.find(row, reading.remark, name, cells[name][row])
        best = next((at for at, one in enumerate(readings) if one.e164), None)
        chosen.append(readings[best] if best is not None else PhoneReading())
        if best is None:
            _no_number(assessed, row, readings, cells)
            continue
        assessed.warn(row, readings[best].warnings)
        if any(one.reason != "missing_phone" for one in readings[:best]):
            assessed.warn(row, ["phone_fallback"])
        if readings[best].region in blocked:
            assessed.find(row, "blocked_country", "phone", readings[best].e164)
    assessed.put("phone", [one.e164 for one in chosen])
    _beside(assessed, regions, policy, chosen)
    return tried


def _beside(
    assessed: Assessed, regions: Regions, policy: Policy, chosen: Sequence[PhoneReading]
) -> None:
    """Extensions and second numbers, from the phone cell or from columns of their own."""
    frame, columns = assessed.file.frame, assessed.columns
    extensions = [one.extension for one in chosen]
    if columns.extension is not None:
        told = by_distinct(frame[columns.extension], read_extension)
        extensions = [one or other for one, other in zip(extensions, told, strict=True)]
    assessed.put("phone_extension", extensions)
    others = [one.other for one in chosen]
    if columns.phone_other is not None:
        known = read_phones(frame[columns.phone_other], regions, policy)
        others = [one or other.e164 for one, other in zip(others, known, strict=True)]
    assessed.put("phone_other", others)


def _without_faxes(
    assessed: Assessed, name: str, readings: list[PhoneReading]
) -> list[PhoneReading]:
    """The readings of one phone column, without those that `Phone Type` says are faxes."""
    columns = assessed.columns
    kind = type_column(name, columns.phone, columns.leftovers)
    if kind is None:
        return readings
    faxes = by_distinct(assessed.file.frame[kind], is_fax)
    return [
        PhoneReading(reason="fax_only", remark=one.remark) if fax and one.e164 else one
        for one, fax in zip(readings, faxes, strict=True)
    ]


def _no_number(
    assessed: Assessed,
    row: int,
    readings: Sequence[PhoneReading],
    cells: Mapping[str, Sequence[str]],
) -> None:
    filled = False
    for name, reading in zip(assessed.columns.phone, readings, strict=True):
        if reading.reason and reading.reason != "missing_phone":
            filled = True
            assessed.find(row, reading.reason, "phone", cells[name][row])
    if not filled:
        faxes = (cells[name][row] for name in assessed.columns.fax)
        fax = next((cell for cell in faxes if read_name(cell)), "")
        assessed.find(row, "fax_only" if fax else "missing_phone", "phone", fax)

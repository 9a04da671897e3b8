"""Who of one file must not be called, record by record: opt-outs, consents, remarks, and every number of theirs."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from functools import partial

from dialframe import opt_outs
from dialframe.leads.columns.country_names import Regions
from dialframe.leads.columns.header_match import answer_reader
from dialframe.leads.columns.split_phones import phone_columns
from dialframe.leads.judging.phone_cells import PhoneReading, every_number, numbers_of
from dialframe.leads.judging.record_judgment import (
    PIECES,
    REMARK_POLICY,
    remark_columns,
    remark_scope,
)
from dialframe.leads.judging.rules import Policy
from dialframe.leads.reasons import BY_CODE
from dialframe.opt_outs import read_remark
from leads.row_findings import Assessed, by_distinct


def forbid(
    assessed: Assessed,
    policy: Policy,
    regions: Regions,
    read: Mapping[str, Sequence[PhoneReading]],
) -> None:
    """Note every prohibition of the file's records, and the numbers that it reaches.

    Args:
        assessed: The records; phones are read.
        policy: What a remark means.
        regions: As `row_phones.row_regions` gives them.
        read: What was read in the phone columns, as `row_phones.find_phones` gives it.
    """
    _permissions(assessed, policy)
    _remarks(assessed, policy)
    _damaged(assessed)
    _reach(assessed, regions, read)


def _permissions(assessed: Assessed, policy: Policy) -> None:
    """Opt-outs, and consents that are not given; a word that is neither forbids the call."""
    frame = assessed.file.frame
    for column in assessed.columns.opt_out:
        cells = frame[column].tolist()
        for row, answer in enumerate(by_distinct(frame[column], answer_reader(column))):
            if answer in ("yes", "unclear"):
                code = "opt_out" if answer == "yes" else "opt_out_unclear"
                assessed.find(row, code, column, cells[row])
    for column in assessed.columns.consent:
        cells = frame[column].tolist()
        for row, answer in enumerate(by_distinct(frame[column], opt_outs.read_consent)):
            if answer == "yes" or (answer == "blank" and policy.blank_consent == "clean"):
                continue
            code = "opt_out_unclear" if answer == "unclear" else "no_consent"
            assessed.find(row, code, column, cells[row])


def _remarks(assessed: Assessed, policy: Policy) -> None:
    """Prohibitions in columns that are not for them: notes, tags, dispositions, names, faxes.

    A plain cell is one in which `suspect_pattern` finds nothing; nothing is to be done for it.
    """
    for column in remark_columns(assessed.columns):
        cells = assessed.file.frame[column]
        rows = [at for at, cell in enumerate(cells) if re.search(opt_outs.suspect_pattern(), cell)]
        suspects = cells.iloc[rows]
        said = by_distinct(
            suspects, partial(read_remark, scope=remark_scope(assessed.columns, column))
        )
        for row, cell, remark in zip(rows, suspects, said, strict=True):
            if remark is None:
                continue
            if getattr(policy, REMARK_POLICY.get(remark, "remark")) == "warn":
                assessed.warn(row, ["remark"])
            else:
                assessed.find(row, remark, column, cell)


def _damaged(assessed: Assessed) -> None:
    """A record that could not be read whole may say anywhere that it must not be called."""
    frame, columns = assessed.file.frame, assessed.columns
    names = [str(name) for name in frame.columns]
    first = min((names.index(column) for column in columns.opt_out), default=len(names))
    for row, fault in assessed.file.faults.items():
        raw = assessed.file.raws.get(row, "")
        pieces = [piece.strip() for piece in PIECES.split(raw)]
        shifted = {opt_outs.plain_yes(piece) for piece in pieces[first:]}
        remark = next((said for piece in pieces if (said := read_remark(piece))), None)
        if columns.opt_out and True in shifted:
            assessed.find(row, "opt_out", columns.opt_out[0], fault)
        elif remark is not None and BY_CODE[remark].outcome == "do_not_call":
            assessed.find(row, remark, "", fault)


def _reach(
    assessed: Assessed, regions: Regions, read: Mapping[str, Sequence[PhoneReading]]
) -> None:
    """Every number of the records that must not be called, in whatever phone column it stands."""
    file, columns = assessed.file, assessed.columns
    forbidden = [
        row
        for row, found in assessed.findings.items()
        if any(BY_CODE[finding.code].outcome == "do_not_call" for finding in found)
    ]
    phones = phone_columns(file.frame, columns.phone, columns.joined) if forbidden else {}
    texts = {name: text.tolist() for name, text in phones.items()}
    unread = [*columns.fax, *([columns.phone_other] if columns.phone_other else [])]
    others = [file.frame[name].tolist() for name in unread]
    for row in forbidden:
        region = regions if isinstance(regions, str | None) else regions[row]
        numbers = [
            number
            for name, text in texts.items()
            for number in numbers_of(text[row], read[name][row], region)
        ]
        cells = [cells[row] for cells in others]
        if row in file.faults:
            cells += PIECES.split(file.raws.get(row, ""))
        numbers += [number for cell in cells if cell for number in every_number(cell, region)]
        assessed.numbers[row] = tuple(dict.fromkeys(numbers))

"""What became of a lead list as small tables for people; decides nothing, and shows numbers masked."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING, Any, Final

from dialframe import leads
from dialframe.leads import CleanedFile, CleanedFiles, ColumnMap, Decisions
from dialframe.leads.outcomes import LINE_COLUMNS
from dialframe.leads.reasons import WARNINGS
from dialframe.leads.report import Outcome
from dialframe.privacy import mask
from dialframe.reports.lead_list_page import SURE, delimiter, header

if TYPE_CHECKING:
    import pandas as pd

    # The ledger stands on the service's shapes, which a list that is only cleaned does not need.
    from dialframe.flows.import_ledger import Ledger

#: Lines are examples: the ledger and the reject file have all.
_LINES_SHOWN: Final = 3
#: Formats that name their columns themselves.
_KEYED: Final = ("parquet", "json", "jsonl")


def reason_rows(cleaned: Outcome) -> list[dict[str, Any]]:
    """Why records were set aside, most first; see `reasons`."""
    # One file needs no name beside its lines.
    several = len(cleaned.files) > 1
    rows = [
        {
            "outcome": outcome,
            "reason": reason["code"],
            "records": reason["count"],
            "meaning": reason["meaning"],
            "remedy": reason["remedy"],
            "first_lines": _lines(reason["examples"], several=several),
        }
        for outcome, listed in leads.report(cleaned)["reasons"].items()
        for reason in listed
    ]
    return sorted(rows, key=lambda row: -row["records"])


def reasons(cleaned: Outcome) -> pd.DataFrame:
    """Why records were set aside, most first.

    Columns: `outcome`, `reason`, `records`, `meaning`, `remedy` and `first_lines` (physical lines
    of the first records).
    """
    names = ["outcome", "reason", "records", "meaning", "remedy", "first_lines"]
    return _frame(reason_rows(cleaned), names)


def _frame(rows: list[dict[str, Any]], names: list[str]) -> pd.DataFrame:
    import pandas as pd

    counts = {"records": "Int64"} if "records" in names else {}
    return pd.DataFrame(rows, columns=names).astype(counts)


def list_kept_lines(cleaned: CleanedFiles) -> dict[str, list[dict[str, Any]]]:
    """By reason, the first records that it stands against: `file, line, field, value, all_reasons`, masked."""
    return {
        reason: [
            {
                name.removeprefix("_"): mask(row[name], reach="cell")
                if name == "_value"
                else row[name]
                for name in LINE_COLUMNS
            }
            for row in rows
        ]
        for reason, rows in cleaned.lines.items()
    }


def warning_rows(cleaned: Outcome) -> list[dict[str, Any]]:
    """What was mended in clean records: `records, warning, meaning`."""
    meanings = {warning.code: warning.meaning for warning in WARNINGS}
    return [
        {"records": count, "warning": code, "meaning": meanings.get(code, "")}
        for code, count in cleaned.warnings.items()
    ]


def warnings(cleaned: Outcome) -> pd.DataFrame:
    """What was mended in clean records: `records, warning, meaning`."""
    return _frame(warning_rows(cleaned), ["records", "warning", "meaning"])


def columns(cleaned: Outcome) -> pd.DataFrame:
    """Which column was taken for which field: `file, field, column, confidence, next_best`."""
    rows = [
        {
            "file": file.name,
            "field": name,
            "column": ", ".join(columns_found),
            "confidence": file.columns.confidence.get(name),
            "next_best": file.columns.uncertain.get(name, ""),
        }
        for file in cleaned.files
        for name, columns_found in file.columns.fields().items()
    ]
    return _frame(rows, ["file", "field", "column", "confidence", "next_best"])


def columns_of(file: CleanedFile) -> list[tuple[str, str, str, str]]:
    """Field, columns, confidence and what to look at of one file, as texts."""
    column_map = file.columns
    return [
        (
            name,
            ", ".join(columns),
            _share(column_map.confidence.get(name)),
            _doubt(column_map, name),
        )
        for name, columns in column_map.fields().items()
    ]


def _doubt(columns: ColumnMap, name: str) -> str:
    if name in columns.uncertain:
        return f"look at this; next best: {columns.uncertain[name]}"
    return "" if columns.confidence.get(name, 1) >= SURE else "look at this"


def refusals(ledger: Ledger) -> list[tuple[int, str, str, str]]:
    """Why leads were not accepted: leads, status, reason and first lines, most first."""
    counts: Counter[tuple[str, str]] = Counter()
    firsts: dict[tuple[str, str], list[tuple[str, int]]] = {}
    names: set[str] = set()
    for frame in ledger.frames():
        refused = frame[frame["outcome"].isin(["refused", "unknown"])].fillna({"reason": ""})
        names.update(refused["_file"])
        for status, reason, file, line in zip(
            refused["status"], refused["reason"], refused["_file"], refused["_line"], strict=True
        ):
            counts[status, reason] += 1
            shown = firsts.setdefault((status, reason), [])
            if len(shown) < _LINES_SHOWN:
                shown.append((file, line))
    # One file needs no name beside each line.
    several = len(names) > 1
    return [
        (
            count,
            *key,
            ", ".join(f"{file}:{line}" if several else f"{line:,}" for file, line in firsts[key]),
        )
        for key, count in counts.most_common()
    ]


def _lines(examples: Sequence[dict[str, Any]], *, several: bool) -> str:
    """`line 48,213` or `lines 23, 58, 98`; with several files `autumn.csv:23`."""
    if several:
        return ", ".join(f"{example['file']}:{example['line']}" for example in examples[:1])
    word = "line" if len(examples) == 1 else "lines"
    return f"{word} {', '.join(str(example['line']) for example in examples)}"


def decided(decisions: Decisions) -> list[str]:
    """How a file was read, decision by decision, with the confidence of what was guessed."""
    sentences = [decisions.format + (", gzipped" if decisions.gzipped else "")]
    if decisions.encoding:
        bom = " with a byte order mark" if decisions.bom else ""
        sentences.append(
            _guess(
                f"{decisions.encoding}{bom}",
                decisions.encoding_confidence,
                decisions.encoding_runner_up,
            )
        )
    if decisions.dialect is not None:
        name = delimiter(decisions.dialect.delimiter)
        sentences.append(
            _guess(
                f"delimiter {name}", decisions.delimiter_confidence, decisions.delimiter_runner_up
            )
        )
    if decisions.sheet:
        sentences += _sheets(decisions, decisions.sheet)
    # Their columns have names without a header line.
    if decisions.format not in _KEYED:
        where = header(decisions.header_line)
        sentences.append(_guess(f"header {where}", decisions.header_confidence, None))
    for words, numbers in (("above the header", decisions.preamble_lines),
                           ("of another encoding", decisions.repaired_lines)):  # fmt: skip
        if numbers:
            sentences.append(f"{len(numbers):,} lines {words}, first {numbers[0]:,}")
    if decisions.dropped_columns:
        sentences.append(f"{len(decisions.dropped_columns)} columns of an earlier run dropped")
    if decisions.doubt:
        sentences.append(f"LOOK AT THIS: {decisions.doubt}")
    return sentences


def _sheets(decisions: Decisions, first: str) -> Iterator[str]:
    """Which sheets of a workbook are the list, which are left alone, and what of it is hidden."""
    sheets = (first, *decisions.alike_sheets)
    yield f"sheet{'s' * (len(sheets) > 1)} {', '.join(map(repr, sheets))}"
    if others := [name for name in decisions.other_sheets if name not in sheets]:
        yield f"LEFT ALONE: sheets {', '.join(map(repr, others))} (--sheet takes one)"
    for word, count in (("row", decisions.hidden_rows), ("column", decisions.hidden_columns)):
        if count:
            yield f"{count:,} hidden {word}{'s' * (count > 1)} read too"


def _guess(answer: str, confidence: float, runner_up: str | None) -> str:
    if confidence >= 1:
        return answer
    other = f", next best {runner_up}" if runner_up else ""
    doubt = "" if confidence >= SURE else " - look at this"
    return f"{answer} ({_share(confidence)}{other}{doubt})"


def _share(confidence: float | None) -> str:
    return "" if confidence is None else f"{confidence:.2f}"

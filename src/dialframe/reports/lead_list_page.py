"""The report of a lead list as one HTML page."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from html import escape
from importlib import resources
from typing import Any, Final

from dialframe.headline import Headline
from dialframe.privacy import page_safe

#: Outcome to the words shown for it, in the order of the bar.
OUTCOMES: Final = {
    "clean": "clean",
    "rejected": "rejected",
    "duplicates": "duplicates",
    "do_not_call": "not to be called",
    "skipped": "skipped",
}
_SAYS: Final = {
    "clean": "are clean", "rejected": "are rejected", "duplicates": "are duplicates",
    "do_not_call": "are not to be called", "skipped": "are skipped",
}  # fmt: skip
#: Below this a decision is marked as one to look at.
SURE: Final = 0.8


def render(report: Mapping[str, Any]) -> str:
    """The page as HTML: styles inside, no script, nothing fetched from anywhere.

    It is put together here, and not by a template: loading the engine of those takes longer than reading a
    small list.

    Args:
        report: As `dialframe.leads.report` makes it; numbers in it are masked already.
    """
    counts = report["counts"]
    # A record with two numbers may become two leads.
    leads = counts["records"] + counts.get("extra_leads", 0)
    names = _safe(", ".join(str(file["name"]) for file in report["files"]))
    style = resources.files("dialframe.reports").joinpath("templates/leads.css")
    lines = [
        '<!doctype html>\n<html lang="en">\n<head>\n<meta charset="utf-8">',
        '<meta name="viewport" content="width=device-width, initial-scale=1">',
        '<meta name="referrer" content="no-referrer">',
        f"<title>Lead list: {names}</title>",
        f"<style>\n{style.read_text(encoding='utf-8')}</style>\n</head>\n<body>",
        *_summary(report, names, leads),
        "<main>",
        *_questions(report),
        *_reasons(report, leads),
        *_warnings(report["warnings"]),
        '<section aria-labelledby="read">\n<h2 id="read">What was decided</h2>',
        *(line for file in report["files"] for line in _file(file)),
        "</section>",
        *_outputs(report),
        "</main>\n<footer>",
        f"<p>{_safe(report['schema'])}. In CSV files a cell that a spreadsheet could run carries an apostrophe "
        f"({_safe(report['csv_escape'])}), which reading takes off again.</p>",
        "</footer>\n</body>\n</html>",
    ]
    return page_safe("\n".join(lines)) + "\n"


def headlines(counts: Mapping[str, int]) -> tuple[Headline, ...]:
    """The records of each outcome, which add up to the list, as every page, sentence and answer shows them.

    Args:
        counts: `records, clean, rejected, duplicates, do_not_call, skipped`.
    """
    whole = counts["records"] + counts.get("extra_leads", 0)
    return tuple(
        Headline(
            words, counts[key], f"records_{key}", of=whole, of_what="records", source="list",
            grade="good" if key == "clean" and counts[key] else "plain", says=_SAYS[key],
        )
        for key, words in OUTCOMES.items()
    )  # fmt: skip


def sentence(counts: Mapping[str, int]) -> str:
    """The same in a sentence: `303 records: 247 clean, 26 rejected, ...`, which add up."""
    extra = counts.get("extra_leads", 0)
    more = f" and {extra:,} extra leads" if extra else ""
    parts = ", ".join(f"{each.value:,} {each.what}" for each in headlines(counts))
    return f"{counts['records']:,} record{'' if counts['records'] == 1 else 's'}{more}: {parts}"


def _summary(report: Mapping[str, Any], names: str, leads: int) -> list[str]:
    """The head of the page: how many records became what."""
    counts, region = report["counts"], report["region"]
    extra = leads - counts["records"]
    more = f" and {extra:,} extra leads" if extra else ""
    # Numbers without a country code are read as of a region: a wrong one reads them all wrong.
    read = f"as of {_safe(region)}" if region else "without a region"
    # Shares of all leads, so that the parts of the bar add up to its whole.
    shares = {key: f"{counts[key] / leads:.4f}" if leads else "0" for key in OUTCOMES}
    return [
        f"<header>\n<h1>{names}</h1>",
        f'<p class="lead">{counts["records"]:,} records{more}: <strong>{counts["clean"]:,} clean</strong>,',
        f"{leads - counts['clean']:,} set aside. Numbers without a country code were read {read}.</p>",
        '<div class="bar" aria-hidden="true">',
        *(
            f'<span class="{key}" style="flex: {share} 1 0"></span>'
            for key, share in shares.items()
            if counts[key]
        ),
        '</div>\n<ul class="legend">',
        *(
            f"<li>{_swatch(each.key.removeprefix('records_'))}<b>{each.value:,}</b> {each.what}</li>"
            for each in headlines(counts)
        ),
        "</ul>\n</header>",
    ]


def _questions(report: Mapping[str, Any]) -> list[str]:
    """What a person has to look at or to answer, with the words in clear, and what each list met."""
    lines = [f'<p class="doubt">{_safe(doubt)}</p>' for doubt in report["doubts"]]
    asked = [
        [
            f"<strong>{_safe(question['column'])}</strong>",
            _safe("any text" if question["phrase"] == "*" else question["phrase"]),
            f"{question['records']:,}",
            "<br>".join(map(_safe, question["examples"])),
        ]
        for question in report["questions"]
    ]
    if asked:
        lines += _table(
            "Records with these words are held for this list until somebody says what they mean.",
            ("Column", "Words", "Records", "For example"),
            asked,
            classes=("", "", "number", ""),
        )
    holding = [
        [f"<strong>{_safe(each['column'])}</strong>", _safe(each["file"]), f"{each['records']:,}"]
        for each in report["holding"]
    ]
    if holding:
        lines += _table(
            "Records that must not be called, by the column that says so.",
            ("Column", "File", "Records"),
            holding,
            classes=("", "", "number"),
        )
    lists = [
        [f"<strong>{_safe(name)}</strong>", f"{counts['entries']:,}", f"{counts['met']:,}"]
        for name, counts in report["suppression"].items()
        if counts["entries"]
    ]
    if lists:
        lines += _table(
            "Lists of numbers that must not be called: what each holds, and how many of it are in the files.",
            ("List", "Numbers", "In the files"),
            lists,
            classes=("", "number", "number"),
        )
    if not lines:
        return []
    return [
        '<section aria-labelledby="ask">\n<h2 id="ask">Not to be called</h2>',
        *lines,
        "</section>",
    ]


def _reasons(report: Mapping[str, Any], leads: int) -> list[str]:
    """Why records were set aside: a table for each outcome."""
    counts = report["counts"]
    lines = ['<section aria-labelledby="why">\n<h2 id="why">Why records were set aside</h2>']
    if leads == counts["clean"]:
        lines.append("<p>Nothing was set aside.</p>")
    for outcome, reasons in report["reasons"].items():
        # An outcome that no record had needs no table.
        if not reasons:
            continue
        title = OUTCOMES[outcome].capitalize()
        lines.append(f"<h3>{_swatch(outcome)}{title}: {counts[outcome]:,}</h3>")
        rows = [
            [
                f"<strong>{_safe(reason['meaning'])}</strong><br><code>{_safe(reason['code'])}</code>",
                f"{reason['count']:,}",
                _safe(reason["remedy"]),
                _examples(reason["examples"], named=len(report["files"]) > 1),
            ]
            for reason in reasons
        ]
        lines += _table(
            "Reasons, most frequent first; numbers in the examples are masked.",
            ("Reason", "Records", "What to do", "First lines"),
            rows,
            classes=("", "number", "remedy", ""),
            kind="why",
        )
    return [*lines, "</section>"]


def _examples(examples: Sequence[Mapping[str, Any]], *, named: bool) -> str:
    """The first lines with a reason, with their file where there are several."""
    items = (
        f"<li>{_safe(example['file']) + ', ' if named else ''}line {example['line']:,}"
        + (f": <code>{_safe(example['value'])}</code>" if example["value"] else "")
        + "</li>"
        for example in examples
    )
    return '<ul class="examples">\n' + "\n".join(items) + "\n</ul>"


def _warnings(warnings: Sequence[Mapping[str, Any]]) -> list[str]:
    if not warnings:
        return []
    rows = [
        [
            f"{_safe(warning['meaning'])}<br><code>{_safe(warning['code'])}</code>",
            f"{warning['count']:,}",
        ]
        for warning in warnings
    ]
    return [
        '<section aria-labelledby="repaired">\n<h2 id="repaired">What was repaired in clean records</h2>',
        *_table("", ("What", "Records"), rows, classes=("", "number")),
        "</section>",
    ]


def _file(file: Mapping[str, Any]) -> list[str]:
    """What was decided about one file: how it was read, and which column is which field."""
    headings, classes = ("Answer", "Confidence", "Next best"), ("", "", "number", "")
    questions = [
        [f"<strong>{_safe(question)}</strong>", _safe(answer), _confidence(sure), _safe(other)]
        for question, answer, sure, other in _decisions(file)
    ]
    columns = file["columns"]
    fields = [
        [
            f"<strong>{_safe(field)}</strong>",
            _safe(", ".join(map(str, taken))),
            _confidence(columns["confidence"].get(field)),
            _safe(columns["uncertain"].get(field, "")),
        ]
        for field, taken in columns["fields"].items()
    ]
    # Nothing of a file is lost: what has no field of its own is kept under its header.
    left = _safe(", ".join(columns["leftovers"]))
    return [
        f"<h3>{_safe(file['name'])}: {file['records']:,} records</h3>",
        *_table(
            "How the file was read; every decision can be told otherwise on the command line.",
            ("Question", *headings), questions, classes=classes,
        ),
        *_table(
            "Which column was taken for which field.",
            ("Field", "Columns", *headings[1:]), fields, classes=classes,
        ),
        *([f'<p class="soft">Kept as custom fields: {left}</p>'] if left else []),
    ]  # fmt: skip


def _outputs(report: Mapping[str, Any]) -> list[str]:
    """What was read and written, with hashes."""
    rows = [
        [
            f"{what}: <strong>{_safe(file['name'])}</strong>",
            f"{file[count]:,}",
            f'<code class="hash">{_safe(file["sha256"])}</code>',
        ]
        for what, count, files in (
            ("read", "records", report["files"]), ("written", "rows", report["outputs"]),
        )
        for file in files
    ]  # fmt: skip
    return [
        '<section aria-labelledby="files">\n<h2 id="files">Files</h2>',
        *_table(
            "What was read and what was written, with the SHA-256 of its bytes.",
            ("File", "Rows", "SHA-256"), rows, classes=("", "number", ""),
        ),
        "</section>",
    ]  # fmt: skip


def _table(
    caption: str, headings: Sequence[str], rows: Sequence[Sequence[str]], *,
    classes: Sequence[str], kind: str = "",
) -> list[str]:  # fmt: skip
    """A table that a narrow screen shows as a list; its cells are HTML."""
    head = "".join(
        f'<th role="columnheader" scope="col"{_class(style)}>{heading}</th>'
        for heading, style in zip(
            headings, ("number" if c == "number" else "" for c in classes), strict=True
        )
    )
    # A narrow screen shows each cell behind its heading (WCAG 2.2, 1.4.10: no scrolling to the side).
    labels = ["", *(f' data-label="{heading}"' for heading in headings[1:])]
    return [
        f'<table role="table"{_class(kind)}>',
        *([f'<caption class="soft">{caption}</caption>'] if caption else []),
        f'<thead role="rowgroup"><tr role="row">{head}</tr></thead>\n<tbody role="rowgroup">',
        *(
            '<tr role="row">'
            + "".join(
                f'<td role="cell"{_class(style)}{label}>{cell}</td>'
                for cell, style, label in zip(row, classes, labels, strict=True)
            )
            + "</tr>"
            for row in rows
        ),
        "</tbody>\n</table>",
    ]


def _class(name: str) -> str:
    return f' class="{name}"' if name else ""


def _swatch(outcome: str) -> str:
    return f'<span class="swatch {outcome}" aria-hidden="true"></span>'


def _confidence(share: float | None) -> str:
    """A confidence, marked where it is one to look at."""
    if share is None:
        return ""
    if share < SURE:
        return f'<span class="doubt">{share:.2f} look at this</span>'
    return f"<span>{share:.2f}</span>"


def _safe(value: object) -> str:
    """Text that HTML shows as it stands."""
    return escape(str(value))


def _decisions(file: Mapping[str, Any]) -> list[tuple[str, str, float | None, str]]:
    """What was decided about a file: question, answer, confidence, the next best answer."""
    decisions = file["decisions"]
    dialect = decisions["dialect"]
    form = str(decisions["format"]) + (", gzipped" if decisions["gzipped"] else "")
    rows: list[tuple[str, str, float | None, str]] = [("Format", form, None, "")]
    if decisions["encoding"]:
        mark = ", with a byte order mark" if decisions["bom"] else ""
        rows.append(
            ("Encoding", f"{decisions['encoding']}{mark}", decisions["encoding_confidence"],
             decisions["encoding_runner_up"] or "")
        )  # fmt: skip
    if dialect:
        rows.append(
            ("Delimiter", delimiter(dialect["delimiter"]), decisions["delimiter_confidence"],
             decisions["delimiter_runner_up"] or "")
        )  # fmt: skip
    if decisions["sheet"]:
        # Sheets that were not read are named, so that nobody takes them for imported.
        others = ", ".join(decisions["other_sheets"])
        rows.append(("Sheet", decisions["sheet"], None, f"left alone: {others}" if others else ""))
    rows.append(("Header", header(decisions["header_line"]), decisions["header_confidence"], ""))
    for name, words in (("preamble_lines", "Lines above the header"),
                        ("repaired_lines", "Lines of another encoding")):  # fmt: skip
        if decisions[f"{name}_count"]:
            lines = ", ".join(f"{line:,}" for line in decisions[name][:10])
            rows.append((words, f"{decisions[f'{name}_count']:,} (first: {lines})", None, ""))
    if decisions["doubt"]:
        rows.append(("Look at this", decisions["doubt"], None, ""))
    if decisions["dropped_columns"]:
        dropped = ", ".join(decisions["dropped_columns"])
        rows.append(("Columns of an earlier run, dropped", dropped, None, ""))
    return rows


def delimiter(text: str) -> str:
    """A delimiter by its name."""
    names = {",": "comma", ";": "semicolon", "\t": "tab", "|": "pipe", "": "none: one column"}
    return names.get(text, repr(text))


def header(line: int | None) -> str:
    """Where the header is, in words."""
    return "none" if line is None else f"line {line:,}"

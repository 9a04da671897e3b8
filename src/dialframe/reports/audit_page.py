"""An audit as a page for a lawyer: counts first, then each finding with its proof, then what could not be evaluated."""

from __future__ import annotations

import tomllib
from importlib import resources
from typing import Final

import pandas as pd

from dialframe.compliance import Audit
from dialframe.compliance.checks import texts
from dialframe.compliance.dnc import cost
from dialframe.compliance.result import counted
from dialframe.privacy import mask, redact
from dialframe.reports.html_page import Page, Section, Sheet

_WORDS: Final = tomllib.loads(
    resources.files("dialframe.reports").joinpath("audit_words.toml").read_text("utf-8")
)
HEADINGS: Final[dict[str, str]] = _WORDS["headings"]


def title_of(check: str) -> str:
    """What a finding of a check means, in a few words."""
    return texts()[check].finding


def name_of(check: str) -> str:
    """A check by its short name."""
    return texts()[check].short


def answers(result: Audit) -> tuple[str, ...]:
    """How many calls, how many problems, which first: one sentence each.

    What was not found is not called lawful, so the last sentence says what stayed open.
    """
    calls = counted(result.calls, "outbound call")
    # Rules that reach nothing here would swell what the calls were held against.
    reached = {
        rule_id for ids in result.checks["rule_id"] for rule_id in ids.split("; ") if rule_id
    }
    asked = len(result.parts.get("rules", ()))
    sentences = [
        f"How many calls: {calls} {period(result)}, held against {counted(len(reached), 'rule')} "
        f"that reach any of it, of {asked:,} asked."
    ]
    if not result.calls:
        sentences.append(
            "How many problems: there is no call in the period, so none could show one."
        )
    # Nothing found is not called lawful: the last sentence says what stayed open.
    elif not result.violations:
        sentences.append("How many problems: no violation was found.")
    else:
        by_check = [
            f"{_lower(title_of(str(name)))}, {int(row['violation']):,} of {int(row['checked']):,} {row['unit']}"
            for name, row in _ordered(result).iterrows()
            if row["violation"]
        ]
        sentences.append(
            f"How many problems: violations by {len(by_check)} of {counted(len(result.checks), 'check')}, "
            f"each counted by itself: {'; '.join(by_check)}."
        )
    gravest = first(result)
    if gravest.empty:
        sentences.append(
            "Which first: nothing was flagged; read below what could not be evaluated."
        )
    else:
        row = gravest.iloc[0]
        sentences.append(f"Which first: {_lower(row['check'])} ({row['number']:,}); {row['do']}.")
    uncertain, missing = (
        int((result.checks[name] > 0).sum()) for name in ("uncertain", "not_evaluable")
    )
    sentences.append(
        f"What stayed open: of {counted(len(result.checks), 'check')} {uncertain} found something uncertain, "
        f"and {missing} lacked an input for something. What is not flagged was not shown to be lawful."
    )
    return tuple(sentences)


def gaps(result: Audit) -> tuple[str, ...]:
    """Why the audit says less than it seems to, or nothing at all: a sentence for each reason."""
    # An audit of nothing has no finding, which must not read like a clean one.
    opening = "This audit says less than it seems to" if result.calls else "Nothing was audited"
    return tuple(f"{opening}: {gap}" for gap in result.gaps)


def first(result: Audit) -> pd.DataFrame:
    """What to look at first: one row for each check and grade that was found, gravest first.

    Returns:
        Columns `order, grade, check` (in words), `number, do`.
    """
    checks = _ordered(result)
    rows = []
    # What could not be evaluated has a section of its own.
    for grade in ("violation", "uncertain"):
        for name, row in checks[checks[grade] != 0].iterrows():
            advice = texts()[name].advice
            if grade == "uncertain" and name in ("listed_number", "calling_hours", "attempt_caps"):
                advice = (
                    "read what decides in each row; more records (checks, states) can settle it"
                )
            rows.append((grade, title_of(name), int(row[grade]), advice))
    table = pd.DataFrame(rows, columns=["grade", "check", "number", "do"])
    table.insert(0, "order", pd.array(range(1, len(table) + 1), dtype="Int64"))
    return table.astype({"grade": "str", "check": "str", "number": "Int64", "do": "str"})


def unanswered(result: Audit) -> pd.DataFrame:
    """What could not be evaluated, by the input that is missing: `check, missing, number, do`."""
    table = result.parts["unanswered"].sort_values(["check", "missing"], kind="stable")
    # The gravest check first; within it by what is missing.
    table = table.iloc[in_order(table["check"]).argsort(kind="stable")].reset_index(drop=True)
    helps = [
        next((how for words, how in _WORDS["help"].items() if words in str(text)), "")
        for text in table["missing"]
    ]
    table["do"] = pd.Series(helps, index=table.index, dtype="str")
    table["check"] = table["check"].map(name_of).astype("str")
    return table.astype({"missing": "str", "number": "Int64"})


def verdict_of(counts: pd.Series) -> str:
    """What a check found, by the gravest of its grades."""
    if counts["violation"]:
        return "violations found"
    if counts["uncertain"]:
        return "no violation shown; some uncertain"
    # A pass needs something that was checked.
    if counts["not_evaluable"] + counts["not_asked"] == counts["checked"]:
        return "nothing could be checked"
    return (
        "no violation found"
        if not counts["not_evaluable"]
        else "no violation found; some not evaluable"
    )


def counts(result: Audit) -> pd.DataFrame:
    """Counts of every check, gravest first: `check, verdict, unit, checked, pass, ... not_asked`."""
    table = _ordered(result).reset_index()
    table["verdict"] = [verdict_of(row) for _, row in table.iterrows()]
    table["check"] = table["check"].map(name_of).astype("str")
    names = ["pass", "violation", "uncertain", "not_evaluable", "not_asked"]
    return table[["check", "verdict", "unit", "checked", *names]]


def in_order(names: pd.Series) -> pd.Series:
    """Position of each check by gravity."""
    order = {name: position for position, name in enumerate(texts())}
    return names.map(order).fillna(len(order))


def period(result: Audit) -> str:
    """The period in words."""
    since, until = result.since, result.until
    start = "from the first" if since is None else f"from {since:%Y-%m-%d %H:%M}"
    end = f"{result.as_of:%Y-%m-%d %H:%M}" if until is None else f"{until:%Y-%m-%d %H:%M}"
    return f"{start} until {end} (UTC)"


def to_check(result: Audit) -> dict[str, object]:
    """Numbers to check next, and the requests and minutes that it takes."""
    numbers = len(result.parts.get("next_checks", ()))
    requests, minutes = cost(numbers)
    return {"numbers": numbers, "requests": requests, "minutes": round(minutes, 3)}


def to_check_sentence(result: Audit) -> str:
    """The same in words."""
    # Checking is paid for: what it takes stands beside what is to be checked.
    numbers = len(result.parts.get("next_checks", ()))
    if not numbers:
        return "Every number that is callable or was called has a recent check."
    requests, minutes = cost(numbers)
    # The service counts requests (contract, Limits), so that the time is known.
    took = "less than a minute" if minutes < 1 else f"about {minutes:,.0f} minutes"
    return (
        f"{counted(numbers, 'number')} to check next: "
        f"{counted(requests, 'request')}, {took} at the service's rate."
    )


def _ordered(result: Audit) -> pd.DataFrame:
    table = result.checks.set_index("check")
    positions = in_order(pd.Series(table.index)).to_numpy()
    return table.iloc[positions.argsort(kind="stable")]


def _lower(text: str) -> str:
    return text[:1].lower() + text[1:]


LEGAL: Final = "Facts for review, not legal advice."
#: Rows of each table of violations, and of findings that are not; the pack has every row.
SHOWN: Final = 200
SHOWN_OPEN: Final = 25

_PROOF: Final = [
    "call_id", "campaign_id", "phone", "at", "local_times", "zone_source", "reason", "evidence",
    "rule_id", "citation", "exposure",
]  # fmt: skip
#: Words of notes that change what the counts mean, so that they stand on the first page.
_FOREMOST: Final = ("rules may have changed", " loosened on ")
_GRADES: Final = (
    "Violation: the data shows that a limit was broken.",
    "Uncertain: it depends on what the data does not show, such as where the person was.",
    "Not evaluable: an input is missing. It is no pass.",
    "Pass: the data shows that the limit was kept.",
)


def page(result: Audit) -> Page:
    """The report of an audit; every number in it is masked."""
    # A loosened rule changes what the counts mean: it stands on the first page.
    warnings = [n for n in result.notes if any(words in n for words in _FOREMOST)]
    return Page(
        title="Compliance audit",
        summary=(*answers(result), *warnings),
        sections=(_first(result), *_graded(result, "violation", "Violations"),
                  *_graded(result, "uncertain", "Uncertain"), _open(result), *_advice(result),
                  *_coverage(result),
                  _rules(result)),
        facts=_facts(result),
    )  # fmt: skip


def _first(result: Audit) -> Section:
    what = first(result)
    sheet = Sheet("What to look at first, gravest first", what, HEADINGS)
    return Section(
        title="The answer on one page",
        finding=f"{LEGAL} {to_check_sentence(result)}",
        sheets=(
            *([sheet] if len(what) else []),
            Sheet("Every check and how many of each grade", counts(result), HEADINGS),
            *_left_out(result),
        ),
        notes=(*(f"{sentence}." for sentence in gaps(result)), *_GRADES),
    )


def _left_out(result: Audit) -> list[Sheet]:
    """Places whose rules were not asked, and outcomes of which nobody said what they mean."""
    sheets = []
    places, codes = result.parts.get("not_asked"), result.parts.get("unmapped")
    if places is not None and len(places):
        title = "Not asked: places whose rules were left out; add them with --rules"
        sheets.append(Sheet(title, places, HEADINGS | {"checks": "Checks", "calls": "Calls"}))
    if codes is not None and len(codes):
        title = "Dispositions that nobody mapped; say what they mean with --codes FILE"
        named = {
            "calls": "Calls",
            "disposition": "Disposition",
            "like_refusal": "Reads like a refusal",
        }
        sheets.append(Sheet(title, codes, HEADINGS | named))
    return sheets


def _graded(result: Audit, grade: str, title: str) -> tuple[Section, ...]:
    """Findings of one grade, a table for each check, gravest first."""
    findings = result.findings
    rows = findings[(findings["grade"] == grade).to_numpy()]
    if rows.empty:
        return (Section(title, f"None of the tests that could be made was graded {grade}."),)
    # Gravest check first, as everywhere on the page.
    rows = rows.iloc[in_order(rows["check"]).argsort(kind="stable")]
    shown = SHOWN if grade == "violation" else SHOWN_OPEN
    sheets = []
    for name, part in rows.groupby("check", sort=False):
        # Rows that are not shown are counted, and never put into words.
        masked = _in_words(result, result.masked(part.head(shown))).reindex(part.index)
        sheets.append(Sheet(title_of(str(name)), masked, HEADINGS, rows=shown))
    more = (
        " findings.csv of the pack has every row."
        if (rows["check"].value_counts() > shown).any()
        else ""
    )
    # Of an audit in parts the first findings are here, and how many there are.
    number = result.findings.attrs.get("grades", {}).get(grade, len(rows))
    sentence = f"{number:,} finding{'' if number == 1 else 's'}, each with what it rests on.{more}"
    return (Section(title, sentence, sheets=tuple(sheets)),)


def _in_words(result: Audit, rows: pd.DataFrame) -> pd.DataFrame:
    """The columns of findings that say anything: campaigns by name, and what a rule exposes the firm to."""
    campaigns, rules = result.parts.get("campaigns"), result.parts.get("rules")
    if campaigns is not None:
        names = dict(zip(campaigns["id"], campaigns["name"], strict=True))
        rows = rows.assign(campaign_id=rows["campaign_id"].map(lambda each: names.get(each, each)))
    if rules is not None:
        # What a violation may cost by statute is shown beside it, and beside nothing else.
        exposure = dict(zip(rules["rule_id"], rules["exposure"], strict=True))
        named = [
            "; ".join(dict.fromkeys(e for r in str(ids).split("; ") if (e := exposure.get(r))))
            for ids in rows["rule_id"]
        ]
        costs = pd.Series(named, index=rows.index, dtype="str")
        rows = rows.assign(exposure=costs.where((rows["grade"] == "violation") & (costs != "")))
    # Where nothing but the zones speaks for a row they are said once.
    rows = rows.assign(evidence=rows["evidence"].where(rows["evidence"] != rows["zone_source"]))
    return rows[[c for c in _PROOF if c in rows and rows[c].notna().any()]]


def _open(result: Audit) -> Section:
    table = unanswered(result)
    sentences = tuple(result.checks.loc[result.checks["not_evaluable"] > 0, "sentence"])
    finding = "Nothing here was shown to be lawful: an input was missing."
    return Section(
        title="What could not be evaluated",
        finding=finding if len(table) else "Every test that was made had its inputs.",
        sheets=(Sheet("Findings by what is missing", table, HEADINGS),) if len(table) else (),
        notes=(
            *(f"{sentence}." for sentence in sentences),
            *(note for note in result.notes if note != LEGAL),
        ),
    )


def _advice(result: Audit) -> tuple[Section, ...]:
    """What voluntary codes say, apart from the law; numbers masked."""
    checks, findings = result.parts.get("advisory_checks"), result.parts.get("advisory")
    # An account that no code reaches has no such section.
    if checks is None or findings is None or checks.empty:
        return ()
    rows = result.masked(findings.drop(columns="force"))
    rows = rows.assign(force=findings["force"])
    shown = _in_words(result, rows)
    rows = pd.concat([rows[["force", "grade"]], shown], axis="columns")
    sheets = [Sheet(
        "Counts by voluntary codes",
        checks[["force", "title", "checked", "pass", "violation", "uncertain", "not_evaluable"]],
        HEADINGS,
    )]  # fmt: skip
    if len(rows):
        sheets.append(Sheet("Departures and doubts", rows, HEADINGS, rows=SHOWN_OPEN))
    return (
        Section(
            "Voluntary codes: advice, not law",
            "Nothing here is a violation of law or is counted above. A code binds a firm that joined "
            "it; to hold calls to it, name its rule by its id or adopt it in the firm's own file.",
            sheets=tuple(sheets),
        ),
    )


def _coverage(result: Audit) -> tuple[Section, ...]:
    """Coverage by group and the numbers to check next, where the audit has them."""
    by, due = result.parts.get("coverage_by"), result.parts.get("next_checks")
    if by is None or due is None:
        return ()
    # Only what is shown is masked: the list may have millions of rows.
    masked = due.head(SHOWN_OPEN).assign(
        phone=due["phone"].head(SHOWN_OPEN).map(mask, na_action="ignore").astype("str")
    )
    sheets = [
        Sheet(f"Numbers by {view}", part.drop(columns="view"), HEADINGS, ("share",), SHOWN_OPEN)
        for view, part in by.groupby("view", sort=False)
    ]
    if len(masked):
        caption = f"Numbers to check next, the first of {len(due):,} (next_checks.csv has all)"
        sheets.append(Sheet(caption, masked, HEADINGS))
    return (Section("Do-Not-Call coverage", to_check_sentence(result), sheets=tuple(sheets)),)


def _rules(result: Audit) -> Section:
    # An audit that came out of a pack has no table of its rules.
    none = pd.DataFrame(columns=["rule_id", "title", "jurisdiction", "citation"])
    rules = result.parts.get("rules", none)
    shown = rules.copy()
    for name in ("kind", "status"):
        if name in shown:
            shown[name] = shown[name].map(
                lambda word: _WORDS["kinds"].get(word, word.replace("_", " "))
            )
    names = ["rule_id", "title", "jurisdiction", "kind", "status", "confidence", "citation"]
    return Section(
        title="Rules asked",
        finding=f"{len(rules):,} rules; each was applied to calls of the days on which it was in force.",
        sheets=(Sheet("Rules", shown[[n for n in names if n in shown]], HEADINGS, rows=SHOWN),),
    )


def _facts(result: Audit) -> dict[str, str]:
    def day(at: object) -> str:
        return "no bound" if at is None else f"{at:%Y-%m-%d %H:%M:%S} UTC"

    return {
        "As of": day(result.as_of),
        "Period": f"{day(result.since)} until {day(result.until)}",
        "Rule book": result.rulebook_version,
        "Rule book SHA-256": result.rulebook_sha256,
        "Taxonomy": result.taxonomy or "none",
        "Rows read": redact(result.data_version) or "not named",
        "Left out": ", ".join(f"{why}: {n:,}" for why, n in result.excluded.items() if n)
        or "none",
    }

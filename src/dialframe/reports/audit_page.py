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
from dialframe.reports.audit_findings import headlines, violation_cards
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
            for name, row in _order_findings(result).iterrows()
            if row["violation"]
        ]
        sentences.append(
            f"How many problems: violations by {len(by_check)} of {counted(len(result.checks), 'check')}, "
            f"each counted by itself: {'; '.join(by_check)}."
        )
    gravest = first(result)
    if gravest.empty:
        sentences.append(
            "What to do first: nothing was flagged; read below what could not be evaluated."
        )
    else:
        # Three: more at once is a list that nobody begins.
        todo = "; then ".join(
            f"{_lower(row.check)} ({_graded(row.number, row.grade)}): {row.do}"
            for row in gravest.head(3).itertuples()
        )
        sentences.append(f"What to do first: {todo}.")
    uncertain, missing = (
        int((result.checks[name] > 0).sum()) for name in ("uncertain", "not_evaluable")
    )
    sentences.append(
        f"What stayed open: of {counted(len(result.checks), 'check')} {uncertain} found something uncertain, "
        f"and {missing} lacked an input for something. No finding does not mean a call was lawful."
    )
    return tuple(sentences)


def _graded(number: int, grade: str) -> str:
    """`2 violations`, `3 uncertain`."""
    return counted(number, grade) if grade == "violation" else f"{number:,} {grade}"


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
    checks = _order_findings(result)
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
    table = _order_findings(result).reset_index()
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
        return "As of today, every callable or called number has a recent check."
    requests, minutes = cost(numbers)
    # The service counts requests (contract, Limits), so that the time is known.
    took = "less than a minute" if minutes < 1 else f"about {minutes:,.0f} minutes"
    return (
        f"{counted(numbers, 'number')} to check next: "
        f"{counted(requests, 'request')}, {took} at the service's rate."
    )


def _order_findings(result: Audit) -> pd.DataFrame:
    table = result.checks.set_index("check")
    positions = in_order(pd.Series(table.index)).to_numpy()
    return table.iloc[positions.argsort(kind="stable")]


def _lower(text: str) -> str:
    return text[:1].lower() + text[1:]


LEGAL: Final = "Facts for review, not legal advice."
#: Cards of violations, and kinds of open findings, on the page; the pack has every row.
SHOWN: Final = 8
SHOWN_OPEN: Final = 25

#: Words of notes that change what the counts mean, so that they stand on the first page.
_FOREMOST: Final = ("rules may have changed", " loosened on ")


def page(result: Audit) -> Page:
    """The report of an audit; every number in it is masked."""
    # A loosened rule changes what the counts mean: it stands on the first page.
    warnings = [n for n in result.notes if any(words in n for words in _FOREMOST)]
    return Page(
        title="Compliance audit",
        header={"Period": period(result), "As of": f"{result.as_of:%b %-d, %Y %H:%M} UTC"},
        headlines=headlines(result),
        summary=(
            *(f"{gap}." for gap in gaps(result)),
            *warnings,
            f"{LEGAL} No finding does not mean a call was lawful.",
        ),
        sections=sections(result),
        facts=_facts(result),
    )


def sections(result: Audit) -> tuple[Section, ...]:
    """The parts of the report: violations, what would decide more, then the rest, folded."""
    return (
        _violations(result), _decisions(result), _open(result), _checks(result), *_advice(result),
        *_coverage(result), _rules(result),
    )  # fmt: skip


def _violations(result: Audit) -> Section:
    number = result.violations
    if not number:
        return Section("Violations", "No violation was found by the checks that could be made.")
    cards = violation_cards(result, SHOWN, mask=True, only=_of_each_check)
    more = f" The first {len(cards)} are shown; the pack has all." if number > len(cards) else ""
    return Section(
        "Violations",
        # Calls, numbers and requests are never added up.
        f"Each violation with what it rests on.{more}",
        cards=cards,
    )


def _of_each_check(rows: pd.DataFrame) -> pd.DataFrame:
    """The first of each check, then the second of each: a page has room for a few."""
    turn = rows.groupby("check", sort=False).cumcount()
    return rows.iloc[turn.argsort(kind="stable")]


def _decisions(result: Audit) -> Section:
    """What each missing input is worth, and what nothing settles any more."""
    give = [
        f"Give {each.input}, and {counted(each.calls, 'call')} get an answer."
        for each in result.worth
    ]
    never = [
        f"{title_of(each.check)}: {counted(each.calls, 'call')} cannot be settled. {each.why} "
        f"From now on: {each.from_now_on}"
        for each in result.never_settled
    ]
    finding = (
        "What to give, and how many calls it decides."
        if give
        else "No missing input would decide more."
    )
    return Section("What would decide more", finding, notes=(*give, *never))


def _open(result: Audit) -> Section:
    """Uncertain and not evaluable findings, equal ones as one line with a count."""
    findings = result.findings
    rows = findings[(findings["grade"] == "uncertain").to_numpy(dtype=bool, na_value=False)]
    reasons = rows["reason"].map(redact, na_action="ignore").fillna("")
    doubts = (
        rows.assign(reason=reasons.str.slice(0, 160), number=1)
        .groupby(["check", "reason"], sort=False, as_index=False)["number"]
        .sum()
        .sort_values("number", ascending=False, kind="stable")
    )
    doubts = doubts.assign(check=doubts["check"].map(name_of))[["check", "number", "reason"]]
    missing = unanswered(result)
    sheets = []
    if len(doubts):
        sheets.append(Sheet("Uncertain, equal ones together", doubts, HEADINGS, rows=SHOWN_OPEN))
    if len(missing):
        sheets.append(
            Sheet("Not evaluable, by what is missing", missing, HEADINGS, rows=SHOWN_OPEN)
        )
    sheets.extend(_omissions(result))
    uncertain = int(result.checks["uncertain"].sum())
    lacking = int(result.checks["not_evaluable"].sum())
    return Section(
        "Open questions",
        f"{uncertain:,} answers are uncertain and {lacking:,} lack an input. Neither is a pass.",
        sheets=tuple(sheets),
        notes=tuple(note for note in result.notes if note != LEGAL),
        folded=True,
    )


def _checks(result: Audit) -> Section:
    table = counts(result)[
        ["check", "verdict", "checked", "violation", "uncertain", "not_evaluable"]
    ]
    return Section(
        "Every check", f"{len(table)} checks; each counts its own unit.",
        sheets=(Sheet("Counts of every check", table, HEADINGS),), folded=True,
    )  # fmt: skip


def _omissions(result: Audit) -> list[Sheet]:
    """Places whose rules were not asked, and outcomes of which nobody said what they mean."""
    sheets = []
    places, codes = result.parts.get("not_asked"), result.parts.get("unmapped")
    if places is not None and len(places):
        title = "Not asked: places whose rules were left out; add them with --rules"
        sheets.append(Sheet(title, places, HEADINGS | {"checks": "Checks", "calls": "Calls"}))
    if codes is not None and len(codes):
        title = "Dispositions that nobody mapped; say what they mean in a file of codes"
        named = {
            "calls": "Calls",
            "disposition": "Disposition",
            "like_refusal": "Reads like a refusal",
        }
        sheets.append(Sheet(title, codes, HEADINGS | named))
    return sheets


def _advice(result: Audit) -> tuple[Section, ...]:
    """What voluntary codes say, apart from the law; numbers masked."""
    checks, findings = result.parts.get("advisory_checks"), result.parts.get("advisory")
    # An account that no code reaches has no such section.
    if checks is None or findings is None or checks.empty:
        return ()
    rows = result.masked(findings.drop(columns="force"))
    rows = rows.assign(force=findings["force"])[["force", "grade", "check", "at", "reason"]]
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
            folded=True,
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
    return (
        Section(
            "Do-Not-Call coverage", to_check_sentence(result), sheets=tuple(sheets), folded=True
        ),
    )


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
        sheets=(
            Sheet("Rules", shown[[n for n in names if n in shown]], HEADINGS, rows=len(rules)),
        ),
        folded=True,
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

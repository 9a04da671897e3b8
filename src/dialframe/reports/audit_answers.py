"""What a reader asks of an audit first: how many calls, how many problems, which first."""

from __future__ import annotations

from typing import Final

import pandas as pd

from dialframe.compliance import Audit
from dialframe.compliance.dnc.dashboard import cost
from dialframe.compliance.result import counted

#: Checks, gravest first: name, what a finding of each means, and what to do about it.
CHECKS: Final = {
    "listed_number": (
        "Do-Not-Call lists and requests",
        "Called although listed, or after a request not to be called",
        "put the number on the internal list, then find out how it came to be dialed",
    ),
    "calling_hours": (
        "Calling hours and days",
        "Called outside the permitted hours or days",
        "compare the local times with the campaign's schedule and mend the schedule",
    ),
    "emergency": (
        "Declared emergencies",
        "Called into a declared emergency",
        "stop dialing the area until the declaration ends",
    ),
    "sector_ban": (
        "Banned subjects",
        "Called on a subject on which nobody may be called",
        "stop the campaign; its purpose in the practice file is one that the law bans",
    ),
    "attempt_caps": (
        "Number of attempts",
        "Called more often than permitted",
        "lower the attempts of the campaign in the window that the rule names",
    ),
    "internal_dnc": (
        "Requests honoured in time",
        "Request not to be called, honoured too late",
        "put the number on the internal list today and find where the request was lost",
    ),
    "consent": (
        "Consent",
        "Called without consent on record",
        "look for the record of consent; without one, call the number no more",
    ),
    "recording_consent": (
        "Consent to recording",
        "Recorded without the consent of everybody on the line",
        "announce recordings at the start, ask for consent where the law does, or record no more",
    ),
    "artificial_voice": (
        "Artificial voices",
        "Artificial voice that was not disclosed or not agreed to",
        "let the voice say at the start what it is; call nobody who did not agree where the law asks",
    ),
    "caller_id": (
        "Number shown",
        "Called with a number shown that the rules do not permit",
        "compare the caller IDs of the campaign with the numbers that are the firm's own",
    ),
    "abandonment": (
        "Abandoned calls",
        "Too many abandoned calls",
        "lower the pacing of the campaign",
    ),
    "scrub_at_call": (
        "Check before the call",
        "Called without a recent Do-Not-Call check on record",
        "look for other evidence of a check; from now on, check before dialing",
    ),
    "scrub_coverage": (
        "Recent check of the number",
        "Number without a recent Do-Not-Call check",
        "check the numbers of next_checks.csv before they are called",
    ),
    "records": (
        "Record of the call",
        "Record of the call is not complete",
        "read which field is missing and complete it from the carrier's records",
    ),
    "retention": (
        "Keeping of records",
        "Stored calls do not go back as far as records must be kept",
        "see whether older calls are kept elsewhere",
    ),
}  # fmt: skip
#: What helps where an input is missing, by words of the missing input.
_HELP: Final = (
    ("table of consents", "give them with --consents FILE"),
    ("look-up", "give them with --look-ups FILE"),
    ("practice file", "write one with dialframe audit practice, and give it with --practice FILE"),
    ("outcome that says", "say what your dispositions mean in a file, and give it with --codes FILE"),
    ("line type", "say in the practice file what lines are called: --practice FILE"),
    ("dialing mode", "say in the practice file how campaigns are dialed: --practice FILE"),
    ("after the request", "check the number now; the answer is kept as evidence"),
    ("Do-Not-Call check", "run with --check 31d; the answers are kept as evidence"),
    ("time zone", "name the state in the leads and give --state-field"),
)  # fmt: skip


def title_of(check: str) -> str:
    """What a finding of a check means, in a few words."""
    known = CHECKS.get(check)
    words = check.replace("_", " ")
    return known[1] if known else words[:1].upper() + words[1:]


def name_of(check: str) -> str:
    """A check by its short name."""
    known = CHECKS.get(check)
    return known[0] if known else title_of(check)


def answers(result: Audit) -> tuple[str, ...]:
    """How many calls, how many problems, which first: one sentence each.

    What was not found is not called lawful, so the last sentence says what stayed open.
    """
    calls = counted(result.calls, "outbound call")
    asked = len(result.parts.get("rules", ()))
    said = [f"How many calls: {calls} {period(result)}, held against {counted(asked, 'rule')}."]
    if not result.calls:
        said.append("How many problems: there is no call in the period, so none could show one.")
    elif not result.violations:
        said.append("How many problems: no violation was found.")
    else:
        by_check = _parts(result)
        said.append(
            f"How many problems: violations by {len(by_check)} of {counted(len(result.checks), 'check')}, "
            f"each counted by itself: {'; '.join(by_check)}."
        )
    said.append(_which_first(result))
    uncertain, missing = (
        int((result.checks[name] > 0).sum()) for name in ("uncertain", "not_evaluable")
    )
    said.append(
        f"What stayed open: of {counted(len(result.checks), 'check')} {uncertain} found something uncertain, "
        f"and {missing} lacked an input for something. What is not flagged was not shown to be lawful."
    )
    return tuple(said)


def first(result: Audit) -> pd.DataFrame:
    """What to look at first: one row for each check and grade that was found, gravest first.

    Returns:
        Columns `order, grade, check` (in words), `number, do`.
    """
    rows = [
        (grade, title_of(name), int(row[grade]), _what_to_do(name, grade))
        for grade in ("violation", "uncertain")
        for name, row in _ordered(result).iterrows()
        if row[grade]
    ]
    table = pd.DataFrame(rows, columns=["grade", "check", "number", "do"])
    table.insert(0, "order", pd.array(range(1, len(table) + 1), dtype="Int64"))
    return table.astype({"grade": "str", "check": "str", "number": "Int64", "do": "str"})


def unanswered(result: Audit) -> pd.DataFrame:
    """What could not be evaluated, by the input that is missing: `check, missing, number, do`."""
    rows = result.findings[result.findings["grade"] == "not evaluable"]
    table = rows.groupby(["check", "missing"], dropna=False).size().rename("number").reset_index()
    # An input that the whole audit lacks is counted in the check and has no row for each call.
    left = result.checks.set_index("check")["not_evaluable"].sub(
        table.groupby("check")["number"].sum(), fill_value=0
    )
    inputs = result.checks.set_index("check")["sentence"].str.partition(" because ")[2]
    whole = pd.DataFrame(
        [(name, _without_count(inputs[name]), int(n)) for name, n in left.items() if n > 0],
        columns=["check", "missing", "number"],
    )
    table = pd.concat([table, whole], ignore_index=True) if len(whole) else table
    table = table.iloc[in_order(table["check"]).argsort(kind="stable")].reset_index(drop=True)
    table["do"] = table["missing"].map(_help).astype("str")
    table["check"] = table["check"].map(name_of).astype("str")
    return table.astype({"missing": "str", "number": "Int64"})


def verdict_of(counts: pd.Series) -> str:
    """What a check found, by the gravest of its grades."""
    if counts["violation"]:
        return "violations found"
    if counts["uncertain"]:
        return "no violation shown; some uncertain"
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
    order = {name: place for place, name in enumerate(CHECKS)}
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
    told = to_check(result)
    if not told["numbers"]:
        return "Every number that is callable or was called has a recent check."
    requests, minutes = cost(int(str(told["numbers"])))
    took = "less than a minute" if minutes < 1 else f"about {minutes:,.0f} minutes"
    return (
        f"{counted(int(str(told['numbers'])), 'number')} to check next: "
        f"{counted(requests, 'request')}, {took} at the service's rate."
    )


def _ordered(result: Audit) -> pd.DataFrame:
    table = result.checks.set_index("check")
    place = in_order(pd.Series(table.index)).to_numpy()
    return table.iloc[place.argsort(kind="stable")]


def _parts(result: Audit) -> list[str]:
    """Violations of each check that found any, with what it counts."""
    return [
        f"{_lower(title_of(str(name)))}, {int(row['violation']):,} of {int(row['checked']):,} {row['unit']}"
        for name, row in _ordered(result).iterrows()
        if row["violation"]
    ]


def _which_first(result: Audit) -> str:
    found = first(result)
    if found.empty:
        return "Which first: nothing was flagged; read below what could not be evaluated."
    row = found.iloc[0]
    return f"Which first: {_lower(row['check'])} ({row['number']:,}); {row['do']}."


def _what_to_do(check: str, grade: str) -> str:
    known = CHECKS.get(check, ("", "", "read the findings"))[2]
    if grade == "uncertain" and check in ("listed_number", "calling_hours", "attempt_caps"):
        return "read what decides in each row; more records (checks, states) can settle it"
    return known


def _help(missing: object) -> str:
    return next((how for words, how in _HELP if words in str(missing)), "")


def _without_count(words: str) -> str:
    return words.removesuffix(" is missing")


def _lower(text: str) -> str:
    return text[:1].lower() + text[1:]

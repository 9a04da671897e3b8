"""The numbers and the violations of an audit as values that report, web app and terminal render alike."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from datetime import date, datetime, timedelta
from typing import Any

import pandas as pd

from dialframe.compliance import Audit
from dialframe.compliance.checks import texts
from dialframe.headline import Headline
from dialframe.reports.html_page import Card, words

__all__ = ["headlines", "story_value", "violation_cards"]


def headlines(audit: Audit) -> tuple[Headline, ...]:
    """The three numbers that matter: violations, what is undecided, and how fresh the Do-Not-Call checks are.

    Args:
        audit: The audit.
    """
    period: dict[str, Any] = {
        "as_of": audit.as_of, "since": audit.since, "until": audit.until, "source": "audit"
    }  # fmt: skip
    violations = _violations(audit)
    calls = int(violations["call_id"].nunique())
    table = audit.checks
    asked = int((table["checked"] - table["not_asked"]).sum())
    answered = int((table["pass"] + table["violation"]).sum())
    numbers = audit.coverage.numbers
    fresh = int((numbers["state"] == "fresh").sum())
    days = audit.coverage.max_age_days
    return (
        Headline(
            "calls with a violation", calls, "calls_with_a_violation", of=audit.calls, of_what="calls",
            grade="bad" if calls else "good", says="have a violation", **period,
        ),
        Headline(
            "questions with an answer", answered, "questions_with_an_answer", of=asked, of_what="questions",
            grade="good" if answered == asked else "warn", says="have an answer", **period,
            detail=f"A question is one check of one call; {asked - answered:,} wait for an input or cannot be settled.",
        ),
        Headline(
            f"numbers checked in the last {days} days, as of today", fresh, "numbers_checked_recently",
            of=len(numbers), of_what="callable or called numbers",
            grade="good" if fresh == len(numbers) else "warn", as_of=audit.as_of, source="store",
            says=f"were checked in the last {days} days, as of today",
            detail="This says nothing about the moment of past calls.",
        ),
    )  # fmt: skip


def violation_cards(
    audit: Audit,
    most: int,
    *,
    mask: bool = False,
    only: Callable[[pd.DataFrame], pd.DataFrame] | None = None,
    begin: int = 0,
) -> tuple[Card, ...]:
    """The violations as cards, in the order of the checks.

    Args:
        audit: The audit.
        most: How many at most.
        mask: Whether numbers are masked, as in a page that is sent to somebody.
        only: Chooses among the rows of the findings; None takes all.
        begin: How many are left out before the first.
    """
    rows = _violations(audit)
    rows = (rows if only is None else only(rows)).iloc[begin : begin + most]
    if mask:
        rows = audit.masked(rows)
    titles = {name: each.finding for name, each in texts().items()}
    campaigns, exposures = _names(audit), _exposures(audit)
    return tuple(_card(row, titles, campaigns, exposures) for row in rows.to_dict("records"))


def _violations(audit: Audit) -> pd.DataFrame:
    findings = audit.findings
    return findings[(findings["grade"] == "violation").to_numpy(dtype=bool, na_value=False)]


def _names(audit: Audit) -> dict[str, str]:
    table = audit.parts.get("campaigns")
    return {} if table is None else dict(zip(table["id"], table["name"], strict=True))


def _exposures(audit: Audit) -> dict[str, str]:
    """What a violation of each rule may cost by statute, where the book names it."""
    rules = audit.parts.get("rules")
    return {} if rules is None else dict(zip(rules["rule_id"], rules["exposure"], strict=True))


def _card(
    row: dict[str, Any],
    titles: dict[str, str],
    campaigns: dict[str, str],
    exposures: dict[str, str],
) -> Card:
    def text(name: str) -> str:
        value = row.get(name)
        return "" if value is None or value is pd.NA or value != value else str(value)

    check = text("check")
    campaign = text("campaign_id")
    facts = {
        "Number": text("phone"),
        "Campaign": campaigns.get(campaign, campaign),
        "Local time": _local(text("local_times")),
        "Rule": text("rule_id"),
        "Law": text("citation"),
        "Exposure": "; ".join(
            dict.fromkeys(
                cost for rule in text("rule_id").split("; ") if (cost := exposures.get(rule, ""))
            )
        ),
        "Proof": text("evidence"),
    }
    return Card(
        title=titles.get(check, check.replace("_", " ").capitalize()),
        reason=text("reason")[:1].upper()
        + text("reason")[1:]
        + ("" if text("reason").endswith(".") else "."),
        facts=tuple((name, value) for name, value in facts.items() if value),
        call_id=text("call_id"),
    )


def _local(times: str) -> str:
    """`2026-08-31T20:35:28-07:00 America/Los_Angeles` as `Mon, Aug 31, 2026 20:35 in Los Angeles`, each zone once."""
    shown = []
    for each in filter(None, times.split("; ")):
        stamp, _, zone = each.partition(" ")
        at = pd.Timestamp(stamp)
        place = zone.rpartition("/")[2].replace("_", " ") or "UTC"
        shown.append(f"{at:%a, %b %-d, %Y %H:%M} in {place}")
    return "; ".join(shown)


def story_value(value: object, column: str, titles: Mapping[str, str]) -> str:
    """A value of a call's story as people write it; empty where there is none.

    Args:
        value: The value.
        column: Its column; a check is shown by its title.
        titles: Check to title.
    """
    if value is None or value == "":
        return ""
    if isinstance(value, bool):
        return "yes" if value else "no"
    if isinstance(value, datetime):
        return f"{value:%b %-d, %Y %H:%M:%S}"
    if isinstance(value, date):
        return f"{value:%b %-d, %Y}"
    if isinstance(value, timedelta):
        return _duration(value)
    if isinstance(value, list | tuple):
        return ", ".join(story_value(each, column, titles) for each in value)
    text = str(value)
    return titles.get(text, words(text)) if column == "check" else text


def _duration(value: timedelta) -> str:
    sign, seconds = ("-" if value < timedelta(0) else ""), abs(int(value.total_seconds()))
    days, rest = divmod(seconds, 86_400)
    hours, minutes = divmod(rest // 60, 60)
    parts = [f"{days} d"] if days else []
    if hours or minutes or not days:
        parts.append(f"{hours}:{minutes:02d} h")
    return sign + " ".join(parts)

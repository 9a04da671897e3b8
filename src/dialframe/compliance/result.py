"""What an audit found, as a value: findings, counts, and sentences that claim no more than the data shows.

It shows numbers masked; `findings` and `coverage` hold them whole, since they are evidence.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field, replace
from datetime import datetime
from functools import cached_property
from html import escape
from typing import Any, Final

import pandas as pd

from dialframe.compliance.tables import FRAMES
from dialframe.compliance.why import Step, why
from dialframe.compliance.worth import Never, Worth, never_settled, worth
from dialframe.errors import ConfigError
from dialframe.privacy import mask, redact


class Parts(Mapping[str, pd.DataFrame]):
    """Frames by name. Few read those that cost much: what is given as a function is made when it is first asked for."""

    def __init__(self, given: Mapping[str, pd.DataFrame | Callable[[], pd.DataFrame]]) -> None:
        self._given = dict(given)

    def __getitem__(self, name: str) -> pd.DataFrame:
        value = self._given[name]
        if not isinstance(value, pd.DataFrame):
            # The function holds the tables of the audit; its frame replaces it, so that they can go.
            value = self._given[name] = value()
        return value

    def __iter__(self) -> Iterator[str]:
        return iter(self._given)

    def __len__(self) -> int:
        return len(self._given)

    def joined(self, more: Mapping[str, pd.DataFrame | Callable[[], pd.DataFrame]]) -> Parts:
        """The same and further frames; nothing is made."""
        return Parts({**self._given, **more})

    def __reduce__(self) -> tuple[type[Parts], tuple[dict[str, pd.DataFrame]]]:
        # Functions over a database stay in their process: what travels is made first.
        return Parts, (dict(self),)


FINDINGS: Final = FRAMES["findings"]

CHECKS: Final = FRAMES["checks"]

_SHOWN: Final = 10


@dataclass(frozen=True, eq=False, repr=False, kw_only=True)
class Coverage:
    """How far Do-Not-Call checks reach.

    Attributes:
        frames: The frames of the properties below.
        as_of: The moment at which numbers are judged, UTC.
        max_age_days: How old a record may be where no rule of the place says.
        last_looked_at: Table to the instant at which, or after which, every row of it was read from the service (ISO
            8601); None where that is not known.
    """

    frames: Parts
    as_of: datetime
    max_age_days: int
    last_looked_at: Mapping[str, str | None] = field(default_factory=dict)

    @property
    def numbers(self) -> pd.DataFrame:
        """One row per number that is callable or was called, columns `scrub_coverage.NUMBERS`."""
        return self.frames["numbers"]

    @property
    def calls(self) -> pd.DataFrame:
        """One row per outbound call, columns `scrub_at_call.COLUMNS`."""
        return self.frames["calls"]

    @property
    def summary(self) -> pd.DataFrame:
        """Counts with their denominators, columns `dnc.SUMMARY_COLUMNS`."""
        return self.frames["summary"]

    def __repr__(self) -> str:
        # A screen at import is no check: the service keeps no answer of it.
        fresh = int((self.numbers["state"] == "fresh").sum())
        return (
            f"Coverage({fresh:,} of {len(self.numbers):,} numbers have a check of at most "
            f"{self.max_age_days} days on {self.as_of:%Y-%m-%d}; {len(self.calls):,} calls)"
        )

    def _repr_html_(self) -> str:
        return str(self.summary.to_html(index=False, na_rep=""))


@dataclass(frozen=True, eq=False, repr=False, kw_only=True)
class Audit:
    """One audit.

    Counts are made at once, frames when they are first asked for: an audit of millions of calls
    puts into words only what somebody reads.

    Attributes:
        frames: The frames of the properties `findings`, `hours` and `listed`.
        checks: Counts of each check, columns `CHECKS`.
        coverage: How far Do-Not-Call checks reach.
        excluded: Reason to number of calls that were not graded.
        rulebook_version: Version of the rule book.
        rulebook_sha256: Hash of its text.
        as_of: The moment of the audit, UTC; nothing later was looked at.
        notes: What must be read with the counts.
        parts: Name to frame of every further check: `attempts`, `requests`, `abandonment`,
            `consent`, `records`, `retention`, and `rules`, the counts of each rule. `advisory`
            and `advisory_checks` are findings and counts by voluntary codes, which are advice:
            they are in neither `findings` nor `checks`.
        since: First instant of the period; None: no bound.
        until: First instant after it; None: the moment of the audit.
        taxonomy: Version and hash of the taxonomy that told the outcomes, empty where none did.
        data_version: What the calls were read from, in words.
        gaps: Why the audit says less than it seems to: no call in the period, a table that was
            never read, a store that ends before the period does.
        inputs: Name of every file or table that was given to the SHA-256 of its content.
        options: What was asked for: period, rules, moment, and how the command ends.
        last_looked_at: Table to the instant at which, or after which, every row of it was read from the service (ISO
            8601); None where that is not known.
        engine: The tables behind the audit, for an evidence pack; they do not travel to another process.
    """

    frames: Parts
    checks: pd.DataFrame
    coverage: Coverage
    excluded: Mapping[str, int]
    rulebook_version: str
    rulebook_sha256: str
    as_of: datetime
    notes: tuple[str, ...]
    parts: Parts = field(default_factory=lambda: Parts({}))
    since: datetime | None = None
    until: datetime | None = None
    taxonomy: str = ""
    data_version: str = ""
    gaps: tuple[str, ...] = ()
    inputs: Mapping[str, str] = field(default_factory=dict)
    options: Mapping[str, object] = field(default_factory=dict)
    last_looked_at: Mapping[str, str | None] = field(default_factory=dict)

    engine: Any = None

    def __getstate__(self) -> dict[str, Any]:
        # A connection belongs to one process too.
        return {**vars(self), "engine": None}

    @property
    def findings(self) -> pd.DataFrame:
        """One row per call or number and check that did not pass, columns `FINDINGS`."""
        return self.frames["findings"]

    @property
    def hours(self) -> pd.DataFrame:
        """Every outbound call against the calling hours, columns `hours.COLUMNS`."""
        return self.frames["hours"]

    @property
    def listed(self) -> pd.DataFrame:
        """Every call to a number that is listed or asked, columns `listed_number.COLUMNS`."""
        return self.frames["listed"]

    def joined(self, more: Mapping[str, pd.DataFrame]) -> Audit:
        """The same audit with further parts.

        Args:
            more: Name of a part to its frame.
        """
        return replace(self, parts=self.parts.joined(more))

    @cached_property
    def worth(self) -> tuple[Worth, ...]:
        """What each missing input is worth, the most first; asked of the queries with the input granted."""
        return () if self.engine is None else worth(self.engine)

    @cached_property
    def never_settled(self) -> tuple[Never, ...]:
        """Calls that nothing which is made from now on can settle."""
        return () if self.engine is None else never_settled(self.engine)

    def why(self, call_id: str) -> tuple[Step, ...]:
        """Why a call got its grades: the rows of each step, as a story.

        Args:
            call_id: The call.

        Raises:
            ConfigError: The audit graded no such call, or its tables are gone.
        """
        if self.engine is None:
            raise ConfigError("the tables of this audit are gone; make it again and ask it there")
        return why(self.engine, call_id)

    @property
    def calls(self) -> int:
        """Outbound calls that were graded."""
        # Every graded call is in the check of hours, whatever rules are asked.
        hours = self.checks.loc[self.checks["check"] == "calling_hours", "checked"]
        return int(hours.sum())

    @property
    def violations(self) -> int:
        """Tests that found a violation."""
        return int(self.checks["violation"].sum())

    @property
    def verdict(self) -> str:
        """The audit in a sentence or two, check by check; what was not found is not called lawful.

        Calls, numbers and requests are counted apart: a sum over checks would count one call several times.
        """
        table = self.checks
        # Nothing that was checked is no clean result.
        if (table["not_evaluable"] + table["not_asked"] == table["checked"]).all():
            return (
                "Nothing was checked: there is no outbound call and no callable number, or what "
                "the checks need is missing."
            )
        # Checks are not added up: one call may break several.
        bad = [
            f"{row.check.replace('_', ' ')} {row.violation:,} of {row.checked:,} {row.unit}"
            for row in table.itertuples()
            if row.violation
        ]
        checks = counted(len(table), "check")
        violations = f"Violations found by {len(bad)} of {checks}: {', '.join(bad)}"
        violations = violations if bad else f"No violation found by {checks}"
        open_ = [int((table[name] > 0).sum()) for name in ("uncertain", "not_evaluable")]
        return (
            f"{violations}. {counted(open_[0], 'check')} left something uncertain, {open_[1]:,} lack an input. "
            "No finding does not mean a call was lawful."
        )

    def masked(self, rows: pd.DataFrame | None = None) -> pd.DataFrame:
        """The findings, or some rows of them, with every number masked, for showing.

        Args:
            rows: Rows of `findings`; all of them without it.

        Returns:
            The rows, with `phone`, `evidence` and `reason` masked.
        """
        shown = (self.findings if rows is None else rows).copy()
        # Numbers stand in words too: in a disposition, in the name of a record.
        for name in ("evidence", "reason"):
            shown[name] = shown[name].map(redact, na_action="ignore").astype("str")
        shown["phone"] = shown["phone"].map(mask, na_action="ignore").astype("str")
        return shown

    def __str__(self) -> str:
        # Advice stands below the counts of law, under its own name.
        advice = self.parts.get("advisory_checks", pd.DataFrame())
        lines = [
            f"Audit as of {self.as_of:%Y-%m-%d %H:%M} UTC, rule book {self.rulebook_version}",
            self.verdict,
            *(f"- {row.title}: {row.sentence}" for row in self.checks.itertuples()),
            *(
                f"- left out: {reason}, {count:,}"
                for reason, count in self.excluded.items()
                if count
            ),
            *(
                f"- advice, by a voluntary code: {row.title}: {row.sentence}"
                for row in advice.itertuples()
            ),
            *(f"note: {note}" for note in self.notes),
        ]
        return redact("\n".join(lines))

    __repr__ = __str__

    def _repr_html_(self) -> str:
        columns = [
            "check",
            "grade",
            "detail",
            "phone",
            "campaign_id",
            "at",
            "local_times",
            "reason",
        ]
        # A notebook shows a few rows: the gravest.
        order = {"violation": 0, "uncertain": 1, "not evaluable": 2}
        # Stable: within a grade the order of the findings stays.
        gravest = self.findings["grade"].map(order).argsort(kind="stable")[:_SHOWN]
        first = self.masked(self.findings.iloc[gravest])[columns]
        # Every check is shown, one without findings too: what was asked is part of the answer.
        counts = self.checks[["title", "unit", "checked", "violation", "uncertain"]].assign(
            **{"not evaluable": self.checks["not_evaluable"], "in words": self.checks["sentence"]}
        )
        notes = "".join(f"<li>{escape(note)}</li>" for note in self.notes)
        more = f"<p>The first {len(first)} of {len(self.findings):,} findings:</p>"
        return redact(
            f"<p><b>{escape(self.verdict)}</b></p>{counts.to_html(index=False, na_rep='')}"
            f"{more}{first.to_html(index=False, na_rep='')}<ul>{notes}</ul>"
        )


def in_words(unit: str, counts: Mapping[str, int], inputs: pd.Series) -> str:
    """Counts of one check in the form of a report: "n calls checked, a violations, b uncertain, c not evaluable because x is missing".

    Args:
        unit: What was checked, in the singular.
        counts: `checked`, `violation`, `uncertain`, `not_evaluable`.
        inputs: Missing inputs with how often each is, the most frequent first.
    """
    words = (
        f"{counted(counts['checked'], unit)} checked, "
        f"{counted(counts['violation'], 'violation')}, {counts['uncertain']:,} uncertain, "
        f"{counts['not_evaluable']:,} not evaluable"
    )
    if len(inputs):
        names = [f"{name} ({count:,})" for name, count in inputs.items()]
        named = str(inputs.index[0]) if len(names) == 1 else " or ".join(names)
        words = f"{words} because {named} is missing"
    left = counts.get("not_asked", 0)
    return f"{words}; {left:,} not asked" if left else words


def counted(number: int, noun: str) -> str:
    """A number with its noun in the right form."""
    return f"{number:,} {noun}" if number == 1 else f"{number:,} {noun}s"

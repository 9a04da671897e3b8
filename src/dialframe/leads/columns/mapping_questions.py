"""Questions about columns that were found and are not beyond doubt; it finds no column."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

from dialframe import opt_outs
from dialframe.leads.columns.column_map import ColumnMap
from dialframe.leads.columns.column_scores import Claim
from dialframe.leads.columns.decision import Candidate, Question
from dialframe.leads.lead_file import LeadFile

_SAMPLE_ROWS: Final = 1000
_STRANGE_SHARE: Final = 0.5


def close_seconds(mapped: ColumnMap, claims: Sequence[Claim]) -> tuple[Question, ...]:
    """Fields for which another column fits nearly as well."""
    return tuple(
        Question(
            name,
            tuple(
                Candidate(claim.column, claim.score)
                for claim in claims
                if claim.field == name and claim.column in (*mapped.fields()[name], rival)
            ),
            f"{mapped.fields()[name][0]} was taken for {name}, and {rival} fits nearly as well",
            required=False,
        )
        for name, rival in mapped.uncertain.items()
    )


def strange_words(lead_file: LeadFile, mapped: ColumnMap) -> tuple[Question, ...]:
    """Opt-out and consent columns whose cells are mostly no answer, so that nobody would be called."""
    kinds = {"opt_out": opt_outs.read_answer, "consent": opt_outs.read_consent}
    questions = []
    for name, read in kinds.items():
        for column in getattr(mapped, name):
            sample = lead_file.frame[column].iloc[:: max(1, len(lead_file.frame) // _SAMPLE_ROWS)]
            said = [read(str(cell)) for cell in sample.unique()]
            filled = [one for one in said if one != "blank"]
            if filled and filled.count("unclear") > _STRANGE_SHARE * len(filled):
                why = (
                    f"{column} was taken for {name}, and most of its words are neither yes nor no; "
                    "whoever has one of those is not called"
                )
                candidate = Candidate(column, mapped.confidence.get(name, 1.0))
                questions.append(Question(name, (candidate,), why, required=False))
    return tuple(questions)

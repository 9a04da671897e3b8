"""An analysis for each group of calls: what `by=` does in every analysis that has no grouping of its own."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import replace
from typing import Any, Final

import numpy as np
import pandas as pd

from dialframe.analytics.analysis_result import Result
from dialframe.analytics.attempt.argument_checks import GROUPING
from dialframe.analytics.attempt.attempt_table import count_attempts
from dialframe.analytics.attempt.attempts_frame import frame_of
from dialframe.analytics.attempt.lead_match import SOURCE, lead_groups
from dialframe.analytics.attempt.taxonomy import DEFAULT, NO_GROUP
from dialframe.analytics.claims_and_tables import Claim, plural

#: Groups that are asked about, the greatest first.
MOST_GROUPS: Final = 24
_SELECTION: Final = ("taxonomy", "as_of", "campaign", "since", "until", "include_no_campaign")


def answer_by(
    ask: Callable[..., Result], by: tuple[str, ...], arguments: Mapping[str, Any]
) -> Result:
    """The answers of an analysis for each group of attempts as one result; the level is shared between groups.

    Args:
        ask: The analysis, without `by`.
        by: Columns of the attempts (`local_hour`, `campaign_id`, `caller_id`), of the leads, or custom fields.
        arguments: What it is asked with: frames, selection, thresholds.

    Raises:
        ConfigError: A column is nowhere, or the analysis does not answer by groups.
    """
    calls, leads = arguments["calls"], arguments.get("leads")
    selection = {name: arguments[name] for name in _SELECTION if arguments.get(name) is not None}
    whole = count_attempts(calls, leads, **{"taxonomy": DEFAULT, **selection})
    history = whole.ever
    frame = frame_of(history, None, SOURCE)
    columns, of_lead = {}, []
    for name in by:
        if name in frame.columns:
            columns[name] = frame[name].astype("str").fillna(NO_GROUP).to_numpy(dtype=object)
            continue
        code, names = lead_groups(history.leads, name)
        of_lead.append(name)
        columns[name] = np.array([*names, NO_GROUP], dtype=object)[
            np.append(code, -1)[history.lead]
        ]
    keys = pd.MultiIndex.from_arrays(list(columns.values()), names=list(by))
    code, found = pd.factorize(keys)
    groups = sorted(range(len(found)), key=lambda i: (-int((code == i).sum()), str(found[i])))
    if not groups:
        return ask(**arguments)
    shown = groups[:MOST_GROUPS]
    rest = {k: v for k, v in arguments.items() if k not in ("calls", "leads", "campaign")}
    if "alpha" in rest:
        rest["alpha"] = rest["alpha"] / len(shown)
    answers: list[tuple[dict[str, str], Result]] = []
    for group in shown:
        labels = dict(zip(by, map(str, found[group]), strict=True))
        part = frame[code == group].reset_index(drop=True)
        people = leads
        if leads is not None and len(of_lead) < len(by):
            people = leads[leads["id"].astype("str").isin(part["lead_id"].dropna())]
        for name in of_lead:
            if people is None:
                break
            code_of, names = lead_groups(people, name)
            people = people[np.array(names, dtype=object)[code_of] == labels[name]]
        answers.append((labels, ask(calls=part, leads=people, **rest)))
    return _join_results(answers, whole.balance(), len(groups))


def _join_results(
    answers: list[tuple[dict[str, str], Result]], balance: pd.DataFrame, groups: int
) -> Result:
    """Results of groups as one, each row and claim with its group."""
    first = answers[0][1]

    def stacked(pick: Callable[[Result], pd.DataFrame]) -> pd.DataFrame:
        parts = []
        for labels, result in answers:
            part = pick(result).copy()
            for place, (name, value) in enumerate(labels.items()):
                if name in part.columns:
                    continue
                part.insert(place, name, pd.array([value] * len(part), dtype="str"))
            parts.append(part)
        return pd.concat(parts, ignore_index=True)

    def claims() -> tuple[Claim, ...]:
        stated = []
        for labels, result in answers:
            words = ", ".join(labels.values())
            stated += [
                replace(c, subject=f"{words}: {c.subject}", text=f"{words}: {c.text}")
                for c in result.claims
            ]
        return tuple(stated)

    left_out = () if groups <= len(answers) else (
        f"The {len(answers)} largest of {plural(groups, 'group')} are shown.",)  # fmt: skip
    warnings = dict.fromkeys([*left_out, *(w for _, result in answers for w in result.warnings)])
    return Result(
        first.name, claims, stacked(lambda r: r.table), first.definition, balance, first.taxonomy, first.as_of,
        {name: stacked(lambda r, name=name: r.tables[name]) for name in first.tables},  # type: ignore[misc]
        {**first.parameters, "by": ", ".join(answers[0][0])}, tuple(warnings), first.assumptions,
    )  # fmt: skip


GROUPING["by"] = answer_by

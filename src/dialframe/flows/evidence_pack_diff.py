"""What differs between two evidence packs: findings, the calls and leads behind them, and why."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from pathlib import Path
from typing import Any, Final

import pandas as pd

from dialframe.flows import pack
from dialframe.privacy import redact

#: Columns by which a finding of one pack is known again in another.
KEYS: Final = ["check", "call_id", "lead_id", "phone", "rule_id", "campaign_id", "at"]
#: Inputs that a manifest names, in words.
_INPUTS: Final = {
    "data": "the stored rows",
    "as_of": "the moment of the audit",
    "since": "the period",
    "until": "the period's end",
    "rulebook_sha256": "the rule book",
    "taxonomy": "the taxonomy",
    "tool": "the version of dialframe",
}
#: Groups of inputs of which each one that differs is named.
_GROUPS: Final = {
    "inputs": "what was given as {}", "versions": "the version of {}", "options": "the option {}",
}  # fmt: skip


def compare(before: Path, after: Path) -> pd.DataFrame:
    """What differs between the findings of two packs, and the inputs that changed between them.

    A finding is known again by its check and its call, lead, number or campaign. One whose rules
    alone differ is `regraded` too: its rules stand in `rule_id`, the earlier ones in `rules_before`.

    Returns:
        One row for each finding that is new, gone or regraded: columns `KEYS`, `change`, `before`
        and `after` (grades), `reason` of the later finding, `rules_before`, `why` (what of this
        finding differs: its grade, its rules, its evidence, its words; or that the other pack has
        none of the call) and `because` (the inputs of the packs that differ). Numbers are masked.

    Raises:
        ConfigError: A path holds no pack that is as it was written.

    Example:
        compare(Path("october"), Path("october-again"))
    """
    facts = [_facts_of(path) for path in (before, after)]
    findings = [_key_findings(pack.findings_of(path)) for path in (before, after)]
    merged = findings[0].merge(
        findings[1], on=[*_SAME, "turn"], how="outer", suffixes=("_before", "_after")
    )
    differs = pd.DataFrame(
        {
            name: merged[f"{name}_before"].fillna("") != merged[f"{name}_after"].fillna("")
            for name in _COMPARED
        }
    )
    rows = merged[differs.any(axis=1).to_numpy(dtype=bool)]
    gone, new = rows["grade_after"].isna(), rows["grade_before"].isna()
    # What is in both and differs got another grade, another rule or other evidence.
    change = pd.Series("regraded", index=rows.index, dtype="str").mask(new, "new")
    call_ids = [{*each["call_id"]} for each in findings]
    why = [
        _why(row, call_ids, [words for name, words in _COMPARED.items() if differs[name][index]])
        for index, row in zip(rows.index, rows.itertuples(index=False), strict=True)
    ]
    differences = pd.DataFrame(
        {
            **{key: rows[key] for key in _SAME},
            "at": rows["at_after"].fillna(rows["at_before"]),
            "rule_id": rows["rule_id_after"].fillna(rows["rule_id_before"]),
            "change": change.mask(gone, "gone"),
            "before": rows["grade_before"],
            "after": rows["grade_after"],
            "reason": rows["reason_after"].fillna(rows["reason_before"]),
            "rules_before": rows["rule_id_before"],
            "why": pd.Series(why, index=rows.index, dtype="str"),
            "because": _because(*facts),
        }
    )  # fmt: skip
    differences = differences[
        [*KEYS, *(name for name in differences.columns if name not in KEYS)]
    ].reset_index(drop=True)
    for name in ("phone", "reason"):
        differences[name] = differences[name].map(redact, na_action="ignore").astype("str")
    return differences


_SAME: Final = ["check", "call_id", "lead_id", "phone", "campaign_id"]
#: Checks of what is so at the moment of the audit: another moment is no other finding.
_OF_THE_MOMENT: Final = ("scrub_coverage", "retention")
#: What of a finding may differ, in words.
_COMPARED: Final = {
    "grade": "its grade", "rule_id": "its rules", "evidence": "its evidence",
    "missing": "what is missing", "reason": "its words",
}  # fmt: skip


def _why(row: Any, known: Sequence[Collection[str]], differing: Sequence[str]) -> str:
    """What of a finding differs; of one that a pack has not, whether it has others of the call."""
    if isinstance(row.grade_before, str) and isinstance(row.grade_after, str):
        return ", ".join(differing)
    is_new = not isinstance(row.grade_before, str)
    name, calls = ("earlier", known[0]) if is_new else ("later", known[1])
    if row.call_id and row.call_id not in calls:
        return f"the {name} pack has no finding of the call"
    return f"the {name} pack has no such finding"


def _key_findings(findings: pd.DataFrame) -> pd.DataFrame:
    """Findings by key; equal keys are told apart by their turn."""
    keyed = findings.reindex(columns=[*_SAME, "at", *_COMPARED]).astype("str")
    keyed[_SAME] = keyed[_SAME].fillna("")
    at = keyed["at"].fillna("").mask(keyed["check"].isin(_OF_THE_MOMENT), "")
    # A finding of no call and no number (a share, a period of records) is one of its rule.
    of_none = (keyed[["call_id", "lead_id", "phone"]] == "").all(axis=1)
    which = keyed["rule_id"].where(of_none, "") + " " + at
    keyed["turn"] = which + " " + keyed.groupby([*_SAME, which]).cumcount().astype("str")
    return keyed


def _because(before: Mapping[str, Any], after: Mapping[str, Any]) -> str:
    """The inputs of two packs that differ."""
    pairs = {words: (before.get(name), after.get(name)) for name, words in _INPUTS.items()}
    for name, words in _GROUPS.items():
        values = [dict(pack_facts.get(name) or {}) for pack_facts in (before, after)]
        pairs |= {
            words.format(key): (values[0].get(key), values[1].get(key))
            for key in sorted({*values[0], *values[1]} - {*_INPUTS})
        }
    differing = [name for name, (then, now) in pairs.items() if then != now]
    return ", ".join(differing) or "nothing that is named in the two audits"


def _facts_of(path: Path) -> dict[str, Any]:
    """The facts of a pack's manifest.

    Raises:
        ConfigError: There is no pack, or its manifest was changed.
    """
    facts = pack.manifest_of(path)["facts"]
    return dict(facts) if isinstance(facts, Mapping) else {}

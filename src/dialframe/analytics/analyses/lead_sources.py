"""What sources of leads are worth, what imports refused, and numbers that several leads have."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

import numpy as np
import pandas as pd

from dialframe.analytics.analyses.adjusted_effects import (
    ASSUMPTIONS,
    Inside,
    adjusted_rates,
    bounds,
    cannot_judge,
    levels_judged,
    usual_factors,
    why_nobody,
)
from dialframe.analytics.analysis_result import Result, result_of
from dialframe.analytics.attempt.argument_checks import analysis, one_name
from dialframe.analytics.attempt.attempt_table import Attempts, count_attempts, source_level
from dialframe.analytics.attempt.call_scope import latest
from dialframe.analytics.attempt.frames_to_arrays import (
    Floats,
    Ints,
    Mask,
    import_answers,
    numbered,
    require,
)
from dialframe.analytics.attempt.lead_match import SOURCE, lead_groups, of_campaign
from dialframe.analytics.attempt.taxonomy import DEFAULT, Taxonomy
from dialframe.analytics.claims_and_tables import Claim, plural, points, ratio, seen, sums, table
from dialframe.analytics.effects import Verdict
from dialframe.analytics.inference import rates
from dialframe.errors import ConfigError
from dialframe.frames import CALLS, empty
from dialframe.instants import When


@analysis
def duplicates(
    calls: pd.DataFrame | None,
    leads: pd.DataFrame,
    *,
    campaigns: pd.DataFrame | None = None,
    running_only: bool = False,
    taxonomy: Taxonomy = DEFAULT,
    as_of: When | None = None,
) -> Result:
    """Numbers that are leads of several campaigns, or several leads of one: who is dialed too much.

    Args:
        calls: Frame of the calls table, for the attempts on each number.
        leads: Frame of the leads table.
        campaigns: Frame of the campaigns table, for `running_only`.
        running_only: Only leads of campaigns that are running.
        taxonomy: What the codes mean.
        as_of: What was known at this instant counts; by default the latest instant in the data.

    Returns:
        One row per number: `phone`, `campaigns` (distinct), `leads`, `attempts` (counted calls, those
        outside campaigns too; null without calls), `campaign_ids` (joined by blanks), most campaigns first. Table `spread` counts
        numbers by campaigns.

    Raises:
        ConfigError: A column is missing, or `running_only` is asked for without campaigns.
    """
    require(leads, ("phone", "campaign_id"), "leads")
    with_phone = leads[leads["phone"].notna()]
    if running_only:
        if campaigns is None:
            raise ConfigError("running_only needs the campaigns frame; pass campaigns=")
        running = campaigns["id"][(campaigns["status"] == "running").fillna(value=False)]
        with_phone = with_phone[with_phone["campaign_id"].isin(running)]
    # Numbers as leads have them, E.164 (contract, Lead): two spellings of one number do not occur.
    again = with_phone[with_phone["phone"].duplicated(keep=False)]
    # Only numbers that come twice can be in two campaigns: the rest need no look.
    many = again.groupby("phone", sort=True)["campaign_id"].agg(
        campaigns="nunique", leads="size", campaign_ids=lambda v: " ".join(sorted(set(v.dropna())))
    ) if len(again) else pd.DataFrame({"campaigns": [], "leads": [], "campaign_ids": []})  # fmt: skip
    single = (
        with_phone[~with_phone["phone"].duplicated(keep=False)]["campaign_id"].notna().astype(int)
    )
    spread_code = np.concatenate(
        [many["campaigns"].to_numpy(dtype=int), single.to_numpy(dtype=int)]
    )
    attempts = count_attempts(empty(CALLS) if calls is None else calls, leads, taxonomy=taxonomy,
                  as_of=as_of or latest(leads, calls), include_no_campaign=True)  # fmt: skip
    dialed = None
    if calls is not None:
        numbers = calls["to_number"].iloc[attempts.rows]
        dialed = numbers[numbers.isin(many.index)].value_counts()
    frame = table(
        {
            "phone": [str(phone) for phone in many.index],
            "campaigns": many["campaigns"].to_numpy(dtype=int),
            "leads": many["leads"].to_numpy(dtype=int),
            "attempts": np.array(
                [np.nan if dialed is None else dialed.get(p, 0) for p in many.index],
                dtype=float,
            ),
            "campaign_ids": [str(ids) for ids in many["campaign_ids"]],
        }
    ).sort_values(["campaigns", "leads"], ascending=False, kind="stable", ignore_index=True)
    frame["attempts"] = frame["attempts"].astype("Int64")
    size = int(spread_code.max(initial=0)) + 1
    spread = table({"campaigns": np.arange(1, size), "numbers": sums(spread_code, size)[1:]})
    across = int((frame["campaigns"] > 1).sum())
    return Result(
        "duplicates",
        f"{plural(across, 'number')} of {len(spread_code):,} {'is' if across == 1 else 'are'} in more "
        "than one campaign; "
        f"{int((frame['campaigns'] < 2).sum()):,} are twice in one",
        frame,
        "Numbers that more than one lead has; attempts are counted calls of any campaign and of none",
        attempts.balance(), taxonomy, attempts.as_of,
        {"spread": spread}, {"running_only": running_only},
    )  # fmt: skip


#: Outcomes per lead that a source is judged by: column, flag or class.
_JUDGED: Final = (
    ("reached", "human"), ("right_party", "right_party"), ("positive", "positive"),
    ("appointments", "appointment"), ("conversions", "conversion"),
)  # fmt: skip


@analysis
def scorecard(
    calls: pd.DataFrame,
    leads: pd.DataFrame,
    *,
    by: str | Sequence[str] = SOURCE,
    alpha: float = 0.05,
    min_leads: int = 30,
    imports: pd.DataFrame | None = None,
    taxonomy: Taxonomy = DEFAULT,
    as_of: When | None = None,
    campaign: str | None = None,
    since: When | None = None,
    until: When | None = None,
) -> Result:
    """What each source of leads is worth: bad numbers, requests not to be called, reach, appointments.

    Args:
        calls: Frame of the calls table, or of `account.attempts()`.
        leads: Frame of the leads table.
        by: Column or custom field that names the source.
        alpha: Chance of any false verdict, over all sources together.
        min_leads: Attempted leads below which a source is not judged.
        imports: The import ledger; with its column `by`, refusals are given to sources.
        taxonomy: What the codes mean.
        as_of: What was known at this instant counts; by default the latest instant in the data.
        campaign: Leads and calls of this campaign only.
        since: Calls from this instant on; attempts are numbered over the whole history.
        until: Calls before this instant.

    Returns:
        One row per source: the column `by`, `leads`, `attempted`, `attempts`, then leads with a bad
        number (`invalid`), `wrong` number, `dnc` request, `reached`, `right_party`, `positive`,
        `appointments`, `conversions`; `reach_rate` of attempted leads, `low`, `high`;
        `invalid_rate`, `appointments_per_1000` leads with `appt_low`, `appt_high` (null without attempts); `refused`
        records of imports (null where not known); `adjusted`, the shrunk chance that an attempt
        reaches a person with campaign, week, attempt, hour, weekday and time zone held still (of
        campaigns: with their sources held still); `p_adjusted` of
        it against all other sources together, so that of the verdicts at most `alpha` are false;
        `verdict`: `better`, `worse`, `no certain difference`, `too few`, `not comparable` (nothing
        tells the source from the campaign that dials it).

    Raises:
        ConfigError: A column is missing, `by` names nothing, or the campaign is unknown.
    """
    by = one_name(by)
    attempts = count_attempts(
        calls, leads, taxonomy=taxonomy, as_of=as_of, campaign=campaign, since=since, until=until
    )
    in_campaign = of_campaign(leads, attempts.campaign)
    code, names = lead_groups(leads, by)
    code, size = np.where(in_campaign, code, -1), len(names)
    tried = attempts.leads_with(np.ones(len(attempts), dtype=bool))
    flags = {
        "invalid": attempts.leads_with(attempts.is_class("disconnected")),
        "wrong": attempts.leads_with(attempts.is_class("wrong_number")),
        "dnc": attempts.leads_with(attempts.classes.dnc_request[attempts.rows]),
        **{column: attempts.leads_with(attempts.flag(name)) for column, name in _JUDGED},
    }
    counts = {name: sums(code, size, mask) for name, mask in flags.items()}
    loaded, attempted = sums(code, size), sums(code, size, tried)
    # A source is compared with the others together, of which there must be enough too.
    enough = (attempted >= min_leads) & (attempted.sum() - attempted >= min_leads)
    verdict = _sources_judged(attempts, by, code, size, enough, alpha)
    p, effect = np.full(size, np.nan), np.full(size, np.nan)
    if verdict is not None:
        for part, value, (difference, *_) in zip(
            verdict.parts, verdict.each_p, verdict.effects, strict=True
        ):
            p[part[0]], effect[part[0]] = value, difference
            if len(verdict.parts) == 1 and len(names) == 2:
                # Of two sources one contrast says both.
                p[1 - part[0]], effect[1 - part[0]] = value, -difference
    adjusted = adjusted_rates(verdict, size)[0]
    # Of a source that was never tried nobody knows how many would make an appointment.
    given = np.where(attempted > 0, loaded, 0)
    reach, appt = rates(counts["reached"], attempted), rates(counts["appointments"], given)
    lead = attempts.lead
    frame = table(
        {
            by: names,
            "leads": loaded,
            "attempted": attempted,
            "attempts": sums(np.append(code, -1)[lead], size),
            **counts,
            "reach_rate": reach["rate"].array,
            "low": reach["low"].array,
            "high": reach["high"].array,
            "invalid_rate": ratio(counts["invalid"], attempted),
            "appointments_per_1000": 1000 * ratio(counts["appointments"], given),
            "appt_low": (1000 * appt["low"]).array,
            "appt_high": (1000 * appt["high"]).array,
            "refused": _refusals_by_source(imports, by, names),
            "adjusted": adjusted,
            "p_adjusted": p,
            "verdict": _verdicts(p, effect, enough, alpha),
        }
    )
    frame = frame.sort_values(["appointments_per_1000", "leads"], ascending=False, kind="stable",
                              ignore_index=True)  # fmt: skip
    return result_of(
        attempts, "scorecard", _source_claims(attempts, verdict, names, by, enough, alpha), frame,
        "Leads by source, and of these the leads with at least one counted call of each outcome; "
        "rates of attempted leads, appointments of leads loaded",
        attempts.not_logged, parameters={"by": by, "alpha": alpha, "min_leads": min_leads},
        assumptions=ASSUMPTIONS, of_people=True,
    )  # fmt: skip


def _refusals_by_source(imports: pd.DataFrame | None, by: str, names: list[str]) -> Floats:
    if imports is None or by not in imports.columns:
        return np.full(len(names), np.nan)
    _, _, refused = import_answers(imports)
    code, there = numbered(imports[by][refused])
    counts = dict(zip(there, sums(code, len(there)), strict=True))
    return np.array([float(counts.get(name, 0)) for name in names])


def _sources_judged(
    attempts: Attempts, by: str, code: Ints, size: int, enough: Mask, alpha: float
) -> Verdict | None:
    """What can be said of each source against all others together.

    They are compared inside campaign, week and day, with attempt, hour and time zone held still, so that a
    source is not praised for the campaign that dials it or for how often it was tried. Campaigns are
    compared inside source and day, or each would be compared with itself.
    """
    level = np.append(code, -1)[attempts.lead]
    rows = np.flatnonzero((attempts.lead >= 0) & (level >= 0))
    human = attempts.flag("human")[rows]
    if not 0 < int(human.sum()) < len(rows):
        return None
    named = np.where(enough, np.arange(size), size)
    asked: Inside = {"rows": rows, "factors": usual_factors(attempts, "source")}
    if by == _CAMPAIGN:
        asked["coarse"] = source_level(attempts)[0]
    return levels_judged(attempts, named[level[rows]], size, 1, alpha, name="source", **asked)


def _verdicts(p: Floats, effect: Floats, enough: Mask, alpha: float) -> list[str]:
    words = []
    for value, difference, many in zip(p, effect, enough, strict=True):
        if np.isnan(value):
            words.append("not comparable" if many else "too few")
        elif value >= alpha:
            words.append("no certain difference")
        else:
            words.append("better" if difference > 0 else "worse")
    return words


def _source_claims(
    attempts: Attempts,
    verdict: Verdict | None,
    names: list[str],
    by: str,
    enough: Mask,
    alpha: float,
) -> tuple[Claim, ...]:
    noun, other = ("campaign", "source") if by == _CAMPAIGN else ("source", "campaign")
    if not enough.any():
        return (Claim("none", by, text=f"No {noun} has enough attempted leads to be judged"),)
    if verdict is None or np.isnan(verdict.p):
        why = why_nobody(attempts) if verdict is None else verdict.why_not
        return (cannot_judge(by, f"What {noun}s are worth", why, verdict),)
    detectable = float(verdict.detectable) if np.isfinite(verdict.detectable) else None
    adjusted_for = (other, *_ADJUSTED_FOR)
    claims = []
    for part, p, (effect, low, high) in sorted(
        zip(verdict.parts, verdict.each_p, verdict.effects, strict=True), key=lambda row: row[1]
    ):
        if p < alpha:
            word = "above" if effect > 0 else "below"
            claims.append(Claim(
                "difference", names[part[0]], effect, low, high, detectable, adjusted_for,
                f"{names[part[0]]} reaches a person {points(abs(effect))} {word} the other {noun}s per attempt "
                f"({bounds(low, high)})",
                verdict.diagnostics,
            ))  # fmt: skip
    if claims:
        return tuple(claims)
    text = (
        f"None of {plural(len(verdict.parts), noun)} is certainly better or worse than the others"
        f"{seen(detectable)} in the typical one"
    )
    return (
        Claim("none", by, 0.0, None, None, detectable, adjusted_for, text, verdict.diagnostics),
    )


_CAMPAIGN: Final = "campaign_id"
#: What sources are adjusted for beside campaigns, and campaigns beside sources.
_ADJUSTED_FOR: Final = ("week", "day", "attempt", "hour", "time zone")

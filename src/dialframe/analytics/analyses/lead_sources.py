"""What sources of leads are worth, what imports refused, and numbers that several leads have."""

from __future__ import annotations

from typing import Final, Unpack

import numpy as np
import pandas as pd

from dialframe.analytics.analyses.adjusted_effects import (
    ASSUMPTIONS,
    campaign_code,
    people_by,
    week_code,
)
from dialframe.analytics.analysis_result import Result, result_of
from dialframe.analytics.attempt.argument_checks import Selection, analysis
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
from dialframe.analytics.inference import Effects, false_discovery, rates, tested_level
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
        campaigns: Frame of the campaigns table, for `running_only`.
        running_only: Only leads of campaigns that are running.

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


@analysis
def import_outcomes(
    calls: pd.DataFrame | None = None,
    leads: pd.DataFrame | None = None,
    *,
    imports: pd.DataFrame,
    taxonomy: Taxonomy = DEFAULT,
) -> Result:
    """What imports accepted and why they refused the rest.

    Args:
        calls: Not needed.
        leads: Not needed.
        imports: The import ledger: `status`, and where it has them `reason` and `field`.
        taxonomy: Not used, named in the result like everywhere.

    Returns:
        One row per status, reason and field: `status`, `reason`, `field`, `records`,
        `denominator`, `share`, `fixable` (another try with a corrected record can be accepted).

    Example:
        result = analytics.import_outcomes(imports=imports)
    """
    status, accepted, _ = import_answers(imports)
    keys = ["status", "reason", "field"]
    plain = imports.reindex(columns=keys).astype(dict.fromkeys(keys, "str")).assign(status=status)
    frame = plain.groupby(keys, dropna=False).size().reset_index(name="records")
    frame = frame.astype({**dict.fromkeys(keys, "str"), "records": "Int64"})
    frame = frame.sort_values("records", ascending=False, kind="stable", ignore_index=True)
    frame["denominator"] = pd.array([len(imports)] * len(frame), dtype="Int64")
    frame["share"] = frame["records"].astype("Float64") / max(len(imports), 1)
    # Of the statuses (contract, Lead outcome objects) the two that another record can mend.
    fixable = frame["status"].isin(["invalid", "failed"]).to_numpy(bool)
    frame["fixable"] = pd.array(fixable, dtype="boolean")
    again = int(frame["records"][fixable].sum())
    none = count_attempts(empty(CALLS), None, taxonomy=taxonomy)
    return Result(
        "import_outcomes",
        f"{int(accepted.sum()):,} of {plural(len(imports), 'record')} were accepted; {again:,} can be tried "
        "again once corrected",
        frame, "Records that imports sent, by the service's answer", none.balance(), taxonomy,
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
    by: str = SOURCE,
    alpha: float = 0.05,
    min_leads: int = 30,
    imports: pd.DataFrame | None = None,
    **selection: Unpack[Selection],
) -> Result:
    """What each source of leads is worth: bad numbers, requests not to be called, reach, appointments.

    Args:
        by: Column or custom field that names the source.
        alpha: Share of false verdicts among all; where no source differs, the chance of any.
        min_leads: Attempted leads below which a source is not judged.
        imports: The import ledger; with its column `by`, refusals are given to sources.
        campaign: Leads and calls of this campaign only.

    Returns:
        One row per source: the column `by`, `leads`, `attempted`, `attempts`, then leads with a bad
        number (`invalid`), `wrong` number, `dnc` request, `reached`, `right_party`, `positive`,
        `appointments`, `conversions`; `reach_rate` of attempted leads, `low`, `high`;
        `invalid_rate`, `appointments_per_1000` leads with `appt_low`, `appt_high`; `refused`
        records of imports (null where not known); `adjusted`, the shrunk chance that an attempt
        reaches a person with campaign, week, attempt, hour, weekday and time zone held still (of
        campaigns: with their sources held still); `p_adjusted` of
        it against all other sources together, so that of the verdicts at most `alpha` are false;
        `verdict`: `better`, `worse`, `no certain difference`, `too few`, `not comparable` (nothing
        tells the source from the campaign that dials it).

    Raises:
        ConfigError: A column is missing, `by` names nothing, or the campaign is unknown.
    """
    attempts = count_attempts(calls, leads, **selection)
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
    effects, p, ratio_of = _sources_judged(attempts, by, code, size, enough)
    adjusted = np.full(size, np.nan)
    if effects is not None:
        known_rates = np.clip(effects.rates(shrink=True)[:size], 0, 1)
        adjusted[: len(known_rates)] = known_rates
    reach, appt = rates(counts["reached"], attempted), rates(counts["appointments"], loaded)
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
            "appointments_per_1000": 1000 * ratio(counts["appointments"], loaded),
            "appt_low": (1000 * appt["low"]).array,
            "appt_high": (1000 * appt["high"]).array,
            "refused": _refused(imports, by, names),
            "adjusted": adjusted,
            "p_adjusted": p,
            "verdict": _verdicts(p, ratio_of, enough, alpha),
        }
    )
    frame = frame.sort_values(["appointments_per_1000", "leads"], ascending=False, kind="stable",
                              ignore_index=True)  # fmt: skip
    return result_of(
        attempts, "scorecard", _source_claims(effects, p, names, by, enough, alpha), frame,
        "Leads by source, and of these the leads with at least one counted call of each outcome; "
        "rates of attempted leads, appointments of leads loaded",
        attempts.not_logged, parameters={"by": by, "alpha": alpha, "min_leads": min_leads},
        assumptions=ASSUMPTIONS,
    )  # fmt: skip


def _refused(imports: pd.DataFrame | None, by: str, names: list[str]) -> Floats:
    if imports is None or by not in imports.columns:
        return np.full(len(names), np.nan)
    _, _, refused = import_answers(imports)
    code, there = numbered(imports[by][refused])
    counts = dict(zip(there, sums(code, len(there)), strict=True))
    return np.array([float(counts.get(name, 0)) for name in names])


def _sources_judged(
    attempts: Attempts, by: str, code: Ints, size: int, enough: Mask
) -> tuple[Effects | None, Floats, Floats]:
    """Effects of the sources, and p of each against all others together, false ones held down.

    They are compared inside campaign and week, with attempt, hour, weekday and time zone held still, so that a
    source is not praised for the campaign that dials it or for how often it was tried. Campaigns are
    compared inside source and week, or each would be compared with itself.
    """
    nothing = np.full(size, np.nan)
    human = attempts.flag("human")
    level = np.append(code, -1)[attempts.lead]
    known = (attempts.lead >= 0) & (level >= 0)
    if not known.any() or not 0 < int(human[known].sum()) < int(known.sum()):
        return None, nothing, nothing
    # Campaigns inside campaigns would be compared with themselves alone.
    inside = source_level(attempts)[0] if by == _CAMPAIGN else campaign_code(attempts)
    effects = people_by(
        attempts, {"source": level[known].astype(np.int64)}, rows=np.flatnonzero(known),
        strata=[inside, week_code(attempts)],
    )["source"]  # fmt: skip
    p = nothing.copy()
    if effects.df < 1:
        return None, nothing, nothing
    ratio, _ = effects.against_rest()
    used = np.arange(min(size, len(ratio)))
    p[used] = effects.rest_p()[used]
    p[~enough] = np.nan
    full = np.full(size, np.nan)
    full[used] = ratio[used]
    return effects, false_discovery(p), full


def _verdicts(p: Floats, ratio: Floats, enough: Mask, alpha: float) -> list[str]:
    words = []
    for value, log_ratio, many in zip(p, ratio, enough, strict=True):
        if np.isnan(value):
            words.append("not comparable" if many else "too few")
        # The level of false discoveries (Benjamini and Hochberg, 1995): of many verdicts some may be false.
        elif value >= tested_level(alpha):
            words.append("no certain difference")
        else:
            words.append("better" if log_ratio > 0 else "worse")
    return words


def _source_claims(
    effects: Effects | None, p: Floats, names: list[str], by: str, enough: Mask, alpha: float
) -> tuple[Claim, ...]:
    noun, other = ("campaign", "source") if by == _CAMPAIGN else ("source", "campaign")
    if not enough.any():
        return (Claim("none", by, text=f"No {noun} has enough attempted leads to be judged"),)
    if effects is None or np.isnan(p).all():
        why = f"inside {other} and week too few people were reached for more than one {noun}"
        return (Claim("none", by, text=f"Nothing tells one {noun} from another: {why}"),)
    ratio, error = effects.against_rest()
    base = effects.base
    judged_at = np.flatnonzero(~np.isnan(p))
    tests = len(judged_at)
    # The source in the middle by its error stands for what a negative answer could have seen.
    middle = int(judged_at[np.argsort(error[judged_at])[tests // 2]])
    level = tested_level(alpha)
    detectable = base * float(np.expm1(effects.rest_seen(middle, level / tests)))
    adjusted_for = (other, *_ADJUSTED_FOR)
    claims = []
    for i in sorted(np.flatnonzero(p < level), key=lambda i: p[i]):
        # Shrunk: of many sources the one on top is there by luck as well. By half a standard error at most,
        # since a source unlike all others is no sample of their spread (limited as by Efron and Morris, J. Am.
        # Stat. Assoc. 67 (1972) 130-139).
        raw = effects.log_ratio[i]
        kept = effects.shrunk[i] / raw if raw else 0.0
        pulled = np.clip((kept - 1) * ratio[i], -0.5 * error[i], 0.5 * error[i])
        effect = effects.rest_difference(int(i), float(ratio[i] + pulled))
        low, high = (effects.rest_difference(int(i), float(ratio[i] + s * 1.96 * error[i]))
                     for s in (-1, 1))  # fmt: skip
        word = "above" if effect > 0 else "below"
        claims.append(Claim(
            "difference", names[i], effect, low, high, detectable, adjusted_for,
            f"{names[i]} reaches a person {points(abs(effect))} {word} the other {noun}s per attempt",
        ))  # fmt: skip
    if claims:
        return tuple(claims)
    text = (
        f"None of {plural(tests, noun)} is certainly better or worse than the others{seen(detectable)} "
        "in the typical one"
    )
    return (Claim("none", by, 0.0, None, None, detectable, adjusted_for, text),)


_CAMPAIGN: Final = "campaign_id"
#: What sources are adjusted for beside campaigns, and campaigns beside sources.
_ADJUSTED_FOR: Final = ("week", "attempt", "hour", "weekday", "time zone")

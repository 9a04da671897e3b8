-- Abandoned calls by campaign and period, against the limits of the rules.
--
-- FTC and FCC (16 CFR 310.4(b)(4), 47 CFR 64.1200(a)(7)): dropped / answered by a person, machines on
-- neither side, per campaign and 30 days, or the campaign's own days where they are fewer.
-- Ofcom (persistent misuse, 2006 to 2017, an indicator since): dropped calls, less the share that
-- machines took of the answers that agents heard, over those and the live calls, per 24 hours.
-- An answered call of which nobody says what came of it may have been dropped, or not: a share passes if
-- it would with all of them dropped, and is too high if it would be with none.

with rated as (
  select p.*, (select max(missing) from abandonment_days b where b.rule = p.rule) as reach_missing,
    nullif(dropped + live + untold + if(by_live_calls, machines, 0), 0) as answers,
    (dropped + untold) / answers as most, dropped / answers as least,
    case when not by_live_calls then dropped / nullif(dropped + live, 0)
      else dropped * (1 - coalesce(machines / nullif(live + machines, 0), 0))
        / nullif(dropped * (1 - coalesce(machines / nullif(live + machines, 0), 0)) + live, 0) end as share,
    (select count(*) > 0 from known_outcomes where outcome = 'dropped') as mapped
  from abandonment_periods p
)
select rule, [rule] as rules, campaign_id, from_day, from_day::timestamp as from_at, until_day::timestamp as until_at,
  dropped, live, machines, max_rate as "limit",
  case r.jurisdiction when 'US' then 'FTC and FCC' when 'GB' then 'Ofcom' when 'CA' then 'CRTC' else 'plain share' end as measure,
  case when mapped then share end as rate,
  untold, least, most,
  case when not mapped or share is null or has_no_campaign then 'not evaluable'
    when untold > 0 and keeps(least, comparison, max_rate) and not keeps(most, comparison, max_rate) then 'not evaluable'
    when keeps(share, comparison, max_rate) then 'pass'
    when reach_missing <> '' then 'not evaluable' when not safe_harbour then 'uncertain' else 'violation' end as grade,
  case when not mapped then 'an outcome that says that a call was dropped'
    when share is null then 'a call that a person answered'
    when has_no_campaign then 'campaign_id'
    when grade = 'not evaluable' and keeps(least, comparison, max_rate) then 'the outcome of every answered call'
    when grade = 'not evaluable' then reach_missing end as missing,
  case when not mapped then 'unmapped' when share is null then 'unanswered' when has_no_campaign then 'no campaign'
    when missing = 'the outcome of every answered call' then 'untold'
    when grade = 'pass' then 'kept' when grade = 'uncertain' then 'indicator' else 'decided' end as answer,
  -- With fewer answered calls one dropped call more or less decides.
  case when dropped + live < 100 then dropped + live end as few, strftime(from_day, '%Y-%m-%d') || ' until ' || strftime(until_day, '%Y-%m-%d') as evidence,
  from_at as finding_at, row_number() over (order by r.place, campaign_id nulls last, from_day) - 1 as place,
  concat_ws(' ', rule, campaign_id, from_day) as item
from rated join rules r using (rule);

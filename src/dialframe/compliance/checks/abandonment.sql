-- Abandoned calls by campaign and period, against the limits of the rules.
--
-- FTC and FCC (16 CFR 310.4(b)(4), 47 CFR 64.1200(a)(7)): dropped / answered by a person, machines on
-- neither side, per campaign and 30 days, or the campaign's own days where they are fewer.
-- Ofcom (persistent misuse, 2006 to 2017, an indicator since): dropped calls, less the share that
-- machines took of the answers that agents heard, over those and the live calls, per 24 hours.
-- An answered call of which nobody says what came of it may have been dropped, or not: a share passes if
-- it would with all of them dropped, and is too high if it would be with none.

create or replace table abandonment_days as
-- Calls of each rule, campaign and day (UTC). `untold`: answered, and nobody says what came of it.
select k.rule, case when b.scope <> 'caller' then c.campaign_id end as campaign_id, c.at_utc::date as day,
  count(*) as calls, count(*) filter (outcome = 'dropped') as dropped, count(*) filter (outcome = 'live') as live,
  count(*) filter (outcome = 'machine') as machines, max(k.missing) as missing,
  count(*) filter (outcome is null and answered_at is not null and w.is_mapped is not true) as untold
from calls c left join words w on w.field = 'disposition' and w.word = c.disposition join reach k using (case_id) join abandonment_rules b using (rule)
where k.check_name = 'abandonment' and c.graded and c.is_outbound and c.at_utc is not null and not k.lifted group by all;

create or replace macro keeps(share, comparison, max_rate) as
  share < max_rate or (comparison = '<=' and share = max_rate);

with bounds as (
  select rule, campaign_id, min(day) as first_day, max(day) as last_day, max(missing) as missing
  from abandonment_days group by all
), placed as (
  select d.*, b.period_type, b.period_days, b.by_live_calls, b.scope, b.max_rate, b.comparison, b.safe_harbour,
    f.first_day, f.last_day,
    case when b.period_type = 'calendar_month' then date_trunc('month', d.day)::date
      else f.first_day + ((d.day - f.first_day) // b.period_days * b.period_days)::int end as from_day
  from abandonment_days d join abandonment_rules b using (rule)
  join bounds f on f.rule = d.rule and f.campaign_id is not distinct from d.campaign_id
), periods as (
  select rule, campaign_id, from_day,
    case when any_value(period_type) = 'calendar_month' then (from_day + interval 1 month)::date
      -- A campaign shorter than its period is judged on its own days.
      when any_value(period_type) = 'successive_30_day_or_campaign' and any_value(last_day - first_day) < any_value(period_days)
        then any_value(last_day) + 1
      else from_day + any_value(period_days)::int end as until_day,
    sum(dropped)::bigint as dropped, sum(live)::bigint as live, sum(machines)::bigint as machines,
    sum(untold)::bigint as untold, any_value(scope) = 'campaign' and campaign_id is null as has_no_campaign,
    any_value(by_live_calls) as by_live_calls, any_value(max_rate) as max_rate, any_value(comparison) as comparison,
    any_value(safe_harbour) as safe_harbour
  from placed group by rule, campaign_id, from_day
), rated as (
  select p.*, (select max(missing) from bounds b where b.rule = p.rule) as reach_missing,
    nullif(dropped + live + untold + if(by_live_calls, machines, 0), 0) as answers,
    (dropped + untold) / answers as most, dropped / answers as least,
    case when not by_live_calls then dropped / nullif(dropped + live, 0)
      else dropped * (1 - coalesce(machines / nullif(live + machines, 0), 0))
        / nullif(dropped * (1 - coalesce(machines / nullif(live + machines, 0), 0)) + live, 0) end as share,
    (select count(*) > 0 from known_outcomes where outcome = 'dropped') as mapped
  from periods p
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

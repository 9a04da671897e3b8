-- Answered and dropped calls by rule, campaign and period, for shares of abandoned calls.

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

create or replace view abandonment_periods as
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
)
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
from placed group by rule, campaign_id, from_day;

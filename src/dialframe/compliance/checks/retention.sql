-- How far back stored calls go, against each rule on keeping records that is in force.

create or replace table retention as
-- Empty without retention_rules, rules.
with wanted as (
  select t.rule, t.years, s.as_of - to_years(t.years) as wanted_from, s.oldest_at, s.began_at
  from retention_rules t join rules r using (rule) cross join settings s
  where (r.effective_from is null or s.as_of::date >= r.effective_from)
    and (r.effective_to is null or s.as_of::date <= r.effective_to)
)
select rule, [rule] as rules, years, wanted_from, oldest_at,
  case when oldest_at <= wanted_from then 0 when began_at is null then 2
    when began_at >= wanted_from and oldest_at - began_at < interval 2 day then 0 else 3 end as severity,
  case when severity = 2 then 'the day on which the account began to call' end as missing,
  case when oldest_at <= wanted_from then 'far' when severity = 0 then 'since the account began'
    when severity = 3 then 'later than the account' else 'late' end as answer,
  'the oldest stored call' as evidence, oldest_at as finding_at, row_number() over (order by rule) - 1 as place
from wanted;

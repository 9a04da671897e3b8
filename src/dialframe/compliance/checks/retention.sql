-- How far back stored calls go, against each rule on keeping records that is in force.

with wanted as (
  select t.rule, t.years, s.as_of - to_years(t.years) as wanted_from, s.oldest_at, s.began_at
  from retention_rules t join rules r using (rule) cross join settings s
  where (r.effective_from is null or s.as_of::date >= r.effective_from) and (r.effective_to is null or s.as_of::date <= r.effective_to)
)
select rule, [rule] as rules, years, wanted_from, oldest_at,
  case when oldest_at <= wanted_from then 'pass' when began_at is null then 'not evaluable'
    when began_at >= wanted_from and oldest_at - began_at < interval 2 day then 'pass' else 'uncertain' end as grade,
  case when grade = 'not evaluable' then 'the day on which the account began to call' end as missing,
  case when oldest_at <= wanted_from then 'far' when grade = 'pass' then 'since the account began'
    when grade = 'uncertain' then 'later than the account' else 'late' end as answer,
  'the oldest stored call' as evidence, oldest_at as finding_at, row_number() over (order by rule) - 1 as place, rule as item
from wanted;

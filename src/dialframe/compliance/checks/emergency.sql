-- Calls on days of a declared emergency, in the states that ban calls on them.
--
-- Without a file that speaks of the rule nobody knows of an emergency. One that holds in a part of
-- the state is uncertain: whether the number is in that part is not known.

with reached as (
  select a.question, c.first_day, c.last_day, k.rule, k.missing as reach_missing, k.doubtful or not k.everywhere as doubtful, e.declared, e.in_part
  from asked a join calls c using (call) join reach k using (case_id) join emergency_rules e using (rule)
  where k.check_name = 'emergency' and not k.lifted
), days as (
  select r.*, a.day is not null as from_first, b.day is not null as to_last
  from reached r left join special_days a on a.rule = r.rule and a.day = r.first_day
  left join special_days b on b.rule = r.rule and b.day = r.last_day
)
select question, rule, null as answer,
  case when not declared then 'not evaluable'
    when from_first and to_last and not doubtful and reach_missing = '' and not in_part then 'violation'
    when from_first or to_last then 'uncertain' else 'pass' end as grade,
  case when not declared then 'the file of declared emergencies' end as missing
from days;

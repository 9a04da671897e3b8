-- Each call's record against 16 CFR 310.5(a)(2): numbers, date, time, duration, disposition.
--
-- An empty field is uncertain, not a violation: the firm may keep it elsewhere. The disposition is
-- asked for only of calls that were answered.

with fields as (
  select a.question, k.rule, list_filter([
    case when c.from_number is null then 'from_number' end,
    case when c.ended_at is null and c.duration_seconds is null then 'duration_seconds' end,
    case when c.answered_at is not null and c.disposition is null then 'disposition' end
  ], lambda f: f is not null) as absent
  from asked a join calls c using (call) join reach k using (case_id) join retention_rules r using (rule)
  where k.check_name = 'records' and r.is_detail and not k.lifted
)
select question, rule, array_to_string(absent, ', ') as absent, nullif(array_to_string(absent, ', '), '') as evidence, null as answer,
  case when absent = [] then 'pass' else 'uncertain' end as grade, null as missing
from fields;

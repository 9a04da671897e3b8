-- Each call's record against 16 CFR 310.5(a)(2): numbers, date, time, duration, disposition.
--
-- An empty field is uncertain, not a violation: the firm may keep it elsewhere. The disposition is
-- asked for only of calls that were answered.

create or replace table records as
-- Empty without calls, case_rules, retention_rules.
with asked as (
  select c.call, k.rule, list_filter([
    case when c.from_number is null then 'from_number' end,
    case when c.to_number is null then 'to_number' end,
    case when c.at_utc is null then 'created_at' end,
    case when c.ended_at is null and c.duration_seconds is null then 'duration_seconds' end,
    case when c.answered_at is not null and c.disposition is null then 'disposition' end
  ], lambda f: f is not null) as absent
  from calls c join case_rules k using (case_id) join retention_rules r using (rule)
  where c.graded and r.is_detail and not k.lifted
)
select call, 3 as severity, list(rule order by rule) as rules, null::varchar as missing,
  array_to_string(any_value(absent), ', ') as absent, array_to_string(any_value(absent), ', ') as evidence
from asked where absent <> [] group by call;

create or replace table records_default as
-- Empty without case_rules, retention_rules.
select k.case_id, 0 as severity, list(k.rule order by k.rule) as rules, null::varchar as missing
from case_rules k join retention_rules r using (rule) where r.is_detail and not k.lifted group by k.case_id;

-- Calls whose declared purpose is a subject on which nobody may be called.
--
-- The purpose and the sectors come from the practice file; a call of others is not reached at all.

create or replace table sector_ban_by_rule as
-- Empty without calls, case_rules, rules.
select c.call, k.rule,
  case when k.lifted then 0 when k.missing <> '' then 2 when k.doubtful or not k.everywhere then 3 else 4 end as severity,
  case when not k.lifted and k.missing <> '' then k.missing end as missing
from calls c join case_rules k using (case_id) join rules r using (rule)
where c.graded and c.missing_input is null and r.asked and r.kind = 'sector_ban';

create or replace table sector_ban as
-- Empty without sector_ban_by_rule.
with worst as (select call, max(severity) as severity from sector_ban_by_rule group by call)
select w.call, w.severity, list(r.rule order by r.rule) as rules, arg_min(r.missing, r.rule) as missing
from worst w join sector_ban_by_rule r on r.call = w.call and r.severity = w.severity
group by w.call, w.severity;

create or replace table sector_ban_default as
select null::bigint as case_id, 0 as severity, []::integer[] as rules, null::varchar as missing where false;

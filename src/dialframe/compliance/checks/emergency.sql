-- Calls on days of a declared emergency, in the states that ban calls on them.
--
-- Without a file that speaks of the rule nobody knows of an emergency. One that holds in a part of
-- the state is uncertain: whether the number is in that part is not known.

create or replace table emergency_by_rule as
-- Empty without calls, case_rules, emergency_rules.
select c.call, k.rule,
  case when a.day is not null and b.day is not null and not k.doubtful and k.missing = '' and not e.in_part then 4
    when a.day is not null or b.day is not null then 3
    else 0 end as severity,
  null::varchar as missing
from calls c join case_rules k using (case_id) join emergency_rules e using (rule)
left join special_days a on a.rule = k.rule and a.day = c.first_day
left join special_days b on b.rule = k.rule and b.day = c.last_day
where c.graded and c.missing_input is null and not k.lifted and e.declared;

insert into emergency_by_rule
-- Empty without calls, case_rules, emergency_by_rule, emergency_rules.
-- A call that a declared rule lets pass is still open by one of which the file says nothing.
select distinct b.call, k.rule, 2, 'the file of declared emergencies'
from emergency_by_rule b join calls c using (call) join case_rules k using (case_id)
join emergency_rules e on e.rule = k.rule and not e.declared where not k.lifted;

create or replace table emergency as
-- Empty without emergency_by_rule.
with worst as (select call, max(severity) as severity from emergency_by_rule group by call)
select w.call, w.severity, [min(r.rule)] as rules, arg_min(r.missing, r.rule) as missing
from worst w join emergency_by_rule r on r.call = w.call and r.severity = w.severity
group by w.call, w.severity;

create or replace table emergency_default as
-- Empty without case_rules, emergency_rules.
select k.case_id, 2 as severity, [min(k.rule)] as rules, 'the file of declared emergencies' as missing
from case_rules k join emergency_rules e using (rule) where not e.declared and not k.lifted group by k.case_id;


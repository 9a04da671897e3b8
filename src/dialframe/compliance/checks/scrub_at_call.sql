-- Which calls had a Do-Not-Call check that was recent enough when they were made.
--
-- A check counts for a list only from the day on which the firm declared that the service's check
-- covers it, and its age is counted with the age of the service's copy. A lead's import is evidence
-- of its own, `screened at import`, and never equal to a check. A check too old does not make a call
-- wrong: the safe harbour is a defense and not a duty, so that it is uncertain.

create or replace table scrub_needs as
-- Empty without case_rules, registries, rules or cases.
-- What the rules on lists ask of a case; rules that ask the same stand together.
select row_number() over () as need, * from (
  select k.case_id, g.max_age, g.by_quarter, g.check_since, g.refreshed, g.screen_since,
    list(k.rule order by k.rule) as rules
  from case_rules k join rules r using (rule) join registries g using (rule)
  where r.asked and g.asks = 'age' and not k.lifted group by all
  union all
  select c.case_id, s.plain_age, false, timestamp '0001-01-01', interval 0 day, timestamp '0001-01-01', []
  from cases c cross join settings s where s.plain_age is not null
);

create or replace table last_checks as
-- Empty without calls.
select c.call, c.phone, c.at_utc, c.case_id, k.at_utc as check_at, k.listed, k.ref
from (select call, phone, at_utc, case_id from calls where graded and missing_input is null) c
asof left join checks k on k.phone = c.phone and k.at_utc <= c.at_utc;

create or replace table scrub_settled as
-- Empty without last_checks, scrub_needs.
-- Calls whose newest check is fresh by the strictest rule of their case.
with strictest as (
  select case_id, min(max_age - refreshed) as max_age, max(check_since) as since, bool_or(by_quarter) as by_quarter
  from scrub_needs group by case_id having bool_and(check_since is not null)
)
select l.call, l.listed
from last_checks l join strictest n using (case_id)
where l.at_utc - l.check_at <= n.max_age and l.check_at >= n.since
  and (not n.by_quarter or date_trunc('quarter', l.at_utc) = date_trunc('quarter', l.check_at));

create or replace table scrub_doubtful as
-- Empty without last_checks.
select l.* from last_checks l cross join settings s
where s.every_row or l.call not in (select call from scrub_settled)
  or l.case_id in (select case_id from weak_cases where check_name = 'scrub_at_call');

create or replace table next_checks as
-- Empty without scrub_doubtful.
select l.call, k.at_utc as next_at, k.listed as next_listed, k.ref as next_ref
from scrub_doubtful l asof left join checks k on k.phone = l.phone and k.at_utc > l.at_utc;

create or replace table last_screens as
-- Empty without scrub_doubtful.
select l.call, k.at_utc as screen_at, k.ref as screen_ref, l.check_at
from scrub_doubtful l asof left join screens k on k.phone = l.phone and k.at_utc <= l.at_utc;

create or replace table scrub_by_need as
-- Empty without last_screens, next_checks, scrub_doubtful, scrub_needs.
with held as (
  select l.call, n.need, n.max_age, n.by_quarter, n.check_since, n.refreshed, l.at_utc, l.check_at, s.screen_at, x.next_at,
    coalesce(l.check_at >= n.check_since, false) as covered,
    coalesce(s.screen_at >= n.screen_since, false) as screen_covered,
    l.at_utc - l.check_at as age,
    not n.by_quarter or date_trunc('quarter', l.at_utc) = date_trunc('quarter', l.check_at) as in_quarter
  from scrub_doubtful l join scrub_needs n using (case_id) join last_screens s using (call) join next_checks x using (call)
)
select call, need,
  case
    when covered and age + refreshed <= max_age and in_quarter then 'checked in time'
    when covered and age <= max_age and in_quarter then 'list may be older'
    when screen_covered and at_utc - screen_at <= max_age
      and (not by_quarter or date_trunc('quarter', at_utc) = date_trunc('quarter', screen_at)) then 'screened at import'
    when covered or screen_covered then 'stale'
    when check_at is not null and check_since is null then 'list not declared'
    when check_at is not null then 'before the list was covered'
    when screen_at is not null then 'screened at import, list not declared'
    when next_at is not null then 'only after'
    else 'never' end as state
from held;

create or replace table scrub_looked_at as
-- Empty without calls or next_checks, scrub_doubtful.
-- What decides the grade of a call: its case, the state of each need, both as one number (`answers`),
-- whether there is any check, and the input without which the call cannot be placed.
with answered as (
  select call, list(need * 16 + case state when 'checked in time' then 1 when 'list may be older' then 2
      when 'screened at import' then 3 when 'stale' then 4 when 'list not declared' then 5
      when 'before the list was covered' then 6 when 'screened at import, list not declared' then 7
      when 'only after' then 8 else 9 end) as answers
  from scrub_by_need group by call
)
select d.call, d.case_id, a.answers, d.check_at is not null as checked, x.next_at is not null as checked_after, null::varchar as missing_input
from scrub_doubtful d join next_checks x using (call) left join answered a using (call)
union all
select call, null, null, false, false, missing_input from calls where graded and missing_input is not null;

create or replace table scrub_at_call_situations as
-- Empty without scrub_looked_at.
select row_number() over () as situation, case_id, answers, checked, checked_after, missing_input, min(call) as first, count(*) as calls
from scrub_looked_at group by case_id, answers, checked, checked_after, missing_input;

create or replace table scrub_at_call_members as
-- Empty without scrub_at_call_situations, scrub_looked_at.
select l.call, g.situation from scrub_looked_at l join scrub_at_call_situations g
  on g.case_id is not distinct from l.case_id and g.answers is not distinct from l.answers and g.checked = l.checked
  and g.checked_after = l.checked_after and g.missing_input is not distinct from l.missing_input;

create or replace table scrub_at_call_verdicts as
-- Empty without scrub_at_call_situations.
with graded as (
  select g.situation, n.rules, n.max_age, n.refreshed, b.state,
    case b.state when 'checked in time' then 0
      when 'list may be older' then 3 when 'screened at import' then 3 when 'stale' then 3 else 2 end as severity
  from scrub_at_call_situations g join scrub_by_need b on b.call = g.first join scrub_needs n using (need)
), worst as (
  select situation, max(severity) as severity from graded group by situation
), told as (
  select w.situation, w.severity, flatten(list(g.rules order by g.rules)) as rules, arg_min(g.state, (g.max_age, g.rules)) as state,
    min(g.max_age) as max_age, arg_min(g.refreshed, (g.max_age, g.rules)) as refreshed
  from worst w join graded g on g.situation = w.situation and g.severity = w.severity group by w.situation, w.severity
)
select d.situation,
  case when t.situation is not null then t.severity when x.case_id is not null then 0 else 2 end as severity,
  coalesce(t.rules, []) as rules,
  case when d.missing_input is not null then d.missing_input
    when t.severity = 2 then case
      when t.state in ('list not declared', 'before the list was covered', 'screened at import, list not declared')
        then 'a practice file that says which lists the service covers'
      else 'a Do-Not-Call check at or before the call' end
    when t.situation is null and x.case_id is null then 'a rule on Do-Not-Call lists for the place of the number' end as missing,
  case when d.missing_input is not null then 'never'
    when t.situation is not null then t.state when x.case_id is not null then 'exempt'
    when d.checked then 'no rule' when d.checked_after then 'only after' else 'never' end as state,
  t.max_age, t.refreshed
from scrub_at_call_situations d left join told t using (situation)
left join (
  select distinct case_id from case_rules k join rules r using (rule) join registries g using (rule)
  where k.lifted and r.asked and g.asks = 'age'
) x using (case_id);

create or replace view scrub_at_call as
-- Empty without scrub_at_call_members, scrub_at_call_verdicts.
select m.call, v.severity, v.rules, v.missing, v.state, v.max_age, v.refreshed,
  d.check_at, d.listed, d.ref, n.screen_at, n.screen_ref, s.next_at, s.next_listed
from scrub_at_call_members m join scrub_at_call_verdicts v using (situation) left join scrub_doubtful d using (call)
left join last_screens n using (call) left join next_checks s using (call);

create or replace table scrub_at_call_default as
-- Empty without scrub_needs.
select case_id, 0 as severity, flatten(list(rules order by rules)) as rules, null::varchar as missing from scrub_needs group by case_id;

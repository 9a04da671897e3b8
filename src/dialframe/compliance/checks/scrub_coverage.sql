-- Numbers that may be called, or were called, by the newest record about them: one row per number.
--
-- The age of a record is counted in spans of 24 hours, to the instant. One too old, or none, does not
-- say that a number must not be called: the records do not show the safe harbor's condition.

create or replace table number_limits as
-- Empty without registries, rules, situation_rules.
-- How old a record may be on the day of the audit, by the strictest rule of the number's place.
select k.situation, min(g.max_age) as max_age, bool_and(g.check_since is not null) as declared,
  bool_and(g.screen_since is not null) as screen_declared, list(k.rule order by k.rule) as rules
from situation_rules k join rules r using (rule) join registries g using (rule) cross join settings s
where r.asked and g.asks = 'age' and not k.lifted
  and (r.effective_from is null or s.as_of::date >= r.effective_from)
  and (r.effective_to is null or s.as_of::date <= r.effective_to)
group by k.situation;

create or replace macro record_state(as_of, check_at, screen_at, max_age) as
  case when as_of - check_at <= max_age then 'fresh'
    when as_of - screen_at <= max_age then 'screened at import'
    when check_at is not null or screen_at is not null then 'stale' else 'never checked' end;

create or replace macro newest_of(state, check_at, screen_at) as
  case when state = 'fresh' or screen_at is null or (state = 'stale' and check_at >= screen_at) then 'check'
    else 'import screen' end;

create or replace table lead_numbers as
-- Empty without leads.
-- A number is its own key; a text that is none stands for itself.
select phone, case when phone is null then number end as text, any_value(number) as number,
  bool_or(coalesce(status, '') not in ('dnc', 'completed')) as callable, min(lead) as lead_place,
  case when count(*) = 1 then any_value(lead_id) end as lead_id
from leads group by all;

create or replace view coverage as
-- Empty without calls or lead_numbers.
-- Every number that may be called, or was.
with dialed as (
  select phone, case when phone is null then to_number end as text, any_value(to_number) as number, min(call) as call_place,
    any_value(number_situation) as situation
  from calls where graded and is_outbound and to_number is not null group by all
), everyone as (
  select coalesce(l.number, d.number) as number, coalesce(l.phone, d.phone) as phone, coalesce(l.callable, false) as callable,
    d.call_place is not null as called, case when l.callable then l.lead_place end as lead_place, d.call_place, l.lead_id,
    coalesce(n.number_situation, d.situation) as situation
  from lead_numbers l full join dialed d on d.phone is not distinct from l.phone and d.text is not distinct from l.text
  left join numbers n on n.phone = l.phone
)
select e.* exclude (situation), k.newest_at as check_at, k.newest_listed as listed, c.ref as check_ref, n.newest_at as screen_at, i.ref as screen_ref,
  coalesce(s.plain_age, w.max_age, s.default_age) as max_age,
  coalesce(w.declared, s.plain_age is not null) as declared, coalesce(w.screen_declared, false) as screen_declared, w.rules, s.as_of,
  record_state(s.as_of, check_at, screen_at, coalesce(s.plain_age, w.max_age, s.default_age)) as state,
  newest_of(state, check_at, screen_at) as newest
from everyone e cross join settings s left join checked_numbers k on k.phone = e.phone left join screened_numbers n on n.phone = e.phone
left join check_refs c on c.phone = e.phone and c.at_utc = k.newest_at left join screens i on i.phone = e.phone and i.at_utc = n.newest_at
left join number_limits w on w.situation = e.situation
where e.callable or e.called;

create or replace table scrub_coverage as
-- Empty without lead_numbers.
with aged as (
  select l.*, k.newest_at as check_at, k.newest_listed as listed, i.newest_at as screen_at, coalesce(s.plain_age, w.max_age, s.default_age) as max_age,
    coalesce(w.declared, s.plain_age is not null) as declared, coalesce(w.screen_declared, false) as screen_declared,
    coalesce(w.rules, []) as rules,
    record_state(s.as_of, check_at, screen_at, coalesce(s.plain_age, w.max_age, s.default_age)) as state,
    newest_of(state, check_at, screen_at) as newest
  from lead_numbers l cross join settings s left join checked_numbers k on k.phone = l.phone left join screened_numbers i on i.phone = l.phone
  left join numbers n on n.phone = l.phone left join number_limits w on w.situation = n.number_situation
  where l.callable
)
select number, phone, lead_id, rules, check_at, listed, screen_at, max_age, state, newest, lead_place as place,
  case when state = 'fresh' and declared then 0
    when state = 'stale' or (state = 'screened at import' and screen_declared) then 3 else 2 end as severity,
  case when state = 'never checked' then 'a Do-Not-Call check of the number'
    when (state = 'fresh' and not declared) or (state = 'screened at import' and not screen_declared)
      then 'a practice file that says which lists the service covers' end as missing
from aged;

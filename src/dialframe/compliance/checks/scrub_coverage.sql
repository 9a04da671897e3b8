-- Numbers that may be called, or were called, by the newest record about them: one row per number.
--
-- The age of a record is counted in spans of 24 hours, to the instant. One too old, or none, does not
-- say that a number must not be called: the records do not show the safe harbor's condition.

create or replace table number_limits as
-- Empty without numbers, registries, rules, situation_rules.
-- How old a record may be on the day of the audit, by the strictest rule of the number's place.
select n.situation, min(g.max_age) as max_age, bool_and(g.check_since is not null) as declared,
  bool_and(g.screen_since is not null) as screen_declared, list(k.rule order by k.rule) as rules
from (select distinct situation from numbers) n join situation_rules k using (situation)
join rules r using (rule) join registries g using (rule) cross join settings s
where r.asked and g.asks = 'age' and not k.lifted
  and (r.effective_from is null or s.as_of::date >= r.effective_from)
  and (r.effective_to is null or s.as_of::date <= r.effective_to)
group by n.situation;

create or replace table coverage as
-- Empty without calls or leads.
-- A number is its own key; a text that is none stands for itself.
with people as (
  select phone, case when phone is null then number end as text, any_value(number) as number,
    bool_or(coalesce(status, '') not in ('dnc', 'completed')) as callable, false as called, min(lead) as place,
    case when count(*) = 1 then any_value(lead_id) end as lead_id
  from leads group by all
), dialed as (
  select phone, case when phone is null then to_number end as text, any_value(to_number) as number,
    false as callable, true as called, min(call) as place, null::varchar as lead_id
  from calls where graded and is_outbound and to_number is not null group by all
), everyone as (
  select any_value(number) as number, phone, bool_or(callable) as callable, bool_or(called) as called,
    min(place) filter (callable) as lead_place, min(place) filter (called) as call_place, any_value(lead_id) as lead_id
  from (select * from people union all select * from dialed) group by phone, text
), newest_check as (
  select phone, max(at_utc) as at_utc, arg_max(listed, at_utc) as listed, arg_max(ref, at_utc) as ref from checks group by phone
), newest_screen as (
  select phone, max(at_utc) as at_utc, arg_max(ref, at_utc) as ref from screens group by phone
), aged as (
  select e.*, k.at_utc as check_at, k.listed, k.ref as check_ref, c.at_utc as screen_at, c.ref as screen_ref,
    coalesce(s.plain_age, w.max_age, s.default_age) as max_age, coalesce(w.declared, s.plain_age is not null) as declared,
    coalesce(w.screen_declared, false) as screen_declared, w.rules, s.as_of
  from everyone e cross join settings s
  left join newest_check k on k.phone = e.phone left join newest_screen c on c.phone = e.phone
  left join numbers n on n.phone = e.phone left join number_limits w on w.situation = n.situation
  where e.callable or e.called
)
select *,
  case when as_of - check_at <= max_age then 'fresh'
    when as_of - screen_at <= max_age then 'screened at import'
    when check_at is not null or screen_at is not null then 'stale' else 'never checked' end as state,
  case when state = 'fresh' or screen_at is null or (state = 'stale' and check_at >= screen_at) then 'check'
    else 'import screen' end as newest
from aged;

create or replace table scrub_coverage as
-- Empty without coverage.
select number, lead_id, coalesce(rules, []) as rules, check_at, listed, check_ref, screen_at, screen_ref, max_age, state, newest, lead_place,
  case when state = 'fresh' and declared then 0
    when state = 'stale' or (state = 'screened at import' and screen_declared) then 3 else 2 end as severity,
  case when state = 'never checked' then 'a Do-Not-Call check of the number'
    when (state = 'fresh' and not declared) or (state = 'screened at import' and not screen_declared)
      then 'a practice file that says which lists the service covers' end as missing
from coverage where callable;

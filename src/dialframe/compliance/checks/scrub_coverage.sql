-- Numbers that may be called, or were called, by the newest record about them: one row per number.
--
-- The age of a record is counted in spans of 24 hours, to the instant. One too old, or none, does not
-- say that a number must not be called: the records do not show the safe harbor's condition.

create or replace table number_limits as
-- How old a record may be on the day of the audit, by the strictest rule of the number's place.
select k.circumstance, min(g.max_age) as max_age, bool_and(g.check_since is not null) as declared,
  bool_and(g.screen_since is not null) as screen_declared, list(k.rule order by r.place) as rules
from circumstance_rules k join rules r using (rule) join registries g using (rule) cross join settings s
where r.asked and g.asks = 'age' and not k.lifted
  and (r.effective_from is null or s.as_of::date >= r.effective_from) and (r.effective_to is null or s.as_of::date <= r.effective_to)
group by k.circumstance;

create or replace table numbers_on_record as
-- Every number of a lead, and every number that was called. A text that is no number stands for itself.
with people as (
  select phone, case when phone is null then number end as text, any_value(number) as number,
    bool_or(coalesce(status, '') not in ('dnc', 'completed')) as callable, min(lead) as lead_place,
    case when count(*) = 1 then any_value(lead_id) end as lead_id
  from leads group by all
), dialed as (
  select phone, case when phone is null then to_number end as text, any_value(to_number) as number, min(call) as call_place,
    any_value(number_circumstance) as circumstance
  from calls where graded and is_outbound and to_number is not null group by all
)
select coalesce(l.number, d.number) as number, coalesce(l.phone, d.phone) as phone, coalesce(l.callable, false) as callable,
  d.call_place is not null as called, case when l.callable then l.lead_place end as lead_place, d.call_place, l.lead_id,
  coalesce(u.circumstance, d.circumstance) as circumstance
from people l full join dialed d on d.phone is not distinct from l.phone and d.text is not distinct from l.text
left join numbers n on n.phone = l.phone
left join circumstances u on u.place = n.place and u.campaign = '' and u.line_type = n.line_type and u.records = '';

create or replace view coverage as
with newest as (
  select phone, max(at_utc) as check_at, arg_max(listed, at_utc) as listed from checks group by phone
), screened as (
  select phone, max(at_utc) as screen_at from screens group by phone
), records as (
  select e.*, k.check_at, k.listed, i.screen_at, s.as_of, coalesce(s.plain_age, w.max_age, s.default_age) as max_age, coalesce(w.rules, []) as rules,
    coalesce(w.declared, s.plain_age is not null) as declared, coalesce(w.screen_declared, false) as screen_declared
  from numbers_on_record e cross join settings s left join newest k on k.phone = e.phone left join screened i on i.phone = e.phone
  left join number_limits w on w.circumstance = e.circumstance where e.callable or e.called
)
select *, case when as_of - check_at <= max_age then 'fresh' when as_of - screen_at <= max_age then 'screened at import'
    when check_at is not null or screen_at is not null then 'stale' else 'never checked' end as state,
  case when state = 'fresh' or screen_at is null or (state = 'stale' and check_at >= screen_at) then 'check' else 'import screen' end as newest
from records;

with callable_numbers as (
  select * from coverage where callable
)
select number, phone, lead_id, rules, check_at, listed, screen_at, max_age, state, newest, state as answer, lead_place as place,
  case when state = 'fresh' and declared then 'pass'
    when state = 'stale' or (state = 'screened at import' and screen_declared) then 'uncertain' else 'not evaluable' end as grade,
  case when state = 'never checked' then 'a Do-Not-Call check of the number'
    when (state = 'fresh' and not declared) or (state = 'screened at import' and not screen_declared)
      then 'a practice file that says which lists the service covers' end as missing, as_of as finding_at, number as item
from callable_numbers;

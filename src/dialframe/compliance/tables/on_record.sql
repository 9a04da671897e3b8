-- Every number that may be called, or was called, and the newest records about it.

create or replace view age_limits as
-- How old a record of a number may be on the day of the audit, by each list that a rule of its place asks about.
select k.circumstance, k.rule, r.place as book_order, g.registry, g.max_age, g.check_since is not null as check_covers, g.screen_since is not null as screen_covers
from circumstance_rules k join rules r using (rule) join registries g using (rule) cross join settings s
where r.asked and g.asks = 'age' and not k.lifted
  and (r.effective_from is null or s.as_of::date >= r.effective_from) and (r.effective_to is null or s.as_of::date <= r.effective_to);

create or replace view numbers_on_record as
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
-- The newest check and import screen of each number, and how it stands with the lists of its place by what scrubs say.
with lists as (
  select circumstance, min(max_age) as max_age, bool_and(check_covers) as declared, bool_and(screen_covers) as screen_declared,
    list(rule order by book_order) as rules from age_limits group by circumstance
), checked as (
  select phone, max(at_utc) as check_at, arg_max(listed, at_utc) as listed from checks group by phone
), screened as (
  select phone, max(at_utc) as screen_at from screens group by phone
), scrubbed as (
  -- The oldest of its newest scrubs against each of these lists; none where it was not held against one of them.
  select phone, circumstance, case when bool_and(scrub_at is not null) then min(scrub_at) end as scrub_at, bool_or(listed) as scrub_listed
  from (select e.phone, e.circumstance, a.registry, max(z.at_utc) as scrub_at, arg_max(z.listed, z.at_utc) as listed
    from (select distinct phone, circumstance from numbers_on_record where phone in (select phone from scrubs)) e join age_limits a using (circumstance)
    left join scrubs z on z.phone = e.phone and z.registry = lower(a.registry) group by all) group by all
), records as (
  select e.*, k.check_at, k.listed, i.screen_at, z.scrub_at, z.scrub_listed, s.as_of, coalesce(s.plain_age, w.max_age, s.default_age) as max_age,
    coalesce(w.rules, []) as rules, coalesce(w.declared, s.plain_age is not null) as declared, coalesce(w.screen_declared, false) as screen_declared
  from numbers_on_record e cross join settings s left join checked k on k.phone = e.phone left join screened i on i.phone = e.phone
  left join lists w on w.circumstance = e.circumstance left join scrubbed z on z.phone = e.phone and z.circumstance = e.circumstance
  where e.callable or e.called
)
select *, case when as_of - scrub_at <= max_age or as_of - check_at <= max_age then 'fresh' when as_of - screen_at <= max_age then 'screened at import'
    when check_at is not null or screen_at is not null or scrub_at is not null then 'stale' else 'never checked' end as state,
  as_of - scrub_at <= max_age as scrubbed_in_time,
  case when scrubbed_in_time and coalesce(check_at < scrub_at, true) then 'scrub'
    when state = 'stale' and scrub_at > coalesce(greatest(check_at, screen_at), '-infinity'::timestamp) then 'scrub' when state = 'fresh' or screen_at is null
    or (state = 'stale' and check_at >= screen_at) then 'check' else 'import screen' end as newest
from records;

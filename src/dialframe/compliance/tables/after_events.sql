-- Attempts too soon after an event: a dropped call, one that a machine was said to answer, a conversation.

create or replace table calls_before as
-- Calls of both directions of the numbers that such a cap follows.
with followed as (
  select distinct c.phone from calls c join reach k using (case_id) join caps p using (rule)
  where c.attempt and not k.lifted and (p.trigger is not null or p.cooldown_days is not null)
)
select phone, call, at_utc, ends_at, outcome, answered_at is not null as answered, true as is_outbound, case_id, attempt
from calls where at_utc is not null and phone in (from followed)
union all
select phone, call, at_utc, ends_at, outcome, answered, false, null, false from inbound where at_utc is not null and phone in (from followed);

create or replace table attempts_after_events as
with reached as (
  select c.call, c.phone, c.at_utc, c.place, k.rule, p.*exclude (rule), case p.trigger when 'abandoned' then 'dropped' else p.trigger end as wanted
  from calls c join reach k using (case_id) join caps p using (rule)
  where c.attempt and not k.lifted and k.check_name = 'attempt_caps' and (p.trigger is not null or p.cooldown_days is not null)
), first_event as (
  select r.call, r.rule, min(b.at_utc) as event_at
  from reached r join calls_before b on b.phone = r.phone and b.is_outbound and b.outcome = r.wanted and b.at_utc < r.at_utc and r.at_utc - b.ends_at < r.length
  group by all
), without_outcome as (
  select distinct r.call, r.rule
  from reached r join calls_before b on b.phone = r.phone and b.is_outbound and b.outcome is distinct from r.wanted and b.at_utc < r.at_utc and r.at_utc - b.ends_at < r.length
    and (r.wanted not in (select outcome from known_outcomes)
      or (b.answered and (b.outcome is null or b.outcome not in ('dropped', 'live', 'machine'))))
  where r.wanted is not null
), after_event as (
  select r.call, r.rule, any_value(r.most) as most, any_value(r.wanted) as wanted, any_value(r.within) as within,
    count(o.call) as attempts, bool_or(u.call is not null) and bool_and(f.call is null) as unknown
  from reached r left join first_event f using (call, rule) left join without_outcome u using (call, rule)
  left join reached o on o.rule = r.rule and o.phone = r.phone and o.at_utc > f.event_at and o.at_utc <= r.at_utc
  where r.wanted is not null group by r.call, r.rule
), local_days as (
  -- By the called party's date, the day of the conversation the first.
  select r.*, z.zone, (r.at_utc + o.utc_offset)::date as day from reached r join place_zones z using (place)
  join offsets o on o.zone = z.zone and r.at_utc >= o.since and r.at_utc < o.until where r.cooldown_days is not null
), talks as (
  select r.call, r.rule, r.zone,
    bool_or(coalesce(b.outcome = 'live', false) or (not b.is_outbound and b.answered)) as hit,
    bool_or(not (coalesce(b.outcome = 'live', false) or (not b.is_outbound and b.answered)) and b.answered
      and (b.outcome is null or b.outcome not in ('dropped', 'live', 'machine'))) as perhaps
  from local_days r join calls_before b on b.phone = r.phone and b.at_utc < r.at_utc
  join offsets o on o.zone = r.zone and b.at_utc >= o.since and b.at_utc < o.until
  where r.day - (b.at_utc + o.utc_offset)::date < r.cooldown_days
    and (not b.is_outbound or (b.attempt and exists (select 1 from reach k where k.case_id = b.case_id and k.rule = r.rule and not k.lifted)))
  group by all
), after_talk as (
  select r.call, r.rule, any_value(r.cooldown_days) as days, count(*) filter (coalesce(n.hit, false)) as zones_hit,
    count(*) as zones, bool_or(coalesce(n.perhaps, false)) as perhaps
  from local_days r left join talks n using (call, rule, zone) group by r.call, r.rule
)
select call, rule, attempts, most as allowed, within,
  case when unknown then 'not evaluable' when attempts > most then 'violation' else 'pass' end::grade as grade,
  case when not unknown then null when wanted = 'dropped' then 'an outcome that says that a call was dropped'
    else 'an outcome that says that a machine answered' end as missing
from after_event
union all
select call, rule, (zones_hit > 0 or perhaps)::int, 0, days || ' days of a conversation',
  case when zones_hit = zones then 'violation' when zones_hit > 0 then 'uncertain' when perhaps then 'not evaluable' else 'pass' end::grade,
  case when zones_hit = 0 and perhaps then 'an outcome that says that a person was spoken to' end
from after_talk;

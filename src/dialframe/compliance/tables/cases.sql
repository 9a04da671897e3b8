-- Where each number may be and under which circumstances it was called, and which rules reach such calls.
--
-- A *situation* is a place and circumstances (purpose, dialing, line type, records that lift a rule).
-- A *case* is a situation on days between which no rule begins or ends: all calls of a case are
-- under the same law, so that the law is looked up once for thousands of calls.

create or replace table clock_of_place as
-- Empty without offsets, place_zones.
-- The earliest and the latest clock among the candidate zones of a place, between two changes of any of
-- them; `clock` is the same where all of them stand as they did before.
with edges as (
  select distinct place, since from place_zones join offsets using (zone)
), spans as (
  select place, since, lead(since, 1, timestamp '9999-12-31') over (partition by place order by since) as until
  from edges
)
select s.place, s.since, s.until, min(o.offset_us) as least_us, max(o.offset_us) as most_us,
  dense_rank() over (order by s.place, list(o.offset_us order by z.ord)) as clock
from spans s join place_zones z using (place)
join offsets o on o.zone = z.zone and s.since >= o.since and s.since < o.until
group by s.place, s.since, s.until;

create or replace table calls as
-- Empty without placed.
with timed as (
  select p.*,
    (p.at_utc + to_microseconds(coalesce(k.least_us, 0)))::date as first_day,
    (p.at_utc + to_microseconds(coalesce(k.most_us, 0)))::date as last_day,
    coalesce(k.least_us, 0) as least_us, coalesce(k.most_us, 0) as most_us, k.clock
  from placed p left join clock_of_place k on k.place = p.place and p.at_utc >= k.since and p.at_utc < k.until
)
select t.* exclude (status, hangup_cause, most_us),
  -- An answered call reached somebody, whatever its cause says.
  t.answered_at is not null or not (
    coalesce(w.never_dialed, false) or coalesce(x.never_dialed, false) or coalesce(h.never_dialed, false)
  ) as reached_network,
  t.missing_input is null and reached_network as attempt,
  case when t.missing_input is null
    then (t.situation * (select count(*) + 1 from turns) + coalesce(a.stretch, 0)) * 4 + coalesce(b.stretch, 0) - coalesce(a.stretch, 0)
  end as case_id,
  coalesce(a.stretch, 0) as first_stretch, coalesce(b.stretch, 0) as last_stretch
from timed t
left join day_stretches a on a.day = t.first_day
left join day_stretches b on b.day = t.last_day
left join words w on w.field = 'disposition' and w.word = t.disposition
left join words x on x.field = 'status' and x.word = t.status
left join words h on h.field = 'hangup_cause' and h.word = t.hangup_cause;

create or replace table cases as
-- Empty without calls.
select distinct case_id, situation, place, first_stretch, last_stretch from calls where case_id is not null;

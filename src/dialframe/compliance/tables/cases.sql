-- Every outbound call, placed: its circumstances, the earliest and the latest day that it may have been there, its case.

create or replace table clocks_of_place as
-- The earliest and the latest clock among the candidate zones of a place, between two changes of any of them;
-- `clock` is the same where all of them stand as they did before.
with spans as (
  select place, since, lead(since, 1, timestamp '9999-12-31') over (partition by place order by since) as until
  from (select distinct place, since from place_zones join offsets using (zone))
)
select s.place, s.since, s.until, min(o.utc_offset) as earliest, max(o.utc_offset) as latest,
  dense_rank() over (order by s.place, list(o.utc_offset order by z.ord)) as clock
from spans s join place_zones z using (place)
join offsets o on o.zone = z.zone and s.since >= o.since and s.since < o.until group by s.place, s.since, s.until;

create or replace table calls as
with timed as (
  select p.*, n.place, n.campaign, n.line_type, n.records, k.clock, coalesce(k.earliest, interval 0 hour) as earliest,
    (p.at_utc + coalesce(k.earliest, interval 0 hour))::date as first_day,
    (p.at_utc + coalesce(k.latest, interval 0 hour))::date as last_day
  from outbound p join placed n using (call)
  left join clocks_of_place k on k.place = n.place and p.at_utc >= k.since and p.at_utc < k.until
)
select t.* exclude (status, hangup_cause, campaign, line_type, records), u.circumstance, m.circumstance as number_circumstance,
  -- An answered call reached somebody, whatever its cause says.
  t.answered_at is not null or not (
    coalesce(w.never_dialed, false) or coalesce(x.never_dialed, false) or coalesce(h.never_dialed, false)
  ) as reached_network,
  t.missing_input is null and reached_network as attempt,
  coalesce(a.period, 0) as first_period, coalesce(b.period, 0) as last_period
from timed t
left join circumstances u on u.place = t.place and u.campaign = t.campaign and u.line_type = t.line_type and u.records = t.records
left join circumstances m on m.place = t.place and m.campaign = '' and m.line_type = t.line_type and m.records = ''
left join law_days a on a.day = t.first_day left join law_days b on b.day = t.last_day
left join words w on w.field = 'disposition' and w.word = t.disposition
left join words x on x.field = 'status' and x.word = t.status
left join words h on h.field = 'hangup_cause' and h.word = t.hangup_cause;

create or replace table cases as
select row_number() over () as case_id, circumstance, place, first_period, last_period from (
  select distinct circumstance, place, first_period, last_period from calls where missing_input is null);

create or replace table calls as
select c.*, k.case_id from calls c left join cases k on c.missing_input is null and k.circumstance = c.circumstance
  and k.first_period = c.first_period and k.last_period = c.last_period;

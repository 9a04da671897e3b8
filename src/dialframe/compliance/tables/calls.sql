-- Calls as they came, each once: outbound ones that are graded or count in windows, inbound ones beside them.
-- Rows are never dropped in silence: `left_out` counts them under their reason.

create or replace table repeated_ids as
-- Of several rows of an id the last counts; a row without id is a call of its own.
select id, max(call) as last_call from calls_in where id is not null group by id having count(*) > 1;

create or replace view every_call as
select c.call, c.id as call_id, c.from_number, c.to_number, c.to_phone, c.campaign_id, c.disposition,
  c.created_at as at_utc, c.answered_at, c.ended_at, c.duration_seconds, c.recorded, d.id is not null and c.call < d.last_call as repeated,
  lower(trim(c.direction)) as way,
  greatest(c.created_at, coalesce(c.answered_at, c.created_at), coalesce(c.ended_at, c.created_at)) as ends_at,
  not repeated and (c.created_at is null or c.created_at <= s.as_of) as seen,
  o.outcome, c.status, c.hangup_cause
from calls_in c cross join settings s left join outcomes_in o on o.call_id = c.id
  left join repeated_ids d on d.id = c.id;

create or replace view outbound as
select call, call_id, from_number, to_number, to_phone as phone, campaign_id, disposition, at_utc,
  answered_at, ended_at, duration_seconds, recorded, ends_at, outcome,
  way is not distinct from 'outbound' as is_outbound,
  at_utc is null or s.since is null or at_utc >= s.since as graded,
  case when way is distinct from 'outbound' then 'direction' when at_utc is null then 'created_at'
    when to_phone is null then 'to_number' end as missing_input, status, hangup_cause
from every_call cross join settings s
where seen and way is distinct from 'inbound' and (at_utc is null or s.until is null or at_utc < s.until);

create or replace table inbound as
select call, e164(from_number) as phone, at_utc, ends_at, outcome, answered_at is not null as answered
from every_call where seen and way = 'inbound';

create or replace table left_out as
with sums as (
  select count(*) filter (seen and way = 'inbound') as inbound, count(*) filter (not repeated and not seen) as later,
    count(*) filter (repeated) as repeated, count(*) filter (seen and way is distinct from 'inbound' and at_utc is not null
      and (at_utc < s.since or at_utc >= s.until)) as outside
  from every_call cross join settings s
)
select unnest(['inbound call', 'call after the moment of the audit', 'second row of a call that is already counted']
    || if(since is null and until is null, [], ['call outside the period'])) as reason,
  unnest([inbound, later, repeated] || if(since is null and until is null, [], [outside])) as calls,
  unnest([1, 2, 3] || if(since is null and until is null, [], [4])) as place
from sums cross join settings;

create or replace view unmapped as
-- Dispositions of which nobody said what they mean.
select c.disposition, count(*) as calls, any_value(w.like_refusal) as like_refusal
from every_call c join words w on w.field = 'disposition' and w.word = c.disposition
where c.seen and not w.is_mapped group by c.disposition;

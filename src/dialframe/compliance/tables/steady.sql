-- For how long nothing that decides about a number changes: from the last instant at or before the call, to the first
-- after it, at which a record, or the end of a span that a rule counts from it, falls into the quarter of an hour.

create or replace table steady as
with spans as (
  select interval 0 second as span union select length from cap_limits union select length from caps
  union select max_age from registries union select max_age - refreshed from registries union select listed_grace from registries
  union select grace from settings union select default_age from settings union select plain_age from settings
  union select binds_for from request_rules union select to_years(binds_years::integer) from request_rules
  union select aging from consent_rules union select refresh from consent_rules union select grace from consent_rules
  union select to_years(max_age_years::integer) from consent_rules union select to_days(days::integer) from lifting_windows
), instants as (
  select to_phone as phone, unnest([created_at, answered_at, ended_at]) as at_utc from calls_in where call < (select first_call from would_be)
  union select e164(from_number), unnest([created_at, ended_at]) from calls_in where lower(trim(direction)) = 'inbound'
  union select phone_key, checked_at from checks_in union select phone_key, unnest([created_at, updated_at]) from leads_in
  union select e164(phone), unnest(["at", ended_at]) from requests_in union select phone, unnest([granted_at, revoked_at, expires_at]) from consents
  union select phone, unnest([checked_at, ported_at]) from look_ups union select phone, unnest([at_utc, listed_on]) from scrubs
  -- A record of a whole campaign bears on every number: 0 stands for all.
  union select coalesce(e164(phone), 0), unnest([from_at, until_at]) from exemptions
), quarter as (
  select at_utc, time_bucket(grain, at_utc) as starts_at, starts_at + grain as ends_at from would_be cross join settings
), edges as (
  select i.phone, i.at_utc + s.span as edge_at from instants i cross join spans s cross join quarter q
  where i.at_utc + s.span >= q.starts_at and i.at_utc + s.span < q.ends_at
)
select c.call, coalesce(max(e.edge_at) filter (e.edge_at <= q.at_utc), any_value(q.starts_at) - interval 1 microsecond) as after_at,
  coalesce(min(e.edge_at) filter (e.edge_at >= q.at_utc), any_value(q.ends_at)) as before_at
from calls c cross join quarter q left join edges e on e.phone = c.phone or e.phone = 0
where c.call >= (select first_call from would_be) group by c.call;

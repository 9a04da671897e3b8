-- What is on record about numbers and Do-Not-Call, row by row; nothing is concluded here.
--
-- checks    the service's answer to a question: listed or not, when it was asked. It names no list.
-- screens   the service took a lead in, after a screen of its own: weaker than a check, no answer is kept.
-- requests  somebody asked not to be called: a call's disposition, an event, an entry of the firm's own list.
-- refusals  a disposition that nobody mapped and that reads like a request, a request whose time nobody wrote down,
--           or an entry of the firm's own list that is nobody's wish, such as that of a register.
-- flags     a lead whose status is dnc, by its last change, where no request explains it.

create or replace table checks as
-- Of several answers at one instant the one that says listed counts.
select phone_key as phone, checked_at as at_utc, bool_or(listed) as listed, arg_max(check_no, listed::int) as check_no
from checks_in cross join settings s
where phone_key is not null and listed is not null and checked_at <= s.as_of
group by all;

create or replace table leads as
select lead, id as lead_id, phone_key as phone, phone as number, campaign_id,
  lower(trim(status)) as status, created_at, updated_at
from leads_in cross join settings s
where phone is not null and (created_at is null or created_at <= s.as_of);

create or replace table screens as
-- A lead that was dnc from its first moment was not taken in as clean.
select phone, created_at as at_utc, min(lead_id) as ref from leads
where phone is not null and created_at is not null
  and not (coalesce(status, '') = 'dnc' and (updated_at is null or updated_at <= created_at))
group by all;

create or replace table endings as
-- Calls that came to a disposition that bears on later ones: whose it is, from when it may hold, and when it was said.
select coalesce(at_utc, answered_at, ended_at) as began_at, w.is_request and began_at is not null as is_request,
  case when way = 'inbound' then e164(from_number) else to_phone end as phone,
  case when ended_at > began_at then ended_at else began_at end as at_utc, call_id as ref, disposition as code, null::timestamp as ended_at
from every_call c join words w on w.field = 'disposition' and w.word = c.disposition
where seen and (w.is_request or w.like_refusal);

create or replace table requests as
with of_calls as (
  select phone, began_at, at_utc, ref, code, 'call' as source, ended_at from endings where is_request
), others as (
  select e164(phone), r."at", r."at", ref, code, source, ended_at from requests_in r cross join settings s
  where r."at" <= s.as_of and source <> 'own list'
)
select row_number() over (order by began_at, at_utc, coalesce(ref, ''), phone, coalesce(source, ''), coalesce(code, '')) - 1 as request, *
from (select * from of_calls union all select * from others) where phone is not null;

create or replace table refusals as
-- One without a time may have come before any call.
with all_refusals as (
  select phone, began_at, at_utc, ref, code, 'call' as source, ended_at from endings where not is_request
  union all
  select e164(phone), "at", "at", ref, code, source, ended_at from requests_in cross join settings s
  where "at" is null or (source = 'own list' and "at" <= s.as_of)
)
select phone, coalesce(began_at, timestamp '0001-01-01') as began_at, coalesce(at_utc, timestamp '0001-01-01') as at_utc, ref, code, source, ended_at
from all_refusals where phone is not null;

create or replace table flags as
with marked as (
  select phone, coalesce(l.updated_at, s.as_of) as at_utc, lead_id as ref
  from leads l cross join settings s where status = 'dnc' and phone is not null
)
select phone, min(at_utc) as at_utc, arg_min(ref, at_utc) as ref from marked m
where not exists (select 1 from requests r where r.phone = m.phone and r.began_at <= m.at_utc)
group by phone;

create or replace table due_callbacks as
-- A call belongs to a callback from 15 minutes before its time until 60 minutes after. Who wished for
-- it the data does not say, so a match is named and changes no grade.
select c.id as callback, c.campaign_id, l.phone, c.scheduled_at, c.scheduled_at - interval 15 minute as opens_at
from callbacks_in c join (select lead_id, any_value(phone) as phone from leads group by lead_id) l on l.lead_id = c.lead_id
where lower(c.status) in ('pending', 'completed') and c.scheduled_at is not null and c.campaign_id is not null and l.phone is not null;

create or replace view call_leads as
-- The lead of each call, where only one is possible: by campaign and number, else by number alone.
with people as (
  select lead_id, any_value(phone) as phone, any_value(campaign_id) as campaign_id from leads
  where phone is not null and lead_id is not null group by lead_id
), pairs as (
  select campaign_id, phone, any_value(lead_id) as lead_id from people where campaign_id is not null
  group by campaign_id, phone having count(*) = 1
), single as (
  select phone, any_value(lead_id) as lead_id from people group by phone having count(*) = 1
)
select c.call, coalesce(p.lead_id, s.lead_id) as lead_id
from outbound c left join pairs p on p.phone = c.phone and p.campaign_id = c.campaign_id
left join single s on s.phone = c.phone where coalesce(p.lead_id, s.lead_id) is not null;

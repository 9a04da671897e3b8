-- What is on record around each call to a number that anything speaks against.

create or replace table spoken_calls as
select call, phone, at_utc, case_id, check_at from records_around where phone in (from spoken);

create or replace table records_after as
-- The oldest check, or mark of a lead, at or after the call, where the lead is marked. An import after the call clears nothing.
with marks as (
  select k.phone, k.at_utc, k.listed, r.ref, 'check' as source from checks k join check_refs r using (phone, at_utc) where k.phone in (select phone from flags)
  union all select phone, at_utc, true, ref, 'lead status' from flags
), once as (
  select phone, at_utc, bool_or(listed) as listed, arg_max(ref, listed::int) as ref, arg_max(source, listed::int) as source from marks group by phone, at_utc
)
select l.call, k.at_utc as following_at, k.listed as following_listed, k.ref as following_ref, k.source as following_source
from (from spoken_calls where phone in (select phone from flags)) l asof left join once k on k.phone = l.phone and k.at_utc >= l.at_utc;

create or replace table requests_before as
-- What the earlier requests mean for a call: the first that is broken, else the first.
with bound as (
  select c.call, c.at_utc, q.request, q.began_at, q.at_utc as asked_at, count(p.rule) as rules,
    coalesce(bool_or(c.at_utc > p.starts_at and (p.ends_at is null or c.at_utc <= p.ends_at)), false) as late,
    coalesce(bool_and(p.ends_at is not null and c.at_utc > p.ends_at), false) as over_,
    coalesce(list(p.rule order by p.book_order) filter (p.rule is not null), []) as request_rules
  from spoken_calls s join calls c using (call) join requests q on q.phone = c.phone and binds_at(q.began_at, q.ended_at, q.source, c.at_utc)
  left join request_spans p on p.circumstance = c.circumstance and p.request = q.request
  group by c.call, c.at_utc, q.request, q.began_at, q.at_utc
), broken as (
  -- Where no rule of the place speaks of requests, one is broken after the grace that the caller gives.
  select b.*, case when rules = 0 then b.at_utc > asked_at + s.grace else late end as broken from bound b cross join settings s
)
select call, bool_or(broken) as broken, arg_min(b, (not b.broken, b.began_at, b.request)) as b from broken b group by call;

create or replace table spoken_facts as
with before_the_instant as (
  -- The newest check strictly before the call, where one is at its very instant: that came too late to be known.
  select s.call, max(k.at_utc) as before_at, arg_max(k.listed, k.at_utc) as before_listed
  from spoken_calls s join checks k on k.phone = s.phone and k.at_utc < s.at_utc where s.check_at = s.at_utc group by s.call
), runs as (
  -- For each check that said listed, the oldest one since the last that did not.
  select phone, at_utc, listed, min(at_utc) over (partition by phone, turn) as listed_since from (
    select phone, at_utc, listed, count(*) filter (not listed) over (partition by phone order by at_utc) as turn from checks where phone in (from spoken)
  ) where listed
), refused as (
  select c.call, min(f.at_utc) as refused_at, arg_min(f.ref, f.at_utc) as refused_ref, arg_min(f.code, f.at_utc) as refused_code,
    arg_min(f.source, f.at_utc) as refused_source
  from spoken_calls c join refusals f on f.phone = c.phone and f.began_at < c.at_utc and (f.ended_at is null or c.at_utc < f.ended_at) group by c.call
), first_requests as (
  select phone, min(at_utc) as requested_at, arg_min(request, (began_at, request)) as first_request from requests group by phone
)
select s.call, b.before_at, b.before_listed, a.following_at, a.following_listed, a.following_ref, a.following_source, g.phone is not null as is_flagged,
  q.broken, q.b.request as request, q.b.asked_at as asked_at, s.at_utc <= q.b.asked_at as during, q.b.rules > 0 and q.b.over_ as over_,
  q.b.request_rules as request_rules, r.* exclude (call), f.* exclude (phone), g.at_utc as flag_at, g.ref as flag_ref, u.listed_since
from spoken_calls s left join before_the_instant b using (call) left join records_after a using (call) left join requests_before q using (call)
left join refused r using (call) left join first_requests f on f.phone = s.phone left join flags g on g.phone = s.phone
left join runs u on u.phone = s.phone and u.at_utc = case when s.check_at = s.at_utc then b.before_at else s.check_at end;

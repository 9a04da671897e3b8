-- When calls break a rule on requests not to be called: from the end of the time allowed, for as long as the request binds.

create or replace macro binds_at(began_at, ended_at, source, at_utc) as
  -- Of what was written down at the instant of a call nobody knows which came first.
  -- A wish that a person took back, and why, stands in the log and binds the calls up to then.
  (began_at < at_utc or (began_at = at_utc and source in ('dnc.add', 'suppression'))) and (ended_at is null or at_utc < ended_at);

create or replace table request_days as
-- The local day of each request, in each zone where its number may be, under each rule that reaches the circumstances.
with asked as (
  select distinct c.circumstance, c.place, q.request from calls c join requests q on q.phone = c.phone
    and binds_at(q.began_at, q.ended_at, q.source, c.at_utc) where c.graded and c.missing_input is null
  union
  select u.circumstance, u.place, q.request from requests q join numbers n using (phone)
  join circumstances u on u.place = n.place and u.campaign = '' and u.line_type = n.line_type and u.records = ''
)
select a.circumstance, a.request, q.at_utc as asked_at, k.rule, z.zone, (q.at_utc + o.utc_offset)::date as day
from asked a join requests q using (request) join circumstance_rules k on k.circumstance = a.circumstance and not k.lifted
join request_rules b on b.rule = k.rule join rules r on r.rule = k.rule and r.asked
join place_clocks z on z.place = a.place join offsets o on o.zone = z.zone and q.at_utc >= o.since and q.at_utc < o.until;

create or replace table request_spans as
with in_force as (
  select distinct d.circumstance, d.request, d.rule from request_days d join rules r using (rule)
  where (r.effective_from is null or d.day >= r.effective_from) and (r.effective_to is null or d.day <= r.effective_to)
)
select i.circumstance, i.request, i.rule, any_value(r.place) as book_order,
  -- By the latest clock, so that no call is late that is not late in every zone.
  case when any_value(b.has_days) then max(e.ends_at) else any_value(d.asked_at) end as starts_at,
  any_value(d.asked_at) + coalesce(any_value(b.binds_for), to_years(any_value(b.binds_years)::integer)) as ends_at
from in_force i join request_days d using (circumstance, request, rule) join request_rules b using (rule) join rules r using (rule)
left join deadlines e on e.rule = d.rule and e.zone = d.zone and e.day = d.day
group by i.circumstance, i.request, i.rule;

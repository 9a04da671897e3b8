-- Requests not to be called: was each number put on the list in the time that the rules allow?
--
-- That a request was honored shows in a check that says listed, in a lead that is dnc, or in an entry
-- of the firm's own list; when, is known only within an interval. Every request of a number counts.
-- A number that was given to the service (`dnc.add`) and that its checks later call not listed is
-- uncertain: the request stands, and the record of it contradicts the list.

create or replace table request_days as
-- Empty without numbers, offsets, place_clocks, request_rules, requests, rules, situation_rules.
select q.request, q.at_utc as asked_at, k.rule, z.zone, (q.at_utc + to_microseconds(o.offset_us))::date as day
from requests q join numbers n using (phone) join situation_rules k on k.situation = n.number_situation
join request_rules b using (rule) join rules r on r.rule = k.rule and r.asked
join place_clocks z on z.place = n.place join offsets o on o.zone = z.zone and q.at_utc >= o.since and q.at_utc < o.until
where not k.lifted;

create or replace table request_law as
-- Empty without request_days, request_rules, rules.
with in_force as (
  select distinct d.request, d.rule from request_days d join rules r using (rule)
  where (r.effective_from is null or d.day >= r.effective_from) and (r.effective_to is null or d.day <= r.effective_to)
), spans as (
  select i.request, i.rule,
    case when any_value(b.has_days) then max(e.ends_at) else any_value(d.asked_at) end as starts_at
  from in_force i join request_days d using (request, rule) join request_rules b using (rule)
  left join deadlines e on e.rule = i.rule and e.zone = d.zone and e.day = d.day
  group by i.request, i.rule
)
select request, list(rule order by rule) as rules, arg_min(rule, (starts_at, rule)) as first_rule, min(starts_at) as starts_at
from spans group by request;

create or replace table request_proofs as
-- Empty without requests.
-- What shows after each request that it was honored, and what shows that it was not yet.
with proofs as (
  select q.request, k.at_utc as honored_at from requests q join checks k on k.phone = q.phone and k.listed and k.at_utc > q.at_utc
  union all
  select q.request, greatest(l.updated_at, q.at_utc) from requests q join leads l on l.phone = q.phone and l.status = 'dnc'
  where l.updated_at is not null
  union all
  select q.request, o.at_utc from requests q join requests o on o.phone = q.phone
    and o.source in ('dnc.add', 'suppression') and o.at_utc >= q.at_utc
), first_proof as (
  select request, min(honored_at) as honored_at from proofs group by request
), given as (
  -- Given to the service, and nothing else shows it honored: what does the service's newest check say since?
  select o.phone, max(o.at_utc) as given_at from requests o where o.source = 'dnc.add'
    and not exists (select 1 from requests s where s.phone = o.phone and s.source = 'suppression')
    and not exists (select 1 from leads l where l.phone = o.phone and l.status = 'dnc')
  group by o.phone
), denied as (
  select g.phone, max(k.at_utc) as denied_at from given g join checks k on k.phone = g.phone and k.at_utc > g.given_at
  group by g.phone having not arg_max(k.listed, k.at_utc)
)
select q.request, f.honored_at, any_value(d.denied_at) as denied_at,
  max(k.at_utc) filter (not k.listed and k.at_utc > q.at_utc and (f.honored_at is null or k.at_utc < f.honored_at)) as unlisted_at
from requests q left join first_proof f using (request) left join checks k on k.phone = q.phone
left join denied d on d.phone = q.phone
group by q.request, f.honored_at;

create or replace table internal_dnc as
-- Empty without request_proofs, requests.
with due as (
  -- A rule without days still leaves the day of the request to write it down.
  select q.*, w.rules, w.first_rule, greatest(w.starts_at, q.at_utc + interval 1 day) as due_at, p.honored_at, p.unlisted_at, p.denied_at
  from requests q cross join settings s left join request_law w using (request) join request_proofs p using (request)
  where (s.since is null or q.at_utc >= s.since) and (s.until is null or q.at_utc < s.until)
)
select '+' || phone as phone, at_utc as requested_at, code || ' on ' || ref as evidence, code || ' on ' || ref as request,
  coalesce(rules, []) as rules, first_rule, due_at, honored_at, unlisted_at, denied_at,
  case when rules is null then 2 when honored_at <= due_at and denied_at is null then 0
    when honored_at <= due_at then 3 when unlisted_at > due_at then 4
    when honored_at is not null then 3 else 2 end as severity,
  case when rules is null then 'a rule on requests for the place of the number'
    when honored_at is not null or unlisted_at > due_at then null
    when s.as_of <= due_at then 'the end of the time allowed'
    else 'a Do-Not-Call check of the number after the request' end as missing,
  case when rules is null then 'no rule' when honored_at <= due_at and denied_at is not null then 'denied'
    when honored_at <= due_at then 'in time' when unlisted_at > due_at then 'not listed'
    when honored_at is not null then 'late' when s.as_of <= due_at then 'not due' else 'no record' end as answer,
  at_utc as finding_at, request as place, epoch_us(due.began_at) as order_number,
  concat_ws(chr(1), coalesce(ref, ''), due.phone, coalesce(source, ''), coalesce(code, '')) as order_text
from due cross join settings s;

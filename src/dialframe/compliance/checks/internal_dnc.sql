-- Requests not to be called: was each number put on the list in the time that the rules allow? 47 CFR 64.1200(d)(3), 16 CFR 310.4(b)(1)(iii)(A).
--
-- That a request was honored shows in a check that says listed, in a lead that is dnc, or in an entry
-- of the firm's own list; when, is known only within an interval. Every request of a number counts.
-- A number that was given to the service (`dnc.add`) and that its checks later call not listed is
-- uncertain: the request stands, and the record of it contradicts the list.

with rules_of_request as (
  select s.request, list(s.rule order by s.book_order) as rules, arg_min(s.rule, (s.starts_at, s.book_order)) as first_rule, min(s.starts_at) as starts_at
  from request_spans s join circumstances u using (circumstance) join requests q using (request)
  join numbers n on n.phone = q.phone and n.place = u.place and n.line_type = u.line_type and u.campaign = '' and u.records = ''
  group by s.request
), proofs as (
  -- What shows after each request that it was honored.
  select q.request, k.at_utc as honored_at from requests q join checks k on k.phone = q.phone and k.listed and k.at_utc > q.at_utc
  union all
  select q.request, greatest(l.updated_at, q.at_utc) from requests q join leads l on l.phone = q.phone and l.status = 'dnc' where l.updated_at is not null
  union all
  select q.request, o.at_utc from requests q join requests o on o.phone = q.phone and o.source in ('dnc.add', 'suppression') and o.at_utc >= q.at_utc
), first_proof as (
  select request, min(honored_at) as honored_at from proofs group by request
), given_to_service as (
  -- Given to the service, and nothing else shows it honored: what does the service's newest check say since?
  select o.phone, max(o.at_utc) as given_at from requests o where o.source = 'dnc.add'
    and not exists (select 1 from requests s where s.phone = o.phone and s.source = 'suppression')
    and not exists (select 1 from leads l where l.phone = o.phone and l.status = 'dnc') group by o.phone
), denied as (
  select g.phone, max(k.at_utc) as denied_at from given_to_service g join checks k on k.phone = g.phone and k.at_utc > g.given_at
  group by g.phone having not arg_max(k.listed, k.at_utc)
), records as (
  select q.request, f.honored_at, any_value(d.denied_at) as denied_at,
    max(k.at_utc) filter (not k.listed and k.at_utc > q.at_utc and (f.honored_at is null or k.at_utc < f.honored_at)) as unlisted_at
  from requests q left join first_proof f using (request) left join checks k on k.phone = q.phone left join denied d on d.phone = q.phone
  group by q.request, f.honored_at
), due as (
  -- A rule without days still leaves the day of the request to write it down.
  select q.*, w.rules, w.first_rule, greatest(w.starts_at, q.at_utc + interval 1 day) as due_at, p.honored_at, p.unlisted_at, p.denied_at, s.as_of
  from requests q cross join settings s left join rules_of_request w using (request) join records p using (request)
  where (s.since is null or q.at_utc >= s.since) and (s.until is null or q.at_utc < s.until)
)
select '+' || phone as phone, at_utc as requested_at, code || ' on ' || ref as evidence, code || ' on ' || ref as request,
  coalesce(rules, []) as rules, first_rule, due_at, honored_at, unlisted_at, denied_at,
  case when rules is null then 'not evaluable' when honored_at <= due_at and denied_at is null then 'pass'
    when honored_at <= due_at then 'uncertain' when unlisted_at > due_at then 'violation'
    when honored_at is not null then 'uncertain' else 'not evaluable' end as grade,
  case when rules is null then 'a rule on requests for the place of the number' when honored_at is not null or unlisted_at > due_at then null
    when as_of <= due_at then 'the end of the time allowed' else 'a Do-Not-Call check of the number after the request' end as missing,
  case when rules is null then 'no rule' when honored_at <= due_at and denied_at is not null then 'denied'
    when honored_at <= due_at then 'in time' when unlisted_at > due_at then 'not listed'
    when honored_at is not null then 'late' when as_of <= due_at then 'not due' else 'no record' end as answer,
  at_utc as finding_at, request as place, concat_ws(' ', phone, at_utc, ref, source, code) as item
from due;

-- Calls to numbers on a Do-Not-Call list, or after a request not to be called.
--
-- When a number was listed is known only within an interval: after the last record that said "not
-- listed", by the first that said "listed". A call inside the interval is uncertain. A call passes
-- only on a check that names, through what the firm declared, the lists that its rules speak of.
--
-- | what is on record around the call                                    | grade         |
-- |----------------------------------------------------------------------|---------------|
-- | it came after a request, and the time allowed was over               | violation     |
-- | it came after the lead was marked dnc, where a rule is on requests   | violation     |
-- | the newest check before it said listed, on a list that was declared  | violation     |
-- | the same, the list not declared or the listing a few days old        | uncertain     |
-- | the same, but a record lifts the rule on another list of the check   | uncertain     |
-- | the same, too old for the rule, and the next check said not listed   | uncertain     |
-- | during the requesting call, within the time allowed, or later on     | uncertain     |
-- | after a disposition that reads like a refusal and was never mapped   | uncertain     |
-- | the next check after it said listed, and no request explains that    | uncertain     |
-- | a check in time before it, or soon after it, said not listed         | pass          |
-- | the next check said not listed, later than the rule's limit of age   | uncertain     |
-- | only the screen at import said not listed                            | uncertain     |
-- | anything else                                                        | not evaluable |

create or replace table own_list_law as
-- Empty without case_rules, request_rules, rules.
select k.case_id, list(k.rule order by k.rule) as rules
from case_rules k join request_rules q using (rule) join rules r using (rule)
where r.asked and not k.lifted group by k.case_id;

create or replace table checks_at_call as
-- Empty without checks, records_around.
-- The newest check strictly before the call, where one is at its very instant: that came too late to be known.
select r.call, max(k.at_utc) as before_at, arg_max(k.listed, k.at_utc) as before_listed
from (select call, phone, at_utc from records_around where check_at = at_utc) r
join checks k on k.phone = r.phone and k.at_utc < r.at_utc group by r.call;

create or replace table records_after as
-- Empty without records_around.
-- The oldest check, or mark of a lead, at or after the call, where the lead is marked. An import after the call clears nothing.
with marked as (
  select call, phone, at_utc from records_around where phone in (select phone from flags)
), marks as (
  select k.phone, k.at_utc, k.listed, r.ref, 'check' as source from checks k join check_refs r using (phone, at_utc) where k.phone in (select phone from flags)
  union all select phone, at_utc, true, ref, 'lead status' from flags
), once as (
  select phone, at_utc, bool_or(listed) as listed, arg_max(ref, listed::int) as ref, arg_max(source, listed::int) as source
  from marks group by phone, at_utc
)
select l.call, k.at_utc as following_at, k.listed as following_listed, k.ref as following_ref, k.source as following_source
from marked l asof left join once k on k.phone = l.phone and k.at_utc >= l.at_utc;

create or replace table listed_runs as
-- Empty without checks.
-- For each check that said listed, the oldest one since the last that did not.
with turns as (
  select phone, at_utc, listed, count(*) filter (not listed) over (partition by phone order by at_utc) as turn
  from checks where phone in (select phone from checks where listed)
)
select phone, at_utc, min(at_utc) over (partition by phone, turn) as listed_since from turns where listed;

create or replace macro before(began_at, source, at_utc) as
  -- Of what was written down at the instant of a call nobody knows which came first.
  began_at < at_utc or (began_at = at_utc and source in ('dnc.add', 'suppression'));

create or replace table request_spans as
-- Empty without calls, offsets, place_clocks, request_rules, requests, rules, situation_rules.
-- When calls break a rule on requests: from the end of the time allowed, for as long as the request binds.
with days as (
  select c.call, q.request, q.at_utc as asked_at, k.rule, z.zone, (q.at_utc + to_microseconds(o.offset_us))::date as day
  from calls c join requests q on q.phone = c.phone and before(q.began_at, q.source, c.at_utc)
  join situation_rules k on k.situation = c.situation and not k.lifted
  join request_rules b on b.rule = k.rule join rules r on r.rule = k.rule and r.asked
  join place_clocks z on z.place = c.place join offsets o on o.zone = z.zone and q.at_utc >= o.since and q.at_utc < o.until
  where c.graded and c.missing_input is null
), in_force as (
  select d.* from days d join rules r using (rule)
  where (r.effective_from is null or d.day >= r.effective_from) and (r.effective_to is null or d.day <= r.effective_to)
)
select d.call, d.request, d.rule,
  -- By the latest clock, so that no call is late that is not late in every zone.
  case when any_value(b.has_days) then max(e.ends_at) else any_value(d.asked_at) end as starts_at,
  any_value(d.asked_at) + coalesce(any_value(b.binds_for), to_years(any_value(b.binds_years)::integer)) as ends_at
from (select distinct call, request, rule from in_force) i
join days d using (call, request, rule) join request_rules b using (rule)
left join deadlines e on e.rule = d.rule and e.zone = d.zone and e.day = d.day
group by d.call, d.request, d.rule;

create or replace table requests_before as
-- Empty without records_around, requests.
-- What each earlier request means for a call: 2 broken, 1 not over or over for good. `law` is a number of its rules.
with held as (
  select c.call, c.at_utc, q.request, q.began_at, q.at_utc as asked_at,
    count(p.rule) as rules,
    coalesce(bool_or(c.at_utc > p.starts_at and (p.ends_at is null or c.at_utc <= p.ends_at)), false) as late,
    coalesce(bool_and(p.ends_at is not null and c.at_utc > p.ends_at), false) as over_,
    list(p.rule order by p.rule) filter (p.rule is not null) as law
  from records_around c join requests q on q.phone = c.phone and before(q.began_at, q.source, c.at_utc)
  left join request_spans p on p.call = c.call and p.request = q.request
  group by c.call, c.at_utc, q.request, q.began_at, q.at_utc
), judged as (
  select h.*, case when rules = 0 then h.at_utc > asked_at + s.grace else late end as broken from held h cross join settings s
), decided as (
  select call, bool_or(broken) as broken, arg_min(request, (not broken, began_at, request)) as request,
    arg_min(law, (not broken, began_at, request)) as rules,
    arg_min(asked_at, (not broken, began_at, request)) as asked_at,
    arg_min(at_utc <= asked_at, (not broken, began_at, request)) as during,
    arg_min(rules > 0 and over_, (not broken, began_at, request)) as over_
  from judged group by call
)
select *, min(call) over (partition by rules) as law from decided;

create or replace table first_requests as
-- Empty without requests.
select phone, min(at_utc) as requested_at, arg_min(request, (began_at, request)) as request from requests group by phone;

create or replace table refused_before as
-- Empty without records_around, refusals.
select c.call, min(f.at_utc) as refused_at, arg_min(f.ref, f.at_utc) as ref, arg_min(f.code, f.at_utc) as code
from records_around c join refusals f on f.phone = c.phone and f.began_at < c.at_utc group by c.call;

create or replace view listed_evidence as
-- Empty without records_around.
-- Everything on record around each call that is looked at, side by side: every call to a number that something
-- speaks against, and of the others one for all that `scrub_at_call` found in the same situation. Of these
-- there are checks and screens alone.
with chosen as (
  select call from records_around where phone in (select phone from spoken)
  union select first from scrub_at_call_situations where not is_spoken union select call from shown
), around as (
  select r.call, r.at_utc, r.phone, r.case_id, r.check_at as at_check_at, r.listed as at_check_listed,
    case when r.check_at = r.at_utc then b.before_at else r.check_at end as check_at,
    case when r.check_at = r.at_utc then b.before_listed else r.listed end as check_listed,
    case when r.check_at = r.at_utc then r.check_at else r.next_at end as next_at,
    case when r.check_at = r.at_utc then r.listed else r.next_listed end as next_listed, r.screen_at,
    w.rules as listing_rules, w.max_age, epoch_us(w.max_age) as max_age_us, w.listed_grace, t.default_age,
    coalesce(max_age_us, epoch_us(t.default_age)) as limit_us, coalesce(w.declared, false) as declared, w.since,
    coalesce(w.may_be_lifted, false) as may_be_lifted,
    coalesce(w.screen_declared, false) as screen_declared, coalesce(w.exempt, true) as no_list, w.lifted_rules
  from chosen join records_around r using (call) cross join settings t
  left join checks_at_call b using (call) left join listing_law w on w.case_id = r.case_id
)
select l.*,
  case when g.phone is null then l.next_at else a.following_at end as following_at,
  case when g.phone is null then l.next_listed else a.following_listed end as following_listed,
  case when g.phone is not null then a.following_source when l.next_at is not null then 'check' end as following_source,
  q.request, q.broken, q.asked_at, q.during, q.over_, q.rules as request_rules, coalesce(q.law, -1) as law,
  f.requested_at, f.request as first_request, g.at_utc as flag_at, g.ref as flag_ref,
  r.refused_at, r.ref as refused_ref, r.code as refused_code, u.listed_since
from around l left join records_after a using (call) left join requests_before q using (call) left join refused_before r using (call)
left join first_requests f on f.phone = l.phone left join flags g on g.phone = l.phone
left join listed_runs u on u.phone = l.phone and u.at_utc = l.check_at and l.check_listed
where l.phone in (select phone from spoken)
union all by name
select l.*, next_at as following_at, next_listed as following_listed, case when next_at is not null then 'check' end as following_source,
  -1 as law
from around l where l.phone not in (select phone from spoken);

create or replace view listed_decided as
-- Empty without listed_evidence.
-- What the evidence says, one question after another.
select *,
  coalesce(check_listed, false) as by_check,
  coalesce(at_utc > flag_at, false) as by_flag,
  coalesce(broken, false) as by_request,
  request is not null and not coalesce(broken, false) as asked,
  coalesce(following_listed, false) and not coalesce(following_at > requested_at, false) as may_be_listed,
  -- A check in time before the call that said not listed. For the firm's own list no declaration is needed.
  coalesce(not at_check_listed and us_between(at_check_at, at_utc) <= limit_us
    and (no_list or (declared and at_check_at >= since)), false) as clean_before,
  coalesce(not next_listed and us_between(at_utc, next_at) <= limit_us
    and (no_list or (declared and next_at >= since)), false) as clean_soon,
  coalesce(not next_listed, false) as clean_later,
  coalesce(us_between(coalesce(listed_since, check_at), at_utc) < epoch_us(listed_grace), false) as newly_listed,
  -- Too old for the rule, and denied soon after the call or at its very instant.
  coalesce(check_listed and not next_listed and us_between(at_utc, next_at) <= max_age_us
    and (us_between(check_at, at_utc) > max_age_us or next_at = at_utc), false) as denied,
  coalesce(screen_declared and us_between(screen_at, at_utc) <= max_age_us, false) as screened,
  at_check_at is not null or next_at is not null or screen_at is not null as recorded
from listed_evidence;

create or replace view listed_looked_at as
-- Empty without listed_decided or scrub_at_call_situations.
-- The answers alone: they decide the grade. `same`: the situation whose calls all have them, where it is not this call alone.
select call, case_id, by_check, by_flag, by_request, asked, may_be_listed, newly_listed or denied as doubtful, refused_at is not null as refused,
  clean_before or clean_soon as clean, clean_later, screened, recorded, following_source,
  law, '' as missing_input, g.situation as same
from listed_decided d left join (select first as call, situation from scrub_at_call_situations where not is_spoken) g using (call)
where g.situation is not null or d.phone in (select phone from spoken)
union all by name
select first as call, null as case_id, false as by_check, false as by_flag, false as by_request, false as asked, false as may_be_listed,
  false as doubtful, false as refused, false as clean, false as clean_later, false as screened, false as recorded,
  null as following_source, -1 as law, missing_input, situation as same
from scrub_at_call_situations where missing_input is not null;

create or replace table listed_number_situations as
-- Empty without listed_looked_at.
select row_number() over () as situation, l.* exclude (call, same), min(call) as first,
  sum(coalesce(g.calls, 1))::bigint as calls, flatten(list(coalesce(g.members, [call]))) as members
from listed_looked_at l left join scrub_at_call_situations g on g.situation = l.same group by all;

create or replace view listed_number_members as
-- Empty without listed_number_situations.
select unnest(members) as call, situation from listed_number_situations;

create or replace table listed_number_verdicts as
-- Empty without listed_number_situations.
with asked as (
  select g.*, coalesce(w.rules, []) as listing_rules, coalesce(o.rules, []) as own_rules,
    coalesce(q.rules, []) as request_rules, coalesce(w.declared, false) as declared,
    coalesce(w.may_be_lifted, false) as may_be_lifted, coalesce(w.exempt, false) as exempt, listing_rules <> [] as has_list, own_rules <> [] as has_own, t.plain_age is not null as plain,
    -- A record lifts the rules on lists, never those on the firm's own: on that one there has to be an answer too.
    coalesce(w.exempt, false) and (not has_own or clean or (by_check and may_be_lifted)) as passed_by_record
  from listed_number_situations g cross join settings t
  left join listing_law w using (case_id) left join own_list_law o using (case_id)
  left join requests_before q on q.call = g.law
)
select situation,
  case when missing_input <> '' then 2
    when (by_request and (request_rules <> [] or plain)) or (by_flag and (has_own or plain)) then 4
    when by_check and not exempt and ((declared and not may_be_lifted) or plain) and not doubtful then 4
    when by_request or by_flag or asked or refused then 3
    when passed_by_record then 0
    when (by_check or may_be_listed) and (has_list or has_own or plain) then 3
    when (has_list or has_own) and clean then 0
    when has_list and declared and clean_later then 3
    when has_list and screened then 3
    else 2 end as severity,
  case when passed_by_record and severity = 0 then 'exempt'
    when by_request or by_flag or by_check then concat_ws(' + ',
      case when by_check then 'check' end, case when by_request then 'request' end, case when by_flag then 'lead status' end)
    when asked then 'request'
    when may_be_listed then following_source
    when refused then 'unmapped disposition'
    when (has_list or has_own) and clean then 'check'
    when has_list and declared and clean_later then 'late check'
    when has_list and screened then 'screened at import'
    else 'nothing' end as basis,
  case when missing_input <> '' then missing_input
    when severity <> 2 then null
    when not has_list and not has_own then 'a rule on Do-Not-Call lists for the place of the number'
    when has_list and not declared and recorded then 'a practice file that says which lists the service covers'
    else 'a recent Do-Not-Call check before the call, or soon after it,' end as missing,
  list_concat(
    case when basis not in ('request', 'lead status', 'request + lead status') then listing_rules else [] end,
    case when basis like '%request%' then request_rules
      when basis like '%lead status%' or basis = 'unmapped disposition' then own_rules else [] end) as rules
from asked;

create or replace view listed_number as
-- Empty without listed_number_members, listed_number_verdicts.
select m.call, v.severity, v.basis, v.missing, v.rules, e.* exclude (call),
  k.ref as check_ref, n.ref as next_ref, case when g.phone is null then n.ref else a.following_ref end as following_ref, s.ref as screen_ref
from listed_number_members m join listed_number_verdicts v using (situation) left join listed_decided e using (call)
left join check_refs k on k.phone = e.phone and k.at_utc = e.check_at left join check_refs n on n.phone = e.phone and n.at_utc = e.next_at
left join screens s on s.phone = e.phone and s.at_utc = e.screen_at
left join records_after a using (call) left join flags g on g.phone = e.phone;

create or replace table listed_number_default as
-- Empty without listing_law.
-- The rules on lists of each case.
select case_id, 0 as severity, rules, null::varchar as missing from listing_law;

create or replace view listed_spoken as
-- Empty without calls.
-- Calls to numbers that anything on record speaks against, those that cannot be placed in time among them.
select call from calls where graded and is_outbound and phone in (select phone from spoken);

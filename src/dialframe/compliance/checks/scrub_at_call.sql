-- Which calls had a Do-Not-Call check that was recent enough when they were made.
--
-- A check counts for a list only from the day on which the firm declared that the service's check
-- covers it, and its age is counted with the age of the service's copy. A lead's import is evidence
-- of its own, `screened at import`, and never equal to a check. A check too old does not make a call
-- wrong: the safe harbour is a defense and not a duty, so that it is uncertain.

create or replace table scrub_needs as
-- Empty without case_rules, registries, rules or cases.
-- What the rules on lists ask of a case; rules that ask the same stand together.
select row_number() over () as need, * from (
  select k.case_id, g.max_age, g.by_quarter, g.check_since, g.refreshed, g.screen_since,
    list(k.rule order by k.rule) as rules
  from case_rules k join rules r using (rule) join registries g using (rule)
  where r.asked and g.asks = 'age' and not k.lifted group by all
  union all
  select c.case_id, s.plain_age, false, timestamp '0001-01-01', interval 0 day, timestamp '0001-01-01', []
  from cases c cross join settings s where s.plain_age is not null
);

create or replace macro us_between(earlier, later) as
  -- Whole microseconds: intervals take longer to compare.
  epoch_us(later) - epoch_us(earlier);

create or replace table listing_rules as
-- Empty without case_rules, registries, rules.
-- Rules on numbers on a list; where a jurisdiction has none of its own, the one on the age of its list.
with in_force as (
  select distinct c.case_id, r.jurisdiction
  from cases c join rules r on r.asked join registries g using (rule)
  join turns lo on lo.stretch = c.first_stretch join turns hi on hi.stretch = c.last_stretch
  where g.asks = 'listed_number_called' and (r.effective_from is null or hi.starts_on >= r.effective_from)
    and (r.effective_to is null or lo.starts_on <= r.effective_to)
)
select k.case_id, k.rule, k.lifted, g.*exclude(rule)
from case_rules k join rules r using (rule) join registries g using (rule)
where r.asked and (g.asks = 'listed_number_called'
  or not exists (select 1 from in_force f where f.case_id = k.case_id and f.jurisdiction = r.jurisdiction));

create or replace table listing_law as
-- Empty without listing_rules.
-- What the rules of a case ask together: the strictest age, and whether every list is covered by the service's check.
select case_id,
  list(rule order by rule) filter (not lifted) as rules,
  min(max_age - coalesce(refreshed, interval 0 day)) filter (not lifted) as max_age,
  min(listed_grace) filter (not lifted) as listed_grace,
  coalesce(bool_and(check_since is not null) filter (not lifted), false) as declared,
  max(check_since) filter (not lifted) as since,
  coalesce(bool_and(screen_since is not null) filter (not lifted), false) as screen_declared,
  bool_and(lifted) as exempt,
  list(rule order by rule) filter (lifted) as lifted_rules,
  -- Lists that the check covers and whose rules a record lifts: "listed" may speak of them alone.
  coalesce(list(registry) filter (lifted and check_since is not null), []) as lifted_lists,
  not list_has_all(coalesce(list(registry) filter (not lifted), []), lifted_lists) as may_be_lifted
from listing_rules group by case_id;

create or replace table record_limits as
-- Empty without scrub_needs or cases.
-- What the rules of a case, here and in `listed_number`, hold records against: ages, and the days from which
-- the service's answers cover the lists.
with limits as (
  select case_id, by_quarter, [epoch_us(max_age), epoch_us(max_age - coalesce(refreshed, interval 0 day))] as ages, [check_since, screen_since] as days
  from scrub_needs where check_since is not null or screen_since is not null
  union all
  select c.case_id, false, [epoch_us(coalesce(w.max_age, s.default_age))], [w.since]
  from cases c cross join settings s left join listing_law w using (case_id) where coalesce(w.exempt, true) or w.declared or w.screen_declared
)
select case_id, bool_or(by_quarter) as by_quarter, list_distinct(flatten(list(ages))) as ages, list_distinct(flatten(list(days))) as days
from limits group by case_id;

create or replace table checked_numbers as
-- Empty without checks.
-- The oldest and the newest check of each number. They are all that a call before the one, or after the other, needs.
-- Instant and answer go through the sums as one number.
with sums as (
  select phone, min(epoch_us(at_utc) * 2 + listed::int) as oldest, max(epoch_us(at_utc) * 2 + listed::int) as newest
  from checks group by phone
)
select phone, make_timestamp(oldest >> 1) as oldest_at, oldest & 1 = 1 as oldest_listed,
  make_timestamp(newest >> 1) as newest_at, newest & 1 = 1 as newest_listed
from sums;

create or replace table screened_numbers as
-- Empty without screens.
select phone, min(at_utc) as oldest_at, max(at_utc) as newest_at from screens group by phone;

create or replace table check_turns as
-- Empty without checks.
-- Each check of a number that has several, beside the one after it.
select phone, at_utc as check_at, listed,
  lead(at_utc) over numbered as next_at, lead(listed) over numbered as next_listed
from checks where phone in (select phone from checked_numbers where oldest_at < newest_at)
window numbered as (partition by phone order by at_utc);

create or replace table records_between as
-- Empty without calls, check_turns, checked_numbers.
-- The newest check at or before each call between the checks of its number, and the oldest one after it.
select c.call, k.check_at, k.listed, k.next_at, k.next_listed
from (
  select c.call, c.phone, c.at_utc from calls c join checked_numbers n
    on n.phone = c.phone and c.at_utc >= n.oldest_at and c.at_utc < n.newest_at
  where n.oldest_at < n.newest_at and c.graded and c.missing_input is null
) c asof join check_turns k on k.phone = c.phone and k.check_at <= c.at_utc;

create or replace table screens_between as
-- Empty without calls, screened_numbers, screens.
-- The newest screen at or before each call between the screens of its number.
select c.call, s.at_utc as screen_at
from (
  select c.call, c.phone, c.at_utc from calls c join screened_numbers n
    on n.phone = c.phone and c.at_utc >= n.oldest_at and c.at_utc < n.newest_at
  where n.oldest_at < n.newest_at and c.graded and c.missing_input is null
) c asof join screens s on s.phone = c.phone and s.at_utc <= c.at_utc;

create or replace table records_around as
-- Empty without calls.
-- The records of the number around each call: the newest check at or before it, the oldest one after it,
-- and the newest screen at or before it.
select c.call, c.phone, c.at_utc, c.case_id,
  case when c.at_utc >= k.newest_at then k.newest_at else b.check_at end as check_at,
  case when c.at_utc >= k.newest_at then k.newest_listed else b.listed end as listed,
  case when c.at_utc < k.oldest_at then k.oldest_at else b.next_at end as next_at,
  case when c.at_utc < k.oldest_at then k.oldest_listed else b.next_listed end as next_listed,
  case when c.at_utc >= s.newest_at then s.newest_at else p.screen_at end as screen_at
from calls c left join checked_numbers k on k.phone = c.phone left join screened_numbers s on s.phone = c.phone
left join records_between b on b.call = c.call left join screens_between p on p.call = c.call
where c.graded and c.missing_input is null;

create or replace table spoken as
-- Empty without checks or leads or refusals or requests.
-- Numbers that anything on record speaks against.
select phone from checks where listed union select phone from requests union select phone from refusals
union select phone from leads where status = 'dnc' and phone is not null;

create or replace macro limits_past(ages, age_us) as
  -- How many of some limits an age is past.
  coalesce(len(list_filter(ages, lambda limit_us: limit_us < age_us)), 0);

create or replace macro days_since(days, at_utc) as
  coalesce(len(list_filter(days, lambda day: day <= at_utc)), 0);

create or replace view scrub_looked_at as
-- Empty without calls or records_around.
-- What decides the grade of a call, here and, where nothing speaks against its number, in `listed_number`:
-- which records there are, how many limits of age they are past, from how many days of cover on they were
-- made, whether in the quarter of the call, and the input without which the call cannot be placed.
select r.call, r.case_id, r.phone in (select phone from spoken) as is_spoken,
  check_at is not null as checked, next_at is not null as checked_after, screen_at is not null as screened,
  coalesce(screen_at > check_at, screen_at is not null) as screen_is_newer, coalesce(check_at = at_utc, false) as at_call,
  limits_past(n.ages, us_between(check_at, r.at_utc)) as check_age, days_since(n.days, check_at) as check_cover,
  limits_past(n.ages, us_between(r.at_utc, next_at)) as next_age, days_since(n.days, next_at) as next_cover,
  limits_past(n.ages, us_between(screen_at, r.at_utc)) as screen_age, days_since(n.days, screen_at) as screen_cover,
  n.by_quarter and date_trunc('quarter', r.at_utc) = date_trunc('quarter', check_at) as check_in_quarter,
  n.by_quarter and date_trunc('quarter', r.at_utc) = date_trunc('quarter', screen_at) as screen_in_quarter,
  null::varchar as missing_input
from records_around r left join record_limits n using (case_id)
union all by name
select call, false as is_spoken, false as checked, false as checked_after, false as screened, false as screen_is_newer, missing_input
from calls where graded and missing_input is not null;

create or replace table scrub_at_call_situations as
-- Empty without scrub_looked_at.
select row_number() over () as situation, * exclude (call), min(call) as first, count(*) as calls, list(call) as members
from scrub_looked_at group by all;

create or replace view scrub_at_call_members as
-- Empty without scrub_at_call_situations.
select unnest(members) as call, situation from scrub_at_call_situations;

create or replace table scrub_by_need as
-- Empty without records_around, scrub_at_call_situations, scrub_needs.
with held as (
  select g.situation, n.need, n.max_age, n.by_quarter, n.check_since, n.refreshed, r.at_utc, r.check_at, r.screen_at, r.next_at,
    coalesce(r.check_at >= n.check_since, false) as covered,
    coalesce(r.screen_at >= n.screen_since, false) as screen_covered,
    r.at_utc - r.check_at as age,
    not n.by_quarter or date_trunc('quarter', r.at_utc) = date_trunc('quarter', r.check_at) as in_quarter
  from scrub_at_call_situations g join records_around r on r.call = g.first join scrub_needs n on n.case_id = g.case_id
)
select situation, need,
  case
    when covered and age + refreshed <= max_age and in_quarter then 'checked in time'
    when covered and age <= max_age and in_quarter then 'list may be older'
    when screen_covered and at_utc - screen_at <= max_age
      and (not by_quarter or date_trunc('quarter', at_utc) = date_trunc('quarter', screen_at)) then 'screened at import'
    when covered or screen_covered then 'stale'
    when check_at is not null and check_since is null then 'list not declared'
    when check_at is not null then 'before the list was covered'
    when screen_at is not null then 'screened at import, list not declared'
    when next_at is not null then 'only after'
    else 'never' end as state
from held;

create or replace table scrub_at_call_verdicts as
-- Empty without scrub_at_call_situations.
with graded as (
  select b.situation, n.rules, n.max_age, n.refreshed, b.state,
    case b.state when 'checked in time' then 0
      when 'list may be older' then 3 when 'screened at import' then 3 when 'stale' then 3 else 2 end as severity
  from scrub_by_need b join scrub_needs n using (need)
), worst as (
  select situation, max(severity) as severity from graded group by situation
), told as (
  select w.situation, w.severity, flatten(list(g.rules order by g.rules)) as rules, arg_min(g.state, (g.max_age, g.rules)) as state,
    min(g.max_age) as max_age, arg_min(g.refreshed, (g.max_age, g.rules)) as refreshed
  from worst w join graded g on g.situation = w.situation and g.severity = w.severity group by w.situation, w.severity
)
select d.situation,
  case when t.situation is not null then t.severity when x.case_id is not null then 0 else 2 end as severity,
  coalesce(t.rules, []) as rules,
  case when d.missing_input is not null then d.missing_input
    when t.severity = 2 then case
      when t.state in ('list not declared', 'before the list was covered', 'screened at import, list not declared')
        then 'a practice file that says which lists the service covers'
      else 'a Do-Not-Call check at or before the call' end
    when t.situation is null and x.case_id is null then 'a rule on Do-Not-Call lists for the place of the number' end as missing,
  case when d.missing_input is not null then 'never'
    when t.situation is not null then t.state when x.case_id is not null then 'exempt'
    when d.checked then 'no rule' when d.checked_after then 'only after' else 'never' end as state,
  t.max_age, t.refreshed
from scrub_at_call_situations d left join told t using (situation)
left join (
  select distinct case_id from case_rules k join rules r using (rule) join registries g using (rule)
  where k.lifted and r.asked and g.asks = 'age'
) x using (case_id);

create or replace view check_refs as
-- Empty without checks, checks_in.
-- The request id of each answer; few are ever shown.
select k.phone, k.at_utc, c.request_id as ref from checks k join checks_in c using (check_no);

create or replace view scrub_at_call as
-- Empty without scrub_at_call_members, scrub_at_call_verdicts.
select m.call, v.severity, v.rules, v.missing, v.state, v.max_age, v.refreshed,
  r.check_at, r.listed, k.ref, r.screen_at, s.ref as screen_ref, r.next_at, r.next_listed
from scrub_at_call_members m join scrub_at_call_verdicts v using (situation) left join records_around r using (call)
left join check_refs k on k.phone = r.phone and k.at_utc = r.check_at
left join screens s on s.phone = r.phone and s.at_utc = r.screen_at;

create or replace table scrub_at_call_default as
-- Empty without scrub_needs.
select case_id, 0 as severity, flatten(list(rules order by rules)) as rules, null::varchar as missing from scrub_needs group by case_id;

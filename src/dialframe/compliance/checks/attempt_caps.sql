-- Attempts on one number against the caps of the rules, in exact sliding windows.
--
-- Every attempt counts, answered or not; one that never reached the network is left out. A window of hours is
-- half-open: of two attempts exactly 24 hours apart each has a window of its own. A window of days goes by the
-- called party's date, in every candidate zone. A call whose time or direction nobody wrote down may have been
-- an attempt in any window.

with attempts as (
  -- Attempts that a cap reaches, with those of the same number before them.
  select c.call, c.phone, c.at_utc, c.campaign_id, c.place, k.rule, k.missing as reach_missing, k.doubtful or not k.everywhere as doubtful,
    list_contains(string_split(u.records, ', '), 'hipaa') as health
  from calls c join reach k using (case_id) join circumstances u using (circumstance)
  where k.check_name = 'attempt_caps' and c.attempt and not k.lifted and c.phone in (select phone from asked join calls using (call))
), limits as (
  -- Messages on health have limits of their own.
  select a.*, l.* exclude (rule, health), l.health is null or l.health = a.health as meant
  from attempts a join cap_limits l using (rule) where l.health is null or not l.health or a.health
), by_hours as (
  select call, rule, limit_no, count(*) over numbers - count(*) over earlier as attempts,
    case when campaign_id is null then 0 else count(*) over campaigns - count(*) over earlier_of_campaign end as of_campaign
  from limits where how = 'hours'
  window numbers as (partition by rule, limit_no, phone order by at_utc, call rows between unbounded preceding and current row),
    earlier as (partition by rule, limit_no, phone order by at_utc range between unbounded preceding and length preceding),
    campaigns as (partition by rule, limit_no, phone, campaign_id order by at_utc, call rows between unbounded preceding and current row),
    earlier_of_campaign as (partition by rule, limit_no, phone, campaign_id order by at_utc range between unbounded preceding and length preceding)
), local_days as (
  select l.*, z.zone, (l.at_utc + o.utc_offset)::date - date '1970-01-01' as local_day
  from limits l join place_clocks z using (place) join offsets o on o.zone = z.zone and l.at_utc >= o.since and l.at_utc < o.until where how = 'days'
), by_days as (
  select call, rule, limit_no, count(*) over numbers - count(*) over earlier as attempts from local_days
  window numbers as (partition by rule, limit_no, phone, zone order by local_day, at_utc, call rows between unbounded preceding and current row),
    earlier as (partition by rule, limit_no, phone, zone order by local_day range between unbounded preceding and days preceding)
), windows_of_call as (
  select call, rule, limit_no, attempts as most_attempts, of_campaign as least_attempts from by_hours
  union all select call, rule, limit_no, max(attempts), min(attempts) from by_days group by all
), undated as (
  select phone, count(*) as calls from calls
  where missing_input in ('created_at', 'direction') and reached_network and phone in (select phone from asked join calls using (call)) group by phone
), counted as (
  select l.call, l.rule, l.limit_no, l.most as allowed, l.within,
    case when l.by_subject and l.how = 'hours' and w.least_attempts > l.most then w.least_attempts else w.most_attempts end as attempts,
    case when w.least_attempts > l.most or (l.how = 'hours' and not l.by_subject and w.most_attempts > l.most) then 'violation'
      when w.most_attempts > l.most then 'uncertain'
      when w.most_attempts + coalesce(u.calls, 0) > l.most then 'not evaluable' else 'pass' end::grade as grade,
    case when grade = 'not evaluable' then 'the time or the direction of another call to the number' end as missing
  from limits l join windows_of_call w using (call, rule, limit_no) left join undated u using (phone) where l.meant
  union all by name
  select call, rule, 10 as limit_no, attempts, allowed, within, grade, missing from attempts_after_events
), worst as (
  select call, rule, max(grade) as grade, arg_max(c, (c.grade, -c.limit_no)) as c from counted c group by call, rule
)
select a.question, t.rule, w.c.attempts, w.c.allowed, w.c.within, null as answer,
  case when coalesce(w.grade, 'pass') <> 'pass' and t.reach_missing <> '' then 'not evaluable'
    when w.grade = 'violation' and t.doubtful then 'uncertain' else coalesce(w.grade, 'pass') end as grade,
  case when coalesce(w.grade, 'pass') = 'pass' then null when t.reach_missing <> '' then t.reach_missing
    when w.grade = 'not evaluable' then w.c.missing end as missing
from asked a join attempts t using (call) left join worst w using (call, rule);

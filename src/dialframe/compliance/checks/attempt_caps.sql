-- Attempts on one number against the caps of the rules, in exact sliding windows.
--
-- Every attempt counts, answered or not; one that never reached the network is left out. A window of
-- hours is half-open: of two attempts exactly 24 hours apart each has a window of its own. A window
-- of days goes by the called party's date, in every candidate zone. Only numbers that were dialed
-- more often than a cap allows are looked at closely. A call whose time or direction nobody wrote down
-- may have been an attempt in any window.

create or replace table cap_attempts as
-- Empty without calls, case_rules, rules, situations.
-- One row per attempt and cap that reaches it.
select c.call, c.phone, c.at_utc, c.campaign_id, c.place, c.graded, k.rule, k.missing,
  k.doubtful or not k.everywhere as doubtful, list_contains(s.lifted, 'hipaa') as health
from calls c join case_rules k using (case_id) join rules r using (rule)
join situations s on s.situation = c.situation
where c.attempt and r.asked and r.kind = 'attempt_cap' and not k.lifted;

create or replace table cap_limited as
-- Empty without cap_attempts, cap_limits.
-- Attempts beside the limits that they are held against. Messages on health have limits of their own.
with often as (
  select rule, phone, count(*) as attempts from cap_attempts group by all
), undated as (
  select phone, count(*) as calls from calls
  where missing_input in ('created_at', 'direction') and phone is not null and reached_network group by phone
)
select a.*, coalesce(u.calls, 0) as undated, l.limit_no, l.how, l.length, l.days, l.most, l.by_subject, l.within,
  l.health is null or l.health = a.health as meant
from cap_attempts a join cap_limits l using (rule) join often o using (rule, phone) left join undated u using (phone) cross join settings s
where (l.health is null or not l.health or a.health) and (s.every_row or o.attempts + coalesce(u.calls, 0) > l.most);

create or replace table cap_windows as
-- Empty without cap_limited.
-- How many attempts there are in the window that ends with each one, itself included: at least, and at most.
with by_hours as (
  select call, rule, limit_no,
    row_number() over (partition by rule, limit_no, phone order by at_utc, call)
      - count(*) over (partition by rule, limit_no, phone order by at_utc range between unbounded preceding and length preceding) as attempts,
    case when campaign_id is null then 0 else
      row_number() over (partition by rule, limit_no, phone, campaign_id order by at_utc, call)
        - count(*) over (partition by rule, limit_no, phone, campaign_id order by at_utc range between unbounded preceding and length preceding)
    end as same_subject
  from cap_limited where how = 'hours'
), local as (
  select l.*, z.zone, (l.at_utc + to_microseconds(o.offset_us))::date - date '1970-01-01' as day
  from cap_limited l join place_clocks z using (place)
  join offsets o on o.zone = z.zone and l.at_utc >= o.since and l.at_utc < o.until
  where how = 'days'
), by_days as (
  select call, rule, limit_no,
    row_number() over (partition by rule, limit_no, phone, zone order by day, at_utc, call)
      - count(*) over (partition by rule, limit_no, phone, zone order by day range between unbounded preceding and days preceding) as attempts
  from local
)
select call, rule, limit_no, attempts as most_attempts, same_subject as least_attempts from by_hours
union all
select call, rule, limit_no, max(attempts), min(attempts) from by_days group by all;

create or replace table calls_before as
-- Empty without calls or inbound.
-- Calls of both directions of the numbers that a cap follows: one after a dropped call, a machine, a conversation.
with followed as (
  select distinct phone from cap_attempts join caps using (rule)
  where trigger is not null or cooldown_days is not null
)
select phone, call, at_utc, ends_at, outcome, answered_at is not null as answered, true as is_outbound
from calls where at_utc is not null and phone in (select phone from followed)
union all
select phone, call, at_utc, ends_at, outcome, answered, false
from inbound where at_utc is not null and phone in (select phone from followed);

create or replace table cap_after_event as
-- Empty without cap_attempts, caps.
-- Calls too soon after a dropped call, or one that a machine was said to answer.
with reached as (
  select a.*, p.length, p.most, case p.trigger when 'abandoned' then 'dropped' else p.trigger end as wanted
  from cap_attempts a join caps p using (rule) where p.trigger is not null
), first_event as (
  select r.call, r.rule, min(b.at_utc) as event_at
  from reached r join calls_before b on b.phone = r.phone and b.is_outbound and b.outcome = r.wanted
    and b.at_utc < r.at_utc and r.at_utc - b.ends_at < r.length
  group by all
), untold as (
  select distinct r.call, r.rule
  from reached r join calls_before b on b.phone = r.phone and b.is_outbound and b.outcome is distinct from r.wanted
    and b.at_utc < r.at_utc and r.at_utc - b.ends_at < r.length
    and (r.wanted not in (select outcome from known_outcomes)
      or (b.answered and (b.outcome is null or b.outcome not in ('dropped', 'live', 'machine'))))
)
select r.call, r.rule, any_value(r.most) as most, any_value(r.wanted) as wanted,
  count(o.call) as attempts, bool_or(u.call is not null) and bool_and(f.call is null) as unknown
from reached r left join first_event f using (call, rule) left join untold u using (call, rule)
left join reached o on o.rule = r.rule and o.phone = r.phone and o.at_utc > f.event_at and o.at_utc <= r.at_utc
group by r.call, r.rule;

create or replace table cap_after_talk as
-- Empty without cap_attempts, caps, offsets, place_zones.
-- Calls within some days of a conversation, the day of it the first; calls that come in start them too.
with reached as (
  select a.call, a.rule, a.phone, a.at_utc, p.cooldown_days, z.zone, (a.at_utc + to_microseconds(o.offset_us))::date as day
  from cap_attempts a join caps p using (rule) join place_zones z using (place)
  join offsets o on o.zone = z.zone and a.at_utc >= o.since and a.at_utc < o.until
  where p.cooldown_days is not null
), talks as (
  select b.*, coalesce(b.outcome = 'live', false) or (not b.is_outbound and b.answered) as talked from calls_before b
), near as (
  select r.call, r.rule, r.zone, bool_or(b.talked) as hit,
    bool_or(not b.talked and b.answered and (b.outcome is null or b.outcome not in ('dropped', 'live', 'machine'))) as perhaps
  from reached r join talks b on b.phone = r.phone and b.at_utc < r.at_utc
  join offsets o on o.zone = r.zone and b.at_utc >= o.since and b.at_utc < o.until
  where r.day - (b.at_utc + to_microseconds(o.offset_us))::date < r.cooldown_days
    and (not b.is_outbound or exists (select 1 from cap_attempts x where x.call = b.call and x.rule = r.rule))
  group by all
)
select r.call, r.rule, any_value(r.cooldown_days) as days, count(*) filter (coalesce(n.hit, false)) as zones_hit,
  count(*) as zones, bool_or(coalesce(n.perhaps, false)) as perhaps
from reached r left join near n using (call, rule, zone) group by r.call, r.rule;

create or replace table cap_answers as
-- Empty without cap_after_event or cap_after_talk or cap_limited, cap_windows.
select l.call, l.rule, l.limit_no,
  case when not l.by_subject and w.least_attempts > l.most then 4
    when l.by_subject and w.least_attempts > l.most then 4
    when l.how = 'hours' and not l.by_subject and w.most_attempts > l.most then 4
    when w.most_attempts > l.most then 3 when w.most_attempts + l.undated > l.most then 2 else 0 end as severity,
  case when l.by_subject and l.how = 'hours' and w.least_attempts > l.most then w.least_attempts else w.most_attempts end as attempts,
  l.most as allowed, l.within, case when severity = 2 then 'the time or the direction of another call to the number' end as missing
from cap_limited l join cap_windows w using (call, rule, limit_no) where l.meant
union all
select call, rule, 10, case when unknown then 2 when attempts > most then 4 else 0 end, attempts, most,
  (select within from caps c where c.rule = e.rule),
  case when unknown then case wanted when 'dropped' then 'an outcome that says that a call was dropped'
    else 'an outcome that says that a machine answered' end end
from cap_after_event e
union all
select call, rule, 11,
  case when zones_hit = zones and zones > 0 then 4 when zones_hit > 0 then 3 when perhaps then 2 else 0 end,
  (zones_hit > 0 or perhaps)::int, 0, days || ' days of a conversation',
  case when zones_hit = 0 and perhaps then 'an outcome that says that a person was spoken to' end
from cap_after_talk;

create or replace table attempt_caps_by_rule as
-- Empty without cap_attempts.
with worst as (
  select call, rule, max(severity) as severity, arg_max(limit_no, (severity, -limit_no)) as limit_no
  from cap_answers group by call, rule
), told as (
  select a.call, a.rule, a.graded, a.missing as reach_missing, a.doubtful, coalesce(w.severity, 0) as severity,
    n.attempts, n.allowed, n.within, n.missing, l.by_subject
  from cap_attempts a left join worst w using (call, rule)
  left join cap_answers n on n.call = w.call and n.rule = w.rule and n.limit_no = w.limit_no
  left join (select rule, bool_or(by_subject) as by_subject from cap_limits group by rule) l using (rule)
)
select call, rule, graded,
  case when severity > 0 and reach_missing <> '' then 2 when severity = 4 and doubtful then 3 else severity end as severity,
  attempts, allowed, within, case when severity > 0 and reach_missing <> '' then reach_missing else missing end as missing, by_subject
from told;

create or replace table attempt_caps as
-- Empty without attempt_caps_by_rule or calls.
with worst as (
  select call, max(severity) as severity from attempt_caps_by_rule where graded group by call
)
select w.call, w.severity, list(r.rule order by r.rule) as rules, arg_min(r.missing, r.rule) as missing,
  arg_min(r.attempts, r.rule) as attempts, arg_min(r.allowed, r.rule) as allowed, arg_min(r.within, r.rule) as within,
  arg_min(r.attempts, r.rule) || ' attempts' as evidence
from worst w join attempt_caps_by_rule r on r.call = w.call and r.severity = w.severity
group by w.call, w.severity
union all
select call, 2, [], missing_input, null, null, null, null from calls where graded and missing_input is not null;

create or replace table attempt_caps_default as
select null::bigint as case_id, 0 as severity, []::integer[] as rules, null::varchar as missing where false;

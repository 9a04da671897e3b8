-- Calling hours and holidays: each call held against the clock of every zone its number may be in.
--
-- Inside in all candidate zones passes, outside in all is a violation, anything between is uncertain.
-- Windows are half-open: 21:00:00 is outside 08:00-21:00. Every rule that reaches the call is asked;
-- the worst answer counts. No window and no clock begins or ends within a *slot* (`hours_grain`), so
-- that one call answers for all of its case in the same slot of such a day.

create or replace table hours_rules as
-- Empty without case_rules, rules.
select k.case_id, k.rule, k.missing, k.doubtful, k.everywhere, r.effective_from, r.effective_to
from case_rules k join rules r using (rule)
where r.check_name = 'calling_hours' and r.asked and not k.lifted;

create or replace table window_spans as
-- Empty without windows.
select rule, weekday, unnest(spans, recursive := true) from windows;

create or replace table hours_grain as
-- The longest span that divides every hour at which a window opens or closes, and every offset of a clock.
with spans as (
  select 86400000000 as span_us union select opens from window_spans union select closes from window_spans
  union select abs(offset_us) from offsets union select abs(offset_us) from fixed_clocks
)
select list_reduce(list(span_us), lambda a, b: gcd(a, b)) as grain_us from spans;

create or replace table hours_odd_days as
-- Empty without hours_rules.
-- Days on which, or near which on some clock, a rule of the case is closed, has hours of its own, begins or ends.
with days as (
  select h.case_id, d.day from hours_rules h join special_days d using (rule)
  union select case_id, effective_from from hours_rules where effective_from is not null
  union select case_id, effective_to from hours_rules where effective_to is not null
)
select distinct case_id, day + shift::int as day from days cross join range(-3, 4) r(shift);

create or replace view hours_calls as
-- Empty without calls.
-- What decides the grade of a call: its case, the clocks of its place, its day (a weekday, or a day by
-- itself), the slot of it, and the input without which it cannot be placed.
select c.call, c.case_id, c.clock, case when d.day is null then isodow(c.first_day) else d.day - date '0001-01-01' + 8 end as day,
  (epoch_us(c.at_utc + to_microseconds(c.least_us)) - epoch_us(c.first_day::timestamp)) // s.grain_us as slot,
  null::varchar as missing_input
from calls c cross join hours_grain s
left join hours_odd_days d on d.case_id = c.case_id and d.day = c.first_day
where c.graded and c.missing_input is null
union all
select call, null, null, null, null, missing_input from calls where graded and missing_input is not null;

create or replace table hours_moments as
-- Empty without hours_calls.
select row_number() over () as moment, * exclude (call), min(call) as first, count(*) as calls, list(call) as members
from hours_calls group by all;

create or replace view hours_by_zone as
-- Empty without calls, hours_moments, hours_rules, offsets, place_zones or calls, hours_rules, offsets, place_zones, shown.
-- One row per call that is looked at, rule and zone: what the clock said there, and whether the rule let it pass.
with chosen as (
  select first as call from hours_moments where missing_input is null union select call from shown
), looked_at as materialized (
  select c.call, c.at_utc, c.case_id, c.place from chosen join calls c using (call)
), clocks as (
  select c.call, h.rule, z.ord, h.effective_from, h.effective_to,
    c.at_utc + to_microseconds(coalesce(f.offset_us, o.offset_us)) as local_at, local_at::date as local_day
  from looked_at c join hours_rules h using (case_id) join place_zones z using (place)
  join offsets o on o.zone = z.zone and c.at_utc >= o.since and c.at_utc < o.until
  left join fixed_clocks f on f.rule = h.rule
), asked as (
  select k.*, epoch_us(k.local_at) - epoch_us(k.local_day::timestamp) as of_day_us,
    (k.effective_from is null or k.local_day >= k.effective_from)
      and (k.effective_to is null or k.local_day <= k.effective_to) as binds,
    coalesce(d.closed, false) as closed, d.name as holiday, coalesce(d.day - date '1900-01-01', 0) as holiday_no,
    case when d.closed is false then 7 else isodow(k.local_day) - 1 end as weekday
  from clocks k left join special_days d on d.rule = k.rule and d.day = k.local_day
)
select a.call, a.rule, a.ord, a.binds, a.of_day_us, a.holiday, a.holiday_no, a.weekday,
  not a.binds or (not a.closed and w.rule is not null) as inside
from asked a left join window_spans w on w.rule = a.rule and w.weekday = a.weekday
  and a.of_day_us >= w.opens and a.of_day_us < w.closes;

create or replace table hours_answers as
-- Empty without hours_by_zone.
select call, rule, ord, binds, holiday, holiday_no, inside from hours_by_zone;

create or replace table hours_looked_at as
-- Empty without calls, hours_moments.
-- What each rule says in each zone and on which holiday, each as one number (`answers`).
with answered as (
  select call, list((((rule * 1000 + ord) * 100000 + holiday_no) * 2 + binds::int) * 2 + inside::int) as answers
  from (from hours_answers order by call, rule, ord) group by call
)
select m.moment, m.case_id, c.place, a.answers, m.missing_input, m.first, m.calls, m.members
from hours_moments m join calls c on c.call = m.first left join answered a on a.call = m.first;

create or replace table calling_hours_situations as
-- Empty without hours_looked_at.
select row_number() over () as situation, case_id, place, answers, missing_input, min(first) as first,
  sum(calls)::bigint as calls, flatten(list(members)) as members
from hours_looked_at group by case_id, place, answers, missing_input;

create or replace view calling_hours_members as
-- Empty without calling_hours_situations.
select unnest(members) as call, situation from calling_hours_situations;

create or replace table hours_by_rule as
-- Empty without calling_hours_situations, hours_answers, hours_rules, place_zones.
select g.situation, b.rule, any_value(h.missing) as missing,
  case when bool_and(b.inside) then 0
    when any_value(h.missing) <> '' then 2
    when any_value(h.doubtful) or bool_or(b.inside) then 3
    else 4 end as severity,
  list(z.zone order by b.ord) filter (b.inside) as zones_inside,
  list(z.zone order by b.ord) filter (not b.inside) as zones_outside,
  list(distinct b.holiday) filter (not b.inside and b.holiday is not null and b.holiday <> '') as holidays,
  any_value(h.doubtful) as doubtful
from calling_hours_situations g join hours_answers b on b.call = g.first
join hours_rules h on h.case_id = g.case_id and h.rule = b.rule
join place_zones z on z.place = g.place and z.ord = b.ord
group by g.situation, b.rule having bool_or(b.binds);

create or replace table calling_hours_verdicts as
-- Empty without calling_hours_situations.
with worst as (
  select situation, max(severity) as severity from hours_by_rule group by situation
), told as (
  select w.situation, w.severity, list(r.rule order by r.rule) as rules,
    arg_min(r.missing, r.rule) as missing, arg_min(r.zones_inside, r.rule) as zones_inside,
    arg_min(r.zones_outside, r.rule) as zones_outside, bool_or(r.doubtful) as doubtful,
    list_distinct(flatten(list(r.holidays))) as holidays
  from worst w join hours_by_rule r on r.situation = w.situation and r.severity = w.severity group by w.situation, w.severity
)
select c.situation,
  case when c.missing_input is not null then 2 when t.situation is not null then t.severity
    when z.place is null then 2 when x.case_id is not null then 0 else 2 end as severity,
  coalesce(t.rules, []) as rules,
  case when c.missing_input is not null then c.missing_input
    when t.severity = 2 then t.missing when t.situation is not null then null
    when z.place is null then p.missing when x.case_id is not null then null
    else 'a rule in force on the day' end as missing,
  t.zones_inside, t.zones_outside, coalesce(t.doubtful, false) as doubtful, t.holidays
from calling_hours_situations c left join told t using (situation)
left join places p using (place) left join (select distinct place from place_zones) z using (place)
left join (
  select distinct case_id from case_rules k join rules r using (rule)
  where k.lifted and r.asked and r.check_name = 'calling_hours'
) x using (case_id);

create or replace view calling_hours as
-- Empty without calling_hours_members, calling_hours_verdicts.
-- With the minute of the day where the clock is nearest to the wrong side of an edge, around midnight too.
with near as (
  select b.call, b.rule, b.ord, b.of_day_us, b.inside, coalesce(list_min(list_transform(w.spans, lambda s: least(
      abs(b.of_day_us - s.opens), 86400000000 - abs(b.of_day_us - s.opens),
      abs(b.of_day_us - s.closes), 86400000000 - abs(b.of_day_us - s.closes)))), 86400000000) as to_edge_us
  from hours_by_zone b left join windows w on w.rule = b.rule and w.weekday = b.weekday where b.binds
), clock as (
  select call, arg_min(of_day_us, (case when inside then to_edge_us else -to_edge_us - 1 end, rule, ord)) as of_day_us
  from near group by call
)
select m.call, v.* exclude (situation), k.of_day_us // 60000000 as local_minute
from calling_hours_members m join calling_hours_verdicts v using (situation) left join clock k using (call);

create or replace table calling_hours_default as
-- Empty without hours_rules.
-- The rules on hours of each case.
select case_id, 0 as severity, list(rule order by rule) as rules, null::varchar as missing from hours_rules group by case_id;

-- Calling hours and holidays: each call held against the clock of every zone its number may be in.
--
-- Inside in all candidate zones passes, outside in all is a violation, anything between is uncertain.
-- Windows are half-open: 21:00:00 is outside 08:00-21:00. Every rule that reaches the call is asked;
-- the worst answer counts. Most calls lie inside the strictest window of all their rules and zones
-- (`envelope`) and are settled by that alone.

create or replace table hours_rules as
-- Empty without case_rules, rules.
select k.case_id, k.rule, k.missing, k.doubtful, k.everywhere, r.effective_from, r.effective_to
from case_rules k join rules r using (rule)
where r.check_name = 'calling_hours' and r.asked and not k.lifted;

create or replace table envelope as
-- Empty without hours_rules, windows.
-- One row per case and weekday: no rule of the case, in no zone of it, objects to a start in here.
with longest as (
  select rule, weekday, list_max(list_transform(spans, lambda s: s.closes - s.opens)) as length, spans from windows
  where weekday < 7
), spans as (
  select rule, weekday, list_filter(spans, lambda s: s.closes - s.opens = length)[1] as span from longest
)
select h.case_id, s.weekday, max(s.span.opens) as opens_us, min(s.span.closes) as closes_us
from hours_rules h join spans s using (rule)
group by h.case_id, s.weekday
having bool_and(h.everywhere) and count(s.span) = count(*)
  and not bool_or(h.rule in (select rule from fixed_clocks));

create or replace table hours_special_days as
-- Empty without hours_rules, special_days.
select distinct h.case_id, d.day from hours_rules h join special_days d using (rule);

create or replace table hours_doubtful as
-- Empty without calls.
select c.call, c.at_utc, c.place, c.case_id
from calls c cross join settings s
left join envelope e on e.case_id = c.case_id and e.weekday = isodow(c.first_day) - 1
where c.graded and c.missing_input is null and (
  s.every_row or c.first_day <> c.last_day or e.case_id is null
  or c.case_id in (select case_id from weak_cases where check_name = 'calling_hours')
  or c.place not in (select place from place_zones)
  or epoch_us(c.at_utc + to_microseconds(c.least_us)) - epoch_us(c.first_day::timestamp) < e.opens_us
  or epoch_us(c.at_utc + to_microseconds(c.most_us)) - epoch_us(c.first_day::timestamp) >= e.closes_us
  or (c.case_id, c.first_day) in (select case_id, day from hours_special_days)
);

create or replace table hours_by_zone as
-- Empty without hours_doubtful, hours_rules, offsets, place_zones.
-- One row per doubtful call, rule and zone: what the clock said there, and whether the rule let it pass.
with clocks as (
  select d.call, h.rule, h.missing, h.doubtful, z.ord, z.zone, h.effective_from, h.effective_to,
    d.at_utc + to_microseconds(coalesce(f.offset_us, o.offset_us)) as local_at,
    (d.at_utc + to_microseconds(coalesce(f.offset_us, o.offset_us)))::date as local_day
  from hours_doubtful d join hours_rules h using (case_id) join place_zones z using (place)
  join offsets o on o.zone = z.zone and d.at_utc >= o.since and d.at_utc < o.until
  left join fixed_clocks f on f.rule = h.rule
), asked as (
  select k.*, epoch_us(k.local_at) - epoch_us(k.local_day::timestamp) as of_day_us,
    (k.effective_from is null or k.local_day >= k.effective_from)
      and (k.effective_to is null or k.local_day <= k.effective_to) as binds,
    coalesce(d.closed, false) as closed, d.name as holiday,
    w.spans
  from clocks k
  left join special_days d on d.rule = k.rule and d.day = k.local_day
  left join windows w on w.rule = k.rule and w.weekday = case when d.closed is false then 7 else isodow(k.local_day) - 1 end
), found as (
  select *, not binds or (not closed and len(list_filter(spans, lambda s: of_day_us >= s.opens and of_day_us < s.closes)) > 0) as inside,
    -- How far the clock is from the next edge of a window, around midnight too.
    coalesce(list_min(list_transform(spans, lambda s: least(
      abs(of_day_us - s.opens), 86400000000 - abs(of_day_us - s.opens),
      abs(of_day_us - s.closes), 86400000000 - abs(of_day_us - s.closes)))), 86400000000) as to_edge_us
  from asked
)
select call, rule, ord, zone, missing, doubtful, binds, inside, of_day_us, holiday,
  case when inside then to_edge_us else -to_edge_us - 1 end as margin_us
from found;

create or replace table hours_by_rule as
-- Empty without hours_by_zone.
select call, rule, any_value(missing) as missing,
  case when bool_and(inside) then 0
    when any_value(missing) <> '' then 2
    when any_value(doubtful) or bool_or(inside) then 3
    else 4 end as severity,
  list(zone order by ord) filter (inside) as zones_inside,
  list(zone order by ord) filter (not inside) as zones_outside,
  list(distinct holiday) filter (not inside and holiday is not null and holiday <> '') as holidays,
  any_value(doubtful) as doubtful
from hours_by_zone group by call, rule having bool_or(binds);

create or replace table calling_hours as
-- Empty without calls or hours_doubtful.
with worst as (
  select call, max(severity) as severity from hours_by_rule group by call
), told as (
  select w.call, w.severity, list(r.rule order by r.rule) as rules,
    arg_min(r.missing, r.rule) as missing, arg_min(r.zones_inside, r.rule) as zones_inside,
    arg_min(r.zones_outside, r.rule) as zones_outside, bool_or(r.doubtful) as doubtful,
    list_distinct(flatten(list(r.holidays))) as holidays
  from worst w join hours_by_rule r on r.call = w.call and r.severity = w.severity group by w.call, w.severity
), clock as (
  select call, arg_min(of_day_us, (margin_us, rule, ord)) filter (binds) as of_day_us from hours_by_zone group by call
)
select c.call,
  case when c.missing_input is not null then 2 when t.call is not null then t.severity
    when z.place is null then 2 when x.case_id is not null then 0 else 2 end as severity,
  coalesce(t.rules, []) as rules,
  case when c.missing_input is not null then c.missing_input
    when t.severity = 2 then t.missing when t.call is not null then null
    when z.place is null then p.missing when x.case_id is not null then null
    else 'a rule in force on the day' end as missing,
  t.zones_inside, t.zones_outside, coalesce(t.doubtful, false) as doubtful, t.holidays,
  k.of_day_us // 60000000 as local_minute
from (
  select call, place, case_id, missing_input from calls where graded and missing_input is not null
  union all select call, place, case_id, null from hours_doubtful
) c
left join told t using (call) left join clock k using (call)
left join places p using (place) left join (select distinct place from place_zones) z using (place)
left join (
  select distinct case_id from case_rules k join rules r using (rule)
  where k.lifted and r.asked and r.check_name = 'calling_hours'
) x using (case_id);

create or replace table calling_hours_default as
-- Empty without hours_rules.
-- Every other call lies inside the envelope of its case.
select case_id, 0 as severity, list(rule order by rule) as rules, null::varchar as missing from hours_rules group by case_id;

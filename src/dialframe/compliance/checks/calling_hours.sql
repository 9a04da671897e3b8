-- Calling hours and closed days: 47 CFR 64.1200(c)(1), 16 CFR 310.4(c), and the laws of states and countries.
--
-- A call is held against the clock of every zone where its number may be. Inside the hours in all of them it
-- passes, outside in all it is a violation, anything between is uncertain. Hours are half-open: 21:00:00 is
-- outside 08:00-21:00. Weekdays are those of ISO 8601, 1 is Monday; 0 stands for days with hours of their own.

with clocks as (
  -- What each clock said where the number may be; a few rules go by one clock wherever that is.
  select a.question, k.rule, z.zone, c.at_utc + coalesce(f.utc_offset, o.utc_offset) as local_at,
    local_at::date as local_day, local_at::time as local_time, p.parts, k.missing, k.doubtful
  from asked a join calls c using (call) join reach k using (case_id) join place_zones z using (place) join places p using (place)
  join offsets o on o.zone = z.zone and c.at_utc >= o.since and c.at_utc < o.until
  left join fixed_clocks f using (rule)
  where k.check_name = 'calling_hours' and not k.lifted
), days as (
  -- The rule has to be in force on that day, and may be closed on it or have other hours; a holiday of another part
  -- of the country than those that the number's first digits are given to (ISO 3166-2) is none.
  select c.*, coalesce(d.closed, false) as closed, d.name as holiday,
    case when d.closed is false then 0 else isodow(c.local_day) end as weekday,
    (r.effective_from is null or c.local_day >= r.effective_from)
      and (r.effective_to is null or c.local_day <= r.effective_to) as in_force
  from clocks c join rules r using (rule)
  left join special_days d on d.rule = c.rule and d.day = c.local_day and (d.part is null or c.parts = [] or list_contains(c.parts, d.part))
), hours_of_day as (
  -- Inside is who called within the hours of the day, or on a day that the rule does not speak of.
  select d.*, h.opens, h.closes, not d.in_force or (not d.closed and h.rule is not null) as inside
  from days d left join hours h on h.rule = d.rule and h.weekday = d.weekday
    and d.local_time >= h.opens and d.local_time < h.closes
), by_rule as (
  select question, rule, any_value(doubtful) as doubtful, any_value(missing) as input_missing, bool_or(in_force) as in_force,
    bool_and(inside) as all_inside, bool_or(inside) as some_inside, min(local_day) as local_day,
    list(zone order by zone) filter (inside) as zones_inside, list(zone order by zone) filter (not inside) as zones_outside,
    list(distinct holiday order by holiday) filter (not inside and holiday <> '') as holidays
  from hours_of_day group by question, rule
)
select question, rule, zones_inside, zones_outside, holidays, doubtful, isodow(local_day) as weekday, null as answer,
  case when all_inside then 'pass' when input_missing <> '' then 'not evaluable'
    when doubtful or some_inside then 'uncertain' else 'violation' end as grade,
  case when grade = 'not evaluable' then input_missing end as missing
from by_rule where in_force;

-- The first instant from that of a call on at which every rule on hours and days permits one, in every zone where the
-- number may be; null where no rule speaks, or none within the days looked at.

create or replace table next_allowed as
with asked as (
  select distinct c.circumstance, c.place, c.at_utc from calls c where c.call >= (select first_call from would_be) and c.missing_input is null
), clocks as (
  select a.circumstance, a.at_utc, k.rule, r.effective_from, r.effective_to, z.zone, p.parts, d.day::date as day
  from asked a join circumstance_rules k on k.circumstance = a.circumstance and not k.lifted
  join rules r on r.rule = k.rule and r.asked join asked_by b on b.rule = k.rule and b.check_name = 'calling_hours'
  join place_zones z on z.place = a.place join places p on p.place = a.place, range(a.at_utc - interval 2 day, a.at_utc + (select ahead from would_be), interval 1 day) d(day)
), open_days as (
  -- On days on which a rule is not in force it forbids nothing.
  select c.* exclude (parts), h.opens, h.closes from clocks c left join special_days s on s.rule = c.rule and s.day = c.day
    and (s.part is null or c.parts = [] or list_contains(c.parts, s.part))
  join hours h on h.rule = c.rule and h.weekday = case when s.closed is false then 0 else isodow(c.day) end and not coalesce(s.closed, false)
  where (effective_from is null or c.day >= effective_from) and (effective_to is null or c.day <= effective_to)
  union all
  select c.* exclude (parts), time '00:00:00', time '24:00:00' from clocks c where c.day < effective_from or c.day > effective_to
), spans as (
  -- On a day on which clocks change each of its two clocks counts for its own part.
  select p.circumstance, p.at_utc, p.rule, p.zone, greatest(p.day + p.opens - coalesce(f.utc_offset, o.utc_offset), o.since) as opens_at,
    least(p.day + p.closes - coalesce(f.utc_offset, o.utc_offset), o.until) as closes_at
  from open_days p left join fixed_clocks f using (rule) join offsets o on o.zone = p.zone where opens_at < closes_at and closes_at > p.at_utc
), wanted as (
  select circumstance, count(distinct (rule, zone)) as clocks from clocks group by circumstance
), candidates as (
  select distinct circumstance, greatest(opens_at, at_utc) as candidate from spans
), permitted as (
  select c.circumstance, c.candidate from candidates c join spans s on s.circumstance = c.circumstance
    and c.candidate >= s.opens_at and c.candidate < s.closes_at
  join wanted w on w.circumstance = c.circumstance group by c.circumstance, c.candidate, w.clocks having count(distinct (s.rule, s.zone)) = w.clocks
)
select circumstance, min(candidate) as next_allowed_at from permitted group by circumstance;

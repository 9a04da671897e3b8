-- Which calls had a Do-Not-Call check that was recent enough when they were made: 16 CFR 310.4(b)(3)(iv), 47 CFR 64.1200(c)(2)(i)(D).
--
-- A check counts for a list from the day on which the firm declared that the service's check covers it, and its
-- age is counted with the age of the service's copy. A lead's import is evidence of its own, and never equal to
-- a check. A check too old makes no call wrong: the safe harbor is a defense and no duty, so that it is uncertain.

with needs as (
  -- What each rule on the age of a list asks; an age that the caller gives stands for all of them.
  select a.question, a.call, k.rule, lower(g.registry) as registry, g.max_age, g.by_quarter, g.check_since, g.screen_since, g.refreshed
  from asked a join calls c using (call) join reach k using (case_id) join registries g using (rule)
  where k.check_name = 'scrub_at_call' and g.asks = 'age' and not k.lifted
  union all
  select a.question, a.call, null, null, s.plain_age, false, '-infinity'::timestamp, '-infinity'::timestamp, interval 0 day
  from asked a join calls c using (call) cross join settings s where s.plain_age is not null and c.missing_input is null
), records as (
  select n.*, r.check_at, r.screen_at, r.next_at, r.at_utc - r.check_at as check_age, r.at_utc - r.screen_at as screen_age,
    z.scrub_at, r.at_utc - z.scrub_at as scrub_age, not n.by_quarter or date_trunc('quarter', r.at_utc) = date_trunc('quarter', z.scrub_at) as scrub_in_quarter,
    coalesce(r.check_at >= n.check_since, false) as covered, coalesce(r.screen_at >= n.screen_since, false) as screen_covered,
    not n.by_quarter or date_trunc('quarter', r.at_utc) = date_trunc('quarter', r.check_at) as in_quarter,
    not n.by_quarter or date_trunc('quarter', r.at_utc) = date_trunc('quarter', r.screen_at) as screen_in_quarter
  from needs n join records_around r using (call) left join scrubs_around z on z.call = n.call and z.registry = n.registry
), states as (
  select *, check_age <= max_age and in_quarter as is_recent,
    case
      -- A scrub names its list, so that nobody has to declare what it covers.
      when scrub_age <= max_age and scrub_in_quarter then 'scrubbed in time'
      when covered and check_age + refreshed <= max_age and in_quarter then 'checked in time'
      when covered and check_age <= max_age and in_quarter then 'list may be older'
      when screen_covered and screen_age <= max_age and screen_in_quarter then 'screened at import'
      when covered or screen_covered then 'stale'
      when scrub_at is not null then 'scrub too old'
      when check_at is not null and check_since is null then 'list not declared'
      when check_at is not null then 'before the list was covered'
      when screen_at is not null then 'screened at import, list not declared'
      when next_at is not null then 'only after' else 'never' end as answer
  from records
)
select question, rule, answer, max_age, refreshed, scrub_at,
  case answer when 'scrubbed in time' then 'pass' when 'checked in time' then 'pass'
    when 'list may be older' then 'uncertain' when 'screened at import' then 'uncertain' when 'stale' then 'uncertain' when 'scrub too old' then 'uncertain'
    else 'not evaluable' end as grade,
  -- What decides is named: a declaration settles only a call that had a recent check.
  case when grade <> 'not evaluable' then null
    when answer = 'list not declared' and is_recent then 'a practice file that says which lists the service covers'
    else 'a Do-Not-Call check at or before the call' end as missing
from states;

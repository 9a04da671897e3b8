-- Numbers that may be called, by the newest record about them: one row per number. 16 CFR 310.4(b)(3)(iv), 47 CFR 64.1200(c)(2)(i)(D).
--
-- The rules ask for a version of the list that was obtained no more than so many days before the call. The age of a
-- record is counted in spans of 24 hours, to the instant. A scrub names its lists; of the service's check and of its
-- screen at import the firm has to say which they cover. A record too old, or none, does not say that a number must not
-- be called: the records do not show the safe harbor's condition.

with callable_numbers as (
  select * from coverage where callable
)
select number, phone, lead_id, rules, check_at, listed, screen_at, scrub_at, scrub_listed, max_age, state, newest, state as answer, lead_place as place,
  case when scrubbed_in_time or (state = 'fresh' and declared) then 'pass'
    when state = 'stale' or (state = 'screened at import' and screen_declared) then 'uncertain' else 'not evaluable' end as grade,
  case when grade <> 'not evaluable' then null when state = 'never checked' then 'a Do-Not-Call check of the number'
    else 'a practice file that says which lists the service covers' end as missing,
  as_of as finding_at, number as item
from callable_numbers;

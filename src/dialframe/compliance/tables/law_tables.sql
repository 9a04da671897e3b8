-- The law as tables, from the rules of the book and of the firm as they are written (`laws`, one JSON text each).
--
-- What the firm declares comes from `covers` (which lists the service's answers hold for) and `declared_rules`
-- (emergencies that its file speaks of). Words for sentences come with the rule: `doubt`, `parameters`.

create or replace table rules as
select rule, place, law->>'id' as rule_id, law->>'kind' as kind, law->>'title' as title,
  law->>'jurisdiction' as jurisdiction, law->>'citation' as citation, law->>'quotation' as quotation, asked,
  coalesce(law->>'$.parameters.type' = 'regional', false) as regional,
  (law->>'effective_from')::date as effective_from, (law->>'effective_to')::date as effective_to,
  law->>'confidence' = 'low' as weak, doubt, law->>'exposure' as exposure, parameters,
  coalesce((law->>'$.parameters.area_code_reliance')::boolean, false) as relies_on_area_code
from laws;

create or replace view asked_laws as
select rule, law, law->>'kind' as kind, law->'parameters' as p from laws where asked;

create or replace table consent_kinds as
-- The weakest kind of consent on record that meets each wording: 2 in writing (47 CFR 64.1200(f)(9)), 1 express, 0 any.
from (values ('prior_express_written', 2), ('clear_unambiguous_evidential', 2), ('prior_express', 1), ('express', 1),
  ('specific_prior_consent', 1), ('free_specific_informed_unambiguous_revocable', 1), ('prior_consent', 1),
  ('prior_consent_or_other_gdpr_basis', 0), ('any_solicitation_basis', 0), ('presumed', 0)) k(required, strength);

create or replace table asked_by as
-- The checks that each kind of rule is asked by; the detail record of each call (16 CFR 310.5(a)(2)) is a check of its own.
with checks_of(kind, check_name) as (
  values ('calling_hours', 'calling_hours'), ('holiday', 'calling_hours'), ('attempt_cap', 'attempt_caps'),
    ('dnc_freshness', 'scrub_at_call'), ('dnc_freshness', 'listed_number'), ('internal_dnc', 'listed_number'),
    ('internal_dnc', 'internal_dnc'), ('abandonment_rate', 'abandonment'), ('consent', 'consent'), ('retention', 'records'),
    ('retention', 'retention'), ('sector_ban', 'sector_ban'), ('recording_consent', 'recording_consent'),
    ('caller_id', 'caller_id'), ('artificial_voice', 'artificial_voice'), ('holiday', 'emergency')
)
select l.rule, c.check_name from laws l join checks_of c on c.kind = l.law->>'kind'
where (c.kind <> 'holiday' or (c.check_name = 'emergency') = (l.law->>'$.parameters.type' = 'emergency_ban'))
  and (c.kind <> 'retention' or c.check_name = 'retention' or l.law->>'id' = 'us-tsr-retention');

create or replace table hours as
-- For each rule and weekday (1 is Monday, ISO 8601) the times between which calls may start; 0 stands for days with
-- hours of their own. A rule on holidays is open all day on the days that it does not close.
with weekdays(weekday, name) as (
  values (1, 'mon'), (2, 'tue'), (3, 'wed'), (4, 'thu'), (5, 'fri'), (6, 'sat'), (7, 'sun')
), windows as (
  select rule, unnest(from_json(p->'windows', '[{"days": ["VARCHAR"], "start": "VARCHAR", "end": "VARCHAR"}]')) as w
  from asked_laws where kind = 'calling_hours'
), special as (
  select rule, case when json_type(p, '$.before_holiday') = 'OBJECT' then p->'before_holiday'
    when json_type(p, '$.sunday_and_holiday') = 'OBJECT' then p->'sunday_and_holiday' end as w
  from asked_laws where kind = 'calling_hours'
)
select rule, weekday::bigint as weekday, w.start::time as opens, w.end::time as closes
from windows join weekdays on list_contains(w.days, weekdays.name)
union all
select rule, 0, (w->>'start')::time, (w->>'end')::time from special where w is not null
union all
select rule, weekday, time '00:00:00', time '24:00:00' from asked_laws cross join weekdays
where kind = 'holiday' and p->>'type' <> 'emergency_ban';

create or replace table cap_limits as
-- How many attempts a cap allows in which window; messages on health have limits of their own (47 CFR 64.1200(a)(3)(v)).
-- A cap that follows an event counts nothing: `caps` has its hours.
with limits as (
  select rule, p, (p->>'hipaa_max_per_day')::bigint as health_a_day, (p->>'window_hours')::bigint as window_hours,
    (p->>'window_days')::bigint as window_days, p->>'window_type' as window_type
  from asked_laws where kind = 'attempt_cap' and p->>'trigger' is null
)
select rule, 0::bigint as limit_no, case when health_a_day is not null then false end as health,
  case when window_type = 'rolling' then 'hours' else 'days' end as how,
  to_hours(coalesce(window_hours, 24 * window_days)) as length, coalesce(window_days, 1) as days,
  (p->>'max_attempts')::bigint as most, p->>'subject_proxy' is not null as by_subject,
  case when window_hours is not null then window_hours || ' hours'
    when window_type = 'calendar_day' then 'one day by the called party''s date'
    when window_type = 'consecutive_days' then window_days || ' consecutive days' else window_days || ' days' end as within
from limits
union all
select rule, 1, true, 'days', to_hours(24), 1, health_a_day, false, 'one day, for messages on health'
from limits where health_a_day is not null
union all
select rule, 2, true, 'days', to_hours(168), 7, (p->>'hipaa_max_per_week')::bigint, false, '7 consecutive days, for messages on health'
from limits where health_a_day is not null;

create or replace table caps as
with lengths as (
  select rule, p, coalesce((p->>'window_hours')::bigint, 24 * (p->>'window_days')::bigint) as hours, p->>'trigger' as trigger
  from asked_laws where kind = 'attempt_cap'
)
select rule, (p->>'max_attempts')::bigint as most, to_hours(hours) as length, trigger,
  (p->>'cooldown_after_conversation_days')::bigint as cooldown_days,
  case trigger when 'abandoned' then hours || ' hours of a call that was dropped'
    when 'machine' then hours || ' hours of a call that a machine was said to answer' else '' end as within
from lengths;

create or replace table registries as
-- What a rule on a list asks, and what the firm declared of the service's check and of its screen at import.
select l.rule, p->>'registry' as registry, p->>'check' as asks, to_days((p->>'max_age_days')::integer) as max_age,
  p->>'basis' = 'quarter_of_call' as by_quarter, to_days((p->>'listed_grace_days')::integer) as listed_grace,
  c.since as check_since, c.refreshed, s.since as screen_since
from asked_laws l
left join covers c on c.registry = lower(p->>'registry') and c.consulted_by = 'check'
left join covers s on s.registry = lower(p->>'registry') and s.consulted_by = 'screen'
where kind = 'dnc_freshness';

create or replace table request_rules as
select rule, (p->>'max_days')::bigint > 0 as has_days,
  to_days(coalesce(nullif((p->>'cooldown_days')::integer, 0), (p->>'honor_days')::integer)) as binds_for,
  case when binds_for is null then (p->>'honor_years')::bigint end as binds_years
from asked_laws where kind = 'internal_dnc';

create or replace table abandonment_rules as
select rule, (p->>'max_rate')::double as max_rate, p->>'comparison' as comparison, p->>'period_type' as period_type,
  coalesce((p->>'period_days')::bigint, 0) as period_days, p->>'scope' as scope, p->>'denominator' = 'live_calls' as by_live_calls,
  (p->>'safe_harbour')::boolean as safe_harbour
from asked_laws where kind = 'abandonment_rate';

create or replace table consent_rules as
select rule, p->>'check' as asks, (p->>'waived_by_check')::boolean as waived_by_check,
  (p->>'revoke_all_waived_until')::date + interval 1 day as waived_until, to_days((p->>'aging_days')::integer) as aging,
  to_days(coalesce((p->>'refresh_days')::integer, 30)) as refresh, coalesce(nullif(p->>'safe_harbour_response', ''), 'no') as safe_response,
  (p->>'mandatory')::boolean as mandatory, to_days(coalesce((p->>'grace_days')::integer, 0)) as grace,
  (p->>'max_consent_age_years')::bigint as max_age_years, (p->>'max_consent_age_from')::date::timestamp as max_age_from
from asked_laws where kind = 'consent';

create or replace table recording_rules as
select rule, p->>'consent' = 'all_parties' as all_parties, (p->>'announcement')::boolean as by_announcement
from asked_laws where kind = 'recording_consent';

create or replace table caller_id_rules as
select rule, (p->>'shown')::boolean as shown, (p->>'own')::boolean as own, (p->>'valid')::boolean as valid,
  (p->>'not_called_party')::boolean as not_called_party, (p->>'not_mobile')::boolean as not_mobile,
  from_json(p->'prefixes', '["VARCHAR"]') as prefixes
from asked_laws where kind = 'caller_id';

create or replace table voice_rules as
select rule, (p->>'disclosure')::boolean as disclosure, (p->>'on_request')::boolean as on_request, k.strength as required
from asked_laws l left join consent_kinds k on k.required = p->>'required' where kind = 'artificial_voice';

create or replace table retention_rules as
select rule, (p->>'years')::bigint as years, law->>'id' = 'us-tsr-retention' as is_detail from asked_laws where kind = 'retention';

create or replace table emergency_rules as
-- The file of declared days speaks of an emergency, or nobody knows of one.
select rule, law->>'id' in (select rule_id from declared_rules) as declared, p->>'area' <> '' as in_part
from asked_laws where kind = 'holiday' and p->>'type' = 'emergency_ban';

create or replace table fixed_clocks as
-- Rules that go by one clock wherever the called party is.
select rule, to_seconds(clock_offset_s) as utc_offset from laws where asked and clock_offset_s is not null;

create or replace table lifting_windows as
-- Codes of records that lift a rule for so many days, and the code of such a record.
with exemptions as (
  select unnest(from_json(law->'exemptions', '[{"code": "VARCHAR", "within_days": "BIGINT"}]')) as e from laws
)
select distinct e.code as code, e.within_days as days, e.code || '@' || e.within_days as windowed from exemptions where e.within_days is not null;

create or replace table periods as
-- A period of law begins when a rule does, or on the day after one ended.
with turns as (
  select effective_from as day from rules where effective_from is not null union select effective_to + 1 from rules where effective_to is not null
  union select date '0001-01-01'
)
select row_number() over (order by day) - 1 as period, day as starts_on from turns;

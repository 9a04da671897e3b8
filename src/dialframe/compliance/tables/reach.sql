-- Which rules reach the calls of each circumstances, and what is missing or in doubt where that cannot be told.
--
-- The service tells neither what a call is for nor how it was dialed; the firm's word (`campaign_settings`, its own
-- row has no campaign) counts. What is not said is not assumed away: the rule reaches the call, and the missing word
-- is named. A call whose purpose, dialing or line type is known to lie outside a rule is not reached.

create or replace table terms as
-- The purposes that a term of `applies_to` speaks of; a sale of a branch with rules of its own is a sale too.
with selling(purpose) as (
  values ('telemarketing_sales'), ('telecom_sales'), ('payroll_credit_sales'), ('claims_management_sales'), ('pension_sales'),
    ('energy_supply_sales'), ('energy_renovation_sales'), ('home_adaptation_sales'), ('training_account_sales')
), other(purpose) as (
  values ('informational'), ('debt_collection'), ('survey'), ('charity'), ('political')
)
select term, purpose from (values ('telemarketing_sales'), ('live_marketing')) t(term) cross join selling
union select term, purpose from (values ('any_call'), ('prerecorded'), ('autodialed'), ('any_outbound_dialer'), ('call_centre_outbound')) t(term)
  cross join (from selling union from other)
union select purpose, purpose from (from selling union from other)
union select 'informational_prerecorded', 'informational';

create or replace table rule_terms as
-- To which calls each rule speaks: purposes, line types, ways of dialing (47 U.S.C. 227(b)(1) names autodialers and
-- recorded voices apart), and the records that lift it.
with near as (
  select *, law->>'jurisdiction' as jurisdiction, law->>'kind' as kind from laws
  where jurisdiction in (select unnest(regions) from places union select place from callers)
), applies as (
  select rule, unnest(from_json(law->'applies_to', '["VARCHAR"]')) as term from near
), exemptions as (
  select rule, unnest(from_json(law->'exemptions', '[{"code": "VARCHAR", "within_days": "BIGINT"}]')) as e from near
), codes as (
  select rule, e.code || coalesce('@' || e.within_days, '') as code from exemptions
  -- Whoever asked to be called agreed to that time, as 16 CFR 310.4(c) lets a call at another hour pass with prior consent.
  union all select rule, 'requested' from exemptions join near using (rule)
  where kind in ('calling_hours', 'holiday') group by rule having bool_or(e.code = 'consent' and e.within_days is null) and not bool_or(e.code = 'requested')
  union all select rule, law->>'$.parameters.unless' from near where kind = 'attempt_cap' and law->>'$.parameters.unless' is not null
    and rule not in (select rule from exemptions join near x using (rule) where e.code = x.law->>'$.parameters.unless')
)
select l.rule, l.jurisdiction, l.kind, l.doubt,
  (select list(distinct t.purpose order by t.purpose) from applies a join terms t using (term) where a.rule = l.rule) as purposes,
  from_json(l.law->'line_types', '["VARCHAR"]') as line_types,
  case l.law->>'dialing' when 'any' then null when 'prerecorded' then ['prerecorded'] when 'predictive' then ['predictive']
    when 'autodialer' then ['autodialer', 'predictive'] else ['autodialer', 'predictive', 'prerecorded'] end as dialing,
  coalesce((select list(code order by code) from codes c where c.rule = l.rule), []) as lifted_by
from near l;

create or replace table circumstance_rules as
with known as (
  select u.circumstance, p.regions, p.doubtful, f.purpose, f.dialing, f.sectors, f.campaign_names_sector, f.artificial_voice,
    -- A mobile range is wireless; a fixed one may be a home or a business.
    case when u.line_type <> '' then u.line_type when p.line_type = 'mobile' then 'wireless' end as line_type,
    case when u.records = '' then []::varchar[] else string_split(u.records, ', ') end as records
  from circumstances u join places p using (place) left join campaign_settings o on o.campaign_id = u.campaign
  join campaign_settings f on f.campaign_id = coalesce(o.campaign_id, '')
), ends as (
  -- Where the called number may be, and where the callers sit: the law on recordings of either end may bind.
  select circumstance, unnest(regions) as jurisdiction, false as callers_alone from known
  union
  select circumstance, c.place, true from known cross join callers c where not list_contains(regions, c.place)
), matched as (
  select k.*, e.jurisdiction, e.callers_alone, t.* exclude (jurisdiction, dialing), l.law->'parameters' as p, t.dialing as dialed,
    k.purpose in (select purpose from terms where term = 'telemarketing_sales') as sells, list_contains(t.purposes, k.purpose) as by_purpose
  from known k join ends e using (circumstance) join rule_terms t on t.jurisdiction = e.jurisdiction join laws l using (rule)
), reached as (
  select *, sells and list_has_any(purposes, sectors) as by_sector,
    dialed is null or (artificial_voice and list_contains(dialed, 'prerecorded')) as however_dialed,
    case when kind <> 'consent' or p->>'check' <> 'consent_before_call' then ''
      when p->>'required_b2b' <> '' and line_type = 'business' then p->>'required_b2b'
      when p->>'required_non_marketing' <> '' and not sells then p->>'required_non_marketing' else p->>'required' end as kind_asked
  from matched where not callers_alone or p->>'ends' = 'both'
)
select circumstance, rule, list_has_any(lifted_by, records) as lifted,
  concat_ws(' and ',
    case when not by_purpose and not campaign_names_sector and not list_has_all(purposes, sectors) then 'the sector of the campaign' end,
    case when not however_dialed and dialing is null then 'the dialing mode of the campaign' end,
    -- Whether a ported number is a mobile one nobody can tell from it: a rule on either asks for it.
    case when line_type is null and not list_has_all(line_types, ['residential', 'wireless']) then 'the line type of the number' end) as missing,
  -- Of several rooms nobody says from which a call came.
  (list_contains(doubtful, jurisdiction) and not coalesce((p->>'area_code_presumption')::boolean, false))
    or (callers_alone and (select count(*) from callers where is_place) > 1)
    or (kind = 'holiday' and p->>'type' = 'regional') or doubt is not null as doubtful,
  s.strength as required, kind_asked
from reached left join consent_kinds s on s.required = kind_asked
where (by_purpose or by_sector) and (line_type is null or list_contains(line_types, line_type))
  and (however_dialed or dialing is null or list_contains(dialed, dialing));

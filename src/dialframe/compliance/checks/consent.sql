-- Consent, its end, and reassigned numbers: what is on record before each call.
--
-- Where the firm gives no records nothing is evaluable. Where it gives them, a call without a record
-- that the rule asks for is one that these records do not cover: a violation if the rule reaches the
-- call for certain. Consents that were recorded with the service are no whole table: they can only show
-- that there is consent. `consent_given` says which rules have a table to be held against.

create or replace table consent_asked as
-- Empty without calls, case_rules, consent_given, consent_rules.
select c.call, c.phone, c.at_utc, c.campaign_id, c.place, k.rule, k.missing as reach_missing,
  k.doubtful or not k.everywhere as doubtful, k.required, k.kind_asked, r.* exclude (rule)
from calls c join case_rules k using (case_id) join consent_rules r using (rule) join consent_given g using (rule)
where c.graded and c.missing_input is null and not k.lifted and g.missing is null;

create or replace table consent_waived as
-- Empty without consent_asked.
-- Rules that ask for consent only where no check in time said that the number was not listed.
select a.call, a.rule from consent_asked a
where a.waived_by_check and a.call in (
  select r.call from (
    select unnest(g.members) as call from scrub_at_call_situations g join scrub_at_call_verdicts v using (situation)
    where v.state = 'checked in time'
  ) m join records_around r using (call) where not r.listed);

create or replace table consent_before_call as
-- Empty without consent_asked.
-- Of several consents the one that says most for the call; of equal ones the newest.
with held as (
  select a.call, a.rule, n.record, n.granted_at, n.consent,
    case when n.revoked_at <= a.at_utc and coalesce(n.revoked_for = a.campaign_id, n.revoked_for is null) then 'revoked'
      when n.expires_at <= a.at_utc or (a.max_age_years is not null and n.granted_at + to_years(a.max_age_years) < a.at_utc
        and (a.max_age_from is null or a.at_utc >= a.max_age_from)) then 'run out'
      when n.revoked_at <= a.at_utc or n.withdrawn_at <= a.at_utc then 'revoked elsewhere'
      else 'on record' end as answer
  from consent_asked a join consents n on n.phone = a.phone and n.strength >= a.required and n.granted_at <= a.at_utc
  where a.asks = 'consent_before_call'
), best as (
  select call, rule, arg_max({'record': record, 'answer': answer},
    (answer = 'on record', answer = 'revoked elsewhere', granted_at, consent)) as b from held group by call, rule
), told as (
  select a.call, a.rule, b.b.record as evidence, coalesce(b.b.answer, 'none') as answer,
    case answer when 'on record' then 0 when 'revoked elsewhere' then 3 else if(a.kind_asked = 'presumed', 3, 4) end as severity
  from consent_asked a left join best b using (call, rule) where a.asks = 'consent_before_call'
)
select * from told where answer = 'on record' or (select count(*) > 0 from inputs where name = 'consents');

create or replace table consent_revoked as
-- Empty without consent_asked.
with standing as (
  -- Made before the call, meant for it, and no consent since.
  select a.call, a.rule, a.at_utc, a.place, n.consent, n.revoked_at, n.record
  from consent_asked a join consents n on n.phone = a.phone and n.revoked_at <= a.at_utc
  where a.asks = 'call_after_revocation'
    and not (a.waived_until is not null and a.at_utc < a.waived_until and n.revoked_for is not null and n.revoked_for is distinct from a.campaign_id)
    and not exists (select 1 from consents m where m.phone = a.phone and m.granted_at > n.revoked_at and m.granted_at <= a.at_utc)
), ends as (
  select s.call, s.rule, s.consent, any_value(s.at_utc) as at_utc, any_value(s.record) as record, max(d.ends_at) as ends_at
  from standing s join place_clocks z using (place)
  join offsets o on o.zone = z.zone and s.revoked_at >= o.since and s.revoked_at < o.until
  join deadlines d on d.rule = s.rule and d.zone = z.zone and d.day = (s.revoked_at + to_microseconds(o.offset_us))::date
  group by s.call, s.rule, s.consent
), told as (
  select call, rule, bool_or(at_utc > ends_at) as late, arg_min(record, (at_utc <= ends_at, consent)) as record from ends group by call, rule
)
select a.call, a.rule, t.record as evidence,
  case when t.call is null then 'never revoked' when t.late then 'revoked and late' else 'revoked and in time' end as answer,
  case when t.call is null then 0 when t.late then 4 else 3 end as severity
from consent_asked a left join told t using (call, rule)
where a.asks = 'call_after_revocation' and (select count(*) > 0 from inputs where name = 'consents');

create or replace table consent_reassigned as
-- Empty without consent_asked.
with newest as (
  select a.call, a.rule, arg_max({'checked_at': u.checked_at, 'result': lower(trim(u.result))}, (u.checked_at, u.look_up)) as u
  from consent_asked a join look_ups u on u.phone = a.phone and u.checked_at <= a.at_utc
  where a.asks = 'reassigned_number' group by a.call, a.rule
), granted as (
  select a.call, a.rule, max(n.granted_at) as granted_at
  from consent_asked a join consents n on n.phone = a.phone and n.granted_at <= a.at_utc
  where a.asks = 'reassigned_number' group by a.call, a.rule
), judged as (
  select a.call, a.rule, a.mandatory, n.u.checked_at as checked_at,
    coalesce(a.at_utc - g.granted_at < a.aging, false) as rested,
    case when (select count(*) = 0 from inputs where name = 'look_ups') then 'not given'
      when n.u.result = 'yes' then 'reassigned'
      when n.u.result = a.safe_response and a.at_utc - n.u.checked_at <= a.refresh then 'not reassigned'
      when n.u is null then 'no look-up' else 'look-up too old' end as answer
  from consent_asked a left join newest n using (call, rule) left join granted g using (call, rule)
  where a.asks = 'reassigned_number'
)
select call, rule, checked_at::varchar as evidence,
  case when rested and answer not in ('reassigned', 'not reassigned') then 'rested' else answer end as answer,
  case when answer = 'not given' and not rested then 2 when answer = 'reassigned' then 4
    when answer = 'not reassigned' or rested then 0 when mandatory then 4 else 3 end as severity
from judged;

create or replace table consent_ported as
-- Empty without consent_asked.
with newest as (
  select a.call, a.rule, max(u.ported_at) as ported_at
  from consent_asked a join look_ups u on u.phone = a.phone and u.ported_at <= a.at_utc
  where a.asks = 'ported_number_grace' group by a.call, a.rule
)
select a.call, a.rule, null::varchar as evidence,
  case when n.ported_at is null then 'not ported' when a.at_utc - n.ported_at <= a.grace then 'within grace' else 'grace over' end as answer,
  case when n.ported_at is null then 2 when a.at_utc - n.ported_at <= a.grace then 0 else 3 end as severity
from consent_asked a left join newest n using (call, rule) where a.asks = 'ported_number_grace';

create or replace table consent_by_rule as
-- Empty without consent_asked.
with answers as (
  select * from consent_before_call union all select * from consent_revoked
  union all select * from consent_reassigned union all select * from consent_ported
)
select a.call, a.rule, x.evidence, a.kind_asked,
  case when w.call is not null then 'waived' else coalesce(x.answer, 'not given') end as answer,
  case when w.call is not null then 0 when x.call is null then 2
    -- A violation of a rule whose reach is not certain is none.
    when x.severity >= 3 and a.reach_missing <> '' then 2
    when x.severity = 4 and a.doubtful then 3 else x.severity end as severity,
  case when w.call is not null then null
    when x.severity >= 3 and a.reach_missing <> '' then a.reach_missing
    when x.call is null then 'a table of consents'
    when x.severity = 2 and a.asks = 'ported_number_grace' then 'the day on which the number was ported'
    when x.severity = 2 and a.asks = 'reassigned_number' then 'a table of look-ups of reassigned numbers'
    when x.severity = 2 then 'a table of consents' end as missing
from consent_asked a left join answers x using (call, rule) left join consent_waived w using (call, rule)
union all
-- Rules without a table, for calls that another rule was held against.
select c.call, k.rule, null, null, 'not given', 2, g.missing
from (select distinct call from consent_asked) q join calls c using (call) join case_rules k using (case_id)
join consent_given g using (rule) where g.missing is not null and not k.lifted;

create or replace table consent as
-- Empty without consent_by_rule.
with worst as (select call, max(severity) as severity from consent_by_rule group by call)
select w.call, w.severity, [min(r.rule)] as rules, arg_min(r.missing, r.rule) as missing,
  arg_min(r.evidence, r.rule) as evidence, arg_min(r.answer, r.rule) as answer, arg_min(r.kind_asked, r.rule) as kind_asked
from worst w join consent_by_rule r on r.call = w.call and r.severity = w.severity group by w.call, w.severity;

create or replace table consent_default as
-- Empty without case_rules, consent_given.
select k.case_id, 2 as severity, [min(k.rule)] as rules, arg_min(g.missing, k.rule) as missing
from case_rules k join consent_given g using (rule) where g.missing is not null and not k.lifted group by k.case_id;

create or replace view consent_rows as
-- Empty without consent_by_rule, calls or calls, case_rules, consent_given.
-- Every call that a rule on consent reaches, once per rule.
select r.* exclude (call), [r.rule] as rules, c.call_id, c.to_number, c.campaign_id, c.at_utc as created_at
from consent_by_rule r join calls c using (call)
union all by name
select k.rule, [k.rule] as rules, null as evidence, k.kind_asked, 'not given' as answer, 2 as severity, g.missing,
  c.call_id, c.to_number, c.campaign_id, c.at_utc as created_at
from calls c join case_rules k using (case_id) join consent_given g using (rule)
where c.graded and not k.lifted and g.missing is not null and c.call not in (select call from consent_asked);

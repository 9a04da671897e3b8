-- Consent, its end, and reassigned numbers: what is on record before each call. 47 CFR 64.1200(a)(1)-(3), (a)(10), (m); 16 CFR 310.4(b)(1)(v).
--
-- Where the firm gives no records nothing is evaluable. Where it gives them, a call without a record
-- that the rule asks for is one that these records do not cover: a violation if the rule reaches the
-- call for certain. Consents that were recorded with the service are no whole table: they can only show
-- that there is consent. `consent_given` says which rules have a table to be held against.

create or replace view checked_clean as
-- Calls to numbers of which a check in time said that they were not listed.
select r.call from scrub_at_call_of m join scrub_at_call_grades g using (question) join records_around r on r.call = m.call
where g.answer = 'checked in time' and not r.listed;

create or replace view consent_alike as
-- Where any consent or look-up of the number is on record the call stands for itself.
select call, case_id, campaign_id, call in (from checked_clean) as clean,
  case when phone in (select phone from consents union all select phone from look_ups) then call end as own_call
from calls where graded and missing_input is null;

with reached as (
  select a.question, c.call, c.phone, c.at_utc, c.campaign_id, c.place, k.rule, k.missing as reach_missing,
    k.doubtful or not k.everywhere as doubtful, k.required, k.kind_asked, g.missing as not_given, r.* exclude (rule),
    'consents' in (select name from inputs) as has_table, 'look_ups' in (select name from inputs) as has_look_ups
  from asked a join calls c using (call) join reach k using (case_id) join consent_rules r using (rule) join consent_given g using (rule)
  where k.check_name = 'consent' and not k.lifted
), consents_held as (
  select r.question, r.rule, n.record, n.granted_at, n.consent,
    case when n.revoked_at <= r.at_utc and coalesce(n.revoked_for = r.campaign_id, n.revoked_for is null) then 'revoked'
      when n.expires_at <= r.at_utc or (r.max_age_years is not null and n.granted_at + to_years(r.max_age_years) < r.at_utc
        and (r.max_age_from is null or r.at_utc >= r.max_age_from)) then 'run out'
      when n.revoked_at <= r.at_utc or n.withdrawn_at <= r.at_utc then 'revoked elsewhere' else 'on record' end as answer
  from reached r join consents n on n.phone = r.phone and n.strength >= r.required and n.granted_at <= r.at_utc where r.asks = 'consent_before_call'
), best_consent as (
  -- Of several consents the one that says most for the call; of equal ones the newest.
  select question, rule, arg_max(n, (n.answer = 'on record', n.answer = 'revoked elsewhere', n.granted_at, n.consent)) as n
  from consents_held n group by question, rule
), revocations as (
  -- Made before the call, meant for it, and no consent since; late by the latest clock, so that it is late in every zone.
  select r.question, r.rule, r.at_utc, n.consent, any_value(n.record) as record, max(d.ends_at) as ends_at
  from reached r join consents n on n.phone = r.phone and n.revoked_at <= r.at_utc
  join place_clocks z using (place) join offsets o on o.zone = z.zone and n.revoked_at >= o.since and n.revoked_at < o.until
  join deadlines d on d.rule = r.rule and d.zone = z.zone and d.day = (n.revoked_at + o.utc_offset)::date
  where r.asks = 'call_after_revocation' and not (r.waived_until is not null and r.at_utc < r.waived_until
      and n.revoked_for is not null and n.revoked_for is distinct from r.campaign_id)
    and not exists (select 1 from consents m where m.phone = r.phone and m.granted_at > n.revoked_at and m.granted_at <= r.at_utc)
  group by r.question, r.rule, r.at_utc, n.consent
), revoked as (
  select question, rule, bool_or(at_utc > ends_at) as late, arg_min(record, (at_utc <= ends_at, consent)) as record
  from revocations group by question, rule
), newest_look_up as (
  select r.question, r.rule, arg_max(u, (u.checked_at, u.look_up)) filter (u.checked_at is not null and r.asks = 'reassigned_number') as u,
    max(u.ported_at) filter (u.ported_at <= r.at_utc) as ported_at
  from reached r join look_ups u on u.phone = r.phone and (u.checked_at <= r.at_utc or u.ported_at <= r.at_utc)
  where (r.asks = 'reassigned_number' and u.checked_at <= r.at_utc) or r.asks = 'ported_number_grace' group by r.question, r.rule
), newest_consent as (
  select r.question, r.rule, max(n.granted_at) as granted_at
  from reached r join consents n on n.phone = r.phone and n.granted_at <= r.at_utc where r.asks = 'reassigned_number' group by r.question, r.rule
), answers as (
  select r.*, coalesce(r.waived_by_check and r.call in (from checked_clean), false) as waived,
    case r.asks when 'consent_before_call' then b.n.record when 'call_after_revocation' then v.record else l.u.checked_at::varchar end as evidence,
    coalesce(r.at_utc - c.granted_at < r.aging, false) as rested,
    case when not_given is not null then 'not given'
      when asks = 'consent_before_call' then case when has_table or b.n.answer = 'on record' then coalesce(b.n.answer, 'none') else 'not given' end
      when asks = 'call_after_revocation' then case when not has_table then 'not given' when v.rule is null then 'never revoked'
        when v.late then 'revoked and late' else 'revoked and in time' end
      when asks = 'ported_number_grace' then case when l.ported_at is null then 'not ported'
        when r.at_utc - l.ported_at <= r.grace then 'within grace' else 'grace over' end
      when lower(trim(l.u.result)) = 'yes' and has_look_ups then 'reassigned'
      when lower(trim(l.u.result)) = r.safe_response and r.at_utc - l.u.checked_at <= r.refresh and has_look_ups then 'not reassigned'
      when rested then 'rested' when not has_look_ups then 'not given' when l.u is null then 'no look-up' else 'look-up too old' end as answer
  from reached r left join best_consent b using (question, rule) left join revoked v using (question, rule)
  left join newest_look_up l using (question, rule) left join newest_consent c using (question, rule)
), answer_grades as (
  select *, case when answer in ('not given', 'not ported') then 'not evaluable'
      when answer in ('on record', 'never revoked', 'not reassigned', 'within grace', 'rested') then 'pass'
      when answer in ('revoked elsewhere', 'revoked and in time', 'grace over') or (answer in ('none', 'revoked', 'run out') and kind_asked = 'presumed')
        or (answer in ('no look-up', 'look-up too old') and not mandatory) then 'uncertain' else 'violation' end::grade as by_record
  from answers
), duties as (
  -- "A person will not be liable for violating (a)(1), (2), or (3)" who looked the number up (64.1200(m)), or called within
  -- 15 days of a port ((a)(1)(iv)): defenses, so that a call without such a record is judged by the duties alone. Where
  -- none of them is asked, or a law makes the look-up a duty (Maine), its absence is what is missing.
  select * from answer_grades where by_record <> 'not evaluable' or mandatory or asks not in ('reassigned_number', 'ported_number_grace')
    or not exists (from consent_rules where asks = 'consent_before_call')
)
select question, rule, evidence, kind_asked, case when waived then 'waived' else answer end as answer,
  -- A violation of a rule whose reach is not certain is none.
  case when waived then 'pass' when by_record >= 'uncertain'::grade and reach_missing <> '' then 'not evaluable'
    when by_record = 'violation' and doubtful then 'uncertain' else by_record end as grade,
  case when waived then null when by_record >= 'uncertain'::grade and reach_missing <> '' then reach_missing
    when by_record <> 'not evaluable' then null when not_given is not null then not_given
    when asks = 'ported_number_grace' then 'the day on which the number was ported'
    when asks = 'reassigned_number' then 'a table of look-ups of reassigned numbers' else 'a table of consents' end as missing
from duties;

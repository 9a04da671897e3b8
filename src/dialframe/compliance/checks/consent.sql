-- Consent, its end, and reassigned numbers: what is on record before each call. 47 CFR 64.1200(a)(1)-(3), (a)(10), (m); 16 CFR 310.4(b)(1)(v).
--
-- Where the firm gives no records nothing is evaluable. Where it gives them, a call without a record
-- that the rule asks for is one that these records do not cover: a violation if the rule reaches the
-- call for certain. Consents that were recorded with the service are no whole table: they can only show
-- that there is consent. `consent_given` says which rules have a table to be held against.

with reached as (
  select a.question, c.*, 'consents' in (select name from inputs) as has_table, 'look_ups' in (select name from inputs) as has_look_ups
  from asked a join consent_duties c using (call)
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
  from reached r left join best_consent b using (call, rule) left join revoked v using (call, rule)
  left join newest_look_up l using (call, rule) left join newest_consent c using (call, rule)
), answer_grades as (
  select *, case when answer in ('not given', 'not ported') then 'not evaluable'
      when answer in ('on record', 'never revoked', 'not reassigned', 'within grace', 'rested') then 'pass'
      when answer in ('revoked elsewhere', 'revoked and in time', 'grace over') or (answer in ('none', 'revoked', 'run out') and kind_asked = 'presumed')
        or (answer in ('no look-up', 'look-up too old') and not mandatory) then 'uncertain' else 'violation' end::grade as by_record
  from answers
), duties as (
  -- Whoever relied on the database of reassigned numbers (64.1200(m)), or called within 15 days of a port ((a)(1)(iv)), is
  -- not liable under (a)(1) to (3): defenses, so that a call without such a record is judged by the duties alone. Where
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

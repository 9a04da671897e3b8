-- Calls with an artificial voice held against the rules that ask for disclosure, for consent, or for both.
--
-- Whether an artificial voice speaks, and whether it says so at the start of the call, the practice file
-- says; a campaign whose mode at the service is an AI's speaks with one. Consent is a record before the
-- call, not revoked and not run out.

create or replace view voice_calls as
-- Empty without calls, case_rules, voice_rules.
-- What the rules go by. Where there is any consent of the number, the call stands for itself.
select c.call, c.case_id, coalesce(p.campaign_id, '') as campaign_id, c.answered_at is null as unanswered,
  case when c.phone in (select phone from consents) then c.call end as with_consents
from calls c left join conduct p on p.campaign_id = c.campaign_id
semi join (select case_id from case_rules join voice_rules using (rule)) r on r.case_id = c.case_id
where c.graded and c.missing_input is null;

create or replace table artificial_voice_situations as
-- Empty without voice_calls.
select row_number() over () as situation, case_id, campaign_id, unanswered, with_consents, min(call) as first, count(*) as calls, list(call) as members
from voice_calls group by case_id, campaign_id, unanswered, with_consents;

create or replace table artificial_voice_by_rule as
-- Empty without artificial_voice_situations, calls, case_rules, conduct, voice_rules.
with asked as (
  select g.situation, c.phone, c.at_utc, c.campaign_id as called_for, k.rule, k.missing as reach_missing, k.doubtful or not k.everywhere as doubtful, k.lifted,
    r.disclosure, r.on_request, r.required,
    p.artificial_voice as speaks, p.voice_announced as announced,
    r.required is null and g.unanswered and s.tells_answers as unanswered
  from artificial_voice_situations g cross join settings s join calls c on c.call = g.first
  join case_rules k on k.case_id = g.case_id join voice_rules r using (rule) join conduct p on p.campaign_id = g.campaign_id
), held as (
  select a.situation, a.rule, n.record, n.granted_at, n.consent,
    coalesce(n.expires_at <= a.at_utc, false)
      or coalesce(n.revoked_at <= a.at_utc, false) and coalesce(n.revoked_for = a.called_for, n.revoked_for is null) as is_over,
    not is_over and coalesce(n.revoked_at <= a.at_utc or n.withdrawn_at <= a.at_utc, false) as is_doubtful
  from asked a join consents n on n.phone = a.phone and n.strength >= a.required and n.granted_at <= a.at_utc
  where a.required is not null and a.speaks
), best as (
  select situation, rule, arg_max({'record': record, 'is_over': is_over, 'is_doubtful': is_doubtful},
    (not is_over and not is_doubtful, is_doubtful, granted_at, consent)) as n from held group by situation, rule
), judged as (
  select a.*, n.n.record as evidence,
    case when lifted then 'lifted' when speaks = false then 'no artificial voice' when unanswered then 'unanswered'
      when speaks is null then 'voice not said'
      when required is not null and n.n is null and (select count(*) = 0 from inputs where name = 'consents') then 'no table'
      when required is not null and n.n is null then 'no consent'
      when n.n.is_over then 'consent over'
      when disclosure and announced is null then 'disclosure not said'
      when disclosure and not announced and on_request then 'on request'
      when disclosure and not announced then 'not disclosed'
      when n.n.is_doubtful then 'revoked elsewhere' else 'kept' end as answer
  from asked a left join best n using (situation, rule)
)
select situation, rule, answer, evidence,
  case when answer in ('lifted', 'no artificial voice', 'unanswered', 'kept') then 0
    when answer in ('voice not said', 'disclosure not said', 'no table') or reach_missing <> '' then 2
    when answer in ('on request', 'revoked elsewhere') or doubtful then 3 else 4 end as severity,
  case when answer in ('lifted', 'no artificial voice', 'unanswered', 'kept') then null
    when answer = 'voice not said' then 'a practice file that says whether an artificial voice speaks'
    when answer = 'disclosure not said' then 'a practice file that says whether the artificial voice is disclosed'
    when answer = 'no table' then 'a table of consents'
    when reach_missing <> '' then reach_missing end as missing
from judged;

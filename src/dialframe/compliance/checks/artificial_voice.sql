-- Calls with an artificial voice held against the rules that ask for disclosure, for consent, or for both.
--
-- Whether an artificial voice speaks, and whether it says so at the start of the call, the practice file
-- says; a campaign whose mode at the service is an AI's speaks with one. Consent is a record before the
-- call, not revoked and not run out.

with reached as (
  select a.question, k.rule, k.lifted, k.missing as reach_missing, k.doubtful or not k.everywhere as doubtful,
    c.phone, c.at_utc, c.campaign_id, r.disclosure, r.on_request, r.required,
    p.artificial_voice as speaks, p.voice_announced as announced,
    r.required is null and c.answered_at is null and s.tells_answers as unanswered
  from asked a join calls c using (call) cross join settings s join reach k using (case_id) join voice_rules r using (rule)
  join call_conduct p using (call) where k.check_name = 'artificial_voice'
), consents_held as (
  select r.question, r.rule, n.record, n.granted_at, n.consent,
    coalesce(n.expires_at <= r.at_utc, false)
      or coalesce(n.revoked_at <= r.at_utc, false) and coalesce(n.revoked_for = r.campaign_id, n.revoked_for is null) as is_over,
    not is_over and coalesce(n.revoked_at <= r.at_utc or n.withdrawn_at <= r.at_utc, false) as is_doubtful
  from reached r join consents n on n.phone = r.phone and n.strength >= r.required and n.granted_at <= r.at_utc
  where r.required is not null and r.speaks
), best as (
  select question, rule, arg_max(n, (not n.is_over and not n.is_doubtful, n.is_doubtful, n.granted_at, n.consent)) as n
  from consents_held n group by question, rule
), answers as (
  select r.*, b.n.record as evidence,
    case when lifted then 'lifted' when speaks = false then 'no artificial voice' when unanswered then 'unanswered'
      when speaks is null then 'voice not said'
      when required is not null and b.n is null and 'consents' not in (select name from inputs) then 'no table'
      when required is not null and b.n is null then 'no consent' when b.n.is_over then 'consent over'
      when disclosure and announced is null then 'disclosure not said'
      when disclosure and not announced and on_request then 'on request'
      when disclosure and not announced then 'not disclosed' when b.n.is_doubtful then 'revoked elsewhere' else 'kept' end as answer
  from reached r left join best b using (question, rule)
)
select question, rule, answer, evidence,
  case when answer in ('lifted', 'no artificial voice', 'unanswered', 'kept') then 'pass'
    when answer in ('voice not said', 'disclosure not said', 'no table') or reach_missing <> '' then 'not evaluable'
    when answer in ('on request', 'revoked elsewhere') or doubtful then 'uncertain' else 'violation' end as grade,
  case when grade <> 'not evaluable' then null when answer = 'voice not said' then 'a practice file that says whether an artificial voice speaks'
    when answer = 'disclosure not said' then 'a practice file that says whether the artificial voice is disclosed'
    when answer = 'no table' then 'a table of consents' else reach_missing end as missing
from answers;

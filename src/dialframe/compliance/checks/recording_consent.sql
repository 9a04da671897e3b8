-- Recorded calls held against the rules that ask for the consent of everybody on the line.
--
-- A rule reaches a call by the called number, or by the room that it came from (`callers_in`). Whether a
-- call was recorded its record says, or the practice file; whether that was announced the practice file
-- alone. Where an announcement is no consent by the rule, an announced recording is uncertain: no record
-- shows that the called person agreed. A call that nobody answered has nobody to record.

create or replace table recording_by_rule as
-- Empty without calls, case_rules, conduct, recording_rules.
with asked as (
  select c.call, k.rule, k.missing as reach_missing, k.doubtful or not k.everywhere as doubtful, k.lifted, r.by_announcement, r.all_parties,
    coalesce(c.recorded, p.recorded, f.recorded) as is_recorded,
    coalesce(p.recording_announced, f.recording_announced) as announced,
    c.answered_at is null and c.recorded is null and s.tells_answers as unanswered
  from calls c cross join settings s join case_rules k using (case_id) join recording_rules r using (rule)
  join conduct f on f.campaign_id = '' left join conduct p on p.campaign_id = c.campaign_id
  where c.graded and c.missing_input is null
), judged as (
  select *,
    case when lifted then 'lifted' when not all_parties then 'one party' when is_recorded = false then 'not recorded'
      when unanswered then 'unanswered' when announced and by_announcement then 'announced'
      when is_recorded is null then 'recording not said' when announced is null then 'announcement not said'
      when announced then 'announced alone' else 'not announced' end as answer
  from asked
)
select call, rule, answer,
  case when answer in ('lifted', 'one party', 'not recorded', 'unanswered', 'announced') then 0
    when answer in ('recording not said', 'announcement not said') or reach_missing <> '' then 2
    when answer = 'announced alone' or doubtful then 3 else 4 end as severity,
  case when answer in ('lifted', 'one party', 'not recorded', 'unanswered', 'announced') then null
    when answer = 'recording not said' then 'a practice file that says whether calls are recorded'
    when answer = 'announcement not said' then 'a practice file that says whether recordings are announced'
    when reach_missing <> '' then reach_missing end as missing
from judged;

create or replace table recording_consent as
-- Empty without recording_by_rule.
with worst as (select call, max(severity) as severity from recording_by_rule group by call)
select w.call, w.severity, list(r.rule order by r.rule) as rules, arg_min(r.missing, r.rule) as missing,
  arg_min(r.answer, r.rule) as answer
from worst w join recording_by_rule r on r.call = w.call and r.severity = w.severity
group by w.call, w.severity;

create or replace table recording_consent_default as
select null::bigint as case_id, 0 as severity, []::integer[] as rules, null::varchar as missing where false;

-- Recorded calls held against the rules that ask for the consent of everybody on the line.
--
-- A rule reaches a call by the called number, or by the room that it came from (`callers_in`). Whether a
-- call was recorded its record says, or the practice file; whether that was announced the practice file
-- alone. Where an announcement is no consent by the rule, an announced recording is uncertain: no record
-- shows that the called person agreed. A call that nobody answered has nobody to record.

create or replace view recording_calls as
-- Empty without calls, case_rules, recording_rules.
-- What the rules go by.
select c.call, c.case_id, coalesce(p.campaign_id, '') as campaign_id, c.recorded, c.answered_at is null as unanswered
from calls c left join conduct p on p.campaign_id = c.campaign_id
semi join (select case_id from case_rules join recording_rules using (rule)) r on r.case_id = c.case_id
where c.graded and c.missing_input is null;

create or replace table recording_consent_situations as
-- Empty without recording_calls.
select row_number() over () as situation, case_id, campaign_id, recorded, unanswered, min(call) as first, count(*) as calls, list(call) as members
from recording_calls group by case_id, campaign_id, recorded, unanswered;

create or replace table recording_consent_by_rule as
-- Empty without case_rules, conduct, recording_consent_situations, recording_rules.
with asked as (
  select g.situation, k.rule, k.missing as reach_missing, k.doubtful or not k.everywhere as doubtful, k.lifted, r.by_announcement, r.all_parties,
    coalesce(g.recorded, p.recorded) as is_recorded, p.recording_announced as announced,
    g.unanswered and g.recorded is null and s.tells_answers as unanswered
  from recording_consent_situations g cross join settings s join case_rules k using (case_id)
  join recording_rules r using (rule) join conduct p on p.campaign_id = g.campaign_id
), judged as (
  select *,
    case when lifted then 'lifted' when not all_parties then 'one party' when is_recorded = false then 'not recorded'
      when unanswered then 'unanswered' when announced and by_announcement then 'announced'
      when is_recorded is null then 'recording not said' when announced is null then 'announcement not said'
      when announced then 'announced alone' else 'not announced' end as answer
  from asked
)
select situation, rule, answer, null::varchar as evidence,
  case when answer in ('lifted', 'one party', 'not recorded', 'unanswered', 'announced') then 0
    when answer in ('recording not said', 'announcement not said') or reach_missing <> '' then 2
    when answer = 'announced alone' or doubtful then 3 else 4 end as severity,
  case when answer in ('lifted', 'one party', 'not recorded', 'unanswered', 'announced') then null
    when answer = 'recording not said' then 'a practice file that says whether calls are recorded'
    when answer = 'announcement not said' then 'a practice file that says whether recordings are announced'
    when reach_missing <> '' then reach_missing end as missing
from judged;

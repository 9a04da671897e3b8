-- Recorded calls held against the rules that ask for the consent of everybody on the line.
--
-- A rule reaches a call by the called number, or by the room that it came from (`callers_in`). Whether a
-- call was recorded its record says, or the practice file; whether that was announced, and whether the called
-- person agrees before anything is recorded, the practice file alone. Where an announcement is no consent by the
-- rule, an announced recording is uncertain while nobody says so. A call that nobody answered has nobody to record.

with reached as (
  select a.question, k.rule, k.lifted, k.missing as reach_missing, k.doubtful or not k.everywhere as doubtful, r.by_announcement, r.all_parties,
    coalesce(c.recorded, p.recorded) as is_recorded, p.recording_announced as announced, p.recording_agreed as agreed,
    c.answered_at is null and c.recorded is null and s.tells_answers as unanswered
  from asked a join calls c using (call) cross join settings s join reach k using (case_id) join recording_rules r using (rule)
  join call_conduct p using (call) where k.check_name = 'recording_consent'
), answers as (
  select *, case when lifted then 'lifted' when not all_parties then 'one party' when is_recorded = false then 'not recorded'
    when unanswered then 'unanswered' when agreed then 'agreed' when announced and by_announcement then 'announced'
    when is_recorded is null then 'recording not said' when announced is null then 'announcement not said'
    when announced then 'announced alone' else 'not announced' end as answer
  from reached
)
select question, rule, answer,
  case when answer in ('lifted', 'one party', 'not recorded', 'unanswered', 'agreed', 'announced') then 'pass'
    when answer in ('recording not said', 'announcement not said') or reach_missing <> '' then 'not evaluable'
    when answer = 'announced alone' or doubtful then 'uncertain' else 'violation' end as grade,
  case when grade <> 'not evaluable' then null
    when answer = 'recording not said' then 'a practice file that says whether calls are recorded'
    when answer = 'announcement not said' then 'a practice file that says whether recordings are announced'
    else reach_missing end as missing
from answers;

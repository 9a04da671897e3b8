-- Which calls a check grades alike: the law is asked of one call of each kind, and its answer joined back to all of them.
-- Each block belongs to the check that its first line names, and is made when that check is run.

-- check: calling_hours
create or replace table calling_hours_days as
-- Days that are not like their weekday, for a case: closed ones, those with hours of their own, and those on which a rule begins or ends.
select distinct case_id, day + shift::int as day from (
  select k.case_id, d.day from reach k join special_days d using (rule)
  union select k.case_id, unnest([r.effective_from, r.effective_to]) from reach k join rules r using (rule) where k.check_name = 'calling_hours'
) cross join range(-3, 4) near(shift) where day is not null;

create or replace view calling_hours_alike as
-- Calls of a case on the same weekday, in the same quarter of an hour by the same clocks. No hours begin within
-- `grain`, a quarter of an hour or what else divides all of them.
select c.call, c.case_id, c.clock, isodow(c.first_day) as weekday, d.day as special_day, c.missing_input,
  time_bucket(s.grain, c.at_utc + c.earliest)::time as quarter
from calls c cross join settings s left join calling_hours_days d on d.case_id = c.case_id and d.day = c.first_day
where c.graded;

-- check: scrub_at_call
create or replace view scrub_at_call_alike as
select call, case_id, check_days, check_cover, screen_days, screen_cover, screen_is_newer, check_in_quarter, screen_in_quarter, scrubs,
  next_days is not null as checked_after, null as missing_input
from alike_by_records
union all by name select call, missing_input from calls where graded and missing_input is not null;

-- check: listed_number
create or replace view listed_number_alike as
-- A call to a number that anything speaks against stands for itself.
select call, case_id, case when is_spoken then call end as own_call,
  case when not is_spoken then struct_pack(check_days, check_cover, next_days, next_cover, screen_days, check_at_call, scrubs) end as records,
  null as missing_input
from alike_by_records
union all by name select call, missing_input from calls where graded and missing_input is not null;

-- check: attempt_caps
create or replace table often_called as
-- Numbers with more calls, of both directions, than the strictest cap allows; a cap that follows an event allows none.
select phone from (select phone from calls where phone is not null union all select phone from inbound where phone is not null)
group by phone having count(*) > least((select min(most) from cap_limits),
  case when exists (from caps where trigger is not null or cooldown_days is not null) then 1 end);

create or replace view attempt_caps_alike as
select c.call, c.case_id, c.attempt, c.missing_input, case when o.phone is not null and k.case_id is not null then c.call end as own_call
from calls c left join often_called o using (phone)
left join (select distinct case_id from reach where check_name = 'attempt_caps' and not lifted) k on k.case_id = c.case_id
where c.graded and (c.attempt or c.missing_input is not null);

-- check: emergency
create or replace view emergency_alike as
select c.call, c.case_id, a.day as first_day, b.day as last_day from calls c
left join (select distinct day from special_days join emergency_rules using (rule)) a on a.day = c.first_day
left join (select distinct day from special_days join emergency_rules using (rule)) b on b.day = c.last_day
where c.graded and c.missing_input is null;

-- check: consent
create or replace view checked_clean as
-- Calls to numbers of which a check in time said that they were not listed.
select r.call from scrub_at_call_of m join scrub_at_call_grades g using (question) join records_around r on r.call = m.call
where g.answer = 'checked in time' and not r.listed;

create or replace view consent_alike as
-- Where any consent or look-up of the number is on record the call stands for itself.
select call, case_id, campaign_id, call in (from checked_clean) as clean,
  case when phone in (select phone from consents union all select phone from look_ups) then call end as own_call
from calls where graded and missing_input is null;

-- check: records
create or replace view records_alike as
select call, case_id, from_number is null as no_from, ended_at is null and duration_seconds is null as no_duration,
  answered_at is not null and disposition is null as no_disposition from calls where graded and missing_input is null;

-- check: sector_ban
create or replace view sector_ban_alike as
select call, case_id from calls where graded and missing_input is null;

-- check: caller_id
create or replace view caller_id_alike as
select call, case_id, from_number, from_number = to_number as called_own from calls where graded and missing_input is null;

-- check: recording_consent
create or replace view recording_consent_alike as
select call, case_id, campaign_id, recorded, answered_at is null as unanswered from calls where graded and missing_input is null;

-- check: artificial_voice
create or replace view artificial_voice_alike as
-- Where there is any consent of the number, the call stands for itself.
select call, case_id, campaign_id, answered_at is null as unanswered,
  case when phone in (select phone from consents) then call end as own_call from calls where graded and missing_input is null;

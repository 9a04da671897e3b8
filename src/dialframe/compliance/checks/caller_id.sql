-- Calls held against the rules on the number that the called person sees.
--
-- `from_number` is what the record shows. A record without one says nothing; an empty one, or a word
-- such as "anonymous", says that no number was shown. Whether a number is the firm's own the practice
-- file says (`caller_ids`); whether it can be called at all libphonenumber's numbering plans say.

create or replace view caller_id_calls as
-- Empty without calls, case_rules, caller_id_rules.
-- What the rules go by.
select c.call, c.case_id, c.from_number is not null as is_recorded, c.from_number = c.to_number as called_own, n.own, n.form
from calls c left join caller_numbers n on n.from_number = c.from_number
semi join (select case_id from case_rules join caller_id_rules using (rule)) r on r.case_id = c.case_id
where c.graded and c.missing_input is null;

create or replace table caller_id_situations as
-- Empty without caller_id_calls.
select row_number() over () as situation, case_id, is_recorded, called_own, own, form, min(call) as first, count(*) as calls, list(call) as members
from caller_id_calls group by case_id, is_recorded, called_own, own, form;

create or replace table caller_id_by_rule as
-- Empty without caller_id_rules, caller_id_situations, case_rules.
with asked as (
  select g.situation, k.rule, k.missing as reach_missing, k.doubtful or not k.everywhere as doubtful, k.lifted,
    r.* exclude (rule), g.is_recorded, g.called_own, g.own as is_own, g.form
  from caller_id_situations g join case_rules k using (case_id) join caller_id_rules r using (rule)
), judged as (
  select *,
    case when lifted then 'lifted'
      when not is_recorded then 'not recorded'
      when form = 'withheld' then case when shown then 'withheld' else 'kept' end
      when not_called_party and called_own then 'called party'
      when valid and form = 'impossible' then 'impossible'
      when own and is_own = false then 'not own'
      when valid and form = 'unknown' then 'unknown'
      when own and is_own is null then 'own not said'
      else 'kept' end as answer
  from asked
)
select situation, rule, answer, null::varchar as evidence,
  case when answer in ('lifted', 'kept') then 0 when answer in ('not recorded', 'own not said') then 2
    when reach_missing <> '' then 2 when answer = 'unknown' or doubtful then 3 else 4 end as severity,
  case when answer in ('lifted', 'kept') then null when answer = 'not recorded' then 'from_number'
    when answer = 'own not said' then 'a practice file with the caller_ids of the firm'
    when reach_missing <> '' then reach_missing end as missing
from judged;

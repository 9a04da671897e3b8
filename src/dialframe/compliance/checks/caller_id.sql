-- Calls held against the rules on the number that the called person sees.
--
-- `from_number` is what the record shows. A record without one says nothing; an empty one, or a word
-- such as "anonymous", says that no number was shown. Whether a number is the firm's own the practice
-- file says (`caller_ids`); whether it can be called at all libphonenumber's numbering plans say.

create or replace table caller_id_by_rule as
-- Empty without caller_id_rules, calls, case_rules.
with asked as (
  select c.call, k.rule, k.missing as reach_missing, k.doubtful or not k.everywhere as doubtful, k.lifted,
    r.* exclude (rule), c.from_number, c.from_number = c.to_number as called_own, n.own as is_own, n.form
  from calls c join case_rules k using (case_id) join caller_id_rules r using (rule)
  left join caller_numbers n on n.from_number = c.from_number
  where c.graded and c.missing_input is null
), judged as (
  select *,
    case when lifted then 'lifted'
      when from_number is null then 'not recorded'
      when form = 'withheld' then case when shown then 'withheld' else 'kept' end
      when not_called_party and called_own then 'called party'
      when valid and form = 'impossible' then 'impossible'
      when own and is_own = false then 'not own'
      when valid and form = 'unknown' then 'unknown'
      when own and is_own is null then 'own not said'
      else 'kept' end as answer
  from asked
)
select call, rule, answer, from_number,
  case when answer in ('lifted', 'kept') then 0 when answer in ('not recorded', 'own not said') then 2
    when reach_missing <> '' then 2 when answer = 'unknown' or doubtful then 3 else 4 end as severity,
  case when answer in ('lifted', 'kept') then null when answer = 'not recorded' then 'from_number'
    when answer = 'own not said' then 'a practice file with the caller_ids of the firm'
    when reach_missing <> '' then reach_missing end as missing
from judged;

create or replace table caller_id as
-- Empty without caller_id_by_rule.
with worst as (select call, max(severity) as severity from caller_id_by_rule group by call)
select w.call, w.severity, list(r.rule order by r.rule) as rules, arg_min(r.missing, r.rule) as missing,
  arg_min(r.answer, r.rule) as answer, any_value(r.from_number) as from_number
from worst w join caller_id_by_rule r on r.call = w.call and r.severity = w.severity
group by w.call, w.severity;

create or replace table caller_id_default as
select null::bigint as case_id, 0 as severity, []::integer[] as rules, null::varchar as missing where false;

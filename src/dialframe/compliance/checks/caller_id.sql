-- Calls held against the rules on the number that the called person sees: 47 CFR 64.1601(e), 16 CFR 310.4(a)(8), and others.
-- Some name ranges that may be shown, or may not: Orden TDF/149/2025 art. 9, Arcep décision 2022-1583.
--
-- `from_number` is what the record shows. A record without one says nothing; an empty one, or a word such as
-- "anonymous", says that no number was shown. Whether a number is the firm's own the practice file says
-- (`caller_ids`); whether it can be called at all libphonenumber's numbering plans say.

with reached as (
  select a.question, k.rule, k.lifted, k.missing as reach_missing, k.doubtful or not k.everywhere as doubtful,
    c.from_number, c.to_number, n.own as is_own, n.form, n.mobile, r.shown, r.own, r.valid, r.not_called_party,
    r.not_mobile, starts_with(c.to_number, n.plan) as same_plan, r.prefixes,
    r.prefixes = [] or list_bool_or(list_transform(r.prefixes, lambda p: starts_with(c.from_number, '+' || p))) as in_range
  from asked a join calls c using (call) join reach k using (case_id) join caller_id_rules r using (rule)
  left join caller_numbers n on n.from_number = c.from_number where k.check_name = 'caller_id'
), answers as (
  select *, case when lifted then 'lifted' when from_number is null then 'not recorded'
    when form = 'withheld' then case when shown then 'withheld' else 'kept' end
    when not_called_party and from_number = to_number then 'called party'
    when valid and form = 'impossible' then 'impossible'
    when not_mobile and mobile and same_plan then 'mobile'
    when not in_range then case when same_plan then 'other range' else 'other plan' end
    when own and is_own = false then 'not own'
    when valid and form = 'unknown' then 'unknown'
    when own and is_own is null then 'own not said' else 'kept' end as answer
  from reached
)
select question, rule, answer,
  case when answer in ('lifted', 'kept') then 'pass' when answer in ('not recorded', 'own not said') or reach_missing <> '' then 'not evaluable'
    when answer in ('unknown', 'other plan') or doubtful then 'uncertain' else 'violation' end as grade,
  case when grade <> 'not evaluable' then null when answer = 'not recorded' then 'from_number'
    when answer = 'own not said' then 'a practice file with the caller_ids of the firm' else reach_missing end as missing
from answers;

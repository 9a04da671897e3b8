-- Which rules hold for the calls of each case, on their days.

create or replace table case_rules as
-- Empty without cases, rules, situation_rules.
-- `everywhere`: in force on the day of the call in every zone where the number may be.
-- `lifted`: a record of the firm takes the call out of the rule.
select c.case_id, s.rule, s.lifted, s.missing, s.doubtful, s.required, s.kind_asked,
  (r.effective_from is null or lo.starts_on >= r.effective_from)
    and (r.effective_to is null or hi.starts_on <= r.effective_to) as everywhere
from cases c join situation_rules s using (situation) join rules r using (rule)
join turns lo on lo.stretch = c.first_stretch join turns hi on hi.stretch = c.last_stretch
where (r.effective_from is null or hi.starts_on >= r.effective_from)
  and (r.effective_to is null or lo.starts_on <= r.effective_to);

create or replace table not_asked as
-- Empty without asked_by, case_rules, rules.
-- Jurisdictions whose rules on a check would reach the calls of a case, and were left out of the audit.
select k.case_id, a.check_name, list(distinct r.jurisdiction order by r.jurisdiction) as jurisdictions
from case_rules k join rules r using (rule) join asked_by a using (rule)
where not r.asked and not k.lifted group by all;

create or replace table weak_cases as
-- Empty without asked_by, case_rules, rules.
-- Rules that rest on no source that was read: a call that such a rule reaches passes nothing for certain.
select k.case_id, a.check_name, list(k.rule order by k.rule) as rules
from case_rules k join rules r using (rule) join asked_by a using (rule)
where r.asked and r.weak and not k.lifted group by all;

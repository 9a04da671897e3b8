-- Calls to numbers on a Do-Not-Call list, or after a request not to be called: 47 CFR 64.1200(c)(2), (d); 16 CFR 310.4(b)(1)(iii).
--
-- When a number was listed is known only within an interval: after the last record that said "not listed", by the
-- first that said "listed". A call inside the interval is uncertain. A call passes only on a check that names,
-- through what the firm declared, the lists that its rules speak of.

with facts as (
  select a.question, f.* from asked a join listing_facts f using (call)
), grades as (
  select *, case
      when (by_request and (request_rules <> [] or plain)) or (by_flag and (has_own or plain)) then 'violation'
      when by_check and not exempt and ((declared and not may_be_lifted) or plain) and not (newly_listed or denied) then 'violation'
      when scrub_rules <> [] and not in_grace then 'violation'
      when by_request or by_flag or asked_before or refused or scrub_rules <> [] then 'uncertain'
      when passed_by_record then 'pass'
      when (by_check or may_be_listed) and (has_list or has_own or plain) then 'uncertain'
      when (has_list or has_own) and clean then 'pass'
      when has_list and ((declared and clean_later) or screened) then 'uncertain' else 'not evaluable' end as grade,
    case when passed_by_record and grade = 'pass' then 'exempt'
      when scrub_rules <> [] and not (by_request or by_flag or by_check) then 'scrub'
      when by_request or by_flag or by_check then concat_ws(' + ',
        case when by_check then 'check' end, case when by_request then 'request' end, case when by_flag then 'lead status' end)
      when asked_before then 'request' when may_be_listed then coalesce(following_source, 'check') when refused then case when refused_source = 'own list' then 'own list' else 'unmapped disposition' end
      when (has_list or has_own) and clean then case when scrub_clean then 'scrub' else 'check' end when has_list and declared and clean_later then 'late check'
      when has_list and screened then 'screened at import' else 'nothing' end as basis
  from facts
)
select * exclude (grade), null as answer, grade,
  case when grade <> 'not evaluable' then null
    when not has_list and not has_own then 'a rule on Do-Not-Call lists for the place of the number'
    -- A declaration settles a call only where a check in time said that the number was not listed.
    when has_list and not declared and (clean_before or clean_soon) then 'a practice file that says which lists the service covers'
    else 'a recent Do-Not-Call check before the call, or soon after it,' end as missing,
  list_concat(case when basis = 'scrub' and scrub_rules <> [] then scrub_rules when basis not in ('request', 'lead status', 'request + lead status') then listing_rules else [] end,
    case when basis like '%request%' then coalesce(request_rules, []) when basis like '%lead status%' or basis in ('unmapped disposition', 'own list') then own_rules else [] end) as rules
from grades;

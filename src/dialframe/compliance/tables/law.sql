-- Which rules reach the calls of each case, on their days there.

create or replace table case_rules as
-- `everywhere`: in force on the day of the call in every zone where the number may be.
-- `lifted`: a record of the firm takes the call out of the rule.
select c.case_id, s.rule, s.lifted, s.missing, s.doubtful, s.required, s.kind_asked,
  (r.effective_from is null or lo.starts_on >= r.effective_from)
    and (r.effective_to is null or hi.starts_on <= r.effective_to) as everywhere
from cases c join circumstance_rules s using (circumstance) join rules r using (rule)
join periods lo on lo.period = c.first_period join periods hi on hi.period = c.last_period
where (r.effective_from is null or hi.starts_on >= r.effective_from)
  and (r.effective_to is null or lo.starts_on <= r.effective_to);

create or replace table reach as
-- The rules that are asked, by the check that asks them.
select k.*, a.check_name, r.rule_id, r.jurisdiction, r.weak, r.place as book_order
from case_rules k join rules r using (rule) join asked_by a using (rule) where r.asked;

create or replace table not_asked as
-- Jurisdictions whose rules on a check would reach the calls of a case, and were left out of the audit.
select k.case_id, a.check_name, list(distinct r.jurisdiction order by r.jurisdiction) as jurisdictions
from case_rules k join rules r using (rule) join asked_by a using (rule)
where not r.asked and not k.lifted group by all;

create or replace view wanted_deadlines as
-- Requests and revocations by local day, with every rule and zone that they may fall under: their last instants
-- go by calendars of business days, which Python looks up.
with made as (
  select phone, at_utc from requests union all select phone, revoked_at from consents where revoked_at is not null
), reached as (
  select distinct s.place, r.rule from circumstance_rules r join circumstances s using (circumstance)
)
select distinct k.rule, z.zone, (m.at_utc + o.utc_offset)::date as day
from made m join numbers n using (phone) join place_clocks z using (place)
join offsets o on o.zone = z.zone and m.at_utc >= o.since and m.at_utc < o.until
join reached k using (place) join rules r on r.rule = k.rule and r.asked
where r.kind = 'internal_dnc' or r.rule in (select rule from consent_rules where asks = 'call_after_revocation');

create or replace view not_asked_places as
-- Jurisdictions that were left out of the audit, with the calls that their rules would reach.
with each_place as (
  select c.call, n.check_name, unnest(n.jurisdictions) as jurisdiction from calls c join not_asked n using (case_id) where c.graded
)
select jurisdiction, count(distinct call) as calls, string_agg(distinct check_name, ', ' order by check_name) as checks
from each_place group by jurisdiction;

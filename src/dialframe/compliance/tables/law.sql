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

create or replace view wanted_deadlines as
-- Empty without numbers, offsets, place_clocks, requests, rules, situation_rules, situations or consents, numbers, offsets, place_clocks, rules, situation_rules, situations.
-- Requests and revocations by local day, with every rule and zone that they may fall under: their last instants
-- go by calendars of business days, which Python looks up.
with made as (
  select phone, at_utc from requests union all select phone, revoked_at from consents where revoked_at is not null
), reached as (
  select distinct s.place, r.rule from situation_rules r join situations s using (situation)
)
select distinct k.rule, z.zone, (m.at_utc + to_microseconds(o.offset_us))::date as day
from made m join numbers n using (phone) join place_clocks z using (place)
join offsets o on o.zone = z.zone and m.at_utc >= o.since and m.at_utc < o.until
join reached k using (place) join rules r on r.rule = k.rule and r.asked
where r.kind = 'internal_dnc' or r.rule in (select rule from consent_rules where asks = 'call_after_revocation');

create or replace view not_asked_places as
-- Empty without calls, not_asked.
-- Jurisdictions that were left out of the audit, with the calls that their rules would reach.
with each_place as (
  select c.call, n.check_name, unnest(n.jurisdictions) as jurisdiction from calls c join not_asked n using (case_id) where c.graded
)
select jurisdiction, count(distinct call) as calls, string_agg(distinct check_name, ', ' order by check_name) as checks
from each_place group by jurisdiction;

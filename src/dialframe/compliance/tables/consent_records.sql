-- What is on record of consents, revocations and looked-up numbers before each call, by the rules that ask for it.

create or replace view consent_duties as
-- The rules on consent that reach each call, with what they ask.
select c.call, c.phone, c.at_utc, c.campaign_id, c.place, k.rule, k.missing as reach_missing,
  k.doubtful or not k.everywhere as doubtful, k.required, k.kind_asked, g.missing as not_given, r.* exclude (rule)
from calls c join reach k using (case_id) join consent_rules r using (rule) join consent_given g using (rule)
where k.check_name = 'consent' and not k.lifted;

create or replace view consents_held as
select r.call, r.rule, n.record, n.granted_at, n.consent,
  case when n.revoked_at <= r.at_utc and coalesce(n.revoked_for = r.campaign_id, n.revoked_for is null) then 'revoked'
    when n.expires_at <= r.at_utc or (r.max_age_years is not null and n.granted_at + to_years(r.max_age_years) < r.at_utc
      and (r.max_age_from is null or r.at_utc >= r.max_age_from)) then 'run out'
    when n.revoked_at <= r.at_utc or n.withdrawn_at <= r.at_utc then 'revoked elsewhere' else 'on record' end as answer
from consent_duties r join consents n on n.phone = r.phone and n.strength >= r.required and n.granted_at <= r.at_utc where r.asks = 'consent_before_call';

create or replace view best_consent as
-- Of several consents the one that says most for the call; of equal ones the newest.
select call, rule, arg_max(n, (n.answer = 'on record', n.answer = 'revoked elsewhere', n.granted_at, n.consent)) as n
from consents_held n group by call, rule;

create or replace view revocations as
-- Made before the call, meant for it, and no consent since; late by the latest clock, so that it is late in every zone.
select r.call, r.rule, r.at_utc, n.consent, any_value(n.record) as record, max(d.ends_at) as ends_at
from consent_duties r join consents n on n.phone = r.phone and n.revoked_at <= r.at_utc
join place_clocks z using (place) join offsets o on o.zone = z.zone and n.revoked_at >= o.since and n.revoked_at < o.until
join deadlines d on d.rule = r.rule and d.zone = z.zone and d.day = (n.revoked_at + o.utc_offset)::date
where r.asks = 'call_after_revocation' and not (r.waived_until is not null and r.at_utc < r.waived_until
    and n.revoked_for is not null and n.revoked_for is distinct from r.campaign_id)
  and not exists (select 1 from consents m where m.phone = r.phone and m.granted_at > n.revoked_at and m.granted_at <= r.at_utc)
group by r.call, r.rule, r.at_utc, n.consent;

create or replace view revoked as
select call, rule, bool_or(at_utc > ends_at) as late, arg_min(record, (at_utc <= ends_at, consent)) as record
from revocations group by call, rule;

create or replace view newest_look_up as
select r.call, r.rule, arg_max(u, (u.checked_at, u.look_up)) filter (u.checked_at is not null and r.asks = 'reassigned_number') as u,
  max(u.ported_at) filter (u.ported_at <= r.at_utc) as ported_at
from consent_duties r join look_ups u on u.phone = r.phone and (u.checked_at <= r.at_utc or u.ported_at <= r.at_utc)
where (r.asks = 'reassigned_number' and u.checked_at <= r.at_utc) or r.asks = 'ported_number_grace' group by r.call, r.rule;

create or replace view newest_consent as
select r.call, r.rule, max(n.granted_at) as granted_at
from consent_duties r join consents n on n.phone = r.phone and n.granted_at <= r.at_utc where r.asks = 'reassigned_number' group by r.call, r.rule;

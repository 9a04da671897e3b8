-- What the law asks of numbers on a list, and everything that is on record around each call about lists and requests.

create or replace table listing_rules as
-- Rules on numbers on a list; where a jurisdiction has none of its own, the one on the age of its list.
with own as (
  select distinct c.case_id, r.jurisdiction from cases c join rules r on r.asked join registries g using (rule)
  join periods lo on lo.period = c.first_period join periods hi on hi.period = c.last_period
  where g.asks = 'listed_number_called' and (r.effective_from is null or hi.starts_on >= r.effective_from)
    and (r.effective_to is null or lo.starts_on <= r.effective_to)
)
select k.case_id, k.book_order, k.lifted, g.* from reach k join registries g using (rule)
where k.check_name = 'listed_number' and (g.asks = 'listed_number_called'
  or not exists (select 1 from own f where f.case_id = k.case_id and f.jurisdiction = k.jurisdiction));

create or replace table listing_law as
-- What the rules of a case ask together: the strictest age, and whether every list is covered by the service's check.
select case_id, list(rule order by book_order) filter (not lifted) as listing_rules,
  min(max_age - coalesce(refreshed, interval 0 day)) filter (not lifted) as max_age, min(listed_grace) filter (not lifted) as listed_grace,
  coalesce(bool_and(check_since is not null) filter (not lifted), false) as declared, max(check_since) filter (not lifted) as since,
  coalesce(bool_and(screen_since is not null) filter (not lifted), false) as screen_declared,
  bool_and(lifted) as exempt, list(rule order by book_order) filter (lifted) as lifted_rules,
  -- Lists that the check covers and whose rules a record lifts: "listed" may speak of them alone.
  not list_has_all(coalesce(list(registry) filter (not lifted), []), coalesce(list(registry) filter (lifted and check_since is not null), [])) as may_be_lifted
from listing_rules group by case_id;

create or replace view lists_held_against as
-- Whether the number was held against each list in time by name, or by a check that is declared to cover it.
select r.call, bool_and(coalesce(not z.listed and r.at_utc - z.scrub_at <= w.max_age, false)
    or coalesce(not r.listed and r.check_at >= w.check_since and r.at_utc - r.check_at + w.refreshed <= w.max_age, false)) as clean_on_each,
  bool_or(z.scrub_at is not null) as scrubbed, list(w.rule order by w.book_order) filter (z.listed) as scrub_rules,
  min(z.scrub_at) filter (z.listed) as scrub_listed_at, max(z.scrub_at) filter (not z.listed) as scrub_clean_at,
  bool_and(r.at_utc - coalesce(z.listed_on, z.scrub_at) < w.listed_grace) filter (z.listed) as in_grace
from records_around r join listing_rules w on w.case_id = r.case_id and not w.lifted
left join scrubs_around z on z.call = r.call and z.registry = lower(w.registry) group by r.call;

create or replace view listing_evidence as
-- Of a check at the very instant of the call, the one before it counts; an import after the call clears nothing.
select r.call, r.at_utc, r.check_at as at_check_at, r.listed as at_check_listed, r.screen_at, r.next_at, r.next_listed,
  case when f.call is not null and r.check_at = r.at_utc then f.before_at else r.check_at end as check_at,
  case when f.call is not null and r.check_at = r.at_utc then f.before_listed else r.listed end as check_listed,
  case when f.is_flagged then f.following_at when f.call is not null and r.check_at = r.at_utc then r.check_at else r.next_at end as following_at,
  case when f.is_flagged then f.following_listed when f.call is not null and r.check_at = r.at_utc then r.listed else r.next_listed end as following_listed,
  case when f.call is not null and r.check_at = r.at_utc then r.check_at else r.next_at end as next_check_at,
  case when f.call is not null and r.check_at = r.at_utc then r.listed else r.next_listed end as next_check_listed,
  f.* exclude (call, before_at, before_listed, following_at, following_listed),
  coalesce(w.listing_rules, []) as listing_rules, w.max_age, w.listed_grace, coalesce(w.max_age, s.default_age) as age_limit,
  coalesce(w.declared, false) as declared, w.since, coalesce(w.screen_declared, false) as screen_declared, coalesce(w.exempt, true) as no_list,
  coalesce(w.exempt, false) as exempt, w.lifted_rules, coalesce(w.may_be_lifted, false) as may_be_lifted,
  coalesce(b.clean_on_each and b.scrubbed, false) as scrub_clean, coalesce(b.scrub_rules, []) as scrub_rules, b.scrub_listed_at, b.scrub_clean_at,
  coalesce(b.in_grace, false) as in_grace, coalesce(o.rules, []) as own_rules, s.plain_age is not null as plain
from records_around r cross join settings s left join spoken_facts f using (call)
left join listing_law w using (case_id) left join lists_held_against b using (call)
left join (select case_id, list(rule order by book_order) as rules from reach join request_rules using (rule)
  where check_name = 'listed_number' and not lifted group by case_id) o using (case_id);

create or replace view listing_facts as
-- What these records say of a call: what speaks against it, what clears it, and what lifts the rules.
select *, coalesce(check_listed, false) as by_check, coalesce(at_utc > flag_at, false) as by_flag, coalesce(broken, false) as by_request,
  request is not null and not coalesce(broken, false) as asked_before, refused_at is not null as refused,
  coalesce(following_listed, false) and not coalesce(following_at > requested_at, false) as may_be_listed,
  -- A check in time that said not listed, before the call or soon after it. For the firm's own list no declaration is needed.
  coalesce(not at_check_listed and at_utc - at_check_at <= age_limit, false) as clean_before,
  coalesce(not next_check_listed and next_check_at - at_utc <= age_limit, false) as clean_soon,
  (clean_before and (no_list or coalesce(declared and at_check_at >= since, false)))
    or (clean_soon and (no_list or coalesce(declared and next_check_at >= since, false))) or scrub_clean as clean,
  coalesce(not next_check_listed, false) as clean_later,
  coalesce(at_utc - coalesce(listed_since, check_at) < listed_grace, false) as newly_listed,
  -- Too old for the rule, and denied soon after the call or at its very instant.
  coalesce(check_listed and not next_check_listed and next_check_at - at_utc <= max_age
    and (at_utc - check_at > max_age or next_check_at = at_utc), false) as denied,
  coalesce(screen_declared and at_utc - screen_at <= max_age, false) as screened,
  listing_rules <> [] as has_list, own_rules <> [] as has_own,
  -- A record lifts the rules on lists, never those on the firm's own: on that one there has to be an answer too.
  exempt and (not has_own or clean or (by_check and may_be_lifted)) as passed_by_record
from listing_evidence;

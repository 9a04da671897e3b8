-- Abandoned calls by campaign and period, against the limits of the rules.
--
-- FTC and FCC (16 CFR 310.4(b)(4), 47 CFR 64.1200(a)(7)): dropped / answered by a person, machines on
-- neither side, per campaign and 30 days, or the campaign's own days where they are fewer.
-- Ofcom (persistent misuse, 2006 to 2017, an indicator since): dropped calls, less the share that
-- machines took of the answers that agents heard, over those and the live calls, per 24 hours.

create or replace table abandonment_days as
-- Empty without abandonment_rules, calls, case_rules.
-- Calls of each rule, campaign and day (UTC); days of partitions add up. `untold`: answered, and nobody
-- says what came of it.
select k.rule, case when b.scope <> 'caller' then c.campaign_id end as campaign_id, c.at_utc::date as day,
  count(*) as calls, count(*) filter (outcome = 'dropped') as dropped, count(*) filter (outcome = 'live') as live,
  count(*) filter (outcome = 'machine') as machines, max(k.missing) as missing,
  count(*) filter (outcome is null and answered_at is not null and w.is_mapped is not true) as untold
from calls c left join words w on w.field = 'disposition' and w.word = c.disposition join case_rules k using (case_id) join abandonment_rules b using (rule)
where c.graded and c.is_outbound and c.at_utc is not null and not k.lifted group by all;

-- Which records of the firm lift rules for which calls.
--
-- A record names a call, a number or a campaign, and holds for a time. It has its code, and one more for
-- each window of a rule in which the call lies.

create or replace table lifted_codes as
with pairs as (
  select c.call, c.at_utc, c.to_number, c.campaign_id, e.* exclude (campaign_id), e.campaign_id as campaign
  from outbound c join exemptions e on e.call_id = c.call_id
  union all
  select c.call, c.at_utc, c.to_number, c.campaign_id, e.* exclude (campaign_id), e.campaign_id
  from outbound c join exemptions e on e.phone = c.to_number and e.call_id is null
  union all
  select c.call, c.at_utc, c.to_number, c.campaign_id, e.* exclude (campaign_id), e.campaign_id
  from outbound c join exemptions e on e.campaign_id = c.campaign_id and e.call_id is null and e.phone is null
), valid as (
  select * from pairs
  where (phone is null or phone = to_number) and (campaign is null or campaign = campaign_id)
    and (from_at is null or at_utc >= from_at) and (until_at is null or at_utc < until_at)
), coded as (
  select call, code from valid
  union all
  select v.call, w.windowed from valid v join lifting_windows w using (code)
  where v.at_utc <= v.from_at + to_days(w.days::integer)
)
select call, string_agg(distinct code, ', ' order by code) as codes from coded group by call;

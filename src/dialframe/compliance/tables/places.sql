-- Where every number on record may be, under which circumstances it was called, and on which days there.
--
-- *Circumstances* are what decides which rules reach a call beside its day: the place, the campaign (where the firm
-- says something of it alone), the line type, and the records that lift rules. A *case* is circumstances and a
-- *period* in which no rule begins or ends: which rules reach its calls is asked once for all of them.

create or replace table place_clocks as
-- Where nobody knows the zone a day is one of UTC.
select place, zone from place_zones
union all select place, 'UTC' from places where place not in (select place from place_zones);

create or replace table numbers as
-- Every number of leads, requests and consents.
with people as (
  select phone from leads where phone is not null union select phone from requests
  union select phone from consents where phone is not null
)
select r.phone, coalesce(o.place, k.place) as place, coalesce(l.line_type, '') as line_type
from people r left join place_keys k on k.key = place_key(r.phone)
left join named_places o on o.phone = r.phone left join line_types l on l.phone = r.phone;

create or replace table placed as
select c.call, coalesce(o.place, k.place) as place, coalesce(s.campaign_id, '') as campaign,
  coalesce(l.line_type, '') as line_type, coalesce(x.codes, '') as records
from outbound c left join place_keys k on k.key = place_key(c.phone)
left join named_places o on o.phone = c.phone left join line_types l on l.phone = c.phone
left join campaign_settings s on s.campaign_id = c.campaign_id left join lifted_codes x using (call);

create or replace table circumstances as
-- Those of each number by itself are without campaign and records.
select row_number() over (order by place, campaign, line_type, records) as circumstance, * from (
  select place, campaign, line_type, records from placed where place is not null
  union select place, '', line_type, '' from placed where place is not null
  union select place, '', line_type, '' from numbers where place is not null);

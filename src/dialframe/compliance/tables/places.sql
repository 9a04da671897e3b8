-- Where every number on record may be, and the situation of every call.
--
-- A situation is one number: the place, the setting of the campaign, the line type, and the set of records that
-- lift rules, each in its digits (`situation_of`, `setting_of`). `number_situation` is that of a call to the
-- number of which nothing else is known.

create or replace table place_clocks as
-- Empty without place_zones or places.
-- Where nobody knows the zone a day is one of UTC.
select place, zone from place_zones
union all select place, 'UTC' from places where place not in (select place from place_zones);

create or replace table numbers as
-- Empty without consents or leads or requests.
with people as (
  select phone from leads where phone is not null union select phone from requests
  union select phone from consents where phone is not null
)
select r.*, coalesce(o.place, k.place) as place, situation_of(coalesce(o.place, k.place), l.situation) as number_situation
from people r left join place_keys k on k.key = place_key(r.phone)
left join named_places o on o.phone = r.phone left join line_types l on l.phone = r.phone;

create or replace view placed as
-- Empty without outbound.
with located as (
  select r.*, coalesce(o.place, k.place) as place, situation_of(coalesce(o.place, k.place), l.situation) as number_situation
  from outbound r left join place_keys k on k.key = place_key(r.phone)
  left join named_places o on o.phone = r.phone left join line_types l on l.phone = r.phone
)
select c.*, coalesce(c.number_situation + setting_of(s.setting) + coalesce(x.lifted, 0), -1) as situation
from located c left join campaign_settings s using (campaign_id) left join lifted_calls x using (call);

-- What the firm keeps of its numbers: consents, look-ups and scrubs, with their numbers as integers.

create or replace macro digits(text) as try_cast(substr(text, 2) as bigint);

create or replace table consents as
-- With the first word of the person against calls in another record, given after this one.
with numbered as (select digits(number) as phone, * exclude (number) from consents_given)
select n.*, (select min(m.revoked_at) from numbered m
  where m.phone = n.phone and m.consent <> n.consent and m.revoked_at > n.granted_at) as withdrawn_at
from numbered n;

create or replace table look_ups as
select digits(number) as phone, * exclude (number) from look_ups_given;

create or replace table scrubs as
-- Numbers that were held against one list by name: what a scrubbing service answered, or what a registry's own file says.
-- Of several answers of one instant the one that says listed counts.
select digits(phone) as phone, lower(list) as registry, checked_at as at_utc, bool_or(listed) as listed, min(listed_on) as listed_on
from scrubs_given cross join settings s
where phone is not null and list is not null and listed is not null and checked_at <= s.as_of group by all;

-- What the firm keeps of its numbers: consents and look-ups, with their numbers as integers.

create or replace macro digits(text) as try_cast(substr(text, 2) as bigint);

create or replace table consents as
-- With the first word of the person against calls in another record, given after this one.
with numbered as (select digits(number) as phone, * exclude (number) from consents_given)
select n.*, (select min(m.revoked_at) from numbered m
  where m.phone = n.phone and m.consent <> n.consent and m.revoked_at > n.granted_at) as withdrawn_at
from numbered n;

create or replace table look_ups as
select digits(number) as phone, * exclude (number) from look_ups_given;

-- What is on record around each call: the newest check at or before it, the oldest one after it, the newest screen.

create or replace table records_around as
with answered as (
  select c.call, c.phone, c.at_utc, c.case_id, k.at_utc as check_at, k.listed
  from (select call, phone, at_utc, case_id from calls where graded and missing_input is null) c
  asof left join checks k on k.phone = c.phone and k.at_utc <= c.at_utc
), followed as (
  select c.*, k.at_utc as next_at, k.listed as next_listed
  from answered c asof left join checks k on k.phone = c.phone and k.at_utc > c.at_utc
)
select c.*, s.at_utc as screen_at from followed c asof left join screens s on s.phone = c.phone and s.at_utc <= c.at_utc;

create or replace table scrubs_around as
-- For each list that the number was held against, the newest time before the call.
select c.call, l.registry, k.at_utc as scrub_at, k.listed, k.listed_on
from (select call, phone, at_utc from calls where graded and missing_input is null) c
join (select distinct phone, registry from scrubs) l using (phone)
asof join scrubs k on k.phone = c.phone and k.registry = l.registry and k.at_utc < c.at_utc;

create or replace macro days_old(earlier, later) as
  -- Days of 24 hours, begun ones whole: limits of age are whole days, so that calls of one such age are graded alike.
  case when earlier <= later then least((epoch_us(later) - epoch_us(earlier) + 86399999999) // 86400000000, (select oldest_days from settings)) end;

create or replace macro cover_since(at_utc) as
  -- The newest day, of those on which the service began to cover a list, at or before an instant.
  list_max(list_filter((select cover_days from settings), lambda day: day <= at_utc));

create or replace table spoken as
-- Numbers that anything on record speaks against.
select phone from checks where listed union select phone from requests union select phone from refusals
union select phone from leads where status = 'dnc' and phone is not null union select phone from scrubs where listed;

create or replace view scrub_ages as
select call, list(struct_pack(registry, days := days_old(z.scrub_at, c.at_utc), same_quarter := date_trunc('quarter', z.scrub_at) = date_trunc('quarter', c.at_utc))
  order by registry) as scrubs
from scrubs_around z join calls c using (call) group by call;

create or replace view alike_by_records as
-- How old the records around a call are, and which cover they came under.
select r.call, r.case_id, r.phone in (select phone from spoken) as is_spoken,
  days_old(check_at, r.at_utc) as check_days, cover_since(check_at) as check_cover, check_at = r.at_utc as check_at_call, listed,
  days_old(r.at_utc, next_at) as next_days, cover_since(next_at) as next_cover, next_listed,
  days_old(screen_at, r.at_utc) as screen_days, cover_since(screen_at) as screen_cover,
  coalesce(screen_at > check_at, screen_at is not null) as screen_is_newer,
  s.by_quarter and date_trunc('quarter', r.at_utc) = date_trunc('quarter', check_at) as check_in_quarter,
  s.by_quarter and date_trunc('quarter', r.at_utc) = date_trunc('quarter', screen_at) as screen_in_quarter, a.scrubs
from records_around r cross join settings s left join scrub_ages a using (call);

create or replace view check_refs as
-- The request id of each answer; few are ever shown.
select k.phone, k.at_utc, c.request_id as ref from checks k join checks_in c using (check_no);

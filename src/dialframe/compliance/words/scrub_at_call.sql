-- How old the record was, by which list, and what is not known of it.
with records as (
  select t.call, t.by_query, t.query_rules, t.records as lifted, coalesce(t.said.answer, case when t.by_query <= 'not asked'::grade then 'exempt' when r.check_at is not null then 'no rule'
      when r.next_at is not null then 'only after' else 'never' end) as state,
    r.*exclude (call, phone, case_id), k.ref as check_ref, s.ref as screen_ref,
    t.said.scrub_at as scrub_at, state in ('scrubbed in time', 'scrub too old') as is_scrub,
    state in ('screened at import', 'screened at import, list not declared') or (r.check_at is null and r.screen_at is not null)
      or (state = 'stale' and coalesce(r.screen_at > r.check_at, false)) as is_screen,
    date_diff('day', timestamp '2000-01-01', timestamp '2000-01-01' + t.said.max_age) as "limit", date_diff('day', timestamp '2000-01-01', timestamp '2000-01-01' + t.said.refreshed) as copy
  from shown_rows t left join records_around r using (call)
  left join check_refs k on k.phone = r.phone and k.at_utc = r.check_at left join screens s on s.phone = r.phone and s.at_utc = r.screen_at
), aged as (
  select *, case when is_scrub then scrub_at when is_screen then screen_at else check_at end as checked_at,
    case when is_scrub then 'scrub' when is_screen then 'import screen' else 'check' end as kind,
    case when is_scrub then null when is_screen then screen_ref else check_ref end as ref, (epoch_us(at_utc) - epoch_us(checked_at)) / 86400000000 as age_days,
    kind || ' ' || format('{:.2f}', age_days) || ' days before the call' as old,
    '; list: ' || lists_of(query_rules) as lists
  from records
)
select call, checked_at, case when checked_at is not null then kind end as source, ref, case when is_scrub then null when is_screen then false when check_at is not null then listed end as listed,
  age_days, next_at, next_listed, state, case when state = 'screened at import' then state end as detail,
  case when is_scrub then 'scrubbed at ' || stamp(checked_at) else kind || ' ' || coalesce(ref, '(no id)') || ' said ' || case when is_screen or not listed then 'not listed' else 'listed' end || ' at ' || stamp(checked_at) end as evidence,
  case
    when state in ('checked in time', 'scrubbed in time') then old || ', within ' || "limit" || ' days'
    when state = 'list may be older' then old || '; the service''s copy of the list may be ' || copy || ' days older, more than ' || "limit" || ' days in all'
    when state = 'screened at import' then 'screened at import ' || format('{:.2f}', age_days) || ' days before the call, not checked; within ' || "limit" || ' days'
    -- 16 CFR 310.4(b)(3)(iv) counts days; some states count calendar quarters, so that a young check may be stale.
    when state = 'stale' and age_days <= "limit" then old || ', in another calendar quarter'
    when state = 'scrub too old' and age_days <= "limit" then old || ', in another calendar quarter'
    when state in ('stale', 'scrub too old') then old || ', more than ' || "limit" || ' days'
    when state = 'list not declared' then old || ': the service did not list it; which lists its check covers nobody declared'
    when state = 'before the list was covered' then old || ', before the day on which the service''s check began to cover the list'
    when state = 'screened at import, list not declared' then 'screened at import ' || format('{:.2f}', age_days) || ' days before the call; which lists the screen covers nobody declared'
    when state = 'no rule' then 'the rules asked have none on Do-Not-Call lists where the number may be'
    when state = 'exempt' then 'exempt by record: ' || lifted
    when state = 'only after' then 'the first check on record came after the call'
    else 'no check of the number is on record' end || coalesce(lists, '') as reason, lists as lists_named
from aged

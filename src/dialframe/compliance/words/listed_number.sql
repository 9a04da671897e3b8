-- The records that decide each call, and what they say together.
with facts as (
  select t.call, t.to_number, t.created_at as at_utc, t.by_query, t.missing, t.records, c.phone, q.request as asked, q.code as asked_code, q.ref as asked_ref, q.source as asked_source, q.at_utc as asked_since,
    n.request as first_asked, n.code as first_code, n.ref as first_ref, n.source as first_source, n.at_utc as first_at, unnest(said),
    k.ref as check_ref, x.ref as next_ref, m.ref as screen_ref,
    '; list: ' || lists_of(said.listing_rules) as lists_
  from shown_rows t join calls c using (call) left join requests q on q.request = t.said.request left join requests n on n.request = t.said.first_request
  left join check_refs k on k.phone = c.phone and k.at_utc = t.said.check_at left join check_refs x on x.phone = c.phone and x.at_utc = t.said.next_check_at
  left join screens m on m.phone = c.phone and m.at_utc = t.said.screen_at
), ends as (
  -- Between the last record that said "not listed" and the first that said "listed" nobody knows the day.
  select *, coalesce(lists_, '') as lists, coalesce(case when check_listed then check_at end, case when flag_at < at_utc then flag_at end, case when following_at is not null then at_utc end) as listed_end from facts
), clean as (
  select phone, at_utc, arg_min(ref, source) as ref, min(source) as source from (
    select k.phone, k.at_utc, r.ref, 'check' as source from checks k join check_refs r using (phone, at_utc) where not k.listed
    union all select phone, at_utc, ref, 'import screen' from screens) group by phone, at_utc
), told as (
  select f.*, k.at_utc as clean_at, record_words(k.source, k.ref, k.at_utc, false) as clean_words,
    (f.by_check or f.by_request or f.by_flag) and f.by_query >= 'uncertain'::grade and not (f.basis = 'request' and f.asked_before) as has_grounds,
    request_words(asked_source, asked_code, asked_ref, asked_since) as asked_words, request_words(first_source, first_code, first_ref, first_at) as first_words,
    coalesce(case when f.is_flagged then f.following_ref else x.ref end, '') as after_ref, coalesce(f.following_source, 'check') as after_source
  from ends f asof left join clean k on k.phone = f.phone and k.at_utc < f.listed_end left join check_refs x on x.phone = f.phone and x.at_utc = f.following_at
), grounds as (
  select *, 'the newest check before the call, of ' || stamp(check_at) || ', said listed' as check_ground,
    format('{:.1f}', (epoch_us(at_utc) - epoch_us(asked_since)) / 86400000000) || ' days (' || weekdays(asked_since::date, at_utc::date) || ' weekdays) after a request not to be called'
      || coalesce(', ' || (select string_agg(r.rule_id || ' allows ' || (r.parameters->>'allowed'), '; ' order by r.place) from rules r where list_contains(request_rules, r.rule)), '') as request_ground,
    'the lead was marked dnc by ' || stamp(flag_at) as flag_ground
  from told
), sentences as (
  select *, case
    when missing in ('to_number', 'created_at', 'direction') then null
    when has_grounds then concat_ws('; ', case when by_check then check_ground end, case when by_request then request_ground end, case when by_flag then flag_ground end)
      || case when not (by_check and by_query = 'uncertain' and not (by_request or by_flag)) then ''
        when not declared then '; which lists the service''s check covers nobody declared' when may_be_lifted then '; it may speak of a list whose rule a record lifts'
        when denied then ', and that of ' || stamp(next_check_at) || ' not listed: when it came off the list nobody knows'
        else ', but listed for less than ' || date_diff('day', timestamp '2000-01-01', timestamp '2000-01-01' + listed_grace) || ' days as far as is known' end
      || case when (by_request or by_flag) and by_query = 'uncertain' then '; no rule of those asked speaks of requests there' else '' end
      || case when by_check then lists else '' end
    when asked_before and by_query = 'uncertain' then case when during then 'during the call that the request was made on, which ended at ' || stamp(asked_since)
      when over_ then 'the time for which the request binds is over' else 'inside the grace' end
    when basis = 'scrub' and scrub_listed_at is not null then 'the scrub of ' || stamp(scrub_listed_at) || ' said listed'
      || case when in_grace then ', but for fewer days than the rule allows' else '' end || lists
    when basis = 'scrub' then 'the scrub of ' || stamp(scrub_clean_at) || ', before the call, said not listed' || lists
    when basis = 'exempt' then 'exempt by record: ' || records || ' lifts ' || array_to_string(lifted_rules, '; ')
    when may_be_listed and by_query = 'uncertain' then 'the number became listed ' || coalesce('after ' || stamp(clean_at), 'at an unknown time') || ' and by ' || stamp(following_at) || '; the call is between' || lists
    when basis = 'own list' then 'it stood on the firm''s own list since ' || stamp(refused_at) || ' (' || refused_code || ')'
    when basis = 'unmapped disposition' and year(refused_at) = 1 then '''' || refused_code || ''' on record ' || coalesce(refused_ref, '(no id)') || ' speaks against it, and when it was said nobody wrote down'
    when basis = 'unmapped disposition' then 'the disposition ''' || refused_code || ''' of call ' || coalesce(refused_ref, '(no id)') || ' reads like a refusal and nobody mapped it; say what it means in a file of codes'
    when basis = 'late check' then 'the next check, of ' || stamp(next_check_at) || ', said not listed, later than the rule''s limit of age' || lists
    when basis = 'screened at import' then 'screened at import at ' || stamp(screen_at) || ' and not checked since' || lists
    when by_query = 'not evaluable' and missing like 'a practice file%' then 'the service did not list it; which lists its answers cover nobody declared' || lists
    when by_query = 'not evaluable' then 'no record shows that the number was not listed when it was called'
    when following_at is not null and not following_listed then 'a record of ' || stamp(following_at) || ', after the call, said not listed'
    when first_asked is not null then 'the request not to be called came on this call or later, and explains the rest'
    when at_check_at is not null then 'the newest check before the call, of ' || stamp(at_check_at) || ', said not listed'
    else 'nothing on record bears on the time of this call' end as reason,
  case when has_grounds then concat_ws('; ', case when by_check then record_words('check', check_ref, check_at, true) end, case when by_request then asked_words end,
      case when by_flag then record_words('lead status', flag_ref, flag_at, true) end, case when by_check or by_flag then clean_words end)
    when asked_before and by_query = 'uncertain' then asked_words when basis = 'exempt' then null
    when basis = 'scrub' then 'scrub at ' || stamp(coalesce(scrub_listed_at, scrub_clean_at))
    when may_be_listed and by_query = 'uncertain' then concat_ws('; ', record_words(after_source, after_ref, following_at, true), clean_words)
    when basis = 'own list' then refused_code || ' of ' || refused_ref || ' at ' || stamp(refused_at)
    when basis = 'unmapped disposition' and year(refused_at) = 1 then refused_code || ' on record ' || coalesce(refused_ref, '(no id)')
    when basis = 'unmapped disposition' then 'disposition ' || refused_code || ' on call ' || coalesce(refused_ref, '(no id)') || ' at ' || stamp(refused_at)
    when basis = 'screened at import' then record_words('import screen', screen_ref, screen_at, false)
    when basis = 'late check' or by_query = 'not evaluable' then null
    when following_at is not null and not following_listed then record_words(after_source, after_ref, following_at, false)
    when first_asked is not null then first_words
    when at_check_at is not null then record_words('check', check_ref, at_check_at, false) end as evidence,
  case when has_grounds then case when by_check or by_flag then clean_at end when may_be_listed and by_query = 'uncertain' and not asked_before then clean_at end as listed_after,
  case when has_grounds then least(case when by_check then check_at end, case when by_request then asked_since end, case when by_flag then flag_at end)
    when asked_before and by_query = 'uncertain' then asked_since when may_be_listed and by_query = 'uncertain' then following_at
    when basis in ('unmapped disposition', 'own list') and year(refused_at) > 1 then refused_at
    when by_query <= 'not asked'::grade and first_asked is not null and basis <> 'exempt' then first_at end as listed_by
  from grounds
)
select call, reason, evidence, case by_query when 'violation' then 'proven' when 'uncertain' then 'indeterminate' end as detail,
  listed_after, listed_by, requested_at, basis, following_at, following_listed, at_check_at, by_check, asked_since
from sentences

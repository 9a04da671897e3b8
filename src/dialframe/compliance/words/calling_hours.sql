-- Why each call is graded so, in the hours of the rule that decides, and the callback that may explain it.
with hours_named as (
  -- A kept call names the narrowest hours that it kept: those would have been broken first.
  select t.rules, t.weekday, t.kept, case when t.kept then coalesce(arg_min(h.words, (h.minutes, h.words)), any_value(f.words)) else any_value(f.words) end as hours
  from (select distinct query_rules as rules, said.weekday as weekday, by_query <= 'not asked'::grade as kept from shown_rows where query_rules <> []) t
  left join hours_words f on f.rule = t.rules[1] and f.weekday = t.weekday
  left join hours_words h on list_contains(t.rules, h.rule) and h.weekday = t.weekday and h.minutes is not null and t.kept
  group by t.rules, t.weekday, t.kept
), sentences as (
  select t.call, t.place_reason, t.records, t.by_query, o.holidays, t.query_rules, t.said.zones_inside as zones_inside, t.said.zones_outside as zones_outside,
    h.hours, exists (select 1 from rules x where x.relies_on_area_code and list_contains(t.query_rules, x.rule)) as relies_on_area_code, t.said.doubtful as doubtful, r.doubt, r.jurisdiction, r.regional, t.regions, t.missing_input, t.zones,
    case when len(zones_inside) > 0 and len(zones_outside) > 0
        then 'inside ' || hours || ' in ' || array_to_string(zones_inside, ', ') || ', outside in ' || array_to_string(zones_outside, ', ')
      else case when by_query > 'not asked'::grade and coalesce(len(zones_inside), 0) = 0 then 'outside ' else 'inside ' end || hours || ' in '
        || case when coalesce(len(zones_inside), 0) + coalesce(len(zones_outside), 0) = 1 then coalesce(zones_inside[1], zones_outside[1]) else 'every candidate zone' end
      end as where_,
    case when not doubtful then null else concat_ws('; ',
      case when r.regional and exists (select 1 from unnest(holidays) n(name) where name like '%; %') then 'it is not settled whether calls are banned on that day'
        when r.regional then 'a holiday in a part of ' || r.jurisdiction || ' alone' end,
      coalesce(r.doubt, case when not r.regional and coalesce(len(zones_inside), 0) = 0 then 'only the area code speaks for that state' end)) end as doubt_words
  from shown_rows t left join hours_named h on h.rules = t.query_rules and h.weekday = t.said.weekday and h.kept = (t.by_query <= 'not asked'::grade)
  left join rules r on r.rule = t.query_rules[1]
  left join (select b.question, b.grade, list_distinct(flatten(list(b.holidays))) as holidays from calling_hours_by_rule b group by all) o
    on o.question = t.question and o.grade = t.by_query::varchar
), due as (
  -- The customer may have asked for the call: the callback is named, and the grade stays.
  select c.call, '; exempt candidate: callback ' || d.callback || ' was due at ' || stamp(d.scheduled_at) as words
  from (select call, campaign_id, phone, at_utc from calls where missing_input is null and call in (select call from shown_rows where grade >= 'uncertain'::grade)) c
  asof join due_callbacks d on d.campaign_id = c.campaign_id and d.phone = c.phone and c.at_utc >= d.opens_at
  where c.at_utc <= d.scheduled_at + interval 60 minute
)
select t.call, t.zone_source as evidence, null as detail,
  case when s.query_rules = [] then
      case when s.zones is null then coalesce(nullif(s.place_reason, ''), 'the number has no time zone')
        when s.by_query <= 'not asked'::grade then 'exempt by record: ' || s.records
        else 'the rules asked have none on calling hours for ' || coalesce(nullif(array_to_string(s.regions, ' and '), ''), 'an unknown country') || ' that was in force on that day' end
    else concat_ws('; ',
      s.where_ || case when s.by_query = 'not evaluable' then ', if the rule reaches the call' else '' end,
      case when s.by_query <> 'not evaluable' and s.relies_on_area_code then 'a caller may rely on the area code of a mobile number' end,
      case when s.by_query = 'uncertain' then nullif(s.doubt_words, '') end,
      case when s.by_query > 'not asked'::grade then nullif(array_to_string(s.holidays, ', '), '') end,
      nullif(s.place_reason, ''),
      case when s.records <> '' then 'a record shows ' || s.records || ': rules that name it were left out, no others' end) end
    || coalesce(d.words, '') as reason
from shown_rows t join sentences s using (call) left join due d using (call)

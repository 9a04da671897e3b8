-- Functions of the sentences.

create or replace macro stamp(at_utc) as strftime(at_utc, '%Y-%m-%dT%H:%M:%SZ');
create or replace macro weekdays_until(day) as
  -- The first of January of the year 1 was a Monday.
  ((day - date '0001-01-01' + 1) // 7) * 5 + least((day - date '0001-01-01' + 1) % 7, 5);
create or replace macro weekdays(first_day, last_day) as
  -- Mondays to Fridays after a day, up to another; the first is not counted, as in the grace of a rule.
  weekdays_until(last_day) - weekdays_until(first_day);
create or replace macro lists_of(rules_) as
  -- The lists that some rules ask about, in words.
  (select string_agg(name, '; ' order by place) from (
    select replace((r.parameters->>'registry') || coalesce(', of each ' || (r.parameters->>'period'), ''), '_', ' ') as name, min(r.place) as place
    from rules r where list_contains(rules_, r.rule) and r.parameters->>'registry' is not null group by 1));
create or replace macro record_words(source, ref, at_utc, listed) as
  case when source = 'lead status' then 'lead ' || coalesce(ref, '(no id)') || ' has status dnc and was last changed at ' || stamp(at_utc)
    else source || ' ' || coalesce(nullif(ref, ''), '(no id)') || case when listed then ' said listed at ' else ' said not listed at ' end || stamp(at_utc) end;
create or replace macro request_words(source, code, ref, at_utc) as
  case when source in ('call', 'event') then 'disposition ' || code || ' on ' || source || ' ' || coalesce(ref, '(no id)') || ' that ended at ' || stamp(at_utc)
    else source || ' ' || coalesce(ref, '(no id)') || ' (' || code || ') at ' || stamp(at_utc) end;

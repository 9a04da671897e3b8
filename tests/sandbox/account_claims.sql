-- What must be so of synthetic accounts. Above the first claim stands what all of them ask: the tables of an
-- account are there, `places` and `zones` with the area codes, `blocks` with the listed numbers, and `ending()`.
--
-- A claim begins with what is expected, in which accounts, and says itself: `none` finds no row, `some` finds one,
-- `same` has two queries that find the same rows and at least one, and `1 to 2` finds one value that lies between.
-- Zones come from the phone-number package, local times from DuckDB, neither from the generator's own tables.

CREATE MACRO local(us, zone) AS timezone(zone, timezone('UTC', make_timestamp(us)));
CREATE MACRO days(count) AS count * 86400000000;
CREATE MACRO final(code) AS code IN ('ADC', 'WN', 'NI', 'NQ', 'XFER', 'APPT', 'SALE', 'DNC', 'LB');
CREATE MACRO coded(code, codes) AS list_contains(codes, coalesce(code, ''));
CREATE MACRO share(code, codes) AS avg(coded(code, codes)::INT);

-- What is on the answer sheet.
CREATE MACRO sheet(name, kind := 'call', verdict := NULL) AS TABLE
    SELECT id FROM ground_truth
    WHERE fault = name AND resource = kind AND expected = coalesce(verdict, expected);
CREATE VIEW listed_later AS FROM sheet('listed_after_import', kind := 'phone', verdict := 'indeterminate');
CREATE VIEW requested AS FROM sheet('dnc_request', kind := 'phone', verdict := 'clear');
CREATE VIEW unhonored AS FROM sheet('dnc_request_not_listed', kind := 'lead');
CREATE VIEW indeterminate AS FROM sheet('call_to_number_listed_after_import', verdict := 'indeterminate');
CREATE VIEW after_dnc AS FROM sheet('call_after_dnc_disposition', verdict := 'proven');
CREATE VIEW missing AS FROM sheet('missing_disposition', verdict := 'missing');
CREATE VIEW late AS FROM sheet('out_of_hours_dst_week');
CREATE VIEW scripted AS
    SELECT id FROM ground_truth WHERE fault IN ('out_of_hours_dst_week', 'before_hours', 'mixed_zone_hours');
CREATE MACRO is_total(campaign) AS
    campaign IS NOT DISTINCT FROM (FROM sheet('duration_is_total', kind := 'campaign'));
CREATE MACRO is_hidden(campaign) AS
    campaign IS NOT DISTINCT FROM (FROM sheet('voicemail_as_completed', kind := 'campaign'));
CREATE VIEW flagged AS
    SELECT id AS number, epoch_us(regexp_extract(detail, 'in use from (\S+),', 1)::TIMESTAMPTZ) AS used_at,
        epoch_us(regexp_extract(detail, 'shown as spam from (\S+):', 1)::TIMESTAMPTZ) AS shown_at
    FROM ground_truth WHERE fault = 'flagged_caller_id';

-- Calls, with what they stand in; `place` is a row's place in its table.
CREATE VIEW outbound AS
    SELECT *, substr(to_number, 3, 3) AS code, answered_at IS NOT NULL AND NOT coded(disposition, ['A', 'AA', 'PU']) AS human
    FROM calls WHERE direction = 'outbound';
CREATE VIEW dialed AS
    SELECT *, row_number() OVER (PARTITION BY lead_id ORDER BY place) AS attempt,
        count(*) OVER (PARTITION BY lead_id) AS attempts
    FROM outbound WHERE lead_id IS NOT NULL;
CREATE VIEW clocks AS
    SELECT outbound.*, zone, local(created_at, zone) AS clock FROM outbound JOIN zones USING (code);
CREATE VIEW fourth AS
    SELECT id, to_number FROM outbound
    QUALIFY created_at - lag(created_at, 3) OVER (PARTITION BY to_number ORDER BY created_at) <= days(1);
-- With the end of the last Do-Not-Call disposition of the number before the call.
CREATE VIEW asked AS
    SELECT *, max(CASE disposition WHEN 'DNC' THEN ended_at END) OVER (
        PARTITION BY to_number ORDER BY created_at ROWS BETWEEN UNBOUNDED PRECEDING AND 1 PRECEDING) AS asked_at
    FROM outbound;
CREATE TABLE dials AS
    SELECT outbound.*, local(outbound.created_at, zone) AS clock, hour(clock) AS hour, isodow(clock) AS weekday,
        row_number() OVER number AS attempt, custom_fields ->> 'lead_source' AS source,
        (ended_at - answered_at) / 1e6 AS talk_s, (answered_at - outbound.created_at) / 1e6 AS ring_s,
        (outbound.created_at - leads.created_at) / 3.6e9 AS waited_h,
        lag(disposition) OVER number AS before,
        (outbound.created_at - lag(ended_at) OVER number) / 3.6e9 AS gap_h,
        coded(disposition, ['NI', 'CALLBK', 'NP', 'NQ', 'XFER', 'DNC', 'LB', 'APPT', 'SALE']) AS right_party,
        coded(disposition, ['APPT', 'SALE']) AS won,
        substr(from_number, 1, 5) = substr(to_number, 1, 5) AS from_here,
        least(12, (outbound.created_at - min(outbound.created_at) OVER ()) // days(14)) AS fortnight,
        to_number IN (SELECT id FROM ground_truth WHERE fault = 'too_often') AS planted
    FROM outbound JOIN places USING (code) LEFT JOIN leads ON leads.id = lead_id
    WINDOW number AS (PARTITION BY to_number ORDER BY outbound.created_at);
CREATE VIEW ids AS
    SELECT 'cmp_' AS prefix, id FROM campaigns UNION ALL SELECT 'lead_', id FROM leads
    UNION ALL SELECT 'call_', id FROM calls UNION ALL SELECT 'cb_', id FROM callbacks
    UNION ALL SELECT 'appt_', id FROM appointments UNION ALL SELECT 'evt_', id FROM events;
-- Past appointments.
CREATE VIEW kept AS
    SELECT * FROM appointments WHERE scheduled_at + duration_minutes * 60000000 < ending();

-- none in every: ids are lower-case random UUIDs behind the contract's prefix, each once
SELECT id FROM ids WHERE NOT regexp_full_match(id,
    prefix || '[0-9a-f]{8}-[0-9a-f]{4}-4[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}')
UNION ALL SELECT id FROM ids GROUP BY id HAVING count(*) > 1;

-- none in every: nothing happens after the end, but what is promised
SELECT instant FROM (
    SELECT unnest([created_at, updated_at, started_at, completed_at]) AS instant FROM campaigns
    UNION ALL SELECT unnest([created_at, updated_at, last_attempt_at]) FROM leads
    UNION ALL SELECT unnest([created_at, answered_at, ended_at]) FROM calls
    UNION ALL SELECT created_at FROM callbacks UNION ALL SELECT unnest([created_at, updated_at]) FROM appointments
    UNION ALL SELECT listed_at FROM dnc UNION ALL SELECT created_at FROM events
) WHERE instant NOT BETWEEN 1 AND ending() - 1;

-- none in every: started means dialed, completed alone has a completion
SELECT id FROM campaigns WHERE (started_at IS NULL) <> (status IN ('draft', 'ready'))
    OR (completed_at IS NOT NULL) <> (status = 'completed');

-- none in every: calls stay inside their campaign's time
SELECT calls.id FROM calls JOIN campaigns ON campaigns.id = campaign_id
WHERE direction = 'outbound' AND (started_at IS NULL OR calls.created_at < started_at
    OR started_at <= campaigns.created_at
    OR ended_at >= CASE campaigns.status WHEN 'running' THEN ending() ELSE updated_at END);

-- none in every: created, answered, ended; answered means completed
SELECT id FROM calls WHERE created_at > coalesce(answered_at, created_at)
    OR coalesce(answered_at, created_at) > ended_at OR (answered_at IS NOT NULL) <> (status = 'completed');

-- none in every: leads, caller IDs and what is listed by hand or for good never share a number
SELECT number FROM caller_ids WHERE number IN (SELECT phone FROM leads UNION SELECT phone FROM dnc)
UNION ALL SELECT phone FROM leads WHERE phone IN
    (SELECT phone FROM blocks UNION SELECT phone FROM dnc WHERE source = 'console')
UNION ALL (SELECT phone FROM blocks EXCEPT SELECT phone FROM dnc);

-- none in every: outbound goes from a caller ID to the lead's number, inbound the other way round
WITH sides AS (SELECT *, CASE direction WHEN 'inbound' THEN to_number ELSE from_number END AS ours,
    CASE direction WHEN 'inbound' THEN from_number ELSE to_number END AS theirs FROM calls)
SELECT sides.id FROM sides LEFT JOIN leads ON leads.id = lead_id
WHERE ours NOT IN (SELECT number FROM caller_ids)
    OR theirs NOT IN (SELECT phone FROM leads)
    OR agent_extension NOT IN (SELECT extension FROM agents)
    OR CASE WHEN lead_id IS NULL THEN sides.campaign_id IS NOT NULL OR direction = 'inbound'
       ELSE phone <> theirs OR leads.campaign_id IS DISTINCT FROM sides.campaign_id END;

-- none in every: no campaign has one number twice
SELECT phone FROM leads GROUP BY campaign_id, phone HAVING count(*) > 1;

-- none in every: a lead is created after its campaign and before its first call
SELECT leads.id FROM leads JOIN campaigns ON campaigns.id = campaign_id
    WHERE leads.created_at <= campaigns.created_at OR leads.created_at > leads.updated_at
UNION ALL SELECT leads.id FROM leads JOIN calls ON leads.id = lead_id
    WHERE leads.created_at >= calls.created_at;

-- none in every: attempts, disposition, cause and times of a lead are those of its outbound calls
SELECT leads.id FROM leads LEFT JOIN dialed ON lead_id = leads.id AND attempt = dialed.attempts
WHERE leads.attempts <> coalesce(dialed.attempts, 0)
    OR last_attempt_at IS DISTINCT FROM dialed.created_at
    OR disposition_code IS DISTINCT FROM disposition
    OR leads.hangup_cause IS DISTINCT FROM dialed.hangup_cause
    OR updated_at <> coalesce(ended_at, leads.created_at);

-- none in every: new without a call, dnc for good after a request, completed after a final outcome
SELECT leads.id FROM leads LEFT JOIN dialed ON lead_id = leads.id AND attempt = dialed.attempts
WHERE leads.status <> CASE
    WHEN lead_id IS NULL THEN 'new'
    WHEN leads.id IN (FROM unhonored) THEN 'contacted'
    WHEN leads.id IN (SELECT lead_id FROM dialed WHERE disposition = 'DNC') THEN 'dnc'
    WHEN final(disposition) OR dialed.attempts >= 8 THEN 'completed'
    WHEN leads.id IN (SELECT lead_id FROM callbacks WHERE status = 'pending') THEN 'callback'
    ELSE 'contacted' END;

-- none in every: nobody is dialed again after a final outcome, but for the planted calls
SELECT id FROM (SELECT *, lead(id) OVER (PARTITION BY lead_id ORDER BY place) AS following FROM dialed
    WHERE id NOT IN (SELECT id FROM ground_truth WHERE fault LIKE 'call_after%' OR fault = 'late_disposition'))
WHERE final(disposition) AND following IS NOT NULL;

-- none in every: a next attempt is due where dialing goes on: callbacks, running and paused campaigns
SELECT leads.id FROM leads JOIN campaigns ON campaigns.id = campaign_id
LEFT JOIN (SELECT lead_id, arg_max(scheduled_at, place) AS due FROM callbacks
    WHERE status = 'pending' GROUP BY lead_id) ON lead_id = leads.id
WHERE CASE WHEN leads.status = 'callback' THEN next_attempt_at IS DISTINCT FROM due
    ELSE next_attempt_at IS NOT NULL AND (leads.status <> 'contacted'
        OR campaigns.status NOT IN ('running', 'paused')
        OR next_attempt_at <= last_attempt_at
        OR (next_attempt_at < ending() AND campaigns.status <> 'paused')) END;

-- none in every: custom fields hold a source of the account
SELECT id FROM leads WHERE custom_fields ->> 'lead_source' NOT IN (SELECT code FROM lead_sources);

-- none in every: people are made up
SELECT email FROM leads WHERE NOT regexp_matches(email, '@example\.(com|org)$')
UNION ALL SELECT email FROM agents WHERE email NOT LIKE '%@example.com'
UNION ALL SELECT external_id FROM leads WHERE external_id IS NOT NULL GROUP BY external_id HAVING count(*) > 1;

-- none in every: every call that ends with CALLBK makes one callback, and nothing else does
SELECT * FROM (SELECT lead_id, created_at FROM callbacks EXCEPT ALL
    SELECT lead_id, ended_at FROM calls WHERE disposition = 'CALLBK')
UNION ALL SELECT * FROM (SELECT lead_id, ended_at FROM calls WHERE disposition = 'CALLBK'
    EXCEPT ALL SELECT lead_id, created_at FROM callbacks);

-- none in every: callbacks are due within nine days, by day and never on a Sunday
SELECT callbacks.id FROM callbacks JOIN leads ON leads.id = lead_id JOIN places ON code = substr(phone, 3, 3)
WHERE callbacks.campaign_id <> leads.campaign_id
    OR scheduled_at - callbacks.created_at NOT BETWEEN 1 AND days(9)
    OR hour(local(scheduled_at, zone)) NOT BETWEEN 9 AND 18 OR isodow(local(scheduled_at, zone)) = 7;

-- none in every: a completed callback has a call after its promise, no other has one
SELECT id FROM callbacks WHERE (status = 'completed') <> EXISTS (SELECT 1 FROM dialed
    WHERE lead_id = callbacks.lead_id AND created_at > callbacks.created_at);

-- none in every: every call that ends with APPT books one appointment, and nothing else does
SELECT * FROM (SELECT phone, created_at FROM appointments EXCEPT ALL
    SELECT to_number, ended_at FROM calls WHERE disposition = 'APPT')
UNION ALL SELECT * FROM (SELECT to_number, ended_at FROM calls WHERE disposition = 'APPT'
    EXCEPT ALL SELECT phone, created_at FROM appointments);

-- none in every: an appointment has the phone and the name of its lead
SELECT appointments.id FROM appointments JOIN leads ON leads.id = lead_id
WHERE appointments.phone <> leads.phone OR contact_name <> full_name OR source <> 'call'
    OR appointments.created_at > appointments.updated_at;

-- none in every: past appointments are over, future ones are not; all by day and never on a Sunday
SELECT id FROM appointments WHERE status NOT IN ('cancelled',
        CASE WHEN id IN (SELECT id FROM kept) THEN 'completed' ELSE 'scheduled' END,
        CASE WHEN id IN (SELECT id FROM kept) THEN 'no-show' ELSE 'confirmed' END)
    OR hour(local(scheduled_at, timezone)) NOT BETWEEN 9 AND 17 OR isodow(local(scheduled_at, timezone)) = 7;

-- none in every: every number that asked is listed minutes later, but for the planted
SELECT calls.id FROM calls LEFT JOIN dnc ON phone = to_number
WHERE disposition = 'DNC' AND CASE WHEN lead_id IN (FROM unhonored) THEN phone IS NOT NULL
    ELSE phone IS NULL OR source <> 'request' OR listed_at - ended_at NOT BETWEEN 1 AND 300000000 END;

-- none in every: events of the last 30 days carry the ids and times of the account's own calls
SELECT events.id FROM events LEFT JOIN calls ON calls.id = data ->> 'call_id'
WHERE events.created_at < ending() - days(30)
    OR (events.type <> 'appointment.booked' AND calls.id IS NULL)
    OR events.created_at <> ended_at
    OR data ->> 'campaign_id' IS DISTINCT FROM campaign_id
    OR CASE events.type WHEN 'call.completed' THEN data ->> 'from' <> from_number
        OR data ->> 'to' <> to_number
        OR (data ->> 'duration_seconds')::BIGINT IS DISTINCT FROM duration_seconds
        OR epoch_us((data ->> 'ended_at')::TIMESTAMPTZ) <> ended_at
       WHEN 'disposition.logged' THEN data ->> 'disposition_code' <> disposition END;

-- none in every: every number is on a 555 line of a known area code
SELECT phone FROM (SELECT phone FROM leads UNION SELECT number FROM caller_ids)
LEFT JOIN zones ON code = substr(phone, 3, 3)
WHERE code IS NULL OR NOT regexp_full_match(phone, '[+]1[0-9]{3}555[0-9]{4}');

-- none in smaller: every number is a reserved one
SELECT phone FROM (SELECT phone FROM leads UNION SELECT number FROM caller_ids)
WHERE NOT regexp_full_match(phone, '[+]1[0-9]{3}55501[0-9]{2}');

-- same in small: campaigns have every status
SELECT status FROM campaigns;
VALUES ('draft'), ('ready'), ('running'), ('paused'), ('completed');

-- same in small: leads have every status
SELECT status FROM leads;
VALUES ('new'), ('contacted'), ('callback'), ('dnc'), ('completed');

-- same in small: callbacks have every status
SELECT status FROM callbacks;
VALUES ('pending'), ('completed'), ('cancelled');

-- same in small: numbers are listed from every source
SELECT source FROM dnc;
VALUES ('registry'), ('request'), ('console');

-- same in small: events are of these types
SELECT type FROM events;
VALUES ('call.completed'), ('disposition.logged'), ('appointment.booked');

-- same in medium: statuses and causes are FreeSWITCH's words
SELECT status, hangup_cause FROM calls;
VALUES ('completed', 'NORMAL_CLEARING'), ('completed', 'NORMAL_UNSPECIFIED'), ('no_answer', 'NO_ANSWER'),
    ('no_answer', 'ORIGINATOR_CANCEL'), ('no_answer', 'NO_USER_RESPONSE'), ('busy', 'USER_BUSY'),
    ('failed', 'UNALLOCATED_NUMBER'), ('failed', 'NUMBER_CHANGED'), ('failed', 'INVALID_NUMBER_FORMAT'),
    ('failed', 'CALL_REJECTED'), ('failed', 'NORMAL_TEMPORARY_FAILURE'),
    ('failed', 'NORMAL_CIRCUIT_CONGESTION'), ('failed', 'NETWORK_OUT_OF_ORDER');

-- none in medium: the status agrees with the disposition
SELECT id FROM calls WHERE CASE WHEN disposition = 'B' THEN status <> 'busy'
    WHEN disposition = 'NA' THEN status <> 'no_answer'
    WHEN disposition IN ('ADC', 'CG', 'BLOCKED') THEN status <> 'failed'
    ELSE status NOT IN ('completed', 'no_answer') END;

-- 6 to 6 in small: campaigns
SELECT count(*) FROM campaigns;

-- 3 to 6 in small: of which most have calls
SELECT count(DISTINCT campaign_id) FROM calls;

-- 176 to 182 in small: the calls of a small account cover 182 days
SELECT (ending() - min(created_at)) / days(1) FROM calls;

-- 85 to 91 in tiny: those of a tiny one 91
SELECT (ending() - min(created_at)) / days(1) FROM calls;

-- 0 to 3 in small: up to the end
SELECT (ending() - max(created_at)) / days(1) FROM calls;

-- 0 to 3 in tiny: in a tiny account as well
SELECT (ending() - max(created_at)) / days(1) FROM calls;

-- 120 to 120 in small: calls of no lead
SELECT count(*) FROM calls WHERE lead_id IS NULL;

-- 6 to 79 in small: a few leads have no custom fields
SELECT count(*) FROM leads WHERE custom_fields IS NULL;

-- 2001 to 3000 in small: most have an external id
SELECT count(external_id) FROM leads;

-- 1 to 12 in small: agents are ready
SELECT count(*) FROM agents WHERE state = 'ready';

-- 21 to 3000 in small: who was contacted is due again
SELECT count(next_attempt_at) FROM leads WHERE status = 'contacted';

-- 3001 to 4000 in small: numbers of the registry
SELECT count(*) FROM dnc WHERE source = 'registry';

-- 5 to 5 in small: numbers listed by hand
SELECT count(*) FROM dnc WHERE source = 'console';

-- 1 to 3000 in small: numbers that asked, each of which is listed
SELECT count(*) FROM dnc WHERE source = 'request' HAVING count(*) = (SELECT count(*) FROM calls
    WHERE disposition = 'DNC' AND lead_id NOT IN (FROM unhonored));

-- 0.70 to 0.82 in medium: about three in four of the kept callbacks are called within the hour, the rest later
SELECT avg((called_at <= scheduled_at + 3600000000)::INT) FROM (SELECT callbacks.id,
    any_value(scheduled_at) AS scheduled_at, min(calls.created_at) AS called_at
    FROM callbacks JOIN calls USING (lead_id) WHERE callbacks.status = 'completed'
    AND calls.created_at > scheduled_at - 900000000 GROUP BY ALL);

-- 51 to 10000 in medium: pending callbacks lie before the end of the history
SELECT count(*) FROM callbacks WHERE status = 'pending' AND scheduled_at < ending();

-- 6 to 10000 in medium: and after it
SELECT count(*) FROM callbacks WHERE status = 'pending' AND scheduled_at >= ending();

-- 0.62 to 0.78 in medium: past appointments that were kept
SELECT avg((status = 'completed')::INT) FROM kept;

-- 0.12 to 0.24 in medium: past appointments to which nobody came
SELECT avg((status = 'no-show')::INT) FROM kept;

-- Planted faults: a plain audit sees what the service answers, and the answer sheet only to compare.

-- same in every: calls outside the hours in all zones
SELECT id FROM clocks GROUP BY id HAVING bool_and(hour(clock) NOT BETWEEN 8 AND 20);
FROM sheet('out_of_hours_dst_week', verdict := 'violation')
    UNION FROM sheet('before_hours', verdict := 'violation');

-- same in every: calls outside the hours in some zones
SELECT id FROM clocks GROUP BY id
    HAVING bool_or(hour(clock) BETWEEN 8 AND 20) AND bool_or(hour(clock) NOT BETWEEN 8 AND 20);
FROM sheet('mixed_zone_hours', verdict := 'uncertain');

-- same in every: a fourth call within 24 hours
SELECT id FROM fourth;
FROM sheet('too_often', verdict := 'violation');

-- same in every: numbers with a fourth call within 24 hours
SELECT to_number FROM fourth;
FROM sheet('too_often', kind := 'phone');

-- same in every: calls after the number's Do-Not-Call disposition
SELECT id FROM asked WHERE asked_at IS NOT NULL;
FROM after_dnc;

-- same in every: numbers listed at their owner's request
SELECT phone FROM dnc WHERE source = 'request';
FROM requested;

-- same in every: leads on the list
SELECT phone FROM leads JOIN dnc USING (phone);
FROM listed_later UNION FROM requested;

-- same in every: calls to numbers that were listed after their import
SELECT id FROM outbound WHERE to_number IN (FROM listed_later);
FROM indeterminate;

-- same in every: answered calls without a disposition
SELECT id FROM calls WHERE answered_at IS NOT NULL AND disposition IS NULL;
FROM missing;

-- same in every: codes that no taxonomy knows
SELECT id FROM calls WHERE disposition = 'ZZTOP';
FROM sheet('unmapped_code', verdict := 'unmapped');

-- same in every: numbers of several campaigns
SELECT phone FROM leads GROUP BY phone HAVING count(*) > 1;
FROM sheet('phone_in_three_campaigns', kind := 'phone');

-- same in every: Do-Not-Call dispositions whose number is not on the list
SELECT lead_id FROM outbound WHERE disposition = 'DNC' AND to_number NOT IN (SELECT phone FROM dnc);
FROM unhonored;

-- none in every: ordinary calls lie between 08:00 and 20:58, never on a Sunday
SELECT id FROM clocks WHERE id NOT IN (FROM scripted) AND (isodow(clock) = 7
    OR clock::TIME NOT BETWEEN TIME '08:00' AND TIME '20:57:59.999999');

-- none in every: planted calls lie in the hour of their verdict
SELECT id FROM clocks JOIN ground_truth USING (id)
JOIN (VALUES ('out_of_hours_dst_week', 'violation', TIME '21:00', TIME '21:56'),
    ('out_of_hours_dst_week', 'clear', TIME '20:30', TIME '21:00'),
    ('before_hours', 'violation', TIME '07:00', TIME '08:00')
) AS hours (fault, expected, first, last) USING (fault, expected)
WHERE clock::TIME < first OR clock::TIME >= last;

-- none in every: no number is dialed more than seven times in seven days
SELECT id FROM outbound
QUALIFY created_at - lag(created_at, 7) OVER (PARTITION BY to_number ORDER BY created_at) <= days(7);

-- none in every: calls after a request come 16 days later or more
SELECT id FROM asked WHERE created_at - asked_at <= days(16);

-- none in every: each listed number that was called asked for it, or was listed after its import
SELECT id FROM outbound JOIN dnc ON phone = to_number
WHERE phone NOT IN (FROM requested) AND phone NOT IN (FROM listed_later);

-- none in every: calls after a listing are proven or indeterminate
SELECT id FROM outbound JOIN dnc ON phone = to_number
WHERE created_at > listed_at AND id NOT IN (FROM after_dnc) AND id NOT IN (FROM indeterminate);

-- none in every: proven calls come after the listing
SELECT id FROM outbound JOIN dnc ON phone = to_number WHERE id IN (FROM after_dnc) AND created_at <= listed_at;

-- none in every: what was listed after its import came from the registry
SELECT phone FROM leads JOIN dnc USING (phone)
WHERE phone IN (FROM listed_later) AND (created_at >= listed_at OR source <> 'registry');

-- none in every: missing dispositions are of human length
SELECT id FROM calls WHERE id IN (FROM missing) AND ended_at - answered_at < 30000000;

-- none in every: the dialer logs unanswered outbound calls, an abandoned inbound one has no code
SELECT id FROM calls WHERE answered_at IS NULL AND (disposition IS NULL) <> (direction = 'inbound');

-- none in every: one campaign logs no machine, and it alone uses the unknown pick-up
SELECT id FROM outbound WHERE disposition IN ('A', 'AA') AND is_hidden(campaign_id)
    OR disposition = 'PU' AND NOT is_hidden(campaign_id);

-- none in every: durations count from the answer, in one campaign from the start of the call
SELECT id FROM (SELECT *, CASE WHEN is_total(campaign_id) THEN created_at ELSE answered_at END AS started FROM calls)
WHERE (started IS NULL) <> (duration_seconds IS NULL)
    OR abs(duration_seconds - (ended_at - started) / 1e6) > 0.5;

-- none in every: the sheet names what exists, once per fault
SELECT id FROM ground_truth WHERE CASE resource
    WHEN 'call' THEN id NOT IN (SELECT id FROM calls)
    WHEN 'lead' THEN id NOT IN (SELECT id FROM leads)
    WHEN 'campaign' THEN id NOT IN (SELECT id FROM campaigns)
    ELSE id NOT IN (SELECT phone FROM leads UNION SELECT number FROM caller_ids) END
UNION ALL SELECT id FROM ground_truth GROUP BY fault, resource, id HAVING count(*) > 1;

-- none in every: no whole number is in the sheet's words
SELECT id FROM ground_truth WHERE regexp_matches(detail, '[+][0-9]{7}');

-- none in every: no call has two faults of its own, so that each verdict has one cause
SELECT id FROM ground_truth WHERE resource = 'call' AND id NOT IN (FROM indeterminate)
GROUP BY id HAVING count(*) > 1;

-- same in every: there are late calls and decoys
SELECT expected FROM ground_truth WHERE fault = 'out_of_hours_dst_week';
VALUES ('violation'), ('clear');

-- some in every: calls come after a listing that nobody can date
SELECT id FROM outbound JOIN dnc ON phone = to_number WHERE created_at > listed_at AND id IN (FROM indeterminate);

-- same in every: durations are of both kinds
SELECT is_total(campaign_id) FROM calls;
VALUES (true), (false);

-- 0.3 to 1 in every: the campaign without machines has many unknown pick-ups
SELECT share(disposition, ['PU']) FROM outbound WHERE is_hidden(campaign_id);

-- some in every: more machines are met alone than with a message
SELECT count(*) FILTER (disposition = 'A') AS alone, count(*) FILTER (disposition = 'AA') AS with_message
FROM outbound HAVING alone > with_message AND with_message > 0;

-- some in changed: one offset for all days misses calls and accuses wrongly in the week of a clock change
WITH offsets AS (SELECT zone, epoch_us(TIMESTAMP '2026-01-15') AS january, epoch_us(TIMESTAMP '2026-07-15') AS july,
        local(january, zone) - make_timestamp(january) AS winter, local(july, zone) - make_timestamp(july) AS summer
    FROM (SELECT DISTINCT zone FROM zones))
SELECT count(*) FILTER (expected = 'violation'
        AND hour(make_timestamp(created_at) + winter) BETWEEN 8 AND 20) AS missed,
    count(*) FILTER (expected = 'clear'
        AND hour(make_timestamp(created_at) + summer) NOT BETWEEN 8 AND 20) AS accused
FROM clocks JOIN ground_truth USING (id) JOIN offsets USING (zone)
WHERE fault = 'out_of_hours_dst_week' AND winter <> summer HAVING missed > 0 AND accused > 0;

-- some in changed: late calls are within three days of the last clock change, on both sides of it
WITH apart AS (SELECT date_diff('day', max(day) FILTER (day <= make_timestamp(ending())), any_value(clock)::DATE) AS days
    FROM clocks, (VALUES (DATE '2026-03-08'), (DATE '2026-11-01')) AS changes (day)
    WHERE id IN (FROM late) GROUP BY id, zone)
SELECT min(days), max(days) FROM apart HAVING min(days) BETWEEN -3 AND -1 AND max(days) BETWEEN 0 AND 3;

-- some in every: dispositions are changed late
FROM sheet('late_disposition');

-- none in every: each was changed 1 to 48 hours after its call, from another code, before the end
SELECT id FROM (SELECT *, regexp_extract(detail, '^logged as (\w+), changed to (\w+) at (\S+)$',
        ['first', 'last', 'at']) AS change, epoch_us(change['at']::TIMESTAMPTZ) AS changed_at
    FROM ground_truth JOIN calls USING (id) WHERE fault = 'late_disposition')
WHERE NOT coalesce(changed_at - ended_at BETWEEN days(1 / 24) AND days(2) AND changed_at < ending()
    AND change['last'] = disposition AND change['first'] <> disposition, false);

-- 3 to 3 in every: the number of several campaigns is a lead of three, once in each
SELECT count(*) FROM leads WHERE phone IN (FROM sheet('phone_in_three_campaigns', kind := 'phone'))
HAVING count(*) = count(DISTINCT campaign_id);

-- same in every: and is dialed in each
SELECT campaign_id FROM outbound WHERE to_number IN (FROM sheet('phone_in_three_campaigns', kind := 'phone'));
SELECT campaign_id FROM leads WHERE phone IN (FROM sheet('phone_in_three_campaigns', kind := 'phone'));

-- 1 to 1 in every: one caller ID comes into use during the history and is shown as spam from its 13th day
SELECT count(*) FROM flagged JOIN caller_ids USING (number)
WHERE shown_at - used_at = days(13)
    AND used_at <= (SELECT min(created_at) FROM outbound WHERE from_number = number)
    AND (SELECT count(*) FROM flagged) = 1;

-- 0.09 to 0.14 in medium: people answer it as often as other numbers before it is shown as spam
SELECT avg(human::INT) FROM outbound, flagged WHERE from_number = number AND created_at < shown_at
HAVING count(*) > 1000;

-- 0.04 to 0.075 in medium: then half as often
SELECT avg(human::INT) FROM outbound, flagged WHERE from_number = number AND created_at >= shown_at
HAVING count(*) > 4000;

-- 0.0027 to 0.0033 in medium: about 0.3% of the leads are listed per month that they are in the account
SELECT (SELECT count(*) FROM listed_later) / (sum(ending() - created_at) / days(30)) FROM leads;

-- 0.02425 to 0.02575 in medium: dispositions are missing of 2.5% of the answered calls of human length
SELECT (SELECT count(*) FROM missing) / count(*) FROM outbound WHERE human AND ended_at - answered_at >= 30000000;

-- same in larger: a small account has this many of each, and so has a medium one
SELECT fault, resource, count(*) FROM ground_truth GROUP BY ALL
HAVING fault NOT IN ('dnc_request', 'listed_after_import', 'call_to_number_listed_after_import', 'late_disposition',
    'missing_disposition') AND (fault, resource) <> ('too_often', 'call');
VALUES ('call_after_dnc_disposition', 'call', 5), ('out_of_hours_dst_week', 'call', 12), ('before_hours', 'call', 3),
    ('mixed_zone_hours', 'call', 4), ('too_often', 'phone', 9), ('dnc_request_not_listed', 'lead', 2),
    ('unmapped_code', 'call', 4), ('flagged_caller_id', 'phone', 1), ('voicemail_as_completed', 'campaign', 1),
    ('duration_is_total', 'campaign', 1), ('phone_in_three_campaigns', 'phone', 1);

-- The shape of a medium account: published ranges.

-- 0.40 to 0.60 in medium: machines answer about half
SELECT share(disposition, ['A', 'AA', 'PU']) FROM dials;

-- 0.24 to 0.35 in medium: silence
SELECT share(disposition, ['NA']) FROM dials;

-- 0.03 to 0.06 in medium: busy lines
SELECT share(disposition, ['B']) FROM dials;

-- 0.02 to 0.05 in medium: dead numbers
SELECT share(disposition, ['ADC']) FROM dials;

-- 0.01 to 0.025 in medium: blocks
SELECT share(disposition, ['BLOCKED']) FROM dials;

-- 0.001 to 0.01 in medium: requests
SELECT share(disposition, ['DNC']) FROM dials;

-- 0.11 to 0.15 in medium: people answer about one dial in eight, as published
SELECT avg(human::INT) FROM dials;

-- 0.65 to 0.80 in medium: about three in four people are the right one
SELECT count(*) FILTER (right_party) / count(*) FILTER (human) FROM dials;

-- 0.09 to 0.14 in medium: one in nine of those buys or books
SELECT count(*) FILTER (won) / count(*) FILTER (right_party) FROM dials;

-- 0.12 to 0.16 in medium: the easily reached are reached first
SELECT avg(human::INT) FROM dials WHERE attempt = 1;

-- 0.35 to 0.75 in medium: by the eighth attempt the rate falls to about half
SELECT avg(human::INT) FILTER (attempt >= 8) / avg(human::INT) FILTER (attempt = 1) FROM dials;

-- 1e-9 to 1 in medium: the rate falls to the fourth attempt
SELECT avg(human::INT) FILTER (attempt = 1) - avg(human::INT) FILTER (attempt = 4) FROM dials;

-- 1e-9 to 1 in medium: and on to the seventh
SELECT avg(human::INT) FILTER (attempt = 4) - avg(human::INT) FILTER (attempt = 7) FROM dials;

-- 0.90 to 1 in medium: nine in ten conversions are won by the sixth attempt
SELECT avg((attempt <= 6)::INT) FROM dials WHERE won;

-- 8 to 11 in medium: no lead is tried more than eight times, callbacks apart
SELECT max(attempts) FROM leads;

-- 0 to 0.002 in medium: hardly any more than eight
SELECT avg((attempts > 8)::INT) FROM leads;

-- 2.5 to 3.6 in medium: attempts on a lead
SELECT avg(attempts) FROM leads;

-- 0.10 to 0.15 in medium: calls of at most six seconds stay under carriers' limits
SELECT avg((talk_s <= 6)::INT) FROM dials WHERE answered_at IS NOT NULL;

-- 35 to 55 in medium: talk
SELECT avg(talk_s) FROM dials WHERE answered_at IS NOT NULL;

-- 350 to 520 in medium: a sale is a long talk
SELECT median(talk_s) FROM dials WHERE won;

-- 100 to 130 in medium: a refusal is a short one
SELECT median(talk_s) FROM dials WHERE disposition = 'NI';

-- 0 to 35 in medium: a request is the shortest
SELECT median(talk_s) FROM dials WHERE disposition = 'DNC';

-- 8 to 13 in medium: people answer after about ten seconds
SELECT median(ring_s) FROM dials WHERE human;

-- 18 to 22 in medium: machines after about twenty
SELECT median(ring_s) FROM dials WHERE answered_at IS NOT NULL AND NOT human;

-- 0.15 to 0.25 in medium: or at once
SELECT avg((ring_s < 3)::INT) FROM dials WHERE answered_at IS NOT NULL AND NOT human;

-- 25 to 27 in medium: a phone rings for 26 seconds
SELECT median((ended_at - created_at) / 1e6) FROM dials WHERE disposition = 'NA';

-- 0 to 0.03 in medium: little is dialed at eight in the evening
SELECT avg((hour = 20)::INT) FROM dials;

-- 2.38 to 3.22 in medium: most is dialed in the morning
SELECT count(*) FILTER (hour = 10) / count(*) FILTER (hour = 8) FROM dials;

-- some in medium: the busiest hour
SELECT mode(hour) AS hour FROM dials HAVING mode(hour) IN (10, 11, 14, 15);

-- 0 to 9 in medium: hardly any on a Sunday
SELECT count(*) FROM dials WHERE weekday = 7;

-- 0.2975 to 0.4025 in medium: Saturdays are short
SELECT count(*) FILTER (weekday = 6) / count(*) FILTER (weekday = 2) FROM dials;

-- 0.855 to 1.045 in medium: Fridays a little
SELECT count(*) FILTER (weekday = 5) / count(*) FILTER (weekday = 2) FROM dials;

-- 1.05 to 2 in medium: at ten and eleven people answer more often than early or late
SELECT avg(human::INT) FILTER (hour IN (10, 11)) / avg(human::INT) FILTER (hour IN (8, 19, 20)) FROM dials;

-- 0.25 to 0.45 in medium: every third caller ID has the called number's area code
SELECT avg(from_here::INT) FROM dials;

-- 1.2 to 1.6 in medium: it lifts the rate by about a third
SELECT avg(human::INT) FILTER (from_here) / avg(human::INT) FILTER (NOT from_here) FROM dials;

-- some in medium: web forms are answered more than partners' leads, these more than bought ones
SELECT map_from_entries(list((source, rate))) AS rates FROM (SELECT source, avg(human::INT) AS rate
    FROM dials WHERE source IS NOT NULL GROUP BY 1)
HAVING rates['web_form'] > rates['partner'] AND rates['partner'] > rates['purchased_a']
    AND rates['purchased_a'] > rates['purchased_b'];

-- 2 to 20 in medium: the poorer bought list has twice the dead numbers of web forms
SELECT avg(coded(disposition, ['ADC'])::INT) FILTER (source = 'purchased_b') / avg(coded(disposition, ['ADC'])::INT) FILTER (source = 'web_form')
FROM dials;

-- 0.4 to 1.1 in medium: half of the web forms are dialed within the hour
SELECT median(waited_h) FROM dials WHERE attempt = 1 AND source = 'web_form';

-- 48 to 10000 in medium: bought lists are dialed days later
SELECT median(waited_h) FROM dials WHERE attempt = 1 AND source = 'purchased_a';

-- 0.4 to 0.75 in medium: after a busy line a number is tried again soon
SELECT median(gap_h) FROM dials WHERE before = 'B' AND NOT planted;

-- 10 to 30 in medium: after silence in so many hours
SELECT median(gap_h) FROM dials WHERE before = 'NA' AND NOT planted;

-- 15 to 60 in medium: after a machine in so many
SELECT median(gap_h) FROM dials WHERE before = 'A' AND NOT planted;

-- 4 to 1000 in medium: and never sooner than four after silence
SELECT min(gap_h) FROM dials WHERE before = 'NA' AND NOT planted;

-- 0.03 to 0.05 in medium: four calls in a hundred come in
SELECT avg((direction = 'inbound')::INT) FROM calls;

-- none in medium: they call back the number that called them
SELECT from_number, to_number FROM calls WHERE direction = 'inbound'
EXCEPT SELECT to_number, from_number FROM outbound;

-- 0.02 to 1 in medium: no fortnight of the six months is without calls
SELECT min(calls) / sum(calls) FROM (SELECT count(*) AS calls FROM dials GROUP BY fortnight);

-- 13 to 13 in medium: there are thirteen of them
SELECT count(DISTINCT fortnight) FROM dials;

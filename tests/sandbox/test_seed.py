"""The synthetic account: the same every time, and consistent in itself."""

from __future__ import annotations

import datetime as dt
import subprocess
import sys
from typing import Any

import pytest

from dialframe.contract.models.base_models import PREFIXES
from dialframe.errors import ConfigError
from dialframe.sandbox.seed import SIZES, SyntheticAccount, generate
from sandbox.drawn import AS_OF, account, ask

END = int(dt.datetime(2026, 11, 21, tzinfo=dt.UTC).timestamp()) * 1_000_000
DAY = 86_400_000_000
FINAL = "('ADC', 'WN', 'NI', 'NQ', 'XFER', 'APPT', 'SALE', 'DNC', 'LB')"
UNHONORED = "(SELECT id FROM ground_truth WHERE fault = 'dnc_request_not_listed')"


def everything(made: SyntheticAccount) -> dict[str, list[tuple[Any, ...]]]:
    """Every row of every table."""
    return {name: list(table.rows) for name, table in made.tables.items()}


def test_the_same_seed_gives_the_same_account() -> None:
    """Two accounts of one seed, size and day are equal in every value."""
    assert everything(account()) == everything(generate(seed=7, size="small", as_of=AS_OF))


def test_another_process_gives_the_same_account() -> None:
    """The account does not depend on the process: hash seeds change nothing."""
    code = (
        "import datetime as d, hashlib;from dialframe.sandbox.seed import generate;"
        "a=generate(seed=7,size='tiny',as_of=d.date(2026,11,21));"
        "t={n:list(x.rows) for n,x in a.tables.items()};"
        "print(hashlib.sha256(repr(t).encode()).hexdigest())"
    )
    here: list[str] = []
    exec(code, {"print": here.append})  # noqa: S102 - the same lines as there
    # Hashes are random here unless somebody said how, and differ from those of any seed.
    path = ":".join(path for path in sys.path if path)
    there = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, check=True,
        env={"PYTHONHASHSEED": "1", "PYTHONPATH": path},
    )  # fmt: skip
    assert there.stdout.split() == here


def test_another_seed_gives_another_account() -> None:
    """Seeds differ in ids, numbers and calls."""
    mine, theirs = everything(account()), everything(account(seed=8))
    for table in ("leads", "calls", "callbacks", "appointments", "ground_truth"):
        assert mine[table] != theirs[table]
    assert not {row[0] for row in mine["calls"]} & {row[0] for row in theirs["calls"]}


def test_the_sizes_are_exact() -> None:
    """Leads and calls are as many as the size says."""
    for size in ("tiny", "small", "medium"):
        made = account(size)
        assert len(made.tables["leads"]) == SIZES[size].leads
        assert len(made.tables["calls"]) == SIZES[size].calls
    assert (SIZES["small"].leads, SIZES["small"].calls) == (3_000, 10_000)
    assert (SIZES["large"].leads, SIZES["large"].calls) == (300_000, 1_000_000)


@pytest.mark.parametrize("seed", range(25))
def test_every_seed_makes_a_tiny_account(seed: int) -> None:
    """No seed is unlucky: sizes are exact and every fault has its row."""
    made = generate(seed=seed, size="tiny", as_of=AS_OF)
    faults = {row[0] for row in made.tables["ground_truth"].rows}
    assert len(made.tables["calls"]) == 1_000
    assert faults == {fault for (fault,) in ask("SELECT fault FROM ground_truth")}


def test_empty_has_the_tables_without_rows() -> None:
    """An empty account has the same tables and columns, and nothing in them."""
    empty = generate(seed=7, size="empty", as_of=AS_OF)
    shape = {name: table.columns for name, table in account().tables.items()}
    assert {name: table.columns for name, table in empty.tables.items()} == shape
    assert not any(everything(empty).values())


@pytest.mark.parametrize(
    ("arguments", "match"),
    [
        ({"seed": 7, "size": "huge", "as_of": AS_OF}, "unknown size 'huge'"),
        ({"seed": -1, "size": "tiny", "as_of": AS_OF}, "give 0 or more"),
        ({"seed": 7, "size": "tiny", "as_of": dt.date(1969, 7, 20)}, "from 2000 on"),
    ],
)
def test_bad_arguments_are_refused(arguments: dict[str, Any], match: str) -> None:
    """A size, seed or day that cannot be is one clear sentence."""
    with pytest.raises(ConfigError, match=match):
        generate(**arguments)


IDS = {"campaigns": "cmp_", "leads": "lead_", "calls": "call_", "callbacks": "cb_",
       "appointments": "appt_", "events": "evt_"}  # fmt: skip
#: Every instant but the promised ones.
INSTANTS = {
    "campaigns": "created_at, updated_at, started_at, completed_at",
    "leads": "created_at, updated_at, last_attempt_at",
    "calls": "created_at, answered_at, ended_at",
    "callbacks": "created_at",
    "appointments": "created_at, updated_at",
    "dnc": "listed_at",
    "events": "created_at",
}

#: Law to a query that finds what breaks it.
LAWS = {
    **{
        f"ids of {table} are lower-case UUIDs behind the contract's prefix": f"""
            SELECT id FROM {table} WHERE NOT regexp_full_match(id,
                '{prefix}[0-9a-f]{{8}}(-[0-9a-f]{{4}}){{3}}-[0-9a-f]{{12}}')
            UNION ALL SELECT id FROM {table} GROUP BY id HAVING count(*) > 1"""
        for table, prefix in IDS.items()
    },
    **{
        f"nothing of {table} happens after the end": f"""
            SELECT * FROM (SELECT unnest([{columns}]) AS instant FROM {table})
            WHERE instant NOT BETWEEN 1 AND {END - 1}"""
        for table, columns in INSTANTS.items()
    },
    "started means dialed, completed alone has a completion": """
        SELECT id FROM campaigns WHERE (started_at IS NULL) <> (status IN ('draft', 'ready'))
            OR (completed_at IS NOT NULL) <> (status = 'completed')""",
    "calls stay inside their campaign's time": f"""
        SELECT calls.id FROM calls JOIN campaigns ON campaigns.id = campaign_id
        WHERE direction = 'outbound' AND (started_at IS NULL OR calls.created_at < started_at
            OR started_at <= campaigns.created_at
            OR ended_at >= CASE campaigns.status WHEN 'running' THEN {END} ELSE updated_at END)""",
    "created, answered, ended; answered means completed": """
        SELECT id FROM calls WHERE created_at > coalesce(answered_at, created_at)
            OR coalesce(answered_at, created_at) > ended_at
            OR (answered_at IS NOT NULL) <> (status = 'completed')""",
    "leads, caller IDs and what is listed by hand or for good never share a number": """
        SELECT number FROM caller_ids
            WHERE number IN (SELECT phone FROM leads UNION SELECT phone FROM dnc)
        UNION ALL SELECT phone FROM leads WHERE phone IN
            (SELECT phone FROM blocks UNION SELECT phone FROM dnc WHERE source = 'console')
        UNION ALL (SELECT phone FROM blocks EXCEPT SELECT phone FROM dnc)""",
    "outbound goes from a caller ID to the lead's number, inbound the other way round": """
        WITH sides AS (SELECT *, CASE direction WHEN 'inbound' THEN to_number ELSE from_number END
            AS ours, CASE direction WHEN 'inbound' THEN from_number ELSE to_number END AS theirs
            FROM calls)
        SELECT sides.id FROM sides LEFT JOIN leads ON leads.id = lead_id
        WHERE ours NOT IN (SELECT number FROM caller_ids)
            OR theirs NOT IN (SELECT phone FROM leads)
            OR agent_extension NOT IN (SELECT extension FROM agents)
            OR CASE WHEN lead_id IS NULL THEN sides.campaign_id IS NOT NULL OR direction = 'inbound'
               ELSE phone <> theirs OR leads.campaign_id IS DISTINCT FROM sides.campaign_id END""",
    "no campaign has one number twice": """
        SELECT phone FROM leads GROUP BY campaign_id, phone HAVING count(*) > 1""",
    "a lead is created after its campaign and before its first call": """
        SELECT leads.id FROM leads JOIN campaigns ON campaigns.id = campaign_id
            WHERE leads.created_at <= campaigns.created_at OR leads.created_at > leads.updated_at
        UNION ALL SELECT leads.id FROM leads JOIN calls ON leads.id = lead_id
            WHERE leads.created_at >= calls.created_at""",
    "attempts, disposition, cause and times of a lead are those of its outbound calls": """
        SELECT leads.id FROM leads LEFT JOIN dialed
            ON lead_id = leads.id AND attempt = dialed.attempts
        WHERE leads.attempts <> coalesce(dialed.attempts, 0)
            OR last_attempt_at IS DISTINCT FROM dialed.created_at
            OR disposition_code IS DISTINCT FROM disposition
            OR leads.hangup_cause IS DISTINCT FROM dialed.hangup_cause
            OR updated_at <> coalesce(ended_at, leads.created_at)""",
    "new without a call, dnc for good after a request, completed after a final outcome": f"""
        SELECT leads.id FROM leads LEFT JOIN dialed
            ON lead_id = leads.id AND attempt = dialed.attempts
        WHERE leads.status <> CASE
            WHEN lead_id IS NULL THEN 'new'
            WHEN leads.id IN {UNHONORED} THEN 'contacted'
            WHEN leads.id IN (SELECT lead_id FROM dialed WHERE disposition = 'DNC') THEN 'dnc'
            WHEN disposition IN {FINAL} OR dialed.attempts >= 8 THEN 'completed'
            WHEN leads.id IN (SELECT lead_id FROM callbacks WHERE status = 'pending')
                THEN 'callback'
            ELSE 'contacted' END""",
    "nobody is dialed again after a final outcome, but for the planted calls": f"""
        SELECT id FROM (SELECT *, lead(id) OVER (PARTITION BY lead_id ORDER BY place) AS following
            FROM dialed WHERE id NOT IN (SELECT id FROM ground_truth
                WHERE fault LIKE 'call_after%' OR fault = 'late_disposition'))
        WHERE disposition IN {FINAL} AND following IS NOT NULL""",
    "a next attempt is due where dialing goes on: callbacks, running and paused campaigns": f"""
        SELECT leads.id FROM leads JOIN campaigns ON campaigns.id = campaign_id
        LEFT JOIN (SELECT lead_id, arg_max(scheduled_at, place) AS due FROM callbacks
            WHERE status = 'pending' GROUP BY lead_id) ON lead_id = leads.id
        WHERE CASE WHEN leads.status = 'callback' THEN next_attempt_at IS DISTINCT FROM due
            ELSE next_attempt_at IS NOT NULL AND (leads.status <> 'contacted'
                OR campaigns.status NOT IN ('running', 'paused')
                OR next_attempt_at <= last_attempt_at
                OR (next_attempt_at < {END} AND campaigns.status <> 'paused')) END""",
    "custom fields hold a source of the account and the state of the area code": """
        SELECT id FROM leads JOIN places ON code = substr(phone, 3, 3)
        WHERE custom_fields ->> 'lead_source' NOT IN (SELECT code FROM lead_sources)
            OR custom_fields ->> 'state' <> state""",
    "people are made up": """
        SELECT email FROM leads WHERE NOT regexp_matches(email, '@example\\.(com|org)$')
        UNION ALL SELECT email FROM agents WHERE email NOT LIKE '%@example.com'
        UNION ALL SELECT external_id FROM leads WHERE external_id IS NOT NULL
            GROUP BY external_id HAVING count(*) > 1""",
    "every call that ends with CALLBK makes one callback, and nothing else does": """
        SELECT * FROM (SELECT lead_id, created_at FROM callbacks EXCEPT ALL
            SELECT lead_id, ended_at FROM calls WHERE disposition = 'CALLBK')
        UNION ALL SELECT * FROM (SELECT lead_id, ended_at FROM calls WHERE disposition = 'CALLBK'
            EXCEPT ALL SELECT lead_id, created_at FROM callbacks)""",
    "callbacks are due within nine days, by day and never on a Sunday": f"""
        SELECT callbacks.id FROM callbacks JOIN leads ON leads.id = lead_id
            JOIN places ON code = substr(phone, 3, 3)
        WHERE callbacks.campaign_id <> leads.campaign_id
            OR scheduled_at - callbacks.created_at NOT BETWEEN 1 AND {9 * DAY}
            OR hour(local(scheduled_at, zone)) NOT BETWEEN 9 AND 18
            OR isodow(local(scheduled_at, zone)) = 7""",
    "a completed callback has a call after its promise, no other has one": """
        SELECT id FROM callbacks WHERE (status = 'completed') <> EXISTS (SELECT 1 FROM dialed
            WHERE lead_id = callbacks.lead_id AND created_at > callbacks.created_at)""",
    "every call that ends with APPT books one appointment, and nothing else does": """
        SELECT * FROM (SELECT phone, created_at FROM appointments EXCEPT ALL
            SELECT to_number, ended_at FROM calls WHERE disposition = 'APPT')
        UNION ALL SELECT * FROM (SELECT to_number, ended_at FROM calls WHERE disposition = 'APPT'
            EXCEPT ALL SELECT phone, created_at FROM appointments)""",
    "an appointment has the phone and the name of its lead": """
        SELECT appointments.id FROM appointments JOIN leads ON leads.id = lead_id
        WHERE appointments.phone <> leads.phone OR contact_name <> full_name OR source <> 'call'
            OR appointments.created_at > appointments.updated_at""",
    "past appointments are over, future ones are not; all by day and never on a Sunday": f"""
        SELECT id FROM appointments WHERE status NOT IN ('cancelled',
                CASE WHEN scheduled_at + duration_minutes * 60000000 < {END} THEN 'completed'
                ELSE 'scheduled' END,
                CASE WHEN scheduled_at + duration_minutes * 60000000 < {END} THEN 'no-show'
                ELSE 'confirmed' END)
            OR hour(local(scheduled_at, timezone)) NOT BETWEEN 9 AND 17
            OR isodow(local(scheduled_at, timezone)) = 7""",
    "every number that asked is listed minutes later, but for the planted": f"""
        SELECT calls.id FROM calls LEFT JOIN dnc ON phone = to_number
        WHERE disposition = 'DNC' AND CASE WHEN lead_id IN {UNHONORED} THEN phone IS NOT NULL
            ELSE phone IS NULL OR source <> 'request'
                OR listed_at - ended_at NOT BETWEEN 1 AND 300000000 END""",
    "events of the last 30 days carry the ids and times of the account's own calls": f"""
        SELECT events.id FROM events LEFT JOIN calls ON calls.id = data ->> 'call_id'
        WHERE events.created_at < {END - 30 * DAY}
            OR (events.type <> 'appointment.booked' AND calls.id IS NULL)
            OR events.created_at <> ended_at
            OR data ->> 'campaign_id' IS DISTINCT FROM campaign_id
            OR CASE events.type WHEN 'call.completed' THEN data ->> 'from' <> from_number
                OR data ->> 'to' <> to_number
                OR (data ->> 'duration_seconds')::BIGINT IS DISTINCT FROM duration_seconds
                OR epoch_us((data ->> 'ended_at')::TIMESTAMPTZ) <> ended_at
               WHEN 'disposition.logged' THEN data ->> 'disposition_code' <> disposition END""",
}  # fmt: skip


@pytest.mark.parametrize("law", LAWS)
def test_no_row_breaks_a_law(law: str) -> None:
    """Whatever the size of the account."""
    for size in ("tiny", "medium" if "appointments" in law else "small"):
        assert ask(LAWS[law], size)[:3] == [], size


@pytest.mark.parametrize("size", ["tiny", "small", "medium"])
def test_numbers_are_fictional(size: str) -> None:
    """Every number is on a 555 line of a known area code; in smaller accounts on a reserved one."""
    line = "555[0-9]{4}" if size == "medium" else "55501[0-9]{2}"
    strange = f"""SELECT phone FROM (SELECT phone FROM leads UNION SELECT number FROM caller_ids)
        LEFT JOIN places ON code = substr(phone, 3, 3)
        WHERE code IS NULL OR NOT regexp_full_match(phone, '[+]1[0-9]{{3}}{line}')"""
    assert ask(strange, size) == []


STATUSES = {"new", "contacted", "callback", "dnc", "completed"}
#: Query to the values that it finds.
KINDS = {
    "SELECT status FROM campaigns": {"draft", "ready", "running", "paused", "completed"},
    "SELECT status FROM leads": STATUSES,
    "SELECT status FROM callbacks": {"pending", "completed", "cancelled"},
    "SELECT source FROM dnc": {"registry", "request", "console"},
    "SELECT type FROM events": {"call.completed", "disposition.logged", "appointment.booked"},
}


@pytest.mark.parametrize("query", KINDS)
def test_every_kind_is_there(query: str) -> None:
    """And no other."""
    assert {kind for (kind,) in ask(query)} == KINDS[query]


def test_vocabularies() -> None:
    """Statuses and causes are FreeSWITCH's words, and they agree with the disposition."""
    causes: dict[str, set[str]] = {}
    for status, cause in ask("SELECT DISTINCT status, hangup_cause FROM calls", "medium"):
        causes.setdefault(status, set()).add(cause)
    assert causes == {
        "completed": {"NORMAL_CLEARING", "NORMAL_UNSPECIFIED"},
        "no_answer": {"NO_ANSWER", "ORIGINATOR_CANCEL", "NO_USER_RESPONSE"},
        "busy": {"USER_BUSY"},
        "failed": {
            "UNALLOCATED_NUMBER", "NUMBER_CHANGED", "INVALID_NUMBER_FORMAT", "CALL_REJECTED",
            "NORMAL_TEMPORARY_FAILURE", "NORMAL_CIRCUIT_CONGESTION", "NETWORK_OUT_OF_ORDER",
        },
    }  # fmt: skip
    agree = """SELECT id FROM calls WHERE CASE WHEN disposition = 'B' THEN status <> 'busy'
        WHEN disposition = 'NA' THEN status <> 'no_answer'
        WHEN disposition IN ('ADC', 'CG', 'BLOCKED') THEN status <> 'failed'
        ELSE status NOT IN ('completed', 'no_answer') END"""
    assert ask(agree, "medium") == []


@pytest.mark.parametrize(
    ("query", "size", "low", "high"),
    [
        ("SELECT count(*) FROM campaigns", "small", 6, 6),
        ("SELECT count(DISTINCT campaign_id) FROM calls", "small", 3, 6),
        # The calls of a small account cover 182 days up to the end, those of a tiny one 91.
        (f"SELECT ({END} - min(created_at)) / {DAY} FROM calls", "small", 176, 182),
        (f"SELECT ({END} - min(created_at)) / {DAY} FROM calls", "tiny", 85, 91),
        (f"SELECT ({END} - max(created_at)) / {DAY} FROM calls", "small", 0, 3),
        (f"SELECT ({END} - max(created_at)) / {DAY} FROM calls", "tiny", 0, 3),
        ("SELECT count(*) FROM calls WHERE lead_id IS NULL", "small", 120, 120),
        ("SELECT count(*) FROM leads WHERE custom_fields IS NULL", "small", 6, 79),
        ("SELECT count(external_id) FROM leads", "small", 2_001, 3_000),
        ("SELECT count(*) FROM agents WHERE state = 'ready'", "small", 1, 12),
        ("SELECT count(next_attempt_at) FROM leads WHERE status = 'contacted'", "small", 21, 3_000),
        ("SELECT count(*) FROM dnc WHERE source = 'registry'", "small", 3_001, 4_000),
        ("SELECT count(*) FROM dnc WHERE source = 'console'", "small", 5, 5),
        (f"SELECT count(*) FROM dnc WHERE source = 'request' HAVING count(*) = (SELECT count(*) FROM"
         f" calls WHERE disposition = 'DNC' AND lead_id NOT IN {UNHONORED})", "small", 1, 3_000),
        # About three in four of the kept callbacks are called within the hour, the rest later.
        ("""SELECT avg((called_at <= scheduled_at + 3600000000)::INT) FROM (SELECT callbacks.id,
            any_value(scheduled_at) AS scheduled_at, min(calls.created_at) AS called_at
            FROM callbacks JOIN calls USING (lead_id) WHERE callbacks.status = 'completed'
            AND calls.created_at > scheduled_at - 900000000 GROUP BY ALL)""", "medium", 0.70, 0.82),
        # Pending callbacks lie on both sides of the end of the history.
        (f"SELECT count(*) FROM callbacks WHERE status = 'pending' AND scheduled_at < {END}",
         "medium", 51, 10_000),
        (f"SELECT count(*) FROM callbacks WHERE status = 'pending' AND scheduled_at >= {END}",
         "medium", 6, 10_000),
        *((f"""SELECT avg((status = '{status}')::INT) FROM appointments
            WHERE scheduled_at + duration_minutes * 60000000 < {END}""", "medium", low, high)
          for status, low, high in (("completed", 0.62, 0.78), ("no-show", 0.12, 0.24))),
    ],
)  # fmt: skip
def test_values_are_in_their_ranges(query: str, size: str, low: float, high: float) -> None:
    """Counts, spans and shares."""
    ((value,),) = ask(query, size)
    assert low <= value <= high


def test_prefixes_are_the_contracts() -> None:
    """Those that the ids are held to here."""
    assert set(IDS.values()) <= set(PREFIXES.values())


def test_the_repr_shows_no_numbers() -> None:
    """An account printed by chance gives away no phone number."""
    assert "+1" not in repr(account())

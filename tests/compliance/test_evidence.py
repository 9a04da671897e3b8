"""A pass needs evidence that names what it covers: each case here once passed, or was silent."""

from __future__ import annotations

from collections.abc import Iterable
from datetime import timedelta
from functools import cache
from typing import Any

import pandas as pd
import pytest

from compliance import hand
from dialframe import compliance
from dialframe.compliance.practice import Conduct, Practice, practice_text, read_practice
from dialframe.errors import ConfigError
from rows import every_row

DAY = timedelta(days=1)
NOON = hand.utc("2026-06-15T16:00")
NOW = hand.utc("2026-12-01")
LISTS = ("scrub_at_call", "listed_number", "scrub_coverage")

#: Wordings of a refusal that agents log, in five languages; none is a code that anybody mapped.
REFUSALS = (
    "Do Not Call List", "Opted Out", "Removed", "NI - DNC", "NO LLAMAR", "do not call again",
    "Take me off your list", "Remove from list", "Unsubscribed", "Stop calling", "DNC Request",
    "Do Not Contact", "Don't call back", "Opt-out", "Never call again", "No more calls",
    "Remove me", "Unsubscribe", "Asked to be removed", "Wants to be removed from list",
    "Customer requested DNC", "Added to DNC", "Stop contacting me", "Lose my number",
    "Cease and desist", "Do not phone", "Not to be called", "Suppress number",
    "Put on do not call list", "DNC - internal", "Requested no further contact", "Blacklist",
    "No llamar más", "No volver a llamar", "No me llamen más", "Quitar de la lista",
    "Darse de baja", "Baja de la lista", "Lista Robinson", "No contactar",
    "Solicita no ser llamado", "Dejar de llamar", "Eliminar de la lista",
    "No desea ser contactado", "Ne plus appeler", "Ne pas rappeler", "Ne plus contacter",
    "Retirer de la liste", "Se désinscrire", "Désabonné", "Opposition au démarchage",
    "Liste rouge", "Ne souhaite plus être appelé", "Ne m'appelez plus",
    "Supprimer mes coordonnées", "Arrêtez d'appeler", "Refus d'appel", "Nicht mehr anrufen",
    "Nicht anrufen", "Kein Anruf mehr", "Keine Anrufe mehr", "Von der Liste streichen",
    "Aus der Liste entfernen", "Abgemeldet", "Werbesperre", "Widerspruch gegen Werbung",
    "Kontaktsperre", "Robinsonliste", "Nicht kontaktieren", "Möchte nicht mehr angerufen werden",
    "Anrufsperre", "Non chiamare più", "Non chiamare", "Non richiamare", "Non contattare",
    "Rimuovere dalla lista", "Togliere dalla lista", "Cancellazione dalla lista",
    "Registro delle opposizioni", "Non vuole essere contattato", "Basta chiamate",
)  # fmt: skip


def _audit(
    calls: list[dict[str, Any]],
    *checks: dict[str, Any],
    leads: list[dict[str, Any]] | None = None,
    **more: Any,
) -> compliance.Audit:
    """The audit of a firm that declared nothing, unless it says so."""
    given = {"now": NOW, "rules": ["us"], **more}
    return hand.audited(
        hand.leads(*(leads or [])), hand.calls(*calls), hand.checks(*checks), **given
    )


def _counts(audit: compliance.Audit, check: str) -> dict[str, int]:
    row = audit.checks.set_index("check").loc[check]
    names = ("pass", "violation", "uncertain", "not_evaluable", "not_asked")
    return {name: int(row[name]) for name in names if row[name]}


def _reasons(audit: compliance.Audit, check: str) -> str:
    return " | ".join(audit.findings.loc[audit.findings["check"] == check, "reason"])


def test_an_account_without_a_check_passes_no_rule_on_lists() -> None:
    """Not even where every lead was screened at import, declared or not."""
    rows = [hand.call(at=NOON, id="a"), hand.call(hand.CHICAGO, NOON, id="b")]
    leads = [hand.lead(created_at=NOON - DAY), hand.lead(hand.CHICAGO, created_at=NOON - DAY)]
    for practice in (None, hand.declared()):
        audit = _audit(rows, leads=leads, practice=practice, now=NOON + DAY)
        assert all("pass" not in _counts(audit, check) for check in LISTS)


@cache
def _answered(*, declared: bool) -> compliance.Audit:
    """An audit of a call to a number that a check said is not listed, of one to a listed and of one to a screened number."""
    phones = (hand.NEW_YORK, hand.CHICAGO, hand.PHOENIX)
    told = [
        hand.check(NOON - DAY, phone=hand.NEW_YORK),
        hand.check(NOON - DAY, phone=hand.CHICAGO, listed=True),
    ]
    return _audit(
        [hand.call(phone, NOON) for phone in phones], *told,
        leads=[hand.lead(hand.PHOENIX, created_at=NOON - DAY)],
        practice=hand.declared() if declared else None,
    )  # fmt: skip


def _found(audit: compliance.Audit, check: str, phone: str) -> list[str]:
    """Grades of the findings of a check on a number."""
    rows = audit.findings[audit.findings["check"] == check]
    return rows.loc[(rows["phone"] == phone).to_numpy(), "grade"].tolist()


def test_a_check_that_nobody_declared_proves_only_that_the_service_did_not_list_it() -> None:
    """The registries are not evaluable with that reason; declared, the same check passes."""
    audit = _answered(declared=False)
    for check in ("scrub_at_call", "listed_number"):
        assert _found(audit, check, hand.NEW_YORK) == ["not evaluable"]
        assert "which lists the service covers is missing" in _reasons(audit, check)
    assert "practice file" in audit.checks.set_index("check").loc["listed_number", "sentence"]
    assert "pass" not in _counts(audit, "listed_number")
    assert _found(_answered(declared=True), "listed_number", hand.NEW_YORK) == []
    assert _counts(_answered(declared=True), "listed_number")["pass"] == 1


def test_the_firms_own_list_needs_no_declaration() -> None:
    """Where the rule on requests alone is asked, an undeclared check passes it."""
    audit = _audit([hand.call(at=NOON)], hand.check(NOON - DAY), rules=["us-tcpa-internal-dnc"],
                   rulebook=compliance.rulebook.load().select(["us-tcpa-internal-dnc"]))  # fmt: skip
    assert _counts(audit, "listed_number") == {"pass": 1}


def test_a_listed_answer_of_an_undeclared_check_is_no_proven_violation() -> None:
    """Which list the number is on nobody said."""
    for declared, grade in ((False, "uncertain"), (True, "violation")):
        found = _found(_answered(declared=declared), "listed_number", hand.CHICAGO)
        assert found == [grade]


def test_an_import_screen_is_a_grade_of_evidence_of_its_own() -> None:
    """Screened at import is uncertain, by name, and never equal to a check."""
    audit = _answered(declared=True)
    assert _found(audit, "scrub_at_call", hand.PHOENIX) == ["uncertain"]
    found = audit.findings[audit.findings["check"] == "scrub_at_call"].set_index("phone")
    assert found.loc[hand.PHOENIX, "detail"] == "screened at import"


def test_an_import_after_the_call_clears_nothing() -> None:
    """A lead that is imported again was screened again, which says nothing of the call."""
    phones = (hand.NEW_YORK, hand.CHICAGO)
    again = [hand.lead(phone, created_at=NOON + DAY) for phone in phones]
    marked = hand.check(NOON + 2 * DAY, listed=True, phone=hand.CHICAGO)
    calls = [hand.call(phone, NOON) for phone in phones]
    audit = _audit(calls, marked, leads=again, practice=hand.declared())
    found = audit.findings[audit.findings["check"] == "listed_number"].set_index("phone")["grade"]
    assert found.to_dict() == {hand.NEW_YORK: "not evaluable", hand.CHICAGO: "uncertain"}


def test_the_age_of_the_services_copy_counts_with_the_age_of_the_check() -> None:
    """A copy of up to ten days and a check of 25 may be a list of 35 days."""
    name = "US National DNC Registry"
    text = practice_text([(name, True, False, 10)], by="An officer", on=NOW.date())
    firm = read_practice(text, [name])
    calls = [hand.call(at=NOON), hand.call(hand.CHICAGO, NOON)]
    checks = [hand.check(NOON - 21 * DAY), hand.check(NOON - 25 * DAY, phone=hand.CHICAGO)]
    audit = _audit(calls, *checks, practice=firm)
    assert _counts(audit, "scrub_at_call") == {"pass": 1, "uncertain": 1}
    found = audit.findings[audit.findings["check"] == "scrub_at_call"]
    assert found["phone"].tolist() == [hand.CHICAGO]


@pytest.fixture(scope="module")
def refusals() -> tuple[compliance.Audit, compliance.Audit]:
    """Every wording on a number of its own with a later call to it: unmapped, and mapped."""
    phones = [f"+1212555{1000 + n}" for n in range(len(REFUSALS))]
    rows = [
        hand.call(phone, NOON, id=f"asked {words}", disposition=words)
        for phone, words in zip(phones, REFUSALS, strict=True)
    ]
    rows += [
        hand.call(phone, NOON + 30 * DAY, id=words)
        for phone, words in zip(phones, REFUSALS, strict=True)
    ]
    checks = [hand.check(NOON + 29 * DAY, phone=phone) for phone in phones]
    return tuple(  # type: ignore[return-value]
        _audit(rows, *checks, practice=hand.declared(), known_codes=lambda _, is_known=known: is_known)
        for known in (False, True)
    )  # fmt: skip


@pytest.mark.parametrize("words", REFUSALS)
def test_no_wording_of_a_refusal_is_silent(
    words: str, refusals: tuple[compliance.Audit, compliance.Audit]
) -> None:
    """Nobody mapped it: later calls are uncertain, unless a request among the known codes makes them worse."""
    audit = refusals[0]
    found = audit.findings[audit.findings["check"] == "listed_number"].set_index("call_id")
    unmapped = audit.parts["unmapped"].set_index("disposition")["like_refusal"]
    if words in unmapped.index:
        assert unmapped[words]
        assert found.loc[words, "grade"] == "uncertain"
    else:
        assert found.loc[words, "grade"] in ("violation", "uncertain")
        assert "request" in found.loc[words, "reason"]


def test_a_wording_that_somebody_mapped_is_no_unmapped_one(
    refusals: tuple[compliance.Audit, compliance.Audit],
) -> None:
    """The notes of the other say which option takes a file of codes."""
    assert "file of codes" in " ".join(refusals[0].notes)
    assert len(refusals[0].parts["unmapped"]) >= 75
    assert refusals[1].parts["unmapped"].empty


def test_entries_of_the_firms_own_list_are_requests_with_who_and_when() -> None:
    """Given to the service or kept by the firm, they bind like any other request."""
    sources = dict(
        zip(
            (hand.NEW_YORK, hand.CHICAGO, hand.PHOENIX),
            ("dnc.add", "suppression", "event"),
            strict=True,
        )
    )
    told = pd.DataFrame(
        [{"phone": phone, "at": NOON - 60 * DAY, "ref": "An agent", "code": "opt_out", "source": source}
         for phone, source in sources.items()]
    )  # fmt: skip
    audit = _audit(
        [hand.call(phone, NOON) for phone in sources],
        *(hand.check(NOON - DAY, phone=phone) for phone in sources),
        practice=hand.declared(), events=told,
    )  # fmt: skip
    assert _counts(audit, "listed_number") == {"violation": 3}
    assert len(audit.parts["requests"]) == 3


def test_a_request_that_is_read_in_part_passes_no_call() -> None:
    """One without a time may have come before the call; one of which nobody can tell whose it is, is noted."""
    told = pd.DataFrame(
        {"phone": [hand.NEW_YORK, "+1 312-555-0142", None], "at": [None, NOON - 60 * DAY, NOON - 60 * DAY],
         "ref": "An agent", "code": "opt_out", "source": "suppression"}
    )  # fmt: skip
    phones = (hand.NEW_YORK, hand.PHOENIX)
    audit = _audit(
        [hand.call(phone, NOON) for phone in phones],
        *(hand.check(NOON - DAY, phone=phone) for phone in phones),
        practice=hand.declared(), events=told,
    )  # fmt: skip
    assert _counts(audit, "listed_number") == {"pass": 1, "uncertain": 1}
    found = audit.findings[audit.findings["check"] == "listed_number"]
    assert found["phone"].tolist() == [hand.NEW_YORK]
    assert [note[0] for note in audit.notes if "have no E.164 number" in note] == ["2"]


def test_requests_of_several_zones_are_read() -> None:
    """Frames put together hold their instants as objects."""
    asked = pd.Timestamp(NOON - 60 * DAY)
    told = pd.DataFrame({"phone": [hand.NEW_YORK, hand.CHICAGO], "ref": "r", "code": "opt_out"})
    told["at"] = [asked.tz_convert("Europe/Berlin"), asked.tz_convert("America/New_York")]
    assert told["at"].dtype == object
    calls = [hand.call(phone, NOON) for phone in told["phone"]]

    audit = _audit(calls, practice=hand.declared(), events=told)
    assert _counts(audit, "listed_number") == {"violation": 2}
    with pytest.raises(ConfigError, match="events: source 'fax' is not known"):
        _audit(calls, events=told.assign(source="fax"))


def test_a_number_given_to_the_service_stays_a_request_that_a_later_answer_cannot_undo() -> None:
    """`dnc.add` shows a request honored only as long as the service's own answers do not deny it."""
    cases = {
        # Checks after it (days, listed), further source on record: what the request is graded.
        "+12125550140": ([], None, "pass"),
        "+12125550141": ([(50, False)], None, "uncertain"),
        "+12125550142": ([(50, False), (40, True)], None, "pass"),
        "+12125550143": ([(50, True), (40, False)], None, "uncertain"),
        "+12125550144": ([(50, False)], "suppression", "pass"),
    }
    rows = [(phone, NOON - 60 * DAY, f"key {phone}", "letter", "dnc.add") for phone in cases]
    rows += [
        (phone, NOON - 59 * DAY, "An agent", "opt_out", further)
        for phone, (_, further, _) in cases.items() if further
    ]  # fmt: skip
    checks = [
        hand.check(NOON - days * DAY, phone=phone, listed=listed)
        for phone, (answers, _, _) in cases.items() for days, listed in answers
    ]  # fmt: skip
    audit = _audit(
        [hand.call(phone, NOON) for phone in cases], *checks, practice=hand.declared(),
        events=pd.DataFrame(rows, columns=["phone", "at", "ref", "code", "source"]),
    )  # fmt: skip
    requests = audit.parts["requests"]
    requests = requests[requests["request"].str.startswith("letter")].set_index("phone")
    assert dict(requests["grade"]) == {phone: grade for phone, (*_, grade) in cases.items()}
    assert "says not listed" in requests.loc["+12125550141", "reason"]
    # The calls after it stay violations, whatever a check said since.
    assert _counts(audit, "listed_number") == {"violation": 5}


def test_every_request_of_a_number_counts_and_not_the_first_alone() -> None:
    """France bars calls for 60 days after each refusal, so a second one starts anew."""
    phone, rules = "+33199001234", ["fr"]
    ask = [
        hand.call(phone, hand.utc(day), id=day, disposition="DNC")
        for day in ("2026-01-05T11:00", "2026-05-04T11:00")
    ]
    late = hand.call(phone, hand.utc("2026-06-01T10:00"), id="late")
    audit = _audit([*ask, late], rules=rules, practice=hand.declared())
    found = audit.findings[audit.findings["check"] == "listed_number"].set_index("call_id")
    assert found.loc["late", "grade"] == "violation"
    assert len(audit.parts["requests"]) == 2


def test_a_state_that_is_not_asked_is_counted_and_not_passed() -> None:
    """One state named does not silence the others."""
    rows = [hand.call("+14075550142", NOON, id="fl"), hand.call("+15125550142", NOON, id="tx")]
    audit = _audit(rows, rules=["us", "us-fl"])
    assert _counts(audit, "calling_hours") == {"pass": 1, "not_asked": 1}
    told = audit.parts["not_asked"]
    assert told.loc[told["jurisdiction"] == "US-TX", "calls"].tolist() == [1]
    assert any(note.startswith("Not asked:") and "us-tx (1)" in note for note in audit.notes)


def test_an_audit_of_nothing_says_so() -> None:
    """No call in the period, and no call at all; one rule is enough to ask."""
    asked = {"rules": ["us-tsr-hours"]}
    for at, since in ((NOON, hand.utc("2026-11-01")), (NOW + DAY, None)):
        audit = _audit([hand.call(at=at)], since=since, **asked)
        assert audit.gaps == ("there is no outbound call in the period",)
    assert _audit([], **asked).gaps == ("there is no call in the store",)
    assert _audit([hand.call(at=NOON)], **asked).gaps == ()


def test_the_reason_names_the_hours_of_the_rule_that_decides() -> None:
    """Pennsylvania is open 9 to 19 since 2026-10-18: a pass says so, not the federal hours."""
    call = hand.call("+12155550142", hand.utc("2026-10-19T16:00"))
    told = _audit([call], rules=["us", "us-pa"]).hours
    assert told["reason"].item().startswith("inside 09:00-19:00")


def test_a_practice_file_that_names_no_list_of_the_rules_is_refused() -> None:
    """A misspelled list would be a declaration of nothing."""
    text = practice_text([("US Nationl Registry", True, False, 1)], by="An officer", on=NOW.date())
    with pytest.raises(ConfigError, match="'US Nationl Registry' is not a list of the rules"):
        read_practice(text, ["US National DNC Registry"])
    assert read_practice("", []) == Practice()


#: A table of the firm's records with a slip in it, and what is said of that: a record in another form is not ignored.
SLIPS: dict[str, tuple[str, dict[str, object], str]] = {
    "consents, a number in another form": (
        "consents", {"phone": "212-555-0142", "kind": "written", "granted_at": NOON}, "row 1 has a phone that is no",
    ),
    "consents, another header": (
        "consents", {"phone": hand.NEW_YORK, "kind": "written", "Date": NOON}, "the column 'Date' is none of phone, kind",
    ),
    "requests, another header": (
        "events", {"phone": hand.NEW_YORK, "at": NOON, "ref": "1", "code": "opt_out", "origin": "dnc.add"},
        "events: the column 'origin' is none of phone, at, ref, code, source",
    ),
    "requests, no instant": (
        "events", {"phone": hand.NEW_YORK, "code": "opt_out"}, "the events frame has no column at",
    ),
    "requests, an instant without a zone": (
        "events", {"phone": hand.NEW_YORK, "at": "2026-06-15 16:00", "ref": None, "code": "opt_out"},
        "at of the events frame is not an instant with a time zone",
    ),
}  # fmt: skip


@every_row("slip", SLIPS)
def test_a_table_of_the_firm_that_is_not_read_whole_is_refused(slip: str) -> None:
    """A column or a value that nobody reads would be a record that is ignored."""
    table, record, words = SLIPS[slip]
    with pytest.raises(ConfigError, match=words):
        _audit([hand.call(at=NOON)], **{table: pd.DataFrame([record])})


GERMANY, TEXAS, SEATTLE = "+4930231251{:02}", "+151255501{:02}", "+120655501{:02}"
NEW_YORK = "+121255501{:02}"
CLEAN, LISTED, OLD = (-1, False), (-1, True), (-300, True)

#: Number, checks (days from the call, listed), what else is on record, and the grade.
LISTINGS = {
    # A mark on a lead breaks a rule only where one speaks of requests: none does in Germany.
    "marked": (NEW_YORK, [], "dnc", "violation"),
    "marked in Germany": (GERMANY, [], "dnc", "uncertain"),
    # A relationship lifts the national list; the answer may speak of that, or of that of Texas, which it lifts too.
    "a customer": (NEW_YORK, [LISTED], "ebr", "pass"),
    "a business": (TEXAS, [LISTED], "b2b", "uncertain"),
    "listed": (TEXAS, [LISTED], "", "violation"),
    # It lifts nothing of the firm's own list: on that one there has to be an answer, and no refusal.
    "a customer not listed": (NEW_YORK, [CLEAN], "ebr", "pass"),
    "a customer not checked": (NEW_YORK, [], "ebr", "not evaluable"),
    "a customer who refused": (NEW_YORK, [CLEAN], "ebr refused", "uncertain"),
    # What came off a list between an answer that is too old and the next may have come off before the call.
    "long ago": (NEW_YORK, [OLD], "", "violation"),
    "long ago, not soon after": (NEW_YORK, [OLD, (1, False)], "", "uncertain"),
    "long ago, not late after": (NEW_YORK, [OLD, (40, False)], "", "violation"),
    "the day before, not the day after": (NEW_YORK, [LISTED, (1, False)], "", "violation"),
    "the day before, not at the instant": (NEW_YORK, [LISTED, (0, False)], "", "uncertain"),
    # Which of an entry and a call at one instant came first nobody knows.
    "given at the instant": (NEW_YORK, [CLEAN], ("dnc.add", NOON), "uncertain"),
    "given after it": (NEW_YORK, [CLEAN], ("suppression", NOON + DAY / 86_400), "pass"),
    # A request whose time nobody wrote down may have come before any call.
    "asked, nobody knows when": (NEW_YORK, [CLEAN], "undated", "uncertain"),
    # 47 CFR 64.1200(d)(6): five years by the calendar, not of 365.25 days.
    "asked five years ago": (SEATTLE, [CLEAN], ("event", hand.utc("2021-06-15T16:00")), "violation"),
    "asked more than five years ago": (SEATTLE, [CLEAN], ("event", hand.utc("2021-06-15T15:59")), "uncertain"),
}  # fmt: skip


def _grades(audit: compliance.Audit, check: str, calls: Iterable[str]) -> dict[str, str]:
    """Id to grade of some calls; one without a finding passed."""
    found = audit.findings[audit.findings["check"] == check].set_index("call_id")["grade"]
    return {each: str(found.get(each, "pass")) for each in calls}


def test_a_listing_is_a_violation_of_a_rule_and_a_pass_rests_on_an_answer() -> None:
    """Neither a pass without an answer nor a violation without a rule that was broken for certain."""
    calls, checks, leads, lifted, told = [], [], [], [], []
    for n, (name, (form, answers, more, _)) in enumerate(LISTINGS.items()):
        phone = form.format(n)
        calls.append(hand.call(phone, NOON, id=name))
        checks += [
            hand.check(NOON + days * DAY, listed=said, phone=phone) for days, said in answers
        ]
        if isinstance(more, tuple):
            told.append((phone, more[1], name, "DNC", more[0]))
        elif more == "dnc":
            leads.append(hand.lead(phone, status="dnc"))
        elif more == "undated":
            calls.append(hand.call(phone, id="undated", disposition="DNC"))
        elif more:
            lifted.append({"code": more.split()[0], "phone": phone, "record": "contract 7"})
        if "refused" in more:
            calls.append(hand.call(phone, NOON - 60 * DAY, id="asked", disposition="Take me off"))
    records = {
        "exemptions": pd.DataFrame(lifted), "rules": ["us", "us-tx", "us-wa", "de"],
        "events": pd.DataFrame(told, columns=["phone", "at", "ref", "code", "source"]),
    }  # fmt: skip
    audit = _audit(calls, *checks, leads=leads, practice=hand.declared(), **records)
    wanted = {name: grade for name, (*_, grade) in LISTINGS.items()}
    assert _grades(audit, "listed_number", wanted) == wanted
    # Where no list is declared, the answer may be of the firm's own.
    audit = _audit(calls, *checks, **records)
    assert _grades(audit, "listed_number", ["a customer"]) == {"a customer": "uncertain"}


#: Consents of a number (days before the call, and what ended each), and the grade.
CONSENTS = {
    "one": ([(90, {})], "pass"),
    "one taken back": ([(90, {"revoked_at": 30})], "violation"),
    # A newer consent that ran out takes nothing from an older one that stands.
    "a newer one run out": ([(90, {}), (60, {"expires_at": 30})], "pass"),
    # Taken back in one record after another was given: which of the two was meant nobody knows.
    "an older one taken back since": ([(90, {"revoked_at": 30}), (60, {})], "uncertain"),
    "an older one taken back before": ([(90, {"revoked_at": 60}), (30, {})], "pass"),
    "taken back for this campaign": ([(90, {"revoked_at": 30, "revoked_for": "cmp_1"})], "violation"),
    "taken back for another": ([(90, {"revoked_at": 30, "revoked_for": "cmp_2"})], "uncertain"),
}  # fmt: skip


def test_of_several_consents_the_one_that_stands_counts() -> None:
    """Neither the newest alone, nor a word for another campaign; for a person's voice and an artificial one."""
    numbers = {name: NEW_YORK.format(n) for n, name in enumerate(CONSENTS)}
    rows = [
        {"phone": numbers[name], "kind": "written", "granted_at": NOON - days * DAY, "record": name}
        | {end: NOON - at * DAY if end.endswith("_at") else at for end, at in ends.items()}
        for name, (records, _) in CONSENTS.items() for days, ends in records
    ]  # fmt: skip
    firm = Practice(
        dialing="autodialer", line_types=dict.fromkeys(numbers.values(), "wireless"),
        conduct=Conduct(artificial_voice=True, voice_announced=True),
    )  # fmt: skip
    audit = _audit(
        [hand.call(phone, NOON, id=name, answered_at=NOON) for name, phone in numbers.items()],
        rules=["us-tcpa-wireless-consent", "us-ai-voice"], practice=firm, consents=pd.DataFrame(rows),
    )  # fmt: skip
    wanted = {name: grade for name, (_, grade) in CONSENTS.items()}
    for check in ("consent", "artificial_voice"):
        assert _grades(audit, check, wanted) == wanted


#: Campaign to dropped calls, live ones, those of which nobody says what came of them, grade and missing input.
SHARES: dict[str | None, tuple[int, int, int, str, str | None]] = {
    # All of the two may have been dropped, then it is 3 of 102; of three, then 4 of 103.
    "none untold": (1, 99, 0, "pass", None),
    "two untold": (1, 99, 2, "pass", None),
    "three untold": (1, 99, 3, "not evaluable", "the outcome of every answered call"),
    # None of the forty may have been, then it is 4 of 140.
    "thirty untold": (4, 96, 30, "violation", None),
    "forty untold": (4, 96, 40, "not evaluable", "the outcome of every answered call"),
    None: (9, 91, 0, "not evaluable", "campaign_id"),
}


def test_a_share_is_graded_by_all_that_may_have_been_dropped() -> None:
    """An answered call of which nobody says what came of it counts on the side that is worse for the grade."""
    rows, told = [], {}
    for campaign, (dropped, live, untold, *_) in SHARES.items():
        for n in range(dropped + live + untold):
            call = hand.call(
                NEW_YORK.format(n % 100), NOON, answered_at=NOON, campaign_id=campaign
            )
            rows.append(call | {"id": f"{campaign} {n}"})
            if n < dropped + live:
                told[f"{campaign} {n}"] = "dropped" if n < dropped else "live"
    shares = _audit(rows, practice=Practice(dialing="predictive"), outcomes=told).parts[
        "abandonment"
    ]
    given = zip(
        *(hand.missing(shares[name]) for name in ("campaign_id", "grade", "missing")), strict=True
    )
    assert set(given) == {(campaign, *row[3:]) for campaign, row in SHARES.items()}


def test_a_call_without_a_time_or_a_direction_may_have_been_an_attempt() -> None:
    """Three in 24 hours are allowed in Florida: with a fourth that nobody can place, no one of them passes."""
    rows = [
        hand.call("+1305555010" + number, NOON + n * DAY / 24, id=f"{number}{n}")
        for number in "123" for n in range(3)
    ]  # fmt: skip
    rows += [
        hand.call("+13055550101", id="when"),
        hand.call("+13055550102", NOON, id="how", direction=None),
    ]
    firm = Practice(dialing="autodialer")
    attempts = _audit(rows, rules=["us-fl"], practice=firm).parts["attempts"].set_index("call_id")
    found = {each: str(attempts.loc[each, "grade"]) for each in ("10", "12", "22", "32")}
    assert found == {"10": "pass", "12": "not evaluable", "22": "not evaluable", "32": "pass"}

"""An import sends every lead once, whatever happens on the way."""

from __future__ import annotations

import shutil
from collections.abc import Callable, Collection
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from dialframe.client import Options
from dialframe.contract.models.lead_models import Lead, LeadImport, LeadImportAnswer
from dialframe.contract.operations import Operation
from dialframe.errors import (
    ApiError,
    ConfigError,
    Conflict,
    FieldProblem,
    InvalidRequest,
    OutcomeUnknown,
    PermissionDenied,
    StoreError,
    TransportError,
)
from dialframe.evidence import EvidenceLog
from dialframe.files import alone
from dialframe.flows.import_batches import COLUMNS, Ledger, import_leads
from dialframe.flows.import_ledger import Journal
from dialframe.leads import LeadInput

CAMPAIGN = "cmp_00000000-0000-4000-8000-000000000003"
START = datetime(2026, 9, 14, 12, tzinfo=UTC)


class Answer:
    """What the client hands over: the parsed answer and its request id."""

    def __init__(self, value: LeadImportAnswer, request_id: str) -> None:
        self.value = value
        self.request_id = request_id


class Service:
    """Keeps every lead that it accepted, by key; fails where it is told to."""

    def __init__(self) -> None:
        self.answers: dict[str, LeadImportAnswer] = {}
        self.bodies: dict[str, list[str]] = {}
        self.imported: list[str] = []
        self.sent = 0
        self.trouble: Callable[[int], tuple[Exception, bool] | None] = lambda _: None
        self.spoil: Callable[[list[dict[str, Any]]], list[dict[str, Any]]] = lambda rows: rows
        self.shown: list[Lead] | Exception = []

    def send_raw(
        self, operation: Operation[Any, Any], request: LeadImport, options: Options
    ) -> Answer:
        assert operation.name == "leads.import"
        assert options.idempotency_key is not None
        key, body = options.idempotency_key, request.model_dump_json(exclude_unset=True)
        self.bodies.setdefault(key, []).append(body)
        self.sent += 1
        trouble = self.trouble(self.sent)
        if trouble is not None and not trouble[1]:
            raise trouble[0]
        if key not in self.answers:
            self.answers[key] = self._import(request)
        if trouble is not None:
            raise trouble[0]
        return Answer(self.answers[key], f"req_{self.sent}")

    def look(self, since: datetime) -> list[Lead]:
        if isinstance(self.shown, Exception):
            raise self.shown
        return [lead for lead in self.shown if lead.created_at >= since]

    def _import(self, request: LeadImport) -> LeadImportAnswer:
        data = []
        for index, lead in enumerate(request.leads):
            accepted = lead.phone not in self.imported
            if accepted:
                self.imported.append(lead.phone)
            data.append(
                {
                    "index": index,
                    "external_id": lead.external_id,
                    "status": "accepted" if accepted else "duplicate",
                    "reason": None if accepted else "duplicate_in_campaign",
                    "field": None,
                    "lead_id": f"lead_{lead.phone}" if accepted else None,
                }
            )
        accepted_count = sum(row["status"] == "accepted" for row in data)
        return LeadImportAnswer.model_validate(
            {
                "campaign_id": request.campaign_id,
                "data": self.spoil(data),
                "summary": {
                    "received": len(data),
                    "accepted": accepted_count,
                    "rejected": len(data) - accepted_count,
                },
            }
        )


@pytest.fixture
def service() -> Service:
    """A service into which nothing was imported yet."""
    return Service()


def _leads(count: int) -> list[LeadInput]:
    return [
        LeadInput("list.csv", n + 2, n + 1, {"phone": f"+1{n:010d}", "external_id": str(n)})
        for n in range(count)
    ]


def _lead(number: int, *, external_id: str | None = None) -> Lead:
    """A lead as the service lists it."""
    nothing = dict.fromkeys(name for name in Lead.model_fields)
    return Lead.model_validate(
        {
            **nothing,
            "id": f"lead_{number}",
            "phone": f"+1{number:010d}",
            "external_id": external_id or str(number),
            "status": "new",
            "attempts": 0,
            "created_at": START,
            "updated_at": START,
        }
    )


def _run(
    service: Service,
    folder: Path,
    leads: list[LeadInput],
    *,
    now: datetime = START,
    source: str = "file-1",
    listed: Collection[str] = (),
) -> Ledger:
    return import_leads(
        service,  # type: ignore[arg-type]
        leads,
        campaign_id=CAMPAIGN,
        source=source,
        plan=folder / "list.import.jsonl",
        log=EvidenceLog.beside(folder),
        now=lambda: now,
        listed=listed,
        look=service.look,
    )


def test_every_answer_is_joined_to_its_source_line(service: Service, tmp_path: Path) -> None:
    """450 leads go in three batches, and each row of the ledger names line, key and request."""
    ledger = _run(service, tmp_path, _leads(450))

    assert ledger.counts == {"sent": 450, "accepted": 450, "refused": 0, "unknown": 0}
    assert ledger.requests == service.sent == 3
    assert list(ledger.frame.columns) == list(COLUMNS)
    assert ledger.frame["_line"].tolist() == list(range(2, 452))
    assert ledger.frame["lead_id"].tolist() == [f"lead_+1{n:010d}" for n in range(450)]
    assert ledger.frame.groupby("batch")["key"].nunique().tolist() == [1, 1, 1]
    assert ledger.frame["key"].nunique() == 3


def test_finished_import_is_not_sent_again(service: Service, tmp_path: Path) -> None:
    """A second run of a finished import sends nothing and says the same."""
    first = _run(service, tmp_path, _leads(250))
    again = _run(service, tmp_path, _leads(250))

    assert again.requests == 0
    assert again.frame.equals(first.frame)


def test_lost_answer_is_asked_for_with_the_same_key_and_bytes(
    service: Service, tmp_path: Path
) -> None:
    """When the answer is lost after the write, the next run repeats the request exactly."""
    service.trouble = lambda n: (TransportError("cut", sent=True), True) if n == 2 else None
    with pytest.raises(TransportError):
        _run(service, tmp_path, _leads(450))
    ledger = _run(service, tmp_path, _leads(450))

    assert ledger.counts["accepted"] == 450
    assert len(service.imported) == len(set(service.imported)) == 450
    assert len(service.answers) == 3
    assert all(len(set(bodies)) == 1 for bodies in service.bodies.values())


def test_plan_survives_a_change_of_the_list(service: Service, tmp_path: Path) -> None:
    """A later run sends the plan that was begun, although screening now leaves out a lead."""
    service.trouble = lambda n: (TransportError("cut", sent=True), True) if n == 1 else None
    leads = _leads(250)
    with pytest.raises(TransportError):
        _run(service, tmp_path, leads)
    ledger = _run(service, tmp_path, leads[1:])

    assert ledger.counts["accepted"] == 250
    assert len(service.answers) == 2


def _unknown(code: str = "outcome_unknown") -> ApiError:
    kind = OutcomeUnknown if code == "outcome_unknown" else Conflict
    return kind("not known", code=code, status=409)


def test_outcome_unknown_is_set_aside_and_asked_with_its_own_key(
    service: Service, tmp_path: Path
) -> None:
    """The run that hears it goes on with the others; a later run asks with the same key and bytes."""
    service.trouble = lambda n: (_unknown(), True) if n == 1 else None
    ledger = _run(service, tmp_path, _leads(250))
    again = _run(service, tmp_path, _leads(250))

    assert ledger.counts == {"sent": 250, "accepted": 50, "refused": 0, "unknown": 200}
    assert ledger.frame["reason"].iloc[0] == "outcome_unknown"
    assert again.counts == {"sent": 250, "accepted": 250, "refused": 0, "unknown": 0}
    assert again.requests == 1
    assert len(service.bodies) == 2
    assert all(len(set(bodies)) == 1 for bodies in service.bodies.values())


@pytest.mark.parametrize("code", ["outcome_unknown", "idempotency_conflict"])
def test_what_stays_unknown_is_settled_by_a_look(
    service: Service, tmp_path: Path, code: str
) -> None:
    """In a later run the campaign tells of leads that are in it; of the others nobody knows."""
    service.trouble = lambda n: (_unknown(code), False)
    _run(service, tmp_path, _leads(10))
    service.shown = [_lead(1), _lead(2), _lead(3, external_id="somebody else's")]
    ledger = _run(service, tmp_path, _leads(10))
    once_more = _run(service, tmp_path, _leads(10))

    assert ledger.counts == {"sent": 10, "accepted": 2, "refused": 1, "unknown": 7}
    assert once_more.counts == ledger.counts
    reasons = ledger.frame["reason"].fillna("").tolist()
    assert reasons[:5] == [code, "", "", "duplicate_in_campaign", code]
    assert len(service.bodies) == 1


def test_a_look_that_fails_leaves_what_is_unknown(service: Service, tmp_path: Path) -> None:
    """Without the right to read leads an import ends as it would, with unknown ones."""
    service.trouble = lambda n: (_unknown(), False)
    _run(service, tmp_path, _leads(10))
    service.shown = PermissionDenied("scope", code="insufficient_scope", status=403)

    assert _run(service, tmp_path, _leads(10)).counts["unknown"] == 10


def test_key_older_than_a_day_is_not_used_again(service: Service, tmp_path: Path) -> None:
    """The service forgets a key after 24 hours, so an open batch is settled by a look alone."""
    service.trouble = lambda n: (TransportError("cut", sent=True), True) if n == 1 else None
    with pytest.raises(TransportError):
        _run(service, tmp_path, _leads(10))
    service.shown = PermissionDenied("scope", code="insufficient_scope", status=403)
    late = START + timedelta(hours=24)
    blind = _run(service, tmp_path, _leads(10), now=late)
    service.shown = [_lead(n) for n in range(9)]
    seen = _run(service, tmp_path, _leads(10), now=late)

    assert blind.counts == {"sent": 10, "accepted": 0, "refused": 0, "unknown": 10}
    assert set(blind.frame["reason"]) == {"key_expired"}
    assert seen.counts == {"sent": 10, "accepted": 9, "refused": 1, "unknown": 0}
    assert seen.frame["reason"].iloc[9] == "not_in_campaign"
    assert service.sent == 1


@pytest.mark.parametrize(
    ("spoil", "reason"),
    [
        (lambda rows: rows[1:], "no_result"),
        (lambda rows: [*rows, rows[0]], "two_results"),
        (lambda rows: [{**rows[0], "external_id": "other"}, *rows[1:]], "result_of_another_lead"),
    ],
    ids=["missing", "twice", "of another lead"],
)
def test_a_result_that_is_not_this_leads_makes_it_unknown(
    service: Service,
    tmp_path: Path,
    spoil: Callable[[list[dict[str, Any]]], list[dict[str, Any]]],
    reason: str,
) -> None:
    """Of a lead without exactly one result under its index nobody knows what became of it."""
    service.spoil = spoil
    ledger = _run(service, tmp_path, _leads(5))

    assert ledger.counts == {"sent": 5, "accepted": 4, "refused": 0, "unknown": 1}
    assert ledger.frame["reason"].iloc[0] == reason


def test_refused_batch_leaves_the_others(service: Service, tmp_path: Path) -> None:
    """A batch that is refused as a whole is refused in the ledger, by name where a pointer names it."""
    problems = (FieldProblem("/leads/3/custom_fields/City", "too_long"),)
    invalid = InvalidRequest("no", code="validation_failed", status=422, errors=problems)
    service.trouble = lambda n: (invalid, False) if n == 1 else None
    ledger = _run(service, tmp_path, _leads(250))

    assert ledger.counts == {"sent": 250, "accepted": 50, "refused": 200, "unknown": 0}
    assert set(ledger.frame["status"].head(200)) == {"batch_refused"}
    assert ledger.frame.loc[3, ["reason", "field"]].tolist() == ["too_long", "custom_fields.City"]
    assert ledger.frame["reason"].iloc[4] == "validation_failed"


def test_batch_after_batch_refused_ends_the_import(service: Service, tmp_path: Path) -> None:
    """Three refused batches in a row say that it is not the leads."""
    invalid = InvalidRequest("no", code="unsupported_media_type", status=415)
    service.trouble = lambda n: (invalid, False)

    with pytest.raises(InvalidRequest):
        _run(service, tmp_path, _leads(1000))
    assert service.sent == 3


def test_refused_state_is_asked_again_with_its_key_first(service: Service, tmp_path: Path) -> None:
    """A service that forgets refusals takes the batch under the key that it had."""
    running = Conflict("running", code="campaign_not_importable", status=409)
    service.trouble = lambda n: (running, False) if n == 1 else None
    with pytest.raises(Conflict):
        _run(service, tmp_path, _leads(10))
    ledger = _run(service, tmp_path, _leads(10))

    assert ledger.counts["accepted"] == 10
    assert len(service.bodies) == 1


def test_refused_state_that_the_key_repeats_goes_under_a_new_key(
    service: Service, tmp_path: Path
) -> None:
    """A service that keeps refusals under the key has written nothing: a new key may be used."""
    running = Conflict("running", code="campaign_not_importable", status=409)
    service.trouble = lambda n: (running, False) if n <= 2 else None
    with pytest.raises(Conflict):
        _run(service, tmp_path, _leads(10))
    ledger = _run(service, tmp_path, _leads(10))

    assert ledger.counts["accepted"] == 10
    assert len(service.bodies) == 2


def test_numbers_listed_meanwhile_are_not_sent(service: Service, tmp_path: Path) -> None:
    """What was not sent yet is held against the list again; what may have arrived is asked as it was."""
    service.trouble = lambda n: (TransportError("cut", sent=True), False) if n == 1 else None
    with pytest.raises(TransportError):
        _run(service, tmp_path, _leads(450))
    listed = [f"+1{n:010d}" for n in (5, 250, 251)]
    ledger = _run(service, tmp_path, _leads(450), listed=listed)
    again = _run(service, tmp_path, _leads(450), listed=[])

    assert ledger.counts == {"sent": 448, "accepted": 448, "refused": 0, "unknown": 0}
    assert ledger.not_sent == {"set_aside": 2, "waiting": 0}
    assert ledger.frame.loc[[250, 251], "status"].tolist() == ["on_dnc", "on_dnc"]
    assert ledger.frame.loc[252, "lead_id"] == "lead_+10000000252"
    assert again.frame.equals(ledger.frame)


def test_batch_of_listed_numbers_alone_is_not_sent(service: Service, tmp_path: Path) -> None:
    """When nothing of a batch may be sent, no request is made of it."""
    ledger = _run(service, tmp_path, _leads(3), listed=[f"+1{n:010d}" for n in range(3)])

    assert ledger.counts["sent"] == service.sent == 0
    assert ledger.not_sent == {"set_aside": 3, "waiting": 0}


def test_second_process_is_refused(service: Service, tmp_path: Path) -> None:
    """A journal is of one run at a time."""
    with (
        alone(tmp_path, ".list.import.jsonl.lock"),
        pytest.raises(StoreError, match="another run"),
    ):
        _run(service, tmp_path, _leads(3))
    assert _run(service, tmp_path, _leads(3)).counts["accepted"] == 3


def test_lead_that_no_request_carries_is_named_by_its_line(
    service: Service, tmp_path: Path
) -> None:
    """A lead out of the contract's bounds stops the plan before anything is sent."""
    leads = [LeadInput("list.csv", 7, 6, {"phone": "+12125550142", "email": "x" * 300})]

    with pytest.raises(ConfigError, match=r"list\.csv, line 7: email"):
        _run(service, tmp_path, leads)
    assert service.sent == 0


@pytest.mark.parametrize(
    "error",
    [
        Conflict("still running", code="conflict", status=409),
        PermissionDenied("scope", code="insufficient_scope", status=403),
        ApiError("odd", code="odd", status=418),
    ],
)
def test_key_stays_open_where_the_refusal_says_nothing_of_it(
    service: Service, tmp_path: Path, error: ApiError
) -> None:
    """What is refused before the key is looked at leaves the key to be asked with again."""
    service.trouble = lambda n: (error, False) if n == 1 else None
    with pytest.raises(type(error)):
        _run(service, tmp_path, _leads(10))
    _run(service, tmp_path, _leads(10))

    assert len(service.bodies) == 1


def test_plan_of_another_import_is_refused(service: Service, tmp_path: Path) -> None:
    """A plan is never continued with leads that are not its own."""
    _run(service, tmp_path, _leads(10))

    with pytest.raises(StoreError, match="belongs to an import of other leads"):
        _run(service, tmp_path, _leads(10), source="file-2")


def test_plan_is_for_its_owner_alone(service: Service, tmp_path: Path) -> None:
    """The plan holds numbers, so nobody else may read it."""
    _run(service, tmp_path, _leads(3))

    assert (tmp_path / "list.import.jsonl").stat().st_mode & 0o777 == 0o600


@pytest.mark.parametrize(
    ("harm", "words"),
    [
        (lambda plan: plan.write_text(plan.read_text().replace("{", "{half", 1)), "line 1"),
        (lambda plan: plan.write_text(plan.read_text().replace("+10", "+11", 1)), "not what was"),
        (lambda plan: plan.unlink(), "plan of an import is missing"),
        (lambda plan: shutil.rmtree(plan.parent / "evidence"), "knows nothing of"),
    ],
    ids=["torn", "changed", "deleted", "another log"],
)
def test_what_was_sent_is_not_sent_again_because_a_file_is_gone(
    service: Service, tmp_path: Path, harm: Callable[[Path], object], words: str
) -> None:
    """A plan that is damaged or gone, and a log that does not know it, stop an import whose outcome is open."""
    service.trouble = lambda n: (TransportError("cut", sent=True), True)
    with pytest.raises(TransportError):
        _run(service, tmp_path, _leads(3))
    harm(tmp_path / "list.import.jsonl")

    with pytest.raises(StoreError, match=words):
        _run(service, tmp_path, _leads(3))
    assert len(service.imported) == 3


def test_a_plan_that_was_not_begun_is_begun_anew(service: Service, tmp_path: Path) -> None:
    """A run that ended before anything was sent leaves nothing that holds up the next one."""
    log = EvidenceLog.beside(tmp_path)
    Journal(tmp_path / "list.import.jsonl", log).begin(START, CAMPAIGN, "file-1", [])
    (tmp_path / "list.import.jsonl").unlink()

    assert _run(service, tmp_path, _leads(3)).counts["accepted"] == 3


def test_the_log_says_of_each_number_what_became_of_it(service: Service, tmp_path: Path) -> None:
    """Number, campaign, request and outcome; a person who is forgotten leaves a mark, and the ledger stays."""
    first = _run(service, tmp_path, _leads(3))
    log = EvidenceLog.beside(tmp_path)
    (record,) = log.records(["import"], numbers=["+10000000002"])
    assert (record.list, record.request_id, record.detail["status"]) == (
        CAMPAIGN,
        "req_1",
        "accepted",
    )

    log.forget(["+10000000002"], START)
    again = _run(service, tmp_path, _leads(3))
    assert again.counts == first.counts
    assert again.frame["lead_id"].isna().tolist() == [False, False, True]


def test_large_leads_make_smaller_batches(service: Service, tmp_path: Path) -> None:
    """No request grows beyond a mebibyte, however large the custom fields are."""
    leads = [
        LeadInput(
            "list.csv", n, n, {"phone": f"+1{n:010d}", "custom_fields": {"note": "x" * 9000}}
        )
        for n in range(300)
    ]
    ledger = _run(service, tmp_path, leads)

    assert ledger.counts["accepted"] == 300
    assert all(len(body) < 1_048_576 for bodies in service.bodies.values() for body in bodies)


@given(
    count=st.integers(0, 900),
    cuts=st.lists(st.tuples(st.integers(1, 8), st.booleans()), max_size=4),
    torn=st.integers(1, 60),
)
def test_no_lead_is_lost_or_doubled_whatever_breaks(
    tmp_path_factory: pytest.TempPathFactory, count: int, cuts: list[tuple[int, bool]], torn: int
) -> None:
    """Cut connections before and after the write, and a log torn at its end, change nothing."""
    folder = tmp_path_factory.mktemp("import")
    service = Service()
    plan = dict(cuts)
    service.trouble = lambda n: (TransportError("cut"), plan[n]) if n in plan else None
    for _ in range(len(cuts) + 1):
        try:
            ledger = _run(service, folder, _leads(count))
            break
        except TransportError:
            # Half a batch of records, whose writer was killed.
            with EvidenceLog.beside(folder).path.open("ab") as file:
                file.write(
                    b'{"kind":"import","at":"2026-09-14T12:00:00.000000Z","number":"+1000'[:torn]
                )
    else:
        ledger = _run(service, folder, _leads(count))

    assert ledger.counts == {"sent": count, "accepted": count, "refused": 0, "unknown": 0}
    assert sorted(service.imported) == [f"+1{n:010d}" for n in range(count)]

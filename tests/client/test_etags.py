"""A change is made to what was read, or refused with what it has become."""

from __future__ import annotations

import gc
import pickle
from pathlib import Path

import pytest

from client.fakes import LEAD, Service, a_lead, a_page, an_id, answer, connected, problem
from dialframe.client import Options
from dialframe.client.send_operation import Etags
from dialframe.contract.models.lead_models import Lead
from dialframe.errors import ConfigError, PreconditionFailed

APPOINTMENT = an_id("appt")
BOOKED = {
    "id": APPOINTMENT, "status": "scheduled", "scheduled_at": "2026-12-01T10:00:00Z", "timezone": None,
    "duration_minutes": 30, "service_type": None, "contact_name": None, "phone": "+12125550142",
    "email": None, "notes": None, "source": "api", "created_at": "2026-11-20T15:04:05Z",
    "updated_at": "2026-11-20T15:04:05Z",
}  # fmt: skip


def test_value_that_was_read_brings_its_etag_along(tmp_path: Path) -> None:
    """If-Match is the ETag of just that reading, and each change gives a new one."""
    service = Service(
        answer(a_lead(), ETag='"1"'), answer(a_lead(), ETag='"2"'), answer(a_lead(), ETag='"3"')
    )
    client = connected(service, tmp_path)

    lead = client.leads.get(LEAD)
    changed = client.leads.update(LEAD, full_name="A", options=Options(if_match=lead))
    client.leads.update(LEAD, full_name="B", options=Options(if_match=changed))

    assert [r.headers.get("If-Match") for r in service.requests] == [None, '"1"', '"2"']
    assert (client.etag_of(lead), client.etag_of(changed)) == ('"1"', '"2"')


def test_nothing_is_matched_unless_it_is_asked_for(tmp_path: Path) -> None:
    """Having read a lead once binds nobody."""
    service = Service(answer(a_lead(), ETag='"1"'))
    client = connected(service, tmp_path)
    client.leads.get(LEAD)

    client.leads.update(LEAD, full_name=None)

    assert "If-Match" not in service.requests[-1].headers


def test_row_of_a_list_has_no_etag(tmp_path: Path) -> None:
    """The error says to read it by its id first."""
    service = Service(a_page([a_lead()]))
    client = connected(service, tmp_path)
    (lead,) = client.leads.list()

    with pytest.raises(ConfigError, match="without an ETag"):
        client.leads.update(LEAD, full_name="A", options=Options(if_match=lead))
    assert len(service.requests) == 1


def test_changed_lead_comes_fresh_with_the_error(tmp_path: Path) -> None:
    """412: the lead is read again, and its new ETag is known."""
    service = Service(
        problem(412, "precondition_failed"),
        answer(a_lead(full_name="Changed"), ETag='"9"'),
        answer(a_lead()),
    )
    client = connected(service, tmp_path)

    with pytest.raises(PreconditionFailed) as caught:
        client.leads.update(LEAD, full_name="Mine", options=Options(if_match='"1"'))
    fresh = caught.value.fresh  # type: ignore[attr-defined]
    client.leads.update(LEAD, full_name="Mine", options=Options(if_match=fresh))

    assert fresh.full_name == "Changed"
    assert service.requests[-1].headers["If-Match"] == '"9"'
    assert pickle.loads(pickle.dumps(caught.value)).fresh == fresh  # noqa: S301 - our own bytes


def test_changed_appointment_comes_fresh_with_the_error(tmp_path: Path) -> None:
    """Cancelling matches as updating does."""
    service = Service(
        answer(BOOKED, ETag='"1"'), problem(412, "precondition_failed"), answer(BOOKED, ETag='"2"')
    )
    client = connected(service, tmp_path)
    booked = client.appointments.get(APPOINTMENT)

    with pytest.raises(PreconditionFailed) as caught:
        client.appointments.cancel(APPOINTMENT, options=Options(if_match=booked))

    assert service.requests[1].headers["If-Match"] == '"1"'
    assert client.etag_of(caught.value.fresh) == '"2"'  # type: ignore[attr-defined]


def test_fresh_copy_that_cannot_be_read_is_none(tmp_path: Path) -> None:
    """The error is still the 412."""
    service = Service(problem(412, "precondition_failed"), problem(403, "insufficient_scope"))

    with pytest.raises(PreconditionFailed) as caught:
        connected(service, tmp_path).leads.update(
            LEAD, full_name="A", options=Options(if_match='"1"')
        )

    assert caught.value.fresh is None  # type: ignore[attr-defined]


def test_etags_keep_nothing_alive() -> None:
    """A value that is gone takes its ETag along, and its place may be taken."""
    etags = Etags()
    lead = Lead.model_validate(a_lead())
    twin = Lead.model_validate(a_lead())
    etags.remember(lead, '"1"')

    assert etags.of(lead) == '"1"'
    assert etags.of(twin) is None
    del lead
    gc.collect()
    assert not etags._known

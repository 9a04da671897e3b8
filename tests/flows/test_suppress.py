"""A push tells the service of every entry once, and goes on where it was."""

from __future__ import annotations

from datetime import UTC, date, datetime
from pathlib import Path

import pytest

from dialframe.errors import LeadFileError, OutcomeUnknown, Refused, TransportError
from dialframe.flows import suppression_import
from dialframe.flows.suppression_import import Pushed, push
from dialframe.suppression import Entry, SuppressionList

NOW = datetime(2026, 10, 3, tzinfo=UTC)
PHONES = [f"+1212555014{at}" for at in range(4)]


class Service:
    """Takes numbers, and fails where it is told to."""

    def __init__(self) -> None:
        self.added: list[tuple[str, str | None]] = []
        self.trouble: dict[str, Exception] = {}

    def add(self, phone: str, *, reason: str | None = None) -> None:
        if phone in self.trouble:
            raise self.trouble[phone]
        self.added.append((phone, reason))


@pytest.fixture
def listed(tmp_path: Path) -> SuppressionList:
    """Four numbers, and one of which only the hash is known."""
    own = SuppressionList.beside(tmp_path)
    own.add([Entry(phone, "opt_out", "autumn.csv", date(2026, 10, 1)) for phone in PHONES], NOW)
    own.add([Entry(None, "registry", "hashes.txt", date(2026, 10, 1), b"h" * 32)], NOW)
    return own


def test_every_number_is_pushed_once(listed: SuppressionList) -> None:
    """With why and since when; a hash cannot be pushed."""
    service = Service()
    assert push(listed, service, now=lambda: NOW) == Pushed(4, 0, 0)
    assert service.added == [(phone, "opt_out on 2026-10-01") for phone in PHONES]
    assert push(listed, service, now=lambda: NOW) == Pushed(0, 0, 0)


def test_what_is_refused_or_unknown_is_counted_and_asked_again(listed: SuppressionList) -> None:
    service = Service()
    unknown = OutcomeUnknown("may have happened", status=409, code="outcome_unknown", key="k")
    refused = Refused("no", status=422, code="blocked_country")
    service.trouble = {PHONES[1]: unknown, PHONES[2]: refused}
    assert push(listed, service, now=lambda: NOW) == Pushed(2, 1, 1)
    service.trouble = {}
    assert push(listed, service, now=lambda: NOW) == Pushed(2, 0, 0)


def test_a_lost_line_keeps_what_was_told(listed: SuppressionList) -> None:
    service = Service()
    service.trouble = {PHONES[2]: TransportError("the line is cut")}
    with pytest.raises(TransportError):
        push(listed, service, now=lambda: NOW)
    service.trouble = {}
    assert push(listed, service, now=lambda: NOW) == Pushed(2, 0, 0)
    assert [phone for phone, _ in service.added] == PHONES


def test_a_table_of_an_audit_is_a_file_of_numbers(tmp_path: Path) -> None:
    """Requests of an evidence pack, without a region; none at all is no error."""
    header = "phone,requested_at,request,due_at,unlisted_at,honored_at,grade,rule_id,citation,missing,reason"
    row = '{},2026-08-11 13:37:00.672+00:00,DNC on call_1,2026-08-26 03:59:59+00:00,,,violation,us-tcpa,"47 CFR 64.1200(d)(3), (d)(6)",,late'
    path = tmp_path / "internal_dnc.csv"
    path.write_text("\n".join([header, *map(row.format, PHONES)]) + "\n")
    assert suppression_import.read([path], region=None)[0].phones == tuple(PHONES)
    path.write_text(header + "\n")
    assert suppression_import.read([path], region=None)[0].phones == ()


def test_digits_that_are_two_numbers_bar_both(tmp_path: Path) -> None:
    """With the calling code and without its plus they are a national number as well."""
    path = tmp_path / "dnc.csv"
    path.write_text("Telefon\n4915123456789\n030 123456\n")

    assert set(suppression_import.read([path], region="DE")[0].phones) == {
        "+494915123456789", "+4915123456789", "+4930123456",
    }  # fmt: skip


def test_a_column_of_another_country_bars_its_numbers_there_too(tmp_path: Path) -> None:
    """The header knows better than the region given, which may be that of the other columns."""
    path = tmp_path / "dnc.csv"
    path.write_text("Mobil CH\n079 123 45 67\n")

    assert set(suppression_import.read([path], region="DE")[0].phones) == {
        "+49791234567",
        "+41791234567",
    }


@pytest.mark.parametrize(
    "header",
    ["area,number,date,change", "Area Code,Phone Number,Changed At,Action", "NPA,Telephone,Date,Operation"],
)  # fmt: skip
def test_a_change_list_with_a_header_takes_area_codes_as_part_of_the_number(
    tmp_path: Path, header: str
) -> None:
    path = tmp_path / "changes.csv"
    path.write_text(f"{header}\n212,7360010,2026-01-01,A\n212,7360011,2026-01-01,D\n")
    (changes,) = suppression_import.read([path], region="US")
    assert (changes.phones, changes.deleted) == (("+12127360010",), ("+12127360011",))


@pytest.mark.parametrize("text", ["phone,change\n12,A\n34,A\n", "Name,City\nAda,Oslo\nBob,Rome\n"])
def test_a_file_of_which_no_row_can_be_read_is_refused_without_asking_for_the_region_again(
    tmp_path: Path, text: str
) -> None:
    """It would suppress nobody, and whoever gave it believes that it does."""
    path = tmp_path / "dnc.csv"
    path.write_text(text)
    with pytest.raises(LeadFileError, match="US") as refused:
        suppression_import.read([path], region="US")
    assert "region=" not in str(refused.value)

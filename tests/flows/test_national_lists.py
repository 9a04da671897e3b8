"""Forty national lists in no, a wrong and the right region, then imported: no number is read in a wrong country."""

from __future__ import annotations

import csv
from collections import Counter
from collections.abc import Iterator
from datetime import UTC, datetime
from pathlib import Path

import phonenumbers
import pytest

from dialframe import leads, sandbox
from dialframe.account import Account, connect
from dialframe.errors import LeadFileError
from dialframe.flows import lead_cleaning
from dialframe.flows.lead_cleaning import Recipe
from dialframe.flows.lead_import import bring_in
from leads.national_lists import COUNTRIES, bare_list, made_list

CODE = phonenumbers.country_code_for_region
ROWS = 12


def rows_of(path: Path) -> list[dict[str, str]]:
    """The records of a clean list."""
    with path.open(encoding="utf-8-sig", newline="") as file:
        return list(csv.DictReader(file))


def numbers(path: Path, region: str | None, out: Path) -> list[str] | None:
    """The numbers of each record of the clean list, or None where it was refused."""
    try:
        result = lead_cleaning.clean([path], Recipe(region), out)
    except LeadFileError as problem:
        assert "--region" in str(problem)  # noqa: PT017 - every refusal names the option
        assert not list(out.glob("*.csv"))
        return None
    return [row["phone"] for row in rows_of(result.paths["clean"])]


def wrong(found: dict[str, list[str]]) -> list[tuple[str, str]]:
    """Numbers that their record does not have, by country."""
    return [
        (region, phone)
        for region, phones in found.items()
        for phone, own in zip(phones, made_list(region, ROWS).numbers, strict=True)
        if phone not in own
    ]


@pytest.fixture(scope="module")
def lists(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Path]:
    """Files of all countries."""
    folder = tmp_path_factory.mktemp("lists")
    paths = {region: folder / f"{region}.csv" for region in COUNTRIES}
    for region, path in paths.items():
        path.write_text(made_list(region, ROWS).text, encoding="utf-8")
    return paths


@pytest.fixture(scope="module")
def cleaned(
    lists: dict[str, Path], tmp_path_factory: pytest.TempPathFactory
) -> dict[str, list[str]]:
    """Each list cleaned in its own region, into one folder."""
    out = tmp_path_factory.mktemp("right")
    found = {region: numbers(path, region, out) for region, path in lists.items()}
    assert all(found.values())
    return {region: own or [] for region, own in found.items()}


@pytest.fixture(scope="module")
def account(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Account]:
    """An account of a sandbox."""
    with (
        sandbox.start(seed=7, size="tiny") as service,
        connect(
            service.base_url, service.api_key, tmp_path_factory.mktemp("store"), environment={}
        ) as opened,
    ):
        yield opened


def test_the_right_region_gives_every_number(cleaned: dict[str, list[str]]) -> None:
    """A number of its record for each, as E.164."""
    assert wrong(cleaned) == []


def test_without_a_region_a_list_is_refused(lists: dict[str, Path], tmp_path: Path) -> None:
    """Its cities, post codes and mails decide nothing: somebody is asked."""
    assert {numbers(path, None, tmp_path / "out") is None for path in lists.values()} == {True}


def test_in_a_wrong_region_a_list_is_refused_or_said_with_its_share(
    lists: dict[str, Path],
) -> None:
    """Below half of the numbers nothing is written; the right region stands beside the others that fit."""
    for region, path in lists.items():
        decision = leads.decide_region(leads.read(path), "US")
        if decision.against is None and decision.numbers:
            assert f"{decision.fit:.0%} of them fit its plan" in decision.in_words()
        right = leads.decide_region(leads.read(path), region)
        assert right.against is None, region
        assert right.fit >= 0.8, region


def test_names_and_numbers_alone_are_refused_or_right(tmp_path: Path) -> None:
    """Without a region nobody guesses."""
    for region in ("CO", "MX", "IN", "GB", "DE", "PH"):
        path = tmp_path / f"{region}.csv"
        path.write_text(bare_list(region, ROWS), encoding="utf-8")
        assert numbers(path, None, tmp_path / region) is None


def test_clean_lists_are_imported_bit_for_bit(
    lists: dict[str, Path],
    cleaned: dict[str, list[str]],
    account: Account,
    tmp_path_factory: pytest.TempPathFactory,
    tmp_path: Path,
) -> None:
    """Forty clean lists in one import, in whatever region; an edited `phone` wins."""
    folder = next(tmp_path_factory.getbasetemp().glob("right*"))
    paths = [folder / f"{region}.clean.csv" for region in cleaned]
    edited = folder / "DK.clean.csv"
    text = edited.read_text(encoding="utf-8-sig")
    first = rows_of(edited)[0]["phone"]
    edited.write_text(text.replace(first, "+4532123456", 1), encoding="utf-8-sig")
    wanted = Counter(row["phone"] for path in paths for row in rows_of(path))
    campaign = next(
        one.id for one in account.client.campaigns.list() if one.status in ("draft", "ready")
    )

    brought = bring_in(
        paths,
        Recipe("US", max_age=None),
        account,
        campaign_id=campaign,
        out=tmp_path,
        now=lambda: datetime.now(UTC),
        keep=[],
    )

    held_back = set(brought.result.screening.barred if brought.result.screening else ())
    sent = Counter(
        lead.phone
        for lead in account.client.leads.list(campaign_id=campaign)
        if lead.phone in wanted
    )
    assert "+4532123456" in sent
    assert set(sent) == set(wanted) - held_back
    assert brought.ledger is not None
    assert brought.ledger.counts["unknown"] == 0

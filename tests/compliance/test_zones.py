"""Where a number may be: the packaged tables against the library, and every known trap."""

from __future__ import annotations

import csv
from collections import Counter
from collections.abc import Sequence
from datetime import datetime, timedelta
from importlib import resources
from zoneinfo import ZoneInfo, available_timezones

import pandas as pd
import phonenumbers
import pytest
from hypothesis import given
from hypothesis import strategies as st
from phonenumbers import PhoneNumber, PhoneNumberType
from phonenumbers.timezone import time_zones_for_geographical_number, time_zones_for_number

from compliance import hand
from dialframe.flows import firm_records
from dialframe.phones import zones
from dialframe.phones.zones import NO_NUMBER, NO_ZONE, of_number, states_by_number

EASTERN, CENTRAL, MOUNTAIN = "America/New_York", "America/Chicago", "America/Denver"
PACIFIC, BOISE = "America/Los_Angeles", "America/Boise"

KINDS = {
    PhoneNumberType.TOLL_FREE: "toll free",
    PhoneNumberType.PREMIUM_RATE: "premium rate",
    PhoneNumberType.PERSONAL_NUMBER: "personal",
    PhoneNumberType.VOIP: "non-geographic",
}
OVERLAYS = {
    "364": "270",
    "448": "850",
    "458": "541",
    "689": "407",
    "729": "423",
    "930": "812",
    "986": "208",
    **dict.fromkeys(("236", "257", "672", "778"), "250"),
    **dict.fromkeys(("367", "581"), "418"),
    **dict.fromkeys(("474", "639"), "306"),
    "879": "709",
}
MIXED = "208 219 270 308 423 541 574 605 606 620 701 775 785 812 850 906 907 928 986"
MANY_ZONES = 10
_US = ("geographic", "US")


def _library(code: int, exchanges: Sequence[int]) -> tuple[str, str, str] | None:
    """What the library says of one area code over some exchanges: kind, region, zones."""
    found: set[str] = set()
    regions: Counter[str] = Counter()
    types: Counter[int] = Counter()
    for exchange in exchanges:
        number = PhoneNumber(country_code=1, national_number=code * 10**7 + exchange * 10**4 + 123)
        names = time_zones_for_geographical_number(number)
        found |= set(names) if len(names) < MANY_ZONES else set()
        if exchange % 40 == 1:
            region = phonenumbers.region_code_for_number(number)
            regions.update([region] if region else [])
            types[phonenumbers.number_type(number)] += 1
    if not regions and not found:
        return None
    kind = "geographic" if found else KINDS[types.most_common(1)[0][0]]
    return kind, regions.most_common(1)[0][0], "|".join(sorted(found))


def test_the_table_of_area_codes_is_what_the_library_says() -> None:
    """Over all 800 exchanges of each code; what is not in the table is no code to the library.

    729 is the exception: the library does not know it, and it has no zones of its own.
    """
    packaged = resources.files("dialframe.phones") / "data" / "area_codes.csv"
    rows = list(csv.DictReader(packaged.read_text("utf-8").splitlines()))
    ours = {row["area_code"]: (row["kind"], row["region"], row["zones"]) for row in rows}
    assert ours.pop("729") == ("geographic", "US", "")
    every = range(200, 1000)
    for code in every:
        known = str(code) in ours
        assert ours.get(str(code)) == _library(code, every if known else every[1::40]), code
    assert {row["area_code"]: row["overlay_of"] for row in rows if row["overlay_of"]} == OVERLAYS


def test_nineteen_area_codes_have_more_than_one_zone() -> None:
    """The codes over which a zone boundary runs, by the library's data."""
    us = [code for code in zones.area_codes().values() if code.region == "US"]
    assert " ".join(code.code for code in us if len(code.zones) > 1) == MIXED


@pytest.mark.parametrize(
    ("overlay", "parent", "names"),
    [
        ("448", "850", {CENTRAL, EASTERN}),
        ("364", "270", {CENTRAL, EASTERN}),
        ("930", "812", {CENTRAL, EASTERN}),
        ("458", "541", {MOUNTAIN, PACIFIC}),
        ("729", "423", {CENTRAL, EASTERN}),
        ("986", "208", {BOISE, MOUNTAIN, PACIFIC}),
        ("236", "250", {"America/Edmonton", "America/Vancouver"}),
        ("778", "250", {"America/Edmonton", "America/Vancouver"}),
        ("367", "418", {"America/Halifax", "America/Toronto"}),
        ("581", "418", {"America/Halifax", "America/Toronto"}),
    ],
)
def test_an_overlay_may_be_wherever_its_parent_may(
    overlay: str, parent: str, names: set[str]
) -> None:
    """The library knows an overlay less well than the code it lies on; both give the same zones."""
    own = time_zones_for_number(phonenumbers.parse(f"+1{overlay}5550142"))
    assert set(own) != names
    assert set(of_number(f"+1{overlay}5550142").names) == names
    assert set(of_number(f"+1{parent}5550142").names) == names
    assert of_number(f"+1{overlay}5550142").source == f"area code + overlay of {parent}"


def test_a_wrong_zone_of_the_library_does_not_stand_alone() -> None:
    """689 lies on 407 (Orlando, Eastern); the library says Central, so both are candidates."""
    assert of_number("+16895550142").names == (CENTRAL, EASTERN)
    assert of_number("+14075550142").names == (EASTERN,)


def test_saskatchewan_keeps_no_summer_time_whatever_the_library_says_of_its_newest_code() -> None:
    """474 lies on 306 (Regina, never changed); the library says Winnipeg, an hour ahead in summer."""
    assert of_number("+14745550142").names == ("America/Regina", "America/Winnipeg")
    assert of_number("+13065550142").names == ("America/Regina",)


def test_queensland_keeps_no_summer_time_whatever_the_library_says_of_its_numbers() -> None:
    """The library gives Cairns and Townsville the time of Sydney; Brisbane is a candidate too."""
    number = "+61755501234"
    assert time_zones_for_number(phonenumbers.parse(number)) == ("Australia/Sydney",)
    assert of_number(number).names == ("Australia/Brisbane", "Australia/Sydney")
    assert of_number("+61255501234").names == ("Australia/Sydney",)


def test_one_number_of_a_mixed_code_keeps_every_zone_of_the_code() -> None:
    """The library gives +1 850 555 one zone; Florida's panhandle has two."""
    number = phonenumbers.parse(hand.FLORIDA_PANHANDLE)
    assert time_zones_for_number(number) == (EASTERN,)
    assert of_number(hand.FLORIDA_PANHANDLE).names == (CENTRAL, EASTERN)


@pytest.mark.parametrize(
    ("state", "names"),
    [
        ("FL", {EASTERN, CENTRAL}),
        ("TN", {EASTERN, CENTRAL}),
        ("KY", {EASTERN, CENTRAL}),
        ("IN", {EASTERN, CENTRAL}),
        ("MI", {EASTERN, CENTRAL}),
        ("TX", {CENTRAL, MOUNTAIN}),
        ("ND", {CENTRAL, MOUNTAIN}),
        ("SD", {CENTRAL, MOUNTAIN}),
        ("NE", {CENTRAL, MOUNTAIN}),
        ("KS", {CENTRAL, MOUNTAIN}),
        ("OR", {BOISE, PACIFIC}),
        ("ID", {BOISE, PACIFIC}),
        ("NV", {MOUNTAIN, PACIFIC}),
        ("AZ", {MOUNTAIN, "America/Phoenix"}),
        ("AK", {"America/Adak", "America/Anchorage", "America/Juneau"}),
        ("HI", {"Pacific/Honolulu"}),
        ("PR", {"America/Puerto_Rico"}),
    ],
)
def test_a_state_gives_all_its_zones(state: str, names: set[str]) -> None:
    """A state is known, a town is not: every zone of the state is a candidate."""
    found = of_number(hand.TOLL_FREE, state)
    assert set(found.names) == names
    assert (found.source, found.confidence) == (f"state {state}", "low")


def _behaves(zone: str) -> tuple[timedelta | None, ...]:
    return tuple(datetime(2026, month, 15, tzinfo=ZoneInfo(zone)).utcoffset() for month in (1, 7))


def test_no_area_code_has_a_zone_that_its_state_does_not_have() -> None:
    """Area codes and states were gathered apart; by the geocoder's state they agree."""
    # Its tables take a second to load.
    from phonenumbers import geocoder

    named = {code: code for code in zones.state_zones()}
    told: dict[str, str] = {}
    us = [a.code for a in zones.area_codes().values() if (a.kind, a.region) == _US]
    for code in us:
        states: Counter[str] = Counter()
        for exchange in range(200, 1000, 25):
            number = PhoneNumber(country_code=1, national_number=int(f"{code}{exchange}0123"))
            words = geocoder.description_for_number(number, "en").split(",")[-1].strip()
            state = named.get(words) or zones.state_code(words.removesuffix(" State"))
            states.update([state] if state else [])
        if states:
            told[code] = states.most_common(1)[0][0]
    assert set(us) - set(told) == {"729"}
    for code, state in told.items():
        ours = {_behaves(zone) for zone in zones.area_codes()[code].zones}
        # The library files a part of the Aleutians under Honolulu, which is not Alaskan time.
        known = {_behaves(zone) for zone in zones.state_zones()[state]}
        known |= {_behaves("Pacific/Honolulu")} if state == "AK" else set()
        assert ours <= known, (code, state)


def test_every_zone_of_the_tables_exists() -> None:
    """Each name opens as a zone."""
    named = {zone for area in zones.area_codes().values() for zone in area.zones}
    named |= {zone for names in zones.state_zones().values() for zone in names}
    assert named <= available_timezones()


@pytest.mark.parametrize(
    ("phone", "missing", "reason", "regions"),
    [
        (hand.TOLL_FREE, NO_ZONE, "area code 800 is toll free and has no place", ("US",)),
        ("+15005550142", NO_ZONE, "area code 500 is personal and has no place", ("US",)),
        ("+19005550142", NO_ZONE, "area code 900 is premium rate and has no place", ("US",)),
        ("+17105550142", NO_ZONE, "area code 710 is not in the table of area codes", ("US",)),
        (
            "+881612345678",
            NO_ZONE,
            "the number has no place, or is not a number of its plan",
            (),
        ),
        (
            "+5215512345678",
            NO_ZONE,
            "the number of MX has no place, or is not a number of its plan",
            ("MX",),
        ),
        ("+999123456789", NO_ZONE, "the number begins with no country code that is in use", ()),
        ("+16462", NO_NUMBER, "to_number is not a whole E.164 number", ()),
        ("2125550142", NO_NUMBER, "to_number is not a whole E.164 number", ()),
        ("+1212555014", NO_NUMBER, "to_number is not a whole E.164 number", ()),
        ("+1212555O142", NO_NUMBER, "to_number is not a whole E.164 number", ()),
        ("+1212555014٣", NO_NUMBER, "to_number is not a whole E.164 number", ()),
        ("", NO_NUMBER, "to_number is not a whole E.164 number", ()),
    ],
)
def test_a_number_without_a_place_has_no_zone(
    phone: str, missing: str, reason: str, regions: tuple[str, ...]
) -> None:
    """The whole list of a country is no answer; the missing input is named, the country kept."""
    found = of_number(phone)
    assert (found.names, found.source, found.confidence) == ((), "none", "none")
    assert (found.missing, found.reason, found.regions) == (missing, reason, regions)


def test_a_state_never_makes_a_foreign_number_a_us_one() -> None:
    """A lead that names Florida adds neither its zones nor its rules to Toronto or London."""
    for phone in (hand.TORONTO, hand.LONDON):
        assert of_number(phone, "FL") == of_number(phone)
        assert not [region for region in of_number(phone).regions if region.startswith("US")]


def test_territories_are_in_the_united_states() -> None:
    """Puerto Rico, the Virgin Islands, Guam, the Marianas and American Samoa."""
    found = {code: of_number(f"+1{code}5550142").names for code in ("787", "340", "671", "670")}
    assert found == {
        "787": ("America/Puerto_Rico",),
        "340": ("America/St_Thomas",),
        "671": ("Pacific/Guam",),
        "670": ("Pacific/Saipan",),
    }
    assert of_number("+16845550142").names == ("Pacific/Pago_Pago",)


def test_a_state_beside_an_area_code_adds_and_never_narrows() -> None:
    """Agreement raises the confidence, disagreement keeps both and says so."""
    assert of_number(hand.FLORIDA_PANHANDLE, "FL").confidence == "high"
    assert of_number(hand.FLORIDA_PANHANDLE, "FL").names == (CENTRAL, EASTERN)
    moved = of_number(hand.NEW_YORK, "California")
    assert (moved.names, moved.confidence) == ((PACIFIC, EASTERN), "low")
    assert moved.source == "area code + state CA"
    assert moved.reason == "area code and state disagree"
    odd = of_number(hand.NEW_YORK, "Ontario")
    assert (odd.names, odd.confidence) == ((EASTERN,), "medium")
    assert odd.reason == "'Ontario' is not a US state"


@pytest.mark.parametrize(
    ("text", "code"),
    [
        ("fl", "FL"),
        ("US-FL", "FL"),
        (" Florida ", "FL"),
        ("north carolina", "NC"),
        ("N.C.", None),
        ("Washington, D.C.", "DC"),
        ("Washington", "WA"),
        ("District of Columbia", "DC"),
        ("U.S. Virgin Islands", "VI"),
        ("ON", None),
        ("", None),
    ],
)
def test_states_are_read_by_code_and_by_name(text: str, code: str | None) -> None:
    """A spelling that is not sure is no state."""
    assert zones.state_code(text) == code


def test_states_come_from_a_custom_field_and_all_of_them_count() -> None:
    """Two leads of one number in two states give the zones of both."""
    people = hand.leads(
        hand.lead(hand.CHICAGO, id="lead_1", custom_fields={"state": "IL"}),
        hand.lead(hand.CHICAGO, id="lead_2", custom_fields={"state": "CO"}),
        hand.lead(hand.NEW_YORK, custom_fields={"city": "New York"}),
        hand.lead(None, custom_fields={"state": "TX"}),
    )
    states, fields = firm_records.find_states(people, "state")
    assert states is not None
    assert list(fields) == ["state"]
    assert list(states.items()) == [(hand.CHICAGO, "IL"), (hand.CHICAGO, "CO")]
    named = states_by_number(states)
    assert of_number(hand.CHICAGO, named[hand.CHICAGO]).names == (CENTRAL, MOUNTAIN)
    assert of_number(hand.NEW_YORK, named.get(hand.NEW_YORK, ())).names == (EASTERN,)


def test_values_that_are_no_state_are_named() -> None:
    """What was ignored can be told."""
    given_ = pd.Series(["FL", "Bavaria", "ON", "Bavaria"], index=list("abcd"))
    assert zones.unknown_states(given_) == ["Bavaria", "ON"]
    assert zones.unknown_states(None) == []


CODES = st.sampled_from(sorted(zones.area_codes()))
PHONES = st.builds(lambda code, line: f"+1{code}55501{line:02d}", CODES, st.integers(0, 99))
STATES = st.sampled_from([*sorted(zones.state_zones()), "Nowhere"])


@given(PHONES, st.lists(STATES, max_size=3))
def test_knowing_more_never_takes_a_zone_away(phone: str, states: list[str]) -> None:
    """A state adds its zones to a US number and leaves the others."""
    alone, more = of_number(phone), of_number(phone, states)
    assert set(alone.names) <= set(more.names)
    own = {region.removeprefix("US-") for region in alone.regions} if alone.names else set()
    known = {
        zone for state in states if state not in own for zone in zones.state_zones().get(state, ())
    }
    assert "US" not in alone.regions or known <= set(more.names)


@pytest.mark.parametrize(
    ("phone", "state", "names"),
    [
        # San Antonio is in Texas, which has a corner in Mountain time: who says Texas says nothing new.
        ("+12105550142", "TX", (CENTRAL,)),
        ("+12105550142", "Texas", (CENTRAL,)),
        # El Paso's ZIP code may be that corner, and Colorado is another state.
        ("+12105550142", "79901", (CENTRAL, "America/Denver")),
        ("+12105550142", "CO", (CENTRAL, "America/Denver")),
        # A number without a place is wherever the state is.
        (hand.TOLL_FREE, "TX", (CENTRAL, "America/Denver")),
        (hand.FLORIDA_PANHANDLE, "FL", (CENTRAL, EASTERN)),
    ],
)
def test_a_state_that_agrees_with_the_number_widens_nothing(
    phone: str, state: str, names: tuple[str, ...]
) -> None:
    """More evidence for the same place never turns a violation into a doubt."""
    assert of_number(phone, state).names == names


@given(st.lists(st.tuples(PHONES, STATES | st.none()), max_size=30))
def test_many_numbers_are_as_each_alone(pairs: list[tuple[str, str | None]]) -> None:
    """Looking up once per case changes nothing."""
    given_ = pd.Series([s for _, s in pairs], index=[p for p, _ in pairs], dtype="str")
    phones = pd.Series([phone for phone, _ in pairs], dtype="str")
    placed = zones.place(phones, given_)
    for phone, code in zip(phones, placed.codes, strict=True):
        mine = sorted({state for other, state in pairs if other == phone and state})
        assert placed.kinds[code] == of_number(phone, mine)


@pytest.mark.parametrize(
    ("phone", "names", "regions", "line"),
    [
        (hand.TORONTO, ["America/Toronto"], ("CA",), "unknown"),
        (hand.LONDON, ["Europe/London"], ("GB",), "fixed"),
        ("+61255500123", ["Australia/Sydney"], ("AU",), "fixed"),
        ("+33199001234", ["Europe/Paris"], ("FR",), "fixed"),
        ("+262692123456", ["Indian/Mayotte", "Indian/Reunion"], ("FR", "RE"), "mobile"),
        ("+447700900123", None, ("GB",), "unknown"),
    ],
)
def test_numbers_of_other_plans_have_zones_and_regions(
    phone: str, names: list[str] | None, regions: tuple[str, ...], line: str
) -> None:
    """By prefix where the number has a place, by country where it has none."""
    found = of_number(phone)
    assert found.names
    assert names is None or list(found.names) == names
    assert (found.regions, found.line_type) == (regions, line)


def test_an_australian_mobile_may_be_in_every_zone_of_its_country() -> None:
    """Eight zones, from the Cocos Islands to Lord Howe."""
    assert len(of_number("+61491570006").names) == 8


@pytest.mark.parametrize(
    ("zip_code", "state"),
    [("33101", "FL"), ("10001-1234", "NY"), ("100011234", "NY"), ("88510", "TX"), ("99501", "AK")],
)
def test_a_zip_code_names_its_state(zip_code: str, state: str) -> None:
    """Five digits or nine."""
    assert zones.state_code(zip_code) == state
    assert f"US-{state}" in of_number(hand.TOLL_FREE, zip_code).regions


def test_a_state_that_only_the_area_code_names_is_doubtful_beside_a_known_one() -> None:
    """Both states' rules are asked; the one that nobody knows of is marked."""
    found = of_number(hand.NEW_YORK, "FL")
    assert found.regions == ("US", "US-FL", "US-NY")
    assert found.doubtful == ("US-NY",)
    assert of_number(hand.NEW_YORK, "NY").doubtful == ()


@given(st.lists(PHONES | st.sampled_from(["", "x", "+447700900123", "+61491570006"]), max_size=40))
def test_placing_many_is_placing_each(phones: list[str]) -> None:
    """The table of prefixes gives every number what it would get alone."""
    placed = zones.place(pd.Series(phones, dtype="str"))
    assert [placed.kinds[code] for code in placed.codes] == [of_number(p) for p in phones]
    numbers = zones.as_integers(pd.Series([*phones, None], dtype="str"))
    back = [zones.as_text(int(n)) for n in numbers]
    assert back == [p if p.startswith("+") else None for p in phones] + [None]

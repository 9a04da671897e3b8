"""Phone numbers as the service checks them: valid or not, country, time zones; keeps none."""

from __future__ import annotations

import datetime as dt
from dataclasses import dataclass
from zoneinfo import ZoneInfo

from dialframe.sandbox.settings import CallingHours

_UNKNOWN_ZONE = "Etc/Unknown"


@dataclass(frozen=True, slots=True)
class Number:
    """A number that could be read.

    Attributes:
        e164: Its E.164 form.
        country: ISO code, also of a number that is not valid where its calling code has one
            country alone; else None.
    """

    e164: str
    valid: bool
    country: str | None


def read(text: str) -> Number | None:
    """A number in international form, however it is punctuated, or None for anything else."""
    import phonenumbers

    try:
        number = phonenumbers.parse(text, None)
    except phonenumbers.NumberParseException:
        return None
    country = phonenumbers.region_code_for_number(number)
    countries = phonenumbers.region_codes_for_country_code(number.country_code or 0)
    if country is None and len(countries) == 1:
        country = countries[0]
    return Number(
        phonenumbers.format_number(number, phonenumbers.PhoneNumberFormat.E164),
        phonenumbers.is_valid_number(number),
        country,
    )


def zones(e164: str) -> tuple[str, ...]:
    """Every time zone that the called party may be in; none where that cannot be told."""
    import phonenumbers
    from phonenumbers import timezone

    try:
        found = timezone.time_zones_for_number(phonenumbers.parse(e164, None))
    except phonenumbers.NumberParseException:
        return ()
    return tuple(zone for zone in found if zone != _UNKNOWN_ZONE)


def within_hours(e164: str, hours: CallingHours, moment: dt.datetime) -> bool:
    """Whether a moment lies in the hours in every zone that the called party may be in.

    Hours that end before they start run over midnight. Without a known zone nothing is inside.
    """
    clocks = [f"{moment.astimezone(ZoneInfo(zone)):%H:%M}" for zone in zones(e164)]
    if hours.start <= hours.end:
        return bool(clocks) and all(hours.start <= clock < hours.end for clock in clocks)
    return bool(clocks) and all(clock >= hours.start or clock < hours.end for clock in clocks)

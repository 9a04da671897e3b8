"""When a live sales call to a home may start, written from the texts of the laws and not from the rule book.

One entry per place: a number, the clocks of that number, and the hours as the statute says them. The
book is compared with it minute by minute (`test_boundary_grid.py`). Nothing here imports the package.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from datetime import date, datetime, time, timedelta

MON, TUE, WED, THU, FRI, SAT, SUN = range(7)
OPEN, CLOSED, DOUBT = "pass", "violation", "uncertain"
Hours = Callable[[datetime], str]


def between(start: str, end: str, at: datetime) -> bool:
    """From the first minute of the start up to the last before the end."""
    return time.fromisoformat(start) <= at.time() < time.fromisoformat(end)


def daily(start: str, end: str) -> Hours:
    """The same hours on every day."""
    return lambda at: OPEN if between(start, end, at) else CLOSED


def federal(at: datetime) -> str:
    """16 CFR 310.4(c), 47 CFR 64.1200(c)(1): 8 a.m. to 9 p.m. at the called person's location."""
    return daily("08:00", "21:00")(at)


def easter(year: int) -> date:
    """Easter Sunday of the Gregorian calendar (Meeus, Jones, Butcher)."""
    a, b, c = year % 19, year // 100, year % 100
    d, e = divmod(b, 4)
    g = (b - (b + 8) // 25 + 1) // 3
    h = (19 * a + b - d - g + 15) % 30
    i, k = divmod(c, 4)
    m = (32 + 2 * e + 2 * i - h - k) % 7
    n = (a + 11 * h + 22 * m) // 451
    month, day = divmod(h + m - 7 * n + 114, 31)
    return date(year, month, day + 1)


def nth(year: int, month: int, weekday: int, number: int) -> date:
    """A weekday of a month; -1 is the last."""
    if number < 0:
        last = date(year + month // 12, month % 12 + 1, 1) - timedelta(days=1)
        return last - timedelta(days=(last.weekday() - weekday) % 7)
    first = date(year, month, 1)
    return first + timedelta(days=(weekday - first.weekday()) % 7 + 7 * (number - 1))


def moved(days: set[date], *, saturday: int = 0) -> set[date]:
    """Days with the Monday after those on a Sunday, and what a statute does with a Saturday."""
    more = {day + timedelta(days=1) for day in days if day.weekday() == SUN}
    if saturday:
        more |= {day + timedelta(days=saturday) for day in days if day.weekday() == SAT}
    return days | more


def common(year: int) -> set[date]:
    """New Year, King, Presidents, Memorial, Independence, Labor, Veterans, Thanksgiving, Christmas."""
    return {
        date(year, 1, 1), nth(year, 1, MON, 3), nth(year, 2, MON, 3), nth(year, 5, MON, -1),
        date(year, 7, 4), nth(year, 9, MON, 1), date(year, 11, 11), nth(year, 11, THU, 4),
        date(year, 12, 25),
    }  # fmt: skip


def election_day(year: int) -> date:
    """The Tuesday next after the first Monday of November."""
    return nth(year, 11, MON, 1) + timedelta(days=1)


def alabama(at: datetime) -> str:
    """Ala. Admin. Code r. 770-X-5-.17(2): Monday to Saturday 8 to 8, no Sundays, no holidays (Ala. Code 1-3-8)."""
    days: set[date] = set()
    for year in (at.year, at.year + 1):
        days |= common(year) | {nth(year, 4, MON, 4), nth(year, 6, MON, 1), nth(year, 10, MON, 2)}
    if (
        at.date() in moved(days, saturday=-1)
        or at.weekday() == SUN
        or not between("08:00", "20:00", at)
    ):
        return CLOSED
    juneteenth = moved({date(at.year, 6, 19)}, saturday=-1)
    mardi_gras = easter(at.year) - timedelta(days=47)
    parks = moved({date(at.year, 12, 1)}, saturday=-1)
    return DOUBT if at.date() in {*juneteenth, *parks, mardi_gras} else OPEN


def louisiana(at: datetime) -> str:
    """LPSC General Order R-29617 (V)(A)(2): Monday to Saturday 8 to 8, no Sundays, no legal holidays."""
    year = at.year
    certain = common(year) - {nth(year, 2, MON, 3)}
    certain |= {easter(year) - timedelta(days=47), easter(year) - timedelta(days=2)}
    if at.date() in certain or at.weekday() == SUN or not between("08:00", "20:00", at):
        return CLOSED
    disputed = {
        date(year, 1, 8), nth(year, 2, MON, 3), date(year, 6, 19), date(year, 8, 30),
        nth(year, 10, MON, 2), date(year, 11, 1), nth(year, 11, THU, 4) + timedelta(days=1),
    }  # fmt: skip
    disputed |= {date(2021, 1, 19), date(2022, 1, 19)}
    if year % 2 == 0:
        disputed.add(election_day(year))
    beside = {
        date(year, 1, 1),
        date(year, 6, 19),
        date(year, 7, 4),
        date(year, 11, 11),
        date(year, 12, 25),
    }
    beside |= {date(year + 1, 1, 1)}
    disputed |= moved(beside, saturday=-1) - beside
    return DOUBT if at.date() in disputed else OPEN


def pennsylvania(at: datetime) -> str:
    """73 P.S. 2245(a)(1), (10); from 2026-10-18 Act 47 of 2026. Holidays of 44 P.S. 11."""
    year = at.year
    days = common(year) | {
        easter(year) - timedelta(days=2), date(year, 6, 14), nth(year, 10, MON, 2), election_day(year),
    }  # fmt: skip
    new = at.date() >= date(2026, 10, 18)
    start, end = ("09:00", "19:00") if new else ("08:00", "21:00")
    if at.date() in days or not between(start, end, at) or (new and at.weekday() == SUN):
        return CLOSED
    sundays = {date(year, 1, 1), date(year, 7, 4), date(year, 11, 11), date(year, 12, 25)}
    doubt = moved(sundays | {date(year, 6, 19)}) - sundays
    doubt |= {date(year, 12, 15)}
    return DOUBT if at.date() in doubt else OPEN


def rhode_island(at: datetime) -> str:
    """R.I. Gen. Laws 5-61-2(2): Monday to Friday but state and federal holidays 9 to 6, Saturday 10 to 5."""
    year = at.year
    days = common(year) | {date(year, 5, 4), nth(year, 8, MON, 2), nth(year, 10, MON, 2)}
    days |= {date(year, 6, 19)} if at.date() >= date(2021, 6, 17) else set()
    days |= {election_day(year)} if year % 2 == 0 else set()
    if at.weekday() == SUN:
        return CLOSED
    if at.weekday() == SAT:
        if not between("10:00", "17:00", at):
            return CLOSED
        return DOUBT if at.date() in days else OPEN
    if at.date() in moved(days) or not between("09:00", "18:00", at):
        return CLOSED
    return DOUBT if at.date() in moved(days, saturday=2) else OPEN


def utah(at: datetime) -> str:
    """Utah Code 13-25a-103(3): none from 9 p.m. to 8 a.m., on Sundays or legal holidays (63G-1-301)."""
    days: set[date] = set()
    for year in (at.year, at.year + 1):
        days |= common(year) | {date(year, 7, 24), nth(year, 10, MON, 2)}
    days = moved(days, saturday=-1)
    mondays = {2022: 20, 2023: 19, 2024: 17, 2025: 16, 2026: 15, 2027: 21}
    if at.year in mondays:
        days.add(date(at.year, 6, mondays[at.year]))
    closed = at.date() in days or at.weekday() == SUN or not between("08:00", "21:00", at)
    return CLOSED if closed else OPEN


def no_sundays(start: str, end: str) -> Hours:
    """Monday to Saturday."""
    return lambda at: OPEN if at.weekday() != SUN and between(start, end, at) else CLOSED


def texas(at: datetime) -> str:
    """Tex. Bus. & Com. Code 301.051(b)(2): 9 to 9, Sundays from noon."""
    return daily("12:00" if at.weekday() == SUN else "09:00", "21:00")(at)


def since(day: str, hours: Hours) -> Hours:
    """A statute of its own from a day on; the federal hours hold before it."""
    return lambda at: hours(at) if at.date() >= date.fromisoformat(day) else federal(at)


def connecticut(at: datetime) -> str:
    """Conn. Gen. Stat. 42-288a(c): 9 to 8 since 2023-10-01, 9 to 9 before."""
    return daily("09:00", "20:00" if at.date() >= date(2023, 10, 1) else "21:00")(at)


def canada(at: datetime) -> str:
    """CRTC Telemarketing Rules: weekdays 9:00 to 21:30, weekends 10:00 to 18:00."""
    return daily("10:00", "18:00")(at) if at.weekday() >= SAT else daily("09:00", "21:30")(at)


def france(at: datetime) -> str:
    """Code de la consommation D. 223-9, since 2023-03-01; holidays of Code du travail L. 3133-1."""
    sunday = easter(at.year)
    days = {sunday + timedelta(days=n) for n in (1, 39, 50)}
    days |= {
        date(at.year, *d)
        for d in ((1, 1), (5, 1), (5, 8), (7, 14), (8, 15), (11, 1), (11, 11), (12, 25))
    }
    hours = between("10:00", "13:00", at) or between("14:00", "20:00", at)
    return OPEN if hours and at.weekday() < SAT and at.date() not in days else CLOSED


#: Days that every community of Spain keeps (Estatuto de los Trabajadores art. 37.2, RD 2001/1983 art. 45).
SPAIN_NATIONAL = ((1, 1), (5, 1), (8, 15), (10, 12), (11, 1), (12, 6), (12, 8), (12, 25))


def spain(at: datetime) -> str:
    """TRLGDCU art. 96.2: Monday to Friday 9 to 21, no holidays."""
    days = {date(at.year, *d) for d in SPAIN_NATIONAL} | {easter(at.year) - timedelta(days=2)}
    closed = at.weekday() >= SAT or at.date() in days or not between("09:00", "21:00", at)
    return CLOSED if closed else OPEN


def italy(at: datetime) -> str:
    """Codice di condotta: weekdays 9 to 20, Saturdays and eves of holidays 10 to 19, never on Sundays and holidays."""
    days: set[date] = set()
    for year in (at.year, at.year + 1):
        fixed = (
            (1, 1),
            (1, 6),
            (4, 25),
            (5, 1),
            (6, 2),
            (8, 15),
            (11, 1),
            (12, 8),
            (12, 25),
            (12, 26),
        )
        days |= {date(year, *d) for d in fixed} | {easter(year), easter(year) + timedelta(days=1)}
    if at.date() in days or at.weekday() == SUN:
        return CLOSED
    if at.weekday() == SAT or at.date() + timedelta(days=1) in days:
        return daily("10:00", "19:00")(at)
    return daily("09:00", "20:00")(at)


def australia(at: datetime) -> str:
    """Industry Standard 2017: weekdays 9 to 20, Saturdays 9 to 17, no Sundays, no national public holidays."""
    days = {date(at.year, *d) for d in ((1, 1), (1, 26), (4, 25), (12, 25), (12, 26))}
    days |= {easter(at.year) + timedelta(days=n) for n in (-2, 1)} | {date(2022, 9, 22)}
    if at.date() in days or at.weekday() == SUN:
        return CLOSED
    return daily("09:00", "17:00" if at.weekday() == SAT else "20:00")(at)


@dataclass(frozen=True)
class Place:
    """A place: a fictional number there, the clocks of that number, the hours of its law, and what is asked of the book."""

    number: str
    zones: tuple[str, ...]
    hours: Hours
    rules: str


#: States of whose law nothing was found or nothing stands in the book: the federal rules alone.
NO_RULES = {"AK", "AR", "ID", "IA", "KS", "OH", "VT", "WI"}


def state(code: str, number: str, zones: str, hours: Hours) -> Place:
    """A state: its own hours and the federal ones hold together."""

    def both(at: datetime) -> str:
        grades = {federal(at), hours(at)}
        return CLOSED if CLOSED in grades else DOUBT if DOUBT in grades else OPEN

    rules = "us" if code in NO_RULES else f"us,us-{code.lower()}"
    return Place(f"+1{number}5550142", tuple(zones.split()), both, rules)


ET, CT, MT, PT = "America/New_York", "America/Chicago", "America/Denver", "America/Los_Angeles"
#: State, area code, clocks, and the hours of a live sales call to a home.
STATES = {
    code: state(code, number, zones, hours)
    for code, number, zones, hours in [
        ("AL", "205", CT, alabama), ("AK", "907", "America/Anchorage America/Adak Pacific/Honolulu", federal),
        ("AZ", "602", "America/Phoenix", federal), ("AR", "501", CT, federal), ("CA", "213", PT, federal),
        ("CO", "303", MT, federal), ("CT", "203", ET, connecticut), ("DE", "302", ET, federal),
        ("DC", "202", ET, federal), ("FL", "305", ET, since("2021-07-01", daily("08:00", "20:00"))),
        ("GA", "404", ET, federal), ("HI", "808", "Pacific/Honolulu", federal),
        ("ID", "208", f"America/Boise {PT}", federal), ("IL", "312", CT, federal), ("IN", "317", ET, federal),
        ("IA", "515", CT, federal), ("KS", "316", CT, federal), ("KY", "502", ET, daily("10:00", "21:00")),
        ("LA", "504", CT, louisiana), ("ME", "207", ET, federal),
        ("MD", "301", ET, since("2024-01-01", daily("08:00", "20:00"))), ("MA", "617", ET, daily("08:00", "20:00")),
        ("MI", "313", ET, daily("09:00", "21:00")), ("MN", "612", CT, daily("09:00", "21:00")),
        ("MS", "601", CT, no_sundays("08:00", "20:00")), ("MO", "314", CT, federal), ("MT", "406", MT, federal),
        ("NE", "402", CT, federal), ("NV", "702", PT, daily("09:00", "20:00")), ("NH", "603", ET, federal),
        ("NJ", "973", ET, federal), ("NM", "505", MT, daily("09:00", "21:00")), ("NY", "212", ET, federal),
        ("NC", "704", ET, federal), ("ND", "701", f"{CT} {MT}", federal), ("OH", "614", ET, federal),
        ("OK", "405", CT, since("2022-11-01", daily("08:00", "20:00"))),
        ("OR", "503", PT, since("2026-01-01", daily("08:00", "20:00"))), ("PA", "215", ET, pennsylvania),
        ("RI", "401", ET, rhode_island), ("SC", "803", ET, federal),
        ("SD", "605", f"{CT} {MT}", no_sundays("09:00", "21:00")), ("TN", "615", CT, federal),
        ("TX", "214", CT, texas), ("UT", "801", MT, utah), ("VT", "802", ET, federal), ("VA", "804", ET, federal),
        ("WA", "206", PT, since("2022-06-09", daily("08:00", "20:00"))), ("WV", "304", ET, federal),
        ("WI", "414", CT, federal), ("WY", "307", MT, daily("08:00", "20:00")),
    ]
}  # fmt: skip
#: States whose own hours were not read in a source: any call there may be uncertain.
NOT_READ = {"NV", "SD"}

#: Provinces and territories; area codes of two or three of them have several clocks.
PROVINCES = {
    code: Place(f"+1{number}5550142", tuple(zones.split()), canada, "ca")
    for code, number, zones in [
        ("AB", "403", "America/Edmonton"), ("BC", "604", "America/Vancouver"), ("MB", "204", "America/Winnipeg"),
        ("NB", "506", "America/Halifax"), ("NL", "709", "America/St_Johns America/Halifax"),
        ("NS", "902", "America/Halifax"), ("ON", "416", "America/Toronto"), ("PE", "902", "America/Halifax"),
        ("QC", "514", "America/Toronto"), ("SK", "306", "America/Regina"),
        # One area code for three territories, with every clock of theirs.
        *((code, "867", "America/Edmonton America/Whitehorse America/Toronto America/Winnipeg America/Vancouver")
          for code in ("YT", "NT", "NU")),
    ]
}  # fmt: skip

COUNTRIES = {
    "FR": Place("+33199001234", ("Europe/Paris",), france, "fr-hours"),
    "ES": Place("+34915550123", ("Europe/Madrid",), spain, "es-hours"),
    "IT": Place("+390655550123", ("Europe/Rome",), italy, "it-hours"),
    "AU": Place("+61255500123", ("Australia/Sydney",), australia, "au"),
    "IN": Place("+911155550123", ("Asia/Kolkata",), daily("10:00", "21:00"), "in"),
}
#: No statute with hours was found: no call there breaks one.
NO_HOURS = {"GB": "+442079460142", "DE": "+493023125123"}
PLACES = {
    **{f"US-{code}": place for code, place in STATES.items()},
    **{f"CA-{code}": place for code, place in PROVINCES.items()},
    **COUNTRIES,
}

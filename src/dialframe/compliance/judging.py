"""Age of checks and calls to listed numbers, graded in one compiled pass; the tables of `dnc.timely` and `dnc.deciding` as numbers.

Each answer is one byte: passed, uncertain, violation, or not evaluable with what is missing.
"""

from __future__ import annotations

from typing import Final

import numba
import numpy as np

from dialframe.compliance.ledger import (
    CLEAN,
    HALF,
    KIND,
    LISTED,
    LOW,
    NOBODY,
    SCREEN,
    SHIFT,
    find,
    look_ahead,
    shift_of,
)

NOT_ASKED, PASSED, UNCERTAIN, VIOLATION, OPEN = range(5)
#: What is missing, behind OPEN: of the age of a check, and of a listed number.
NO_CHECK, NO_LAW, AGE_NUMBER, AGE_TIME, AGE_DIRECTION = range(OPEN, OPEN + 5)
NO_RECORD, NUMBER, TIME, DIRECTION = range(OPEN, OPEN + 4)

_DAY_US: Final = 86_400_000_000
_BLOCK: Final = 2048
#: Instants of those who never asked, and of numbers that were never marked.
NEVER: Final = np.iinfo(np.int64).max


@numba.njit(cache=True, nogil=True)
def quarter(at):  # type: ignore[no-untyped-def]
    """Calendar quarters since year 0 of an instant, by the civil calendar in UTC."""
    day = at // _DAY_US + 719_468
    era = day // 146_097
    of_era = day - era * 146_097
    year = (of_era - of_era // 1_460 + of_era // 36_524 - of_era // 146_096) // 365
    of_year = of_era - (365 * year + year // 4 - year // 100)
    month = (5 * of_year + 2) // 153
    month = month + 3 if month < 10 else month - 9
    return (year + era * 400 + (1 if month <= 2 else 0)) * 4 + (month - 1) // 3


@numba.njit(cache=True, nogil=True)
def limits(cases, low, high, rule_ends, rules):  # type: ignore[no-untyped-def]
    """How old a record may be in each spell by the strictest of its rules, 0 without any, and whether it goes by quarters.

    `rules` has first day, last day, age and whether the record has to be of the call's quarter.
    """
    limit = np.zeros(len(cases), dtype=np.int64)
    by_quarter = np.zeros(len(cases), dtype=np.bool_)
    for row in range(len(cases)):
        for each in range(rule_ends[cases[row]], rule_ends[cases[row] + 1]):
            if high[row] >= rules[each, 0] and low[row] <= rules[each, 1]:
                age = rules[each, 2]
                limit[row] = age if limit[row] == 0 else min(limit[row], age)
                by_quarter[row] |= rules[each, 3] == 1
    return limit, by_quarter


@numba.njit(cache=True, nogil=True)
def _records_of(table, shift, told, keys, at, heads, found, later):  # type: ignore[no-untyped-def]
    """Write the records of the numbers of a few calls into `found`, and the first one after each call into `later`."""
    look_ahead(table, shift, keys, heads, found)
    for row in range(len(keys)):
        heads[row] = told[found[row] >> HALF] if len(told) else 0
    for row in range(len(keys)):
        start, many = found[row] >> HALF, found[row] & LOW
        if many == 1:
            later[row] = start + (heads[row] >> SHIFT <= at[row])
            continue
        left, right = start, start + many
        while left < right:
            middle = (left + right) // 2
            if told[middle] >> SHIFT <= at[row]:
                left = middle + 1
            else:
                right = middle
        later[row] = left


@numba.njit(cache=True, nogil=True)
def judge(  # type: ignore[no-untyped-def]  # noqa: C901
    phones,
    at,
    timed,
    directed,
    spells,
    limits,
    quarterly,
    spared,
    free,
    table,
    told,
    persons,
    began,
    asked,
    marked,
    late,
    scrub,
    listed,
):
    """Write the grades of calls into `scrub` and `listed`; give the calls whose record is a screen.

    `spells` are places in `limits`, `quarterly`, `spared` and `free`. `persons` is the place of
    each call's number among those that asked not to be called or whose lead is marked, -1 for
    others; `began`, `asked` and `marked` are their instants, and `late` says of each call whether
    it breaks a rule on requests.
    """
    shift = shift_of(table)
    screens = 0
    heads = np.empty(_BLOCK, dtype=np.int64)
    found, later = np.empty_like(heads), np.empty_like(heads)
    for row in range(len(at)):
        phone, now, spell = phones[row], at[row], spells[row]
        if row % _BLOCK == 0:
            stop = min(row + _BLOCK, len(at))
            _records_of(table, shift, told, phones[row:stop], at[row:stop], heads, found, later)
        place = found[row % _BLOCK] if timed[row] else 0
        start = place >> HALF
        end = start + (place & LOW)
        limit, by_quarter = limits[spell], quarterly[spell]
        after = later[row % _BLOCK] if timed[row] else start
        before = after - 1
        in_time = False
        answer = NO_CHECK
        if before >= start:
            moment = told[before] >> SHIFT
            in_time = now - moment <= limit
            if in_time and by_quarter:
                in_time = quarter(now) == quarter(moment)
            answer = PASSED if in_time else UNCERTAIN
            screens += told[before] & KIND == SCREEN
        if limit == 0:
            answer = NO_LAW
        basic = 0
        if phone == NOBODY:
            answer, basic = AGE_NUMBER, NUMBER
        if not timed[row]:
            answer, basic = AGE_TIME, TIME
        if not directed[row]:
            answer, basic = AGE_DIRECTION, DIRECTION
        if spared[spell] and limit == 0:
            answer, basic = PASSED, 0
        scrub[row] = answer

        supported = in_time and told[before] & KIND != LISTED
        if after < end:
            last = after
            while last + 1 < end and told[last + 1] >> SHIFT == told[after] >> SHIFT:
                last += 1
            supported = supported or told[last] & KIND != LISTED
        answer = NOT_ASKED
        if directed[row] and timed[row] and phone != NOBODY:
            # A record at the very instant of the call follows it; none before it is at its instant.
            first = before
            while first >= start and told[first] >> SHIFT == now:
                first -= 1
            first += 1
            check = first - 1
            while check >= start and told[check] & KIND == SCREEN:
                check -= 1
            by_check = check >= start and told[check] & KIND == LISTED
            following, what = np.int64(NEVER), CLEAN
            if first < end:
                last = first
                while last + 1 < end and told[last + 1] >> SHIFT == told[first] >> SHIFT:
                    last += 1
                following, what = told[last] >> SHIFT, told[last] & KIND
            requested, since, mark = np.int64(NEVER), np.int64(NEVER), np.int64(NEVER)
            who = persons[row]
            if who >= 0:
                requested, since, mark = asked[who], began[who], marked[who]
            if mark != NEVER and now <= mark <= following:
                following, what = mark, LISTED
            if by_check or late[row] or now > mark:
                answer = VIOLATION
                if by_check and not late[row] and not now > mark and free[spell] > 0:
                    run, oldest = check, check
                    while run >= start and told[run] & KIND != CLEAN:
                        if told[run] & KIND == LISTED:
                            oldest = run
                        run -= 1
                    if now - (told[oldest] >> SHIFT) < free[spell]:
                        answer = UNCERTAIN
            elif now > since or (
                what == LISTED and not (requested != NEVER and following > requested)
            ):
                answer = UNCERTAIN
        elif directed[row] and phone != NOBODY and basic == 0:
            # Spared of rules on lists, and still nobody can place the call among what is on record.
            spoken = persons[row] >= 0
            begin = found[row % _BLOCK] >> HALF
            for record in range(begin, begin + (found[row % _BLOCK] & LOW)):
                spoken = spoken or told[record] & KIND == LISTED
            if spoken:
                answer = TIME
        if answer == NOT_ASKED:
            answer = PASSED if supported else NO_RECORD
            if basic != 0:
                answer = basic
        listed[row] = answer
    return screens


@numba.njit(cache=True, nogil=True)
def newest(phones, table, told):  # type: ignore[no-untyped-def]
    """Instant of the newest record of each number, `NEVER` where there is none."""
    shift = shift_of(table)
    found = np.full(len(phones), NEVER, dtype=np.int64)
    for row in range(len(phones)):
        if phones[row] == NOBODY:
            continue
        spot = find(table, shift, phones[row])
        if table[spot, 0] != NOBODY:
            found[row] = told[(table[spot, 1] >> HALF) + (table[spot, 1] & LOW) - 1] >> SHIFT
    return found


@numba.njit(cache=True, nogil=True)
def tally(codes, counts, first):  # type: ignore[no-untyped-def]
    """Count each code, and note where it is found first."""
    for row in range(len(codes)):
        code = codes[row]
        if counts[code] == 0:
            first[code] = row
        counts[code] += 1


@numba.njit(cache=True, nogil=True)
def weigh(spells, usable, weights):  # type: ignore[no-untyped-def]
    """Count the usable calls of each spell."""
    for row in range(len(spells)):
        weights[spells[row]] += usable[row]


@numba.njit(cache=True, nogil=True)
def spread(spells, usable, answers):  # type: ignore[no-untyped-def]
    """The answer of its spell for each usable call, `NOT_ASKED` for others."""
    codes = np.empty(len(spells), dtype=np.uint8)
    for row in range(len(spells)):
        codes[row] = answers[spells[row]] if usable[row] else NOT_ASKED
    return codes


@numba.njit(cache=True, nogil=True)
def first_reached(cases, low, high, weights, ends, rules, counts):  # type: ignore[no-untyped-def]
    """For each spell with calls the first rule of its case in force on its days, -1 for none.

    `rules` has first day, last day and the number of the rule; to `counts` the calls of the spells
    that each rule reaches are added.
    """
    found = np.full(len(cases), -1, dtype=np.int64)
    for row in range(len(cases)):
        if weights[row] == 0:
            continue
        for place in range(ends[cases[row]], ends[cases[row] + 1]):
            if high[row] >= rules[place, 0] and low[row] <= rules[place, 1]:
                counts[rules[place, 2]] += weights[row]
                if found[row] < 0:
                    found[row] = rules[place, 2]
    return found

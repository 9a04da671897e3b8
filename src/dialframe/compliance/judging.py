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
def judge(  # type: ignore[no-untyped-def]  # noqa: C901
    phones,
    at,
    timed,
    directed,
    codes,
    low,
    high,
    rule_ends,
    rules,
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

    `persons` is the place of each call's number among those that asked not to be called or whose
    lead is marked, -1 for others; `began`, `asked` and `marked` are their instants, and `late` says
    of each call whether it breaks a rule on requests.
    """
    shift = shift_of(table)
    screens = 0
    found = np.empty(_BLOCK, dtype=np.int64)
    for row in range(len(at)):
        phone, now = phones[row], at[row]
        if row % _BLOCK == 0:  # many looks into memory at once cost little more than one
            for ahead in range(row, min(row + _BLOCK, len(at))):
                found[ahead - row] = 0
                if phones[ahead] != NOBODY:
                    spot = find(table, shift, phones[ahead])
                    if table[spot, 0] != NOBODY:
                        found[ahead - row] = table[spot, 1]
        place = found[row % _BLOCK] if timed[row] else 0
        start = place >> HALF
        end = start + (place & LOW)
        limit, by_quarter = np.int64(0), False
        for each in range(rule_ends[codes[row]], rule_ends[codes[row] + 1]):
            if high[row] >= rules[each, 0] and low[row] <= rules[each, 1]:
                limit = rules[each, 2] if limit == 0 else min(limit, rules[each, 2])
                by_quarter = by_quarter or rules[each, 3] == 1
        left, right = start, end
        while left < right:  # the first record after the call
            middle = (left + right) // 2
            if told[middle] >> SHIFT <= now:
                left = middle + 1
            else:
                right = middle
        before, after = left - 1, left
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
        if spared[codes[row]] and limit == 0:
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
                if by_check and not late[row] and not now > mark and free[codes[row]] > 0:
                    run, oldest = check, check
                    while run >= start and told[run] & KIND != CLEAN:
                        if told[run] & KIND == LISTED:
                            oldest = run
                        run -= 1
                    if now - (told[oldest] >> SHIFT) < free[codes[row]]:
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
def first_reached(codes, low, high, usable, ends, rules, counts):  # type: ignore[no-untyped-def]
    """For each call the first rule of its case in force on its day, -1 for none; each is counted.

    `rules` has first day, last day and the number of the rule; `counts` is added to.
    """
    found = np.full(len(codes), -1, dtype=np.int16)
    for row in range(len(codes)):
        if not usable[row]:
            continue
        for place in range(ends[codes[row]], ends[codes[row] + 1]):
            if high[row] >= rules[place, 0] and low[row] <= rules[place, 1]:
                counts[rules[place, 2]] += 1
                if found[row] < 0:
                    found[row] = rules[place, 2]
    return found

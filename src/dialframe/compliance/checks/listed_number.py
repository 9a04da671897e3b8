"""Calls to listed numbers and after requests in words."""

from __future__ import annotations

from collections.abc import Iterator
from datetime import datetime
from typing import Any, Final, NamedTuple

import numpy as np
import pandas as pd

from dialframe.compliance.checks.check_results import (
    CLEAR,
    INDETERMINATE,
    NOT_EVALUABLE,
    PROVEN,
    UNDECLARED,
    Check,
    View,
    basic_words,
)
from dialframe.compliance.checks.scrub_at_call import lists_of
from dialframe.compliance.rules.rule_model import HonorRule
from dialframe.compliance.tables import FRAMES

COLUMNS: Final = FRAMES["listed_number"]
NO_RULE: Final = "a rule on Do-Not-Call lists for the place of the number"

#: Columns of yes and no, some of which a join leaves null.
_FLAGS: Final = (
    "by_check", "by_request", "by_flag", "asked", "may_be_listed", "during", "over_", "declared",
    "following_listed", "check_listed", "may_be_lifted", "denied",
)  # fmt: skip
#: Columns that the words of a call are made of; reading the others too would take half as long again.
_READ: Final = [
    *_FLAGS, "at_check_at", "basis", "check_at", "check_ref", "clean_at", "clean_ref", "clean_source",
    "created_at", "first_request", "flag_at", "flag_ref", "following_at", "following_ref",
    "following_source", "lifted", "lifted_rules", "listed_grace", "listing_rules", "missing", "next_at",
    "refused_at", "refused_code", "refused_ref", "request", "request_rules", "screen_at", "screen_ref",
    "severity",
]  # fmt: skip
_PASSED, _OPEN, _UNCERTAIN, _VIOLATION = 0, 2, 3, 4
_DAY: Final = pd.Timedelta(days=1)


def words(rows: pd.DataFrame, view: View) -> pd.DataFrame:
    """The records that decide each call, and what they say together."""
    for name in _FLAGS:
        rows[name] = [value is True or value is np.True_ for value in rows[name].astype("object")]
    # Between the last record that said "not listed" and the first that said "listed" nobody knows the day.
    clean = _clean_before(rows, view)
    requests = view.frame("select * from requests").set_index("request")
    worded = rows.assign(
        clean_at=clean["at_utc"].to_numpy(),
        clean_ref=clean["ref"].to_numpy(),
        clean_source=clean["source"].to_numpy(),
    )
    lists = {rules: lists_of(view.law.named(rules)) for rules in set(worded["listing_rules"])}
    answers = [
        _words_of(row, view, requests, lists[row.listing_rules])
        for row in worded[_READ].itertuples(index=False)
    ]
    for name in Words._fields:
        values = [getattr(answer, name) for answer in answers]
        worded[name] = pd.Series(values, index=worded.index, dtype="object")
    for name in ("listed_after", "listed_by"):
        worded[name] = pd.to_datetime(worded[name], utc=True).astype("datetime64[us, UTC]")
    worded["detail"] = [
        {_VIOLATION: PROVEN, _UNCERTAIN: INDETERMINATE}.get(int(s)) for s in worded["severity"]
    ]
    return basic_words(worded)


def frame_of(rows: pd.DataFrame) -> pd.DataFrame:
    """Rows of calls to numbers that something speaks against, columns `COLUMNS`."""
    # Where no rule is asked a record that says not listed is all that can clear a call.
    shown = rows["at_check_at"].notna() & ~rows["by_check"]
    shown |= rows["following_at"].notna() & ~rows["following_listed"]
    shown &= rows["missing"] == NO_RULE
    severity = rows["severity"].mask((rows["severity"] == _OPEN) & shown, _PASSED)
    names = {_VIOLATION: PROVEN, _UNCERTAIN: INDETERMINATE, _OPEN: NOT_EVALUABLE}
    # This frame speaks of lists, and has words of its own for its grades.
    grade = [names.get(int(number), CLEAR) for number in severity]
    later = rows["requested_at"].where(rows["requested_at"] < rows["created_at"])
    # A listing after a request is the request's doing: the service lists who asked.
    explained = (rows["following_at"] > rows["requested_at"]) & rows["following_listed"]
    return rows.assign(
        grade=grade,
        basis=rows["basis"].mask(explained & (rows["basis"] == "nothing"), "request"),
        days_after_request=(rows["created_at"] - later) / _DAY,
        weekdays_after_request=[
            None if pd.isna(asked) else weekdays(asked, at)
            for asked, at in zip(later, rows["created_at"], strict=True)
        ],
        missing=rows["missing_input"].fillna(rows["missing"].where(severity == _OPEN)),
    )


def weekdays(start: datetime, end: datetime) -> int:
    """Mondays to Fridays after the UTC day of `start`, up to that of `end`; holidays count."""
    # The day of the request is not counted, as in the grace of a rule.
    first = np.datetime64(start.date(), "D") + 1
    return int(np.busday_count(first, np.datetime64(end.date(), "D") + 1))


def _clean_before(rows: pd.DataFrame, view: View) -> pd.DataFrame:
    """The newest record that said "not listed" before the one that decides."""
    ends = rows["check_at"].where(rows["check_listed"])
    ends = ends.fillna(rows["flag_at"].where(rows["flag_at"] < rows["created_at"]))
    # A record at or after the call does not bound when the number became listed.
    ends = ends.fillna(rows["created_at"].where(rows["following_at"].notna()))
    asked = pd.DataFrame({"place_": range(len(rows)), "phone": rows["phone_key"].astype("Int64").to_numpy(),
                          "ends_at": ends.dt.tz_localize(None).to_numpy()})  # fmt: skip
    view.con.register("asked_ends", asked)
    records = view.frame("""
        with clean as (
          select phone, at_utc, r.ref, 'check' as source from checks k join check_refs r using (phone, at_utc) where not k.listed
          union all select phone, at_utc, ref, 'import screen' from screens
        )
        select a.place_, k.at_utc, k.ref, k.source from asked_ends a
        asof left join (select phone, at_utc, arg_min(ref, source) as ref, min(source) as source from clean group by phone, at_utc) k
          on k.phone = a.phone and k.at_utc < a.ends_at order by a.place_""")
    view.con.unregister("asked_ends")
    return records


def _stamp(at: Any) -> str:
    return f"{at:%Y-%m-%dT%H:%M:%SZ}"


def _record(source: str, ref: Any, at: Any, *, listed: bool) -> str:
    name = ref if isinstance(ref, str) else "(no id)"
    if source == "lead status":
        return f"lead {name} has status dnc and was last changed at {_stamp(at)}"
    return f"{source} {name} said{'' if listed else ' not'} listed at {_stamp(at)}"


def request_words(request: Any) -> str:
    """A request in words, with where it came from."""
    ref = request.ref if isinstance(request.ref, str) else "(no id)"
    if request.source in ("call", "event"):
        return f"disposition {request.code} on {'call' if request.source == 'call' else 'event'} {ref} that ended at {_stamp(request.at_utc)}"
    return f"{request.source} {ref} ({request.code}) at {_stamp(request.at_utc)}"


class Words(NamedTuple):
    """Why a call is graded so, the records behind it, and between which the number became listed."""

    reason: str
    evidence: str | None = None
    listed_after: Any = None
    listed_by: Any = None


def _words_of(row: Any, view: View, requests: pd.DataFrame, lists: str) -> Words:
    """The words of one call, by what decides it."""
    clean = None if pd.isna(row.clean_at) else row.clean_at
    clean_words = (
        [] if clean is None else [_record(row.clean_source, row.clean_ref, clean, listed=False)]
    )
    request = None if pd.isna(row.request) else requests.loc[int(row.request)]
    grounds = list(_grounds(row, view, request))
    is_open = row.severity == _UNCERTAIN
    # Everything that speaks against a call is said, whichever of it decides.
    if grounds and row.severity >= _UNCERTAIN and not (row.basis == "request" and row.asked):
        by_list = row.by_check or row.by_flag
        reason = "; ".join(text for _, text, _ in grounds)
        if row.by_check and is_open and not (row.by_request or row.by_flag):
            reason += _doubt(row)
        if (row.by_request or row.by_flag) and is_open:
            reason += "; no rule of those asked speaks of requests there"
        reason += lists if row.by_check else ""
        evidence = [proof for _, _, proof in grounds] + (clean_words if by_list else [])
        first = min(at for at, _, _ in grounds)
        return Words(reason, "; ".join(evidence), clean if by_list else None, first)
    if row.asked and request is not None and is_open:
        reason = (
            "the time for which the request binds is over" if row.over_ else "inside the grace"
        )
        # The wish was spoken during that call: whether before or after the other began nobody knows.
        if row.during:
            ended = _stamp(request.at_utc)
            reason = f"during the call that the request was made on, which ended at {ended}"
        return Words(reason, request_words(request), None, request.at_utc)
    if row.basis == "exempt":
        laws = "; ".join(r.id for r in view.law.named(row.lifted_rules))
        return Words(f"exempt by record: {', '.join(sorted(row.lifted))} lifts {laws}")
    if row.may_be_listed and is_open:
        # The day on which a number was put on a list the service does not say.
        since = "at an unknown time" if clean is None else f"after {_stamp(clean)}"
        reason = f"the number became listed {since} and by {_stamp(row.following_at)}; the call is between{lists}"
        proof = _record(row.following_source, row.following_ref, row.following_at, listed=True)
        return Words(reason, "; ".join([proof, *clean_words]), clean, row.following_at)
    if row.basis == "unmapped disposition":
        ref = row.refused_ref if isinstance(row.refused_ref, str) else "(no id)"
        # A refusal without a time may have come before any call.
        if row.refused_at.year == 1:
            return Words(
                f"{row.refused_code!r} on record {ref} speaks against it, and when it was said nobody wrote down",
                f"{row.refused_code} on record {ref}",
            )
        reason = f"the disposition {row.refused_code!r} of call {ref} "
        proof = f"disposition {row.refused_code} on call {ref}"
        reason += "reads like a refusal and nobody mapped it; say what it means in a file of codes"
        return Words(reason, f"{proof} at {_stamp(row.refused_at)}", None, row.refused_at)
    return _without_ground(row, requests, lists)


def _without_ground(row: Any, requests: pd.DataFrame, lists: str) -> Words:
    """The words of a call that nothing speaks against."""
    first = None if pd.isna(row.first_request) else requests.loc[int(row.first_request)]
    if row.basis == "late check":
        at = _stamp(row.next_at)
        return Words(
            f"the next check, of {at}, said not listed, later than the rule's limit of age{lists}"
        )
    if row.basis == "screened at import":
        reason = f"screened at import at {_stamp(row.screen_at)} and not checked since{lists}"
        proof = _record("import screen", row.screen_ref, row.screen_at, listed=False)
        return Words(reason, proof)
    if row.severity == _OPEN and row.missing == UNDECLARED:
        return Words(
            f"the service did not list it; which lists its answers cover nobody declared{lists}"
        )
    if row.severity == _OPEN:
        reason = "no record shows that the number was not listed when it was called"
        known = first is not None and not row.following_listed
        return Words(reason, listed_by=first.at_utc if known and first is not None else None)
    if not pd.isna(row.following_at) and not row.following_listed:
        at = row.following_at
        proof = _record(row.following_source, row.following_ref, at, listed=False)
        return Words(f"a record of {_stamp(at)}, after the call, said not listed", proof)
    if first is not None:
        reason = "the request not to be called came on this call or later, and explains the rest"
        return Words(reason, request_words(first), None, first.at_utc)
    if not pd.isna(row.at_check_at):
        reason = f"the newest check before the call, of {_stamp(row.at_check_at)}, said not listed"
        return Words(reason, _record("check", row.check_ref, row.at_check_at, listed=False))
    return Words("nothing on record bears on the time of this call")


def _grounds(row: Any, view: View, request: Any) -> Iterator[tuple[Any, str, str]]:
    """Instant, words and proof of everything that speaks against a call."""
    if row.by_check:
        sentence = f"the newest check before the call, of {_stamp(row.check_at)}, said listed"
        yield row.check_at, sentence, _record("check", row.check_ref, row.check_at, listed=True)
    if row.by_request and request is not None:
        days = (row.created_at - request.at_utc) / _DAY
        counted = weekdays(request.at_utc, row.created_at)
        sentence = f"{days:.1f} days ({counted} weekdays) after a request not to be called"
        laws = [law for law in view.law.named(row.request_rules) if isinstance(law, HonorRule)]
        sentence += "".join(
            f"{', ' if n == 0 else '; '}{law.id} allows {law.parameters.allowed}"
            for n, law in enumerate(laws)
        )
        yield request.at_utc, sentence, request_words(request)
    if row.by_flag:
        sentence = f"the lead was marked dnc by {_stamp(row.flag_at)}"
        yield row.flag_at, sentence, _record("lead status", row.flag_ref, row.flag_at, listed=True)


def _doubt(row: Any) -> str:
    if not row.declared:
        return "; which lists the service's check covers nobody declared"
    if row.may_be_lifted:
        return "; it may speak of a list whose rule a record lifts"
    if row.denied:
        return f", and that of {_stamp(row.next_at)} not listed: when it came off the list nobody knows"
    # PECR 2003 reg. 21(3): a number listed for fewer than 28 days may still be called.
    days = row.listed_grace // _DAY
    return f", but listed for less than {days} days as far as is known"


CHECK: Final = Check("listed_number", words=words, grouped=True)

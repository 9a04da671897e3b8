"""What an account's own tables say to an audit: outcomes, requests, states, how campaigns are dialed."""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import replace
from datetime import datetime
from typing import Final

import pandas as pd

from dialframe import compliance, frames
from dialframe.account import Account
from dialframe.analytics import Taxonomy
from dialframe.compliance import Practice
from dialframe.compliance.practice import Conduct, dialing_of, speaks_artificially
from dialframe.suppression import SuppressionList

#: Outcome class that means "do not call me again".
REQUEST_CLASS = "dnc_request"
_DROPPED: Final = "dropped_by_us"
_MACHINES: Final = ("machine", "fax")
_PERSONS: Final = (
    "early_hangup", "dead_air", "gatekeeper_third_party", "wrong_number", "right_party_neutral",
    "not_interested", "callback", "positive", "appointment", "conversion", "dnc_request",
)  # fmt: skip
_REQUEST_EVENT: Final = "disposition.logged"


def outcomes(calls: pd.DataFrame, taxonomy: Taxonomy) -> pd.Series | None:
    """Call id to `dropped`, `live` or `machine`; None where no outcome says any of the three."""
    meaning: dict[str, str] = {}
    for code in calls["disposition"].dropna().unique():
        named = taxonomy.outcome("disposition", code)
        if named == _DROPPED:
            meaning[code] = "dropped"
        elif named in _MACHINES:
            meaning[code] = "machine"
        elif named in _PERSONS:
            meaning[code] = "live"
    if not meaning:
        return None
    said = calls["disposition"].map(meaning, na_action="ignore").astype("str")
    told = said.notna() & (calls["answered_at"].notna() | (said == "dropped"))
    found = said[told].set_axis(pd.Index(calls.loc[told, "id"]))
    return found[~found.index.duplicated()]


def requests_of(events: pd.DataFrame, taxonomy: Taxonomy) -> pd.DataFrame | None:
    """Requests not to be called among events: `phone`, `at`, `ref`, `code`; None without any."""
    rows = []
    for event in events[events["type"] == _REQUEST_EVENT].itertuples(index=False):
        data = json.loads(event.data) if isinstance(event.data, str) else {}
        code, phone = data.get("disposition_code"), data.get("phone")
        if isinstance(code, str) and isinstance(phone, str) and _is_request(code, taxonomy):
            at = pd.to_datetime(data.get("logged_at"), utc=True, errors="coerce")
            at = event.created_at if pd.isna(at) else at
            rows.append((phone, at, data.get("call_id") or event.id, code))
    if not rows:
        return None
    told = pd.DataFrame(rows, columns=["phone", "at", "ref", "code"])
    return told.assign(at=told["at"].astype("datetime64[us, UTC]"), source="event")


#: Reasons of the firm's own list that are somebody's wish; a registry's entry is none.
_WISHES: Final = ("opt_out", "complaint", "consent_withdrawn")


def own_list(account: Account, requests: pd.DataFrame | None, at: datetime) -> pd.DataFrame | None:
    """The same requests with those of the firm's own list: who wished not to be called, since when, by whose word."""
    # One list for all accounts of a machine: it lies beside their folders.
    listed = SuppressionList.beside(account.store.folder.parent)
    rows = [
        (entry.phone, entry.added_at, entry.source, entry.reason, "suppression")
        for entry in listed.entries()
        if entry.phone
        and entry.added_at is not None
        and entry.added_at <= at
        and entry.reason in _WISHES
    ]
    return _with_requests(requests, rows)


def told_to_the_service(
    account: Account, requests: pd.DataFrame | None, at: datetime
) -> pd.DataFrame | None:
    """The same requests with those that went to the service (`dnc.add`), by the reason that they gave."""
    rows = [
        (
            each.fields["phone"],
            each.at,
            each.key,
            each.fields.get("reason") or "dnc.add",
            "dnc.add",
        )
        for each in account.client.writes.evidence()
        if each.operation == "dnc.add" and each.at <= at and each.fields.get("phone")
    ]
    return _with_requests(requests, rows)


def recorded_consents(
    account: Account, consents: pd.DataFrame | None, at: datetime
) -> tuple[pd.DataFrame | None, int]:
    """The table of consents with those that went to the service (`consents.record`), and how many those are.

    They are no table of their own: a firm that gives none may keep others elsewhere.
    """
    rows = [
        (each.fields["phone"], "any", each.fields["obtained_at"],
         f"consents.record {each.key}: {each.fields.get('source', '')}")
        for each in account.client.writes.evidence()
        if each.operation == "consents.record" and each.at <= at and each.fields.get("phone")
    ]  # fmt: skip
    if consents is None or not rows:
        return consents, len(rows)
    own = pd.DataFrame(rows, columns=["phone", "kind", "granted_at", "record"])
    own["granted_at"] = pd.to_datetime(own["granted_at"], utc=True).astype("datetime64[us, UTC]")
    return pd.concat([consents, own], ignore_index=True), len(rows)


def _with_requests(
    requests: pd.DataFrame | None, rows: Sequence[tuple[object, ...]]
) -> pd.DataFrame | None:
    if not rows:
        return requests
    own = pd.DataFrame(rows, columns=["phone", "at", "ref", "code", "source"])
    own = own.assign(at=own["at"].astype("datetime64[us, UTC]"))
    return own if requests is None else pd.concat([requests, own], ignore_index=True)


def worth_checking(leads: pd.DataFrame, calls: pd.DataFrame) -> list[str]:
    """Numbers that are callable or were called, each once, in order."""
    open_leads = leads.loc[~leads["status"].isin(["dnc", "completed"]), "phone"]
    called = calls.loc[calls["direction"] == "outbound", "to_number"]
    return sorted({*open_leads.dropna(), *called.dropna()})


def known_states(leads: pd.DataFrame, state_field: str) -> pd.Series:
    """State of each number where a lead's custom field names it; number to state."""
    states = frames.custom_field(leads, state_field)
    known = pd.Series(states.to_numpy(), index=leads["phone"].to_numpy(), dtype="str").dropna()
    return known[~known.index.duplicated()]


def request_codes(calls: pd.DataFrame, taxonomy: Taxonomy) -> Sequence[str]:
    """Dispositions of the account that its taxonomy takes for a request not to be called."""
    used = calls["disposition"].dropna().unique()
    return sorted({*compliance.dnc.REQUEST_CODES, *(c for c in used if _is_request(c, taxonomy))})


def dialed(practice: Practice, campaigns: pd.DataFrame) -> Practice:
    """The practice with how each campaign is dialed and whether an AI speaks, where the service's mode says so."""
    modes = [(str(c), m) for c, m in zip(campaigns["id"], campaigns["dialer_mode"], strict=True)]
    known = {name: how for name, mode in modes if (how := dialing_of(mode))}
    voices = {
        name: Conduct(artificial_voice=True) for name, mode in modes if speaks_artificially(mode)
    }
    conducts = dict(practice.conducts)
    for name, voice in voices.items():
        conducts[name] = conducts.get(name, Conduct()).over(voice)
    return replace(practice, dialings={**known, **practice.dialings}, conducts=conducts)


def _is_request(code: str, taxonomy: Taxonomy) -> bool:
    return taxonomy.outcome("disposition", code) == REQUEST_CLASS

"""Writes what the synthetic firm of the demo says of itself: its firm file, and the files of evidence that it names.

A firm has these from its web forms, its scrubbing vendor and its carrier; here they are made from the account, so that
the audit has what it asks for. What the scrubs say of a number is what was true of it on that day.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any, Final

import pandas as pd

from dialframe.account import Account
from dialframe.files import folder as make_folder
from dialframe.files import write_text
from dialframe.firm import FILE_NAME

#: The sandbox answers for one made-up list, which stands for the national registry here.
REGISTRY: Final = "US National DNC Registry"
_DAY: Final = pd.Timedelta(days=1)
#: A scrub covers the calls of 31 days (16 CFR 310.4(b)(3)(iv)); the firm has every number scrubbed more often.
_EVERY: Final = 28 * _DAY
_LISTED_AT: Final = re.compile(r"listed (\S+)$")
_RULES_OF_EMERGENCIES: Final = ("us-la-emergency", "us-ny-emergency")


def write(
    folder: Path, account: Account, truth: Iterable[Mapping[str, Any]], registries: Sequence[str]
) -> Path:
    """Write the firm's folder.

    Args:
        folder: Where; made where it is not there.
        account: The synced account.
        truth: The answer sheet of the sandbox, which knows when a number came onto the list.
        registries: Names of the lists that the service's check covers.

    Returns:
        The firm file.
    """
    make_folder(folder)
    calls, leads = account.calls(), account.leads()
    outbound = calls[(calls["direction"] == "outbound").to_numpy(bool, na_value=False)]
    known = leads.groupby("phone")["created_at"].min()
    last = outbound.groupby("to_number")["created_at"].max()
    listed = {
        row["id"]: pd.Timestamp(match[1])
        for row in truth
        if row["fault"] == "listed_after_import" and (match := _LISTED_AT.search(row["detail"]))
    }
    tables = {
        # Everybody agreed in writing, on a number that was looked up, before the import.
        "consents": pd.DataFrame(
            {"phone": known.index, "granted_at": _text(known - _DAY), "kind": "written", "record": "web form"}
        ),
        "reassigned": pd.DataFrame(
            {"phone": known.index, "checked_at": _text(known - _DAY / 24), "result": "no"}
        ),
        "line_types": pd.DataFrame(
            {"phone": known.index, "line_type": "residential", "checked_at": _text(known - _DAY / 24)}
        ),
        "scrubs": _scrubs(known, last, listed),
    }  # fmt: skip
    for name, table in tables.items():
        write_text(table.to_csv(index=False, lineterminator="\n"), folder / f"{name}.csv")
    never = "".join(
        f'[[declared]]\nrule = "{rule}"\nnever = true\n' for rule in _RULES_OF_EMERGENCIES
    )
    write_text(never, folder / "emergencies.toml")
    shown = sorted(set(outbound["from_number"].dropna()))
    return write_text(_firm_file(shown, registries), folder / FILE_NAME)


def _scrubs(known: pd.Series, last: pd.Series, listed: Mapping[str, pd.Timestamp]) -> pd.DataFrame:
    """Each called number against the national and its state's list: before its import, then every four weeks."""
    rows = []
    for phone, end in last.items():
        at = known.get(phone, end) - _DAY / 24
        while at <= end:
            on = phone in listed and listed[str(phone)] <= at
            rows.append((phone, "Y" if on else "N", "N", f"{at:%Y-%m-%dT%H:%M:%SZ}"))
            at += _EVERY
    return pd.DataFrame(rows, columns=["phone", "national_dnc", "state_dnc", "id_date"])


def _text(times: pd.Series) -> pd.Series:
    return times.dt.strftime("%Y-%m-%dT%H:%M:%SZ").to_numpy()


def _firm_file(caller_ids: Sequence[str], registries: Sequence[str]) -> str:
    """The firm file as somebody writes it."""
    covers = "".join(
        f'[[practice.covers]]\nregistry = "{name}"\ncheck = true\nscreen = true\nrefreshed_days = 1\n'
        'by = "The demo"\non = 2026-01-01\n\n'
        for name in registries
    )
    shown = ", ".join(f'"{number}"' for number in caller_ids)
    return f"""# What the firm of the demo says once about itself; `dialframe firm` asks for yours.

[lists]
region = "US"

[audit]
declared = "emergencies.toml"

[evidence]
consents = ["consents.csv"]
reassigned = ["reassigned.csv"]
line_types = ["line_types.csv"]
scrubs = ["scrubs.csv"]

[practice]
purpose = "telemarketing_sales"
dialing = "manual"
recorded = false
artificial_voice = false
caller_ids = [{shown}]

{covers}"""

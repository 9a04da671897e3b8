"""Tools of our own beside the service's: small tables from the local store and from a list; knows no protocol."""

from __future__ import annotations

import tempfile
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from datetime import UTC, datetime
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

from dialframe.errors import ConfigError

if TYPE_CHECKING:
    import pandas as pd

    from dialframe.account import Account

#: Most characters of a lead list that is handed over as text.
LIST_CHARS: Final = 1_000_000
#: Rows of a table that are given.
ROWS: Final = 50

Arguments = Mapping[str, Any]


@dataclass(frozen=True, slots=True)
class Analysis:
    """One tool.

    Attributes:
        name: Its name.
        description: What it answers.
        properties: JSON Schema of its arguments.
        run: Account and arguments to the answer.
        required: Arguments that have to be given.
    """

    name: str
    description: str
    properties: Mapping[str, Any]
    run: Callable[[Account, Arguments], dict[str, Any]]
    required: tuple[str, ...] = ()

    @property
    def schema(self) -> dict[str, Any]:
        """JSON Schema of its arguments."""
        made: dict[str, Any] = {
            "type": "object",
            "properties": dict(self.properties),
            "additionalProperties": False,
        }
        return {**made, "required": list(self.required)} if self.required else made


def sync(account: Account, arguments: Arguments) -> dict[str, Any]:
    """Bring the local store up to date, and say what it covers."""
    return account.sync(arguments.get("tables") or None).as_dict()


def campaign_funnel(account: Account, arguments: Arguments) -> dict[str, Any]:
    """Leads by stage, from loaded to appointment, out of the local store."""
    from dialframe import analytics

    result = analytics.funnel(
        account.leads(),
        account.calls(),
        account.appointments(),
        campaign=arguments.get("campaign_id"),
        by=arguments.get("by"),
    )
    return {
        "as_of": str(result.as_of),
        "stages": _rows(result.table.drop(columns="definition")),
        "definitions": dict(result.definitions),
    }


def call_audit(account: Account, arguments: Arguments) -> dict[str, Any]:
    """The stored calls against the rules: verdict, counts by check, and the findings that come first."""
    from dialframe.flows import audit, records

    scope = audit.Scope(
        since=records.instant("since", arguments.get("since")),
        until=records.instant("until", arguments.get("until")),
        rules=arguments.get("rules") or None,
    )
    result = audit.audit(account, now=partial(datetime.now, UTC), scope=scope)
    return audit.facts(result)


def check_lead_list(account: Account, arguments: Arguments) -> dict[str, Any]:
    """What would become of every row of a lead list; nothing is written and nobody is asked."""
    del account
    from dialframe.flows import lead_tables, listing

    content = str(arguments["content"])
    if len(content) > LIST_CHARS:
        raise ConfigError(
            f"the list has {len(content)} characters, and {LIST_CHARS} are taken here; "
            "use `dialframe leads check` for a file"
        )
    # A file of its own, readable by its owner alone, which goes at once.
    with tempfile.TemporaryDirectory(prefix="dialframe-list-") as folder:
        path = Path(folder) / "list.csv"
        path.write_text(content, encoding="utf-8")
        prepared = listing.prepare([path], listing.Recipe(region=arguments.get("region") or "US"))
    cleaned = prepared.cleaned
    return {
        **cleaned.counts,
        "columns": _rows(lead_tables.columns(cleaned).drop(columns="file")),
        "reasons": _rows(lead_tables.reasons(cleaned)),
    }


def _rows(table: pd.DataFrame) -> list[dict[str, Any]]:
    shown = table.head(ROWS).astype(object)
    return [dict(row) for row in shown.where(shown.notna(), None).to_dict("records")]


ALL: Final = (
    Analysis(
        "store_sync",
        "Brings the local store of calls, leads, campaigns and the rest up to date with the account and says"
        " what it covers. The other analysis tools read that store. Reads only; may take minutes the first time.",
        {
            "tables": {
                "type": "array",
                "items": {"type": "string"},
                "description": "Tables such as calls or leads; all without it.",
            }
        },
        sync,
    ),
    Analysis(
        "campaign_funnel",
        "How many leads reached each stage, from loaded to appointment, with numerators, denominators and"
        " their definitions, out of the local store.",
        {
            "campaign_id": {"type": "string", "description": "Only this campaign."},
            "by": {
                "type": "string",
                "description": "Split by campaign_id or by a custom field such as lead_source.",
            },
        },
        campaign_funnel,
    ),
    Analysis(
        "call_audit",
        "The stored calls against telemarketing rules (hours, attempts, Do-Not-Call, consent): verdict, counts by"
        " check graded pass, violation, uncertain or not evaluable, and what comes first. Facts with citations,"
        " not legal advice.",
        {
            "since": {"type": "string", "description": "First day (UTC) of the period."},
            "until": {"type": "string", "description": "First day that is not in it any more."},
            "rules": {
                "type": "array",
                "items": {"type": "string"},
                "description": "Jurisdictions such as us, us-fl or gb; all without it.",
            },
        },
        call_audit,
    ),
    Analysis(
        "check_lead_list",
        "What would become of every row of a lead list given as CSV text: clean, rejected, duplicate or not"
        " to be called, with counts by reason. Nothing is written or sent.",
        {
            "content": {"type": "string", "description": "The list as CSV text."},
            "region": {
                "type": "string",
                "description": "Region of numbers without a country code, such as US or GB.",
            },
        },
        check_lead_list,
        required=("content",),
    ),
)

BY_NAME: Final = {row.name: row for row in ALL}

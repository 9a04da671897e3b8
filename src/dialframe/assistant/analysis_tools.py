"""Tools of dialframe's own beside the service's: small tables from the local store and from a list."""

from __future__ import annotations

import sys
import tempfile
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from datetime import datetime
from pathlib import Path
from types import ModuleType
from typing import TYPE_CHECKING, Any, Final

from dialframe import instants
from dialframe.assistant import store_questions
from dialframe.assistant.offered_operations import answer_schema
from dialframe.config import OnProgress, read_toml, silent
from dialframe.errors import ConfigError
from dialframe.frames.frame_schemas import LEADS

if TYPE_CHECKING:
    import pandas as pd

    from dialframe.account import Account

#: Most characters of a lead list that is handed over as text.
LIST_CHARS: Final = 1_000_000
#: Rows of a table, groups of a split funnel and numbers to be checked that are given.
ROWS: Final = 50
#: Groups of a split funnel, each of eight stages.
GROUPS: Final = 10
NUMBERS: Final = 20
MOST_METRICS: Final = 100
#: Days after which a Do-Not-Call check is stale, unless said otherwise (16 CFR 310.4(b)(3)(iv)).
STALE_DAYS: Final = 31

#: Said with every answer: the contract's instants are UTC (contract, Conventions).
_UTC: Final = "instants are UTC"
#: Decimals of a share: a hundredth of a percent.
_DIGITS: Final = 4
#: Groupings of the coverage, as `compliance.dnc.dashboard` makes them.
_VIEWS: Final = ("campaign", "source", "state", "week")

Arguments = Mapping[str, Any]


@dataclass(frozen=True, slots=True)
class Asked:
    """What an analysis is made from.

    Attributes:
        account: Whose data.
        arguments: Arguments that fit the tool's schema.
        now: The moment, UTC.
        on_progress: Told how it comes on.
        people: Fields about persons that the operator's policy gives.
    """

    account: Account
    arguments: Arguments
    now: datetime
    on_progress: OnProgress = silent
    people: frozenset[str] = frozenset()

    @property
    def stores(self) -> Path:
        """The folder of all accounts' stores, in which the firm's own list is."""
        return self.account.store.folder.parent


@dataclass(frozen=True, slots=True)
class Analysis:
    """One tool.

    Attributes:
        name: Its name.
        description: What it answers.
        properties: JSON Schema of its arguments.
        run: What was asked to the answer.
        fields: JSON Schema of the answer's fields.
        required: Arguments that have to be given.
        scopes: Scopes that the key needs, since the store holds what they let read.
        apart: The same from the arguments and the folder of all stores, for a process of its own that
            can be ended.
    """

    name: str
    description: str
    properties: Mapping[str, Any]
    run: Callable[[Asked], dict[str, Any]]
    fields: Mapping[str, Mapping[str, Any]]
    required: tuple[str, ...] = ()
    scopes: frozenset[str] = frozenset()
    apart: Callable[[Arguments, Path], dict[str, Any]] | None = None

    @property
    def schema(self) -> dict[str, Any]:
        """JSON Schema of its arguments."""
        properties: dict[str, Any] = {
            "type": "object",
            "properties": dict(self.properties),
            "additionalProperties": False,
        }
        return {**properties, "required": list(self.required)} if self.required else properties

    @property
    def answer(self) -> dict[str, Any]:
        """JSON Schema of its answer."""
        units = {
            "type": "string",
            "description": "What the numbers count, and the zone of instants.",
        }
        return answer_schema({"units": units, **self.fields})


def store_sync(asked: Asked) -> dict[str, Any]:
    """Bring the local store up to date, and say what it covers."""
    tables = asked.arguments.get("tables") or None
    report = asked.account.sync(tables, on_progress=asked.on_progress).as_dict()
    return {"units": _UTC, **report}


def campaign_funnel(asked: Asked) -> dict[str, Any]:
    """Leads by stage, from loaded to appointment, out of the local store."""
    from dialframe.flows import reporting

    arguments = asked.arguments
    by = _split_by(asked)
    scope = reporting.Scope(
        arguments.get("campaign_id"),
        by,
        instants.instant("since", arguments.get("since")),
        instants.instant("until", arguments.get("until")),
    )
    result = reporting.funnel(asked.account, scope)
    # The largest: a model reads no thousand rows.
    groups = result.groups[:GROUPS]
    table = (
        result.table if result.by is None else result.table[result.table[result.by].isin(groups)]
    )
    answer: dict[str, Any] = {
        "as_of": None if result.as_of is None else result.as_of.isoformat(),
        "units": f"count and denominator are leads; of_previous (95% interval low to high) and of_loaded"
        f" are shares from 0 to 1; {_UTC}",
        "stages": _rows(table.drop(columns="definition"), len(table)),
        "headlines": [each.as_dict() for each in result.headlines],
        "definitions": dict(result.definitions),
        "warnings": list(result.warnings),
    }
    left = len(result.groups) - len(groups)
    return {**answer, "left_out": f"{left} smaller groups of {result.by}"} if left else answer


def metric(asked: Asked) -> dict[str, Any]:
    """Rates and counts by their definitions, as the report has them: value, counts behind it, interval."""
    from dialframe import analytics
    from dialframe.analytics.metrics import HEADLINES
    from dialframe.flows.firm_records import require_read

    account, arguments = asked.account, asked.arguments
    calls, leads = account.calls(), account.leads()
    require_read(leads, calls, advice="call store_sync first")
    campaign = arguments.get("campaign_id")
    result = analytics.metrics(
        calls, leads, names=tuple(arguments.get("names") or HEADLINES), by=_split_by(asked),
        campaign=None if campaign is None else account.campaign_id(campaign),
        since=instants.instant("since", arguments.get("since")),
        until=instants.instant("until", arguments.get("until")),
    )  # fmt: skip
    table = result.table.drop(columns=["definition", "source"])
    definitions = result.table.drop_duplicates("metric").set_index("metric")["definition"]
    return {
        "as_of": None if result.as_of is None else result.as_of.isoformat(),
        "units": f"each row has its unit; rates are from 0 to 1 with a 95% interval low to high; {_UTC}",
        "metrics": _rows(table, MOST_METRICS),
        "definitions": definitions.to_dict(),
        "left_out_rows": max(len(table) - MOST_METRICS, 0),
        "warnings": list(result.warnings),
    }


def _split_by(asked: Asked) -> str | None:
    """The column that an answer is split by."""
    from dialframe.flows import reporting

    by: str | None = asked.arguments.get("by")
    # A split shows values: of a field in which people write, those are names and notes.
    if (
        by not in (None, "region", reporting.SOURCE, *LEADS.names)
        and "custom_fields" not in asked.people
    ):
        raise ConfigError(
            f"by={by!r}: custom fields but {reporting.SOURCE} are given only where the operator's policy names "
            "custom_fields (--people)"
        )
    return by


def dnc_coverage(asked: Asked) -> dict[str, Any]:
    """How recent the Do-Not-Call records of the account's numbers are, and what to check next."""
    from dialframe import compliance
    from dialframe.flows.firm_records import find_held_numbers, require_read

    account = asked.account
    leads, calls, campaigns = account.leads(), account.calls(), account.campaigns()
    require_read(leads, calls, advice="call store_sync first")
    # The caller's own bound; the law's is the default.
    days = asked.arguments.get("max_age_days", STALE_DAYS)
    covered = compliance.dnc.coverage(
        leads, calls, account.dnc_checks(), now=asked.now, max_age_days=days
    )
    names = dict(zip(campaigns["id"], campaigns["name"], strict=True))
    held = find_held_numbers(account, leads, calls)
    board = compliance.dnc.dashboard(covered, leads, calls, campaigns=names, held=held)
    view = asked.arguments.get("by", _VIEWS[0])
    groups = board.by[board.by["view"] == view].drop(columns="view")
    return {
        "as_of": asked.now.isoformat(),
        "units": f"numbers by the age of their newest Do-Not-Call record, fresh up to {days} days of 24"
        f" hours; screened at import alone is no check; share is that of the fresh, 0 to 1; {_UTC}",
        "by": view,
        "groups": _rows(groups.sort_values("numbers", ascending=False, kind="stable")),
        "left_out_groups": max(len(groups) - ROWS, 0),
        "to_check": len(board.next),
        "to_check_requests": board.requests,
        "to_check_first": _rows(board.next, NUMBERS),
    }


def call_audit(asked: Asked) -> dict[str, Any]:
    """The stored calls against the rules: verdict, counts by check, and the findings that come first."""
    from dialframe.compliance import Question
    from dialframe.flows import audit
    from dialframe.flows.firm_records import scope_of

    arguments = asked.arguments
    # The firm file of the folder that the server was started in, as for every command.
    question = Question(
        now=asked.now, since=instants.instant("since", arguments.get("since")),
        until=instants.instant("until", arguments.get("until")), rules=arguments.get("rules") or None,
    )  # fmt: skip
    scope, _ = scope_of(Path.cwd(), question)
    result = audit.audit(
        asked.account, now=lambda: asked.now, scope=scope, on_progress=asked.on_progress
    )
    return {"units": f"each check counts what its sentence names; {_UTC}", **audit.facts(result)}


def ask(asked: Asked) -> dict[str, Any]:
    """The rows of one SELECT over the stored tables, numbers masked."""
    rows = store_questions.select(
        asked.account,
        str(asked.arguments["sql"]),
        most=asked.arguments.get("limit", ROWS),
        people=asked.people,
    )
    return {"units": _UTC, **rows}


def may_call(asked: Asked) -> dict[str, Any]:
    """Whether numbers may be called now, by every rule and record that is known."""
    from dialframe.compliance import Question
    from dialframe.flows import audit
    from dialframe.flows.firm_records import scope_of

    scope, _ = scope_of(Path.cwd(), Question(now=asked.now))
    numbers = list(asked.arguments["numbers"])
    answers = audit.may_call(
        asked.account,
        numbers,
        at=instants.instant("at", asked.arguments.get("at")) or asked.now,
        campaign=asked.arguments.get("campaign_id"),
        scope=scope,
        now=lambda: asked.now,
    )
    held = int((answers["verdict"] == "held").sum())
    return {
        "as_of": asked.now.isoformat(),
        "units": f"one row a number, in the order asked; {_UTC}",
        "held": held,
        "may_be_called": len(answers) - held,
        "verdicts": _rows(answers, len(numbers)),
    }


def who_is_suppressed(asked: Asked) -> dict[str, Any]:
    """The firm's own list of numbers that must not be called: how many, why and from where."""
    from collections import Counter

    from dialframe.flows.suppression_import import own_list

    listed = own_list({}, asked.stores)
    numbers = list(asked.arguments.get("numbers") or ())
    by_reason: Counter[tuple[str, str]] = Counter(
        (entry.reason, entry.source) for entry in listed.entries()
    )
    answer: dict[str, Any] = {
        "units": "numbers on the firm's own suppression list; the service's Do-Not-Call list is not asked",
        "entries": sum(by_reason.values()),
        "by_reason_and_source": [
            {"reason": reason, "source": source, "numbers": count}
            for (reason, source), count in by_reason.most_common(ROWS)
        ],
    }
    if not numbers:
        return answer
    entries = listed.check(numbers)
    return {
        **answer,
        "numbers": [
            {
                "number": number,
                "suppressed": entry is not None,
                "reason": None if entry is None else entry.reason,
                "source": None if entry is None else entry.source,
                "since": None if entry is None else entry.on.isoformat(),
            }
            for number, entry in zip(numbers, entries, strict=True)
        ],
    }


def check_lead_list(asked: Asked) -> dict[str, Any]:
    """What would become of every row of a lead list; nothing is kept and nobody is asked."""
    return checked_list(asked.arguments, asked.stores)


def checked_list(arguments: Arguments, stores: Path) -> dict[str, Any]:
    """What would become of the list in a call's arguments, by the suppression list beside the stores."""
    from dialframe.flows import cleaning_summary, lead_cleaning
    from dialframe.flows.suppression_import import own_list
    from dialframe.leads.report import OWN_LIST

    content = str(arguments["content"])
    if len(content) > LIST_CHARS:
        raise ConfigError(
            f"the list has {len(content)} characters, and {LIST_CHARS} are taken here; "
            "use `dialframe leads clean --dry-run` for a file"
        )
    region = arguments.get("region") or None
    # A file of its own, readable by its owner alone, which goes at once.
    with tempfile.TemporaryDirectory(prefix="dialframe-list-") as folder:
        path = Path(folder) / "list.csv"
        # A lone surrogate of JSON has no bytes.
        path.write_bytes(content.encode("utf-8", "replace"))
        recipe = lead_cleaning.Recipe(
            region=region,
            mapping=arguments.get("mapping") or None,
            lists={OWN_LIST: own_list({}, stores).barred()},
        )
        prepared = lead_cleaning.prepare([path], recipe)
    cleaned = prepared.cleaned
    return {
        "units": f"rows of the list; numbers without a country code read as of {cleaned.region}; the firm's"
        " own suppression list was honored, the account's Do-Not-Call list was not asked (dnc_check does)",
        **cleaned.counts,
        "columns": _rows(cleaning_summary.columns(cleaned).drop(columns="file")),
        "reasons": _rows(cleaning_summary.reasons(cleaned)),
        "mended": _rows(cleaning_summary.warnings(cleaned)),
    }


def _rows(table: pd.DataFrame, most: int = ROWS) -> list[dict[str, Any]]:
    first_rows = table.head(most).astype(object)
    return [
        {
            str(name): round(value, _DIGITS) if isinstance(value, float) else value
            for name, value in row.items()
        }
        for row in first_rows.where(first_rows.notna(), None).to_dict("records")
    ]


def _check_list_in_process(arguments: Arguments, stores: Path) -> dict[str, Any]:
    # anyio takes the main module from a worker whose parent has none in a file (`python -c`, a packed
    # program), and DuckDB cannot be imported without one.
    sys.modules.setdefault("__main__", ModuleType("__main__"))
    return checked_list(arguments, stores)


#: What is answered in a process of its own: it reads text of strangers, and has to be ended with what it began.
_APART: Final = {"check_lead_list": _check_list_in_process}
_TABLE: Final = read_toml(Path(__file__).with_suffix(".toml").read_text(encoding="utf-8"))

ALL: Final = tuple(
    Analysis(
        name,
        row["description"].replace("{views}", store_questions.described()),
        row["arguments"],
        globals()[name],
        row["answer"],
        required=tuple(row.get("required", ())),
        scopes=frozenset(row.get("scopes", ())),
        apart=_APART.get(name),
    )
    for name, row in _TABLE.items()
)

BY_NAME: Final = {row.name: row for row in ALL}

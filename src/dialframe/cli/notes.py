"""What the manual says of each command beside its options: files, statuses, what Ctrl-C keeps; runs none of them."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Final

from dialframe.cli.statuses import FAILURE, FINDINGS, INTERRUPTED, OK


@dataclass(frozen=True, slots=True)
class Notes:
    """What is to be said of a command.

    Attributes:
        about: More about it, one paragraph each.
        files: What it writes, by name, with what it is.
        statuses: What a status says here, beside what it says everywhere.
        kept: What Ctrl-C leaves behind and how to go on; a sentence without a full stop.
        serves: Whether it runs until it is stopped, so that Ctrl-C is its proper end.
    """

    about: tuple[str, ...] = ()
    files: Mapping[str, str] = field(default_factory=dict)
    statuses: Mapping[int, str] = field(default_factory=dict)
    kept: str = "nothing was changed; run the same command again"
    serves: bool = False


_SERVED: Final = {OK: "it was stopped with Ctrl-C or SIGTERM"}
_LISTS: Final = {
    "OUT/NAME.clean.csv": "records that can be dialled, phones as E.164",
    "OUT/NAME.rejected.csv": "records that cannot, with the reason and the line of each",
    "OUT/NAME.duplicates.csv": "records that repeat another one",
    "OUT/NAME.do_not_call.csv": "records of people who must not be called",
    "OUT/NAME.skipped.csv": "blank lines, totals and repeated headers",
    "OUT/NAME.report.html": "the report as a page, numbers masked",
    "OUT/NAME.report.json": "the same for machines",
}
_PARTS: Final = (
    "Every record of the files ends in one of five lists: clean, rejected, duplicates, do_not_call "
    "and skipped add up to records.",
)
_WRITTEN_LAST: Final = "no list is half written; run the same command again"
_STORE: Final = {"STORE": "the local store: SQLite and Parquet, mode 0700; see dialframe store"}
_ANSWERS: Final = {"STORE": "the answers of the Do-Not-Call checks, kept as evidence"}
_JOURNAL: Final = {
    "OUT/NAME.import.jsonl": "the journal of what was sent, by which a second run goes on",
    "OUT/NAME.import.csv": "the ledger: each lead with its answer",
    "OUT/NAME.import.send_again.csv": "leads that may be sent again, where there are any",
}

#: By the command's path.
NOTES: Final[Mapping[str, Notes]] = {
    "demo": Notes(
        about=(
            "It starts the sandbox, makes a synthetic account, cleans, screens and imports an ugly "
            "lead file, reads the account, draws the funnel and audits it.",
        ),
        files={
            "OUT/report.html": "what was found, as one page: open this one first",
            "OUT/leads/": "the lists of the lead file, and the ledger of its import",
            "OUT/audit/": "the evidence pack of the audit",
        },
        kept="what stands in the folder is whole; run the same command again for the rest",
    ),
    "sync": Notes(
        about=(
            "The first sync reads everything, later ones what is new or may have changed. It can be "
            "stopped at any moment, also by a crash: the next one goes on.",
        ),
        files=_STORE,
        statuses={FAILURE: "a table could not be read to its end; what was read is kept"},
        kept="what was read is kept, the next sync goes on",
    ),
    "export": Notes(
        about=("The file is whole or not there. It holds personal data: mode 0600.",),
        files={
            "TO": "the current row of each record, oldest first, as the contract names its fields"
        },
        kept="no file is half written; run the same command again",
    ),
    "funnel": Notes(files={"PICTURE": "the picture, with --picture"}),
    "report": Notes(
        files={"OUT/report.html": "the page; it fetches nothing from anywhere"},
        kept="no page is half written; run the same command again",
    ),
    "audit": Notes(
        files={
            "OUT/ (or OUT.zip)": "with --out, the evidence pack: findings.csv, report.html, the rules used, "
            "manifest.json",
            **_ANSWERS,
        },
        statuses={FINDINGS: "there are findings of the grade of --fail-on"},
        kept="no file is half written; Do-Not-Call answers that came are kept; run the same command again",
    ),
    "audit verify": Notes(
        statuses={FINDINGS: "a byte of the pack was changed, or a file is missing"}
    ),
    "doctor": Notes(
        about=(
            "Every request is a read. The key is never shown. What could not be tried, because "
            "something before it failed, is said to be not tried.",
        ),
        statuses={FAILURE: "a check failed; its row says what to do"},
    ),
    "app": Notes(
        files={"FOLDER": "the lists that are written from the page"},
        statuses=_SERVED,
        serves=True,
        kept="files that were written stay",
    ),
    "leads check": Notes(about=_PARTS, kept="nothing was written; run the same command again"),
    "leads clean": Notes(about=_PARTS, files=_LISTS, kept=_WRITTEN_LAST),
    "leads screen": Notes(
        about=_PARTS,
        files={
            **_LISTS,
            "OUT/NAME.dnc_checks.csv": "each number with its answer, and when it was asked",
            **_ANSWERS,
        },
        kept="answers that came are kept, and not asked for again; run the same command again",
    ),
    "leads import": Notes(
        about=(
            *_PARTS,
            "It sends what is clean and not listed: sent = accepted + refused + unknown. What is "
            "unknown is settled by the same command, run again; nothing is sent twice.",
        ),
        files={**_LISTS, **_JOURNAL, **_ANSWERS},
        statuses={FINDINGS: "leads are unknown or refused, as --fail-on asks"},
        kept="what was sent is in the journal; the same command, run again, goes on where it was",
    ),
    "sandbox serve": Notes(
        files={"DATA": "the state, with --data; else it goes with the process"},
        statuses=_SERVED,
        serves=True,
        kept="the state is kept if --data was given",
    ),
    "store forget": Notes(files=_STORE, kept="run the same command again to be sure"),
    "store prune": Notes(files=_STORE, kept="run the same command again to be sure"),
    "store publish": Notes(
        files={"URL/TABLE/": "one Delta table for each table of the store"},
        kept="versions that were written stay; the same command, run again, goes on",
    ),
    "store vacuum": Notes(files=_STORE, kept="no row was lost; run the same command again"),
    "contract openapi": Notes(
        files={"OUT": "the document, with --out"}, kept="no file is half written"
    ),
    "webhooks listen": Notes(
        files=_STORE,
        statuses=_SERVED,
        serves=True,
        kept="events that were answered are kept",
    ),
    "assistant serve": Notes(
        files={"STORE/assistant.jsonl": "each call of a tool, with what became of it", **_STORE},
        statuses=_SERVED,
        serves=True,
        kept="what was confirmed is done, nothing else",
    ),
}

#: What the environment says, by the option that says it instead; None stands for every command.
ENVIRONMENT: Final[tuple[tuple[str | None, str, str], ...]] = (
    ("base_url", "DIALFRAME_BASE_URL", "address of the service, https://..."),
    ("base_url", "DIALFRAME_API_KEY", "the key, svc_...; it is never an option"),
    ("store", "DIALFRAME_STORE", "folder of the local store; else the user's data folder"),
    ("secret_env", "DIALFRAME_WEBHOOK_SECRET", "the endpoint's signing secret, whsec_..."),
    (None, "NO_COLOR", "if set, no colours"),
    (None, "COLUMNS", "width of tables and help, in characters"),
)


def of(path: str) -> Notes:
    """The notes of a command by its path; empty ones where nothing is to be said."""
    return NOTES.get(path, Notes())


def statuses_of(path: str) -> dict[int, str]:
    """What each status of a command says, in order."""
    from dialframe.cli.statuses import STATUSES

    notes = of(path)
    general = dict(STATUSES)
    if notes.serves:
        del general[INTERRUPTED]
    return dict(sorted((general | dict(notes.statuses)).items()))

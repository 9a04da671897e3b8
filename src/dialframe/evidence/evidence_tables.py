"""Evidence as Arrow tables, for whoever asks about many numbers at once: audits, coverage, reports."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime
from typing import TYPE_CHECKING, Final

from dialframe.evidence.log import EvidenceLog
from dialframe.evidence.record import Kind

if TYPE_CHECKING:
    import pyarrow as pa

#: Columns of a table of evidence: name, Arrow type, what it holds.
COLUMNS: Final = (
    ("kind", "string", "kind of the record"),
    ("at", "timestamp", "when it was so, UTC"),
    ("number", "string", "E.164, or `sha256:` or `forgotten:` and a hash; null where it is about none"),
    ("source", "string", "who says so: a file, an operation, a person"),
    ("list", "string", "the list, or the account, that it is about"),
    ("who", "string", "the person or program that acted"),
    ("request_id", "string", "the service's id of the answer"),
    ("run", "string", "id of the command, or key of the write, that wrote it"),
    ("detail", "string", "more facts, as JSON"),
    ("says", "string", "`listed` of a check, the state of a write, what a removal undoes"),
)  # fmt: skip


def table(
    log: EvidenceLog,
    kinds: Sequence[Kind],
    *,
    since: datetime | None = None,
    until: datetime | None = None,
    only: str | None = None,
) -> pa.Table:
    """Records of some kinds, in the order in which they were written.

    Args:
        log: The evidence log.
        kinds: Such as `check`, or `suppression, suppression_undone, dnc_add, refusal` for what prohibits.
        since: From this instant on.
        until: Before this instant.
        only: Only of this list or account.

    Returns:
        Columns `COLUMNS`; no rows where nothing was ever written.

    Raises:
        StoreError: The log is not what was written.

    Example:
        >>> import tempfile
        >>> from pathlib import Path
        >>> table(EvidenceLog.beside(Path(tempfile.mkdtemp())), ["check"]).num_rows
        0
    """
    import pyarrow as pa

    rows = list(log.rows(kinds, since=since, until=until, only=only))
    columns: list[Sequence[str | None]] = [[row[n] for row in rows] for n in range(len(COLUMNS))]
    arrays = [pa.array(column, pa.string()) for column in columns]
    at = [name for name, *_ in COLUMNS].index("at")
    arrays[at] = arrays[at].cast(pa.timestamp("us", tz="UTC"))
    return pa.table(dict(zip((name for name, *_ in COLUMNS), arrays, strict=True)))

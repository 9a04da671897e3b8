"""`dialframe report`: the main analyses of the account as one page."""

from __future__ import annotations

from typing import TYPE_CHECKING

from dialframe.cli.funnel_command import By, Campaign, Codes, Since, Until
from dialframe.cli.terminal import (
    AsJson,
    BaseUrl,
    OutFolder,
    StoreFolder,
    answer,
    connect,
    progress,
    say,
)

if TYPE_CHECKING:
    from dialframe.flows.reporting import Report


def report(
    out: OutFolder,
    campaign: Campaign = None,
    by: By = None,
    since: Since = None,
    until: Until = None,
    codes: Codes = None,
    base_url: BaseUrl = None,
    store: StoreFolder = None,
    as_json: AsJson = False,
) -> None:
    """Write the main analyses as one HTML page: pictures, their numbers, every definition.

    Reads the local store; run `dialframe sync` first. The page fetches nothing from anywhere, and
    numbers of people are masked. Example:

        dialframe report --out october --since 2026-10-01 --until 2026-11-01
    """
    from dialframe.flows import firm_records, reporting

    scope = reporting.Scope(
        campaign, by, firm_records.instant("--since", since), firm_records.instant("--until", until),
        reporting.own_codes(codes),
    )  # fmt: skip
    with connect(base_url, store) as account, progress() as listen:
        written = reporting.report(account, out, scope, on_progress=listen)
    if as_json:
        answer(_facts(written))
        return
    for finding in written.findings:
        say(finding)
    say(f"report: {written.file}")


def _facts(written: Report) -> dict[str, object]:
    return {
        "file": str(written.file),
        "sections": written.sections,
        "pictures": written.pictures,
        "findings": list(written.findings),
    }

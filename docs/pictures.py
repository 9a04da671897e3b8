"""Draws the pictures of the three journeys from the sample list and the sandbox.

python docs/pictures.py
"""

from __future__ import annotations

import sys
import tempfile
from collections.abc import Iterator
from datetime import date
from pathlib import Path

import dialframe
from dialframe import analytics, plots
from dialframe.flows import cleaning_summary

HERE = Path(__file__).parent
LIST = HERE.parent / "data_samples" / "leads" / "us_autumn_campaign.csv"


def pictures() -> Iterator[tuple[str, plots.Picture]]:
    """Name and picture of each journey: a list, a funnel, an audit."""
    cleaned = dialframe.leads.clean(dialframe.leads.read(LIST), region="US")
    yield (
        "list",
        plots.cleaning(cleaning_summary.reasons(cleaned), records=cleaned.counts["records"]),
    )
    with (
        tempfile.TemporaryDirectory() as store,
        dialframe.sandbox.start(seed=7, size="small", as_of=date(2026, 10, 30)) as sandbox,
        dialframe.connect(
            base_url=sandbox.base_url, api_key=sandbox.api_key, store=Path(store)
        ) as account,
    ):
        account.sync()
        yield "funnel", plots.funnel(analytics.funnel(account.calls(), account.leads()))
        yield "hours", plots.calling_hours(dialframe.audit(account).hours)


if __name__ == "__main__":
    for name, picture in pictures():
        (HERE / "static" / f"{name}.png").write_bytes(picture.png())
        sys.stdout.write(f"![{picture.alt}](static/{name}.png)\n")

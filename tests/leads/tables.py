"""Tables of tests of lead files, which stand beside them as TOML, and what is compared with them."""

from __future__ import annotations

import tomllib
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Any

from dialframe.leads import Choices, Cleaned, LeadInput, Pipeline
from dialframe.suppression import Barred


def table(name: str) -> dict[str, Any]:
    """One table by its name without the ending."""
    return tomllib.loads(Path(__file__).with_name(f"{name}.toml").read_text(encoding="utf-8"))


def reasons(cleaned: Cleaned) -> dict[int, str]:
    """Row to reason, of everything that is not clean."""
    frames = (cleaned.rejected, cleaned.duplicates, cleaned.do_not_call, cleaned.skipped)
    return {
        int(row): code
        for frame in frames
        for row, code in zip(frame["_row"], frame["_reason"], strict=True)
    }


def inputs(
    path: Path,
    keep: Sequence[str] | None = None,
    *,
    do_not_call: Iterable[str] = (),
    suppressed: Barred | None = None,
    region: str | None = "US",
    **choices: Any,
) -> list[LeadInput]:
    """What an import of a file sends."""
    with Pipeline(Choices(region=region, **choices)) as pipeline:
        pipeline.judge([path])
        pipeline.compare(do_not_call, suppressed=suppressed)
        return list(pipeline.inputs(keep))

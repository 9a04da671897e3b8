"""Campaigns by their names, for people: ids in words and tables are replaced; knows text, not analyses."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import replace
from typing import Final

import pandas as pd

from dialframe.analytics import Funnel, Result

#: Letters of an id that tell campaigns of one name apart.
_TAIL: Final = 4


def campaign_names(campaigns: pd.DataFrame) -> dict[str, str]:
    """Campaign id to what people call it; campaigns of one name keep the end of their id.

    Args:
        campaigns: Frame of the campaigns table: `id`, `name`. A campaign without a name is left out.
    """
    known = campaigns.dropna(subset=["id", "name"])
    known = known[known["name"].str.strip() != ""]
    twice = known["name"].duplicated(keep=False)
    return {
        str(i): f"{name} ({str(i)[-_TAIL:]})" if again else str(name)
        for i, name, again in zip(known["id"], known["name"], twice, strict=True)
    }


def with_names(result: Result, names: Mapping[str, str]) -> Result:
    """The same result with campaigns by name, in its sentence and in every table."""
    if not names:
        return result
    return replace(
        result,
        answer=_told(result.answer, names),
        table=_shown(result.table, names),
        tables={key: _shown(table, names) for key, table in result.tables.items()},
        warnings=tuple(_told(warning, names) for warning in result.warnings),
    )


def funnel_with_names(result: Funnel, names: Mapping[str, str]) -> Funnel:
    """The same funnel with campaigns by name."""
    if not names:
        return result
    campaign = None if result.campaign is None else names.get(result.campaign, result.campaign)
    return replace(result, table=_shown(result.table, names), campaign=campaign)


def _told(text: str, names: Mapping[str, str]) -> str:
    return re.sub("|".join(map(re.escape, names)), lambda found: names[found[0]], text)


def _shown(table: pd.DataFrame, names: Mapping[str, str]) -> pd.DataFrame:
    """The table with ids replaced wherever a text column has them, alone or among others."""
    ids = "|".join(map(re.escape, names))
    changed = {}
    for name in table.columns:
        column = table[name]
        if pd.api.types.is_string_dtype(column.dtype) and column.str.contains(ids).any():
            changed[name] = column.str.replace(ids, lambda found: names[found[0]], regex=True)
    return table.assign(**changed)

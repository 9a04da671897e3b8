"""What an account's own tables say to an audit."""

from __future__ import annotations

import re
from pathlib import Path

import pandas as pd
import pytest

from dialframe.analytics import DEFAULT
from dialframe.compliance.tables.intake import take_consents
from dialframe.errors import ConfigError
from dialframe.flows.firm_records import (
    outcome_words,
    records,
    table,
)


def test_outcomes_are_those_that_the_taxonomy_maps_to_a_drop_a_person_or_a_machine() -> None:
    """DROP is a dropped call, NI is a person and A a machine; no answer and busy are nobody's."""
    assert outcome_words(["DROP", "NI", "A", "NA", None], DEFAULT) == {
        "DROP": "dropped", "NI": "live", "A": "machine",
    }  # fmt: skip
    assert outcome_words(["NA", None], DEFAULT) is None


CONSENTS = "Name;Mobile;Opt-in date;Consent type;Source\nAda;(212) 555-0142;2026-10-01;Prior express written;form 7\n"


def test_consents_are_read_like_any_list(tmp_path: Path) -> None:
    """Other headers, a delimiter of its own, numbers as people write them: columns are found, numbers normalized."""
    path = tmp_path / "opt-ins.csv"
    path.write_text(CONSENTS, encoding="utf-8")
    read = records(path, "consents", region="US")
    assert read.left == ("Name",)
    assert read.frame is not None
    told = read.frame.iloc[0].to_dict()
    assert told == {
        "phone": "+12125550142", "granted_at": pd.Timestamp("2026-10-01", tz="UTC"), "kind": "written",
        "record": "form 7",
    }  # fmt: skip
    assert take_consents(read.frame) is not None
    path.write_text("phone,checked_at,result\n+12125550142,2026-10-01,no\n", encoding="utf-8")
    asked = records(path, "look-ups").frame
    assert asked is not None
    assert list(asked.columns) == ["checked_at", "result", "phone"] or set(asked.columns) == {
        "phone", "checked_at", "result",
    }  # fmt: skip
    assert records(None, "consents").frame is None


REFUSED = {
    "no number": (CONSENTS + "Bob;n/a;2026-10-02;written;form 8\n", "line 3: no phone number"),
    "no country": (CONSENTS, "--region"),
    "no day": (CONSENTS.replace("Opt-in date", "When"), "no column of consents is granted_at"),
    "two days": (CONSENTS.replace("Name", "Date").replace("Ada", "2026-10-01"), "both read as granted_at"),
    "another kind": (CONSENTS.replace("Prior express written", "verbal"), "line 2, Consent type: 'verbal'"),
    "a time without a zone": (CONSENTS.replace("2026-10-01;", "2026-10-01 09:00;"), "Opt-in date"),
}  # fmt: skip


@pytest.mark.parametrize("case", REFUSED, ids=str)
def test_a_table_of_consents_is_read_whole_or_refused(case: str, tmp_path: Path) -> None:
    """A record that is left out in silence would be a consent, or its end, that nobody sees."""
    text, said = REFUSED[case]
    path = tmp_path / "consents.csv"
    path.write_text(text, encoding="utf-8")
    region = None if case == "no country" else "US"
    with pytest.raises(ConfigError, match=re.escape(said)):
        records(path, "consents", region=region)


@pytest.mark.parametrize("text", ["", "number,reason\n" + ',"\n' * 9, "a,b\n1,2,3\n"])
def test_what_is_no_table_is_refused_in_words(text: str, tmp_path: Path) -> None:
    """An empty file, a quote that never closes, a record with a cell too many."""
    path = tmp_path / "exemptions.csv"
    path.write_text(text, encoding="utf-8")
    with pytest.raises(ConfigError, match="is no CSV file"):
        table(path)

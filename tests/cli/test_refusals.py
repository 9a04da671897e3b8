"""What cannot be is refused before anything is read or asked: a status, one sentence, and what would be right."""

from __future__ import annotations

import tomllib
from pathlib import Path

import pytest

from cli.commands import invoke

TABLE = tomllib.loads((Path(__file__).parent / "refusals.toml").read_text(encoding="utf-8"))
#: A command, and the words that it is refused with.
REFUSED = {line: [words] for line, words in TABLE["refused"].items()} | dict.fromkeys(
    TABLE["without_account"]["commands"], TABLE["without_account"]["words"]
)


@pytest.mark.usefixtures("nothing_set")
@pytest.mark.parametrize(("line", "words"), REFUSED.items(), ids=REFUSED)
def test_what_cannot_be_is_refused_in_words(
    line: str, words: list[str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Status 2: what is wrong and what may have been meant, and for wrong usage where to read more."""
    monkeypatch.chdir(tmp_path)
    Path("list.csv").write_text("Phone\n(212) 555-0142\n")
    ran = invoke(line, ends=2)
    first, *more = ran.err.splitlines()

    assert all(word in first for word in words), ran.err
    assert more in ([], [f"Try: {first.partition(':')[0]} --help"])
    assert ran.out == ""
    assert "Traceback" not in ran.err
    assert "fault of dialframe" not in ran.err


@pytest.mark.parametrize("url", ["nowhere://fairs/*.csv", "nowhere://fairs/list.csv"])
def test_an_object_store_that_is_none_is_named(url: str) -> None:
    """One sentence with the URL, for a pattern as for a file."""
    invoke("leads check --region US", url, ends=1, err=f"{url} cannot be reached")

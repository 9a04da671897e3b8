"""What cannot be is refused before anything is read or asked: a status, one sentence, and what would be right."""

from __future__ import annotations

from pathlib import Path

import pytest

from cli.commands import invoke

#: Where somebody without an account is told to go on.
NO_ACCOUNT = ("DIALFRAME_BASE_URL", "--base-url", "dialframe sandbox serve")
#: A command, and the words that it is refused with.
REFUSED: tuple[tuple[str, tuple[str, ...]], ...] = (
    ("nonsense", ("dialframe: there is no command 'nonsense'",)),
    ("funel", ("dialframe: there is no command 'funel'; did you mean 'funnel'?",)),
    ("leads claen", ("dialframe leads: there is no command 'claen'; did you mean 'clean'?",)),
    ("leads clean", ("dialframe leads clean: FILES is missing",)),
    ("leads clean x --regoin US",
     ("dialframe leads clean: there is no option --regoin; did you mean --region?",)),
    ("export calls", ("dialframe export: --to is missing. File to write",)),
    ("export", ("dialframe export: TABLE is missing. Table to write",)),
    ("export nothing --to x.csv", ("nothing",)),
    ("export calls --to x.txt", (".parquet",)),
    ("sync", NO_ACCOUNT),
    ("sync --store", ("dialframe: --store needs a value",)),
    ("sync cals", ("did you mean calls?",)),
    ("sync xyz", ("choose from calls, leads",)),
    ("export calls --to x.csv", NO_ACCOUNT),
    ("store info", NO_ACCOUNT),
    ("sandbox serve --port 70000", ("--port: it has to be less than or equal to 65535",)),
    ("sandbox serve --port x", ("--port: it has to be a valid integer",)),
    ("sandbox serve --size vast", ("vast",)),
    ("sandbox serve --as-of yesterday", ("--as-of takes a day",)),
    ("funnel", NO_ACCOUNT),
    ("funnel --window soon", ("--window",)),
    ("funnel --since 2026-13-01", ("--since",)),
    ("funnel --picture funnel.txt", (".png",)),
    ("funnel --order sideways", ("ordered",)),
    ("audit", NO_ACCOUNT),
    ("audit verify nowhere", ("there is no pack",)),
    ("audit --since yesterday", ("takes a day such as",)),
    ("gate check", ("gate takes numbers",)),
    ("gate +12125550142 --at noon", ("--at",)),
    ("gate serve", ("DIALFRAME_GATE_TOKEN",)),
    ("leads clean x --format pdf", ("--format: 'pdf' is not one of 'csv'",)),
    ("leads clean list.csv --column phone", ("--column takes a field and a column",)),
    ("leads clean list.csv --header first", ("--header takes",)),
    ("leads clean list.csv --show nonsense", ("dialframe leads reasons",)),
    ("leads clean list.csv --mapping nowhere.json", ("nowhere.json",)),
    ("leads clean list.csv --rules nowhere.toml", ("nowhere.toml",)),
    ("leads check list.csv --engine spark", ("--engine",)),
    ("leads check list.csv --scheduler tcp://127.0.0.1:9", ("pass --engine dask",)),
)  # fmt: skip


@pytest.mark.usefixtures("nothing_set")
@pytest.mark.parametrize(("line", "words"), REFUSED, ids=[line for line, _ in REFUSED])
def test_what_cannot_be_is_refused_in_words(
    line: str, words: tuple[str, ...], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
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

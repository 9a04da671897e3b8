"""`dialframe leads check` and `clean` read object stores, know their engines, and ask once about columns."""

from __future__ import annotations

import json
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from dialframe.cli import lead_options
from dialframe.cli.entry_point import run
from dialframe.leads import Candidate, MappingDecision, Question

TWO_PHONES = (
    "a,b,c\n(212) 555-0142,(212) 555-0152,x\n(212) 555-0143,(212) 555-0153,y\n"
    "(212) 555-0144,(212) 555-0154,z\n"
)


@pytest.fixture(autouse=True)
def home(tmp_path_factory: pytest.TempPathFactory, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A home in which nothing is remembered, and 80 columns."""
    folder = tmp_path_factory.mktemp("home")
    monkeypatch.setenv("XDG_DATA_HOME", str(folder))
    monkeypatch.setenv("COLUMNS", "80")
    return folder


@pytest.fixture
def unsure(tmp_path: Path) -> Path:
    """A list with two phone columns that nothing tells apart."""
    path = tmp_path / "unsure.csv"
    path.write_text(TWO_PHONES)
    return path


@pytest.fixture
def bucket(monkeypatch: pytest.MonkeyPatch) -> Iterator[str]:
    """Three lists in a service that speaks S3."""
    pytest.importorskip("moto")
    pytest.importorskip("s3fs")
    import fsspec
    from moto.server import ThreadedMotoServer

    for name in ("AWS_ACCESS_KEY_ID", "AWS_SECRET_ACCESS_KEY"):
        monkeypatch.setenv(name, "test")
    monkeypatch.setenv("AWS_DEFAULT_REGION", "us-east-1")
    server = ThreadedMotoServer(port=0)
    server.start()
    try:
        _, port = server.get_host_and_port()
        monkeypatch.setenv("AWS_ENDPOINT_URL", f"http://127.0.0.1:{port}")
        fsspec.get_filesystem_class("s3").clear_instance_cache()
        store = fsspec.filesystem("s3", skip_instance_cache=True)
        store.mkdir("fairs")
        for at in range(3):
            rows = f"Phone,Name\n(212) 555-014{at},Ada\n(212) 555-0149,Bob\n"
            with store.open(f"fairs/list{at}.csv", "wb") as file:
                file.write(rows.encode())
        yield "s3://fairs/*.csv"
    finally:
        fsspec.get_filesystem_class("s3").clear_instance_cache()
        server.stop()


@pytest.mark.filterwarnings("ignore")
def test_a_bucket_is_cleaned(
    bucket: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """A URL with a wildcard is its files, in order, cleaned against each other; check says the same."""
    assert (
        run(["leads", "clean", "--region", "US", bucket, "--out", str(tmp_path / "out"), "--json"])
        == 0
    )
    facts = json.loads(capsys.readouterr().out)
    assert [one["name"] for one in facts["inputs"]] == ["list0.csv", "list1.csv", "list2.csv"]
    assert (facts["records"], facts["clean"], facts["duplicates"]) == (6, 4, 2)
    assert Path(facts["files"]["clean"]).is_file()

    assert run(["leads", "check", "--region", "US", bucket, "--json"]) == 0
    assert json.loads(capsys.readouterr().out)["reasons"] == facts["reasons"]

    assert run(["leads", "check", "--region", "US", "s3://fairs/*.tsv"]) == 1
    assert "stands for no file" in capsys.readouterr().err


@pytest.mark.parametrize("engine", ["local", "duckdb"])
def test_engines_write_the_same(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], engine: str
) -> None:
    """Whatever does the work, the numbers are these."""
    path = tmp_path / "list.csv"
    path.write_text("Phone,Name\n(212) 555-0142,Ada\n212.555.0142,Ada\n12,Bob\n")
    told = ["--engine", engine, "--out", str(tmp_path / engine), "--json"]

    assert run(["leads", "clean", "--region", "US", str(path), *told]) == 0
    facts = json.loads(capsys.readouterr().out)
    assert (facts["clean"], facts["duplicates"], facts["rejected"]) == (1, 1, 1)


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (["--engine", "spark"], "--engine"),
        (["--scheduler", "tcp://127.0.0.1:9"], "pass --engine dask"),
    ],
)
def test_engines_that_cannot_be(
    unsure: Path, capsys: pytest.CaptureFixture[str], arguments: list[str], words: str
) -> None:
    """An unknown engine, and a scheduler without its engine, are refused with status 2."""
    assert run(["leads", "check", "--region", "US", str(unsure), *arguments]) == 2
    assert words in capsys.readouterr().err


def test_a_store_that_is_none_is_named(capsys: pytest.CaptureFixture[str]) -> None:
    """One sentence with the URL, for a pattern as for a file."""
    for url in ("nowhere://fairs/*.csv", "nowhere://fairs/list.csv"):
        assert run(["leads", "check", "--region", "US", url]) == 1
        assert f"{url} cannot be reached" in capsys.readouterr().err


def test_nobody_is_asked_in_a_pipe(unsure: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """Two columns that nothing tells apart are refused, with their names."""
    for more in ([], ["--json"]):
        assert run(["leads", "check", "--region", "US", str(unsure), *more]) == 1
        assert "a and b both look like phone columns" in capsys.readouterr().err


def test_an_answer_is_remembered(
    unsure: Path, home: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """What settled a question once settles it for the next list with this header, and says so."""
    assert run(["leads", "check", "--region", "US", str(unsure), "--column", "phone=b"]) == 0
    (saved,) = (home / "dialframe" / "mappings").iterdir()
    assert saved.stat().st_mode & 0o777 == 0o600
    assert saved.parent.stat().st_mode & 0o777 == 0o700
    capsys.readouterr()

    assert run(["leads", "check", "--region", "US", str(unsure)]) == 0
    assert "as answered for this header before" in capsys.readouterr().out
    assert run(["leads", "check", "--region", "US", str(unsure), "--json"]) == 0
    (one,) = json.loads(capsys.readouterr().out)["inputs"]
    assert one["columns"]["fields"]["phone"] == ["b"]
    assert one["saved_mapping"] is True
    assert run(["leads", "check", "--region", "US", str(unsure), "--no-saved-mapping"]) == 1
    assert run(["leads", "forget", str(unsure)]) == 0
    assert run(["leads", "check", "--region", "US", str(unsure)]) == 1
    assert run(["leads", "forget", str(unsure)]) == 0
    assert "nothing was answered" in capsys.readouterr().out


def test_what_is_sure_is_not_remembered(tmp_path: Path, home: Path) -> None:
    """Columns that were told where nothing was asked hold for that run alone."""
    path = tmp_path / "list.csv"
    path.write_text("Phone,Name,City\n(212) 555-0142,Ada,Berlin\n")

    assert run(["leads", "check", "--region", "US", str(path), "--column", "full_name=City"]) == 0
    assert not (home / "dialframe" / "mappings").exists()


def test_a_person_at_a_terminal_is_asked(
    unsure: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """By number; a wrong one is asked again; the answer is kept."""
    monkeypatch.setattr(sys, "stdin", _Typed("9\n2\n"))
    monkeypatch.setattr(sys.stderr, "isatty", lambda: True, raising=False)

    assert run(["leads", "check", str(unsure), "--region", "US"]) == 0
    err = capsys.readouterr().err
    assert "  2  b" in err
    assert "(212********53" in err
    assert "555-0153" not in err
    assert "mapping=" not in err
    assert "from 1 to" in err

    monkeypatch.setattr(sys, "stdin", _Typed(""))
    assert run(["leads", "check", "--region", "US", str(unsure), "--json"]) == 0
    (one,) = json.loads(capsys.readouterr().out)["inputs"]
    assert one["columns"]["fields"]["phone"] == ["b"]


def test_none_of_them(monkeypatch: pytest.MonkeyPatch) -> None:
    """A field that need not be there can be left out with 0, and Enter takes the first."""
    question = Question("email", (Candidate("x", 0.7), Candidate("y", 0.65)), "x or y", False)
    decision = MappingDecision("list.csv", Path("list.csv"), None, (question,))

    monkeypatch.setattr(sys, "stdin", _Typed("0\n"))
    assert lead_options.ask(decision) == {"email": None}
    monkeypatch.setattr(sys, "stdin", _Typed("\n"))
    assert lead_options.ask(decision) == {"email": "x"}


class _Typed:
    """A terminal at which somebody types."""

    def __init__(self, text: str) -> None:
        import io

        self._text = io.StringIO(text)
        self.encoding, self.errors = "utf-8", "strict"

    def isatty(self) -> bool:
        return True

    def readline(self, size: int = -1) -> str:
        return self._text.readline(size)

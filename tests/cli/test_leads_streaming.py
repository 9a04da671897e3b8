"""`dialframe leads check` and `clean` read object stores, and ask once about columns."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from cli.commands import invoke
from dialframe.cli import lead_options
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
def test_a_bucket_is_cleaned(bucket: str, tmp_path: Path) -> None:
    """A URL with a wildcard is its files, in order, cleaned against each other; check says the same."""
    facts = invoke("leads clean --region US --json", bucket, "--out", tmp_path / "out").facts
    assert [one["name"] for one in facts["inputs"]] == ["list0.csv", "list1.csv", "list2.csv"]
    assert (facts["records"], facts["clean"], facts["duplicates"]) == (6, 4, 2)
    assert Path(facts["files"]["clean"]).is_file()

    assert invoke("leads check --region US --json", bucket).facts["reasons"] == facts["reasons"]

    invoke("leads check --region US s3://fairs/*.tsv", ends=1, err="stands for no file")


def test_nobody_is_asked_in_a_pipe(unsure: Path) -> None:
    """Two columns that nothing tells apart are refused, with their names."""
    for more in ([], ["--json"]):
        invoke(
            "leads check --region US",
            unsure,
            *more,
            ends=1,
            err="a and b both look like phone columns",
        )


def test_an_answer_is_remembered(unsure: Path, home: Path) -> None:
    """What settled a question once settles it for the next list with this header, and says so."""
    invoke("leads check --region US --column phone=b", unsure)
    (saved,) = (home / "dialframe" / "store" / "profiles").iterdir()
    assert saved.stat().st_mode & 0o777 == 0o600
    assert saved.parent.stat().st_mode & 0o777 == 0o700
    invoke("leads check --region US", unsure, out="as answered for this header before")
    (one,) = invoke("leads check --region US --json", unsure).facts["inputs"]
    assert one["columns"]["fields"]["phone"] == ["b"]
    assert one["saved_mapping"] is True
    invoke("leads check --region US --no-saved-mapping", unsure, ends=1)
    invoke("leads forget", unsure)
    invoke("leads check --region US", unsure, ends=1)
    invoke("leads forget", unsure, out="nothing was answered")


def test_what_is_sure_is_not_remembered(tmp_path: Path, home: Path) -> None:
    """Columns that were told where nothing was asked hold for that run alone."""
    path = tmp_path / "list.csv"
    path.write_text("Phone,Name,City\n(212) 555-0142,Ada,Berlin\n")

    invoke("leads check --region US --column full_name=City", path)
    assert not (home / "dialframe" / "store" / "profiles").exists()


def test_the_column_with_most_numbers_is_offered_first(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Numbers that count up may be ids, so a person is asked; Enter takes them rather than the names."""
    path = tmp_path / "list.csv"
    rows = "".join(f"Ada {at},x,21273600{at}\n" for at in range(10, 40))
    path.write_text(f"Nm,Ref A,Ref B\n{rows}")
    monkeypatch.setattr(sys, "stdin", _Typed("\n"))
    monkeypatch.setattr(lead_options, "at_terminal", lambda: True)
    assert "  1  Ref B  2127360010" in invoke("leads check --region US", path, ends=None).err


def test_a_person_at_a_terminal_is_asked(unsure: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """By number, with cells in clear; a wrong one is asked again; the answer is kept."""
    monkeypatch.setattr(sys, "stdin", _Typed("9\n2\n"))
    monkeypatch.setattr(lead_options, "at_terminal", lambda: True)

    err = invoke("leads check --region US", unsure).err
    assert "  2  b" in err
    assert "555-0153" in err
    assert "mapping=" not in err
    assert "from 1 to" in err

    monkeypatch.setattr(sys, "stdin", _Typed(""))
    (one,) = invoke("leads check --region US --json", unsure).facts["inputs"]
    assert one["columns"]["fields"]["phone"] == ["b"]


def test_none_of_them(monkeypatch: pytest.MonkeyPatch) -> None:
    """A field that need not be there can be left out with 0, and Enter takes the first."""
    question = Question("email", (Candidate("x", 0.7), Candidate("y", 0.65)), "x or y", False)
    decision = MappingDecision("list.csv", Path("list.csv"), None, (question,))

    monkeypatch.setattr(sys, "stdin", _Typed("0\n"))
    assert lead_options.asker(remembers=False)(decision) == {"email": None}
    monkeypatch.setattr(sys, "stdin", _Typed("\n"))
    assert lead_options.asker(remembers=False)(decision) == {"email": "x"}


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

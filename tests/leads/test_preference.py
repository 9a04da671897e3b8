"""Of several records with one number the first stays, or the newest, or the fullest; in memory as on the disk."""

from __future__ import annotations

from pathlib import Path

import pytest

from dialframe import leads

HEADER = "Phone,Name,City,Updated\n"
ROWS = (
    "(212) 555-0142,Ada,,2026-03-01\n"
    "(212) 555-0143,Bob,Rome,2026-01-01\n"
    "(212) 555-0142,Ada Lane,Bonn,2026-01-01\n"
    "(212) 555-0142,,,2026-05-01\n"
)


def kept(path: Path, memory_bytes: int, policy: str) -> tuple[list[tuple[str, int]], list[int]]:
    """Line of the record that stays for Ada's number, and what the others say is kept."""
    made = leads.Policy(duplicates=policy)  # type: ignore[arg-type]
    folder = path.parent / f"{memory_bytes}-{policy}"
    done = leads.clean_files(
        [path], folder, region="US", policy=made, memory_bytes=memory_bytes,
        layout=leads.CleanLayout("raw"),
    )  # fmt: skip
    assert len(leads.read(done.paths["set_aside"], header="auto").frame) == 2
    cleaned = leads.clean(leads.read(path), region="US", policy=made)
    assert sorted(cleaned.clean["_line"]) == sorted(
        set(range(2, 6)) - set(cleaned.duplicates["_line"])
    )
    own = cleaned.clean[cleaned.clean["phone"] == "+12125550142"]
    return own["_line"].tolist(), cleaned.duplicates["_kept_line"].tolist()


@pytest.mark.usefixtures("in_blocks")
@pytest.mark.parametrize("memory_bytes", [0, 2**20], ids=["disk", "memory"])
@pytest.mark.parametrize(("policy", "line"), [("first", 2), ("newest", 5), ("fullest", 4)])
def test_the_policy_says_which_record_stays(
    tmp_path: Path, memory_bytes: int, policy: str, line: int
) -> None:
    path = tmp_path / "list.csv"
    path.write_text(HEADER + ROWS)
    assert kept(path, memory_bytes, policy) == ([line], [line, line])

"""What is installed is what was tested: pins with hashes, licenses and a bill of materials."""

from __future__ import annotations

import json
import re
import tomllib
from pathlib import Path

CI = Path(__file__).parents[1] / ".ci"
LINE = re.compile(
    r"([a-z0-9-]+)==(\S+) --hash=sha256:([0-9a-f]{64})((?: --hash=sha256:[0-9a-f]{64})*)"
)


def locked() -> dict[str, tuple[str, str]]:
    """Version and digest of each library, by name."""
    lines = (CI / "locked.txt").read_text().splitlines()
    matches = [LINE.fullmatch(line) for line in lines if not line.startswith("#")]
    assert all(matches)
    return {match[1]: (match[2], match[3]) for match in matches if match}


def test_every_locked_library_is_the_one_that_is_pinned() -> None:
    """Same versions in both files, and every dependency of the package among them."""
    pins = dict(line.split("==") for line in (CI / "constraints.txt").read_text().split())
    pins = {
        name.lower().replace("_", "-").replace(".", "-"): version for name, version in pins.items()
    }
    found = locked()

    assert {
        name: version for name, (version, _) in found.items() if pins.get(name, version) != version
    } == {}
    project = tomllib.loads((CI.parent / "pyproject.toml").read_text())["project"]
    wanted = {re.match(r"[\w-]+", line)[0].lower() for line in project["dependencies"]}  # type: ignore[index]
    assert wanted <= found.keys()


def test_each_python_of_ci_has_its_files() -> None:
    """A library of compiled code has a hash for each of the three, or one that serves several; others have one."""
    lines = (CI / "locked.txt").read_text().splitlines()
    counts = {line.split("==")[0]: line.count("--hash=") for line in lines[1:]}

    assert all(f"3.{minor}" in lines[0] for minor in (11, 12, 13))
    assert set(counts.values()) <= {1, 2, 3}
    assert {name: counts[name] for name in ("numpy", "pandas", "pyarrow", "duckdb", "httpx")} == {
        "numpy": 3, "pandas": 3, "pyarrow": 3, "duckdb": 2, "httpx": 1,
    }  # fmt: skip
    assert not re.search(r"https?:|--index-url|file:", "\n".join(lines))


def test_the_bill_of_materials_names_versions_digests_and_licenses() -> None:
    """CycloneDX, one component for each library; the wheel carries it."""
    bill = json.loads((CI / "sbom.cdx.json").read_text())
    found = locked()

    assert (bill["bomFormat"], bill["specVersion"]) == ("CycloneDX", "1.6")
    for one in bill["components"]:
        assert found[one["name"]] == (one["version"], one["hashes"][0]["content"])
        (entry,) = one["licenses"]
        assert entry["license"]["name"] not in ("", "not stated"), one["name"]
    build = tomllib.loads((CI.parent / "pyproject.toml").read_text())["tool"]["hatch"]["build"]
    assert build["targets"]["wheel"]["sbom-files"] == [".ci/sbom.cdx.json"]

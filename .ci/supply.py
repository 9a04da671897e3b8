"""Writes what is installed, with hashes, licenses and a bill of materials; run after a pin has changed.

    python .ci/supply.py      # asks the package index that pip is set up with, and installs nothing

`locked.txt` holds what `pip install --require-hashes` needs for the package and for building it; `sbom.cdx.json`
(CycloneDX 1.6) what a wheel stands on, with licenses; it is part of the wheel.
"""

from __future__ import annotations

import json
import subprocess
import sys
import tomllib
from importlib.metadata import Distribution, PackageNotFoundError, distribution
from pathlib import Path

from packaging.requirements import Requirement
from packaging.utils import canonicalize_name

CI = Path(__file__).parent
ROOT = CI.parent
HEAD = (
    "# Written by .ci/supply.py: do not edit. For CPython 3.11, 3.12 and 3.13 on Linux x86-64.\n"
)
#: The Python that writes comes first; its files are those of the bill of materials.
PYTHONS = ("3.11", "3.12", "3.13")
#: License texts of metadata to SPDX, where a package has no expression of its own.
SPDX = {
    "MIT License": "MIT", "BSD License": "BSD-3-Clause", "Apache Software License": "Apache-2.0",
    "ISC License (ISCL)": "ISC", "Mozilla Public License 2.0 (MPL 2.0)": "MPL-2.0",
    "Python Software Foundation License": "PSF-2.0", "The Unlicense (Unlicense)": "Unlicense",
    "Historical Permission Notice and Disclaimer (HPND)": "HPND", "Zope Public License": "ZPL-2.1",
}  # fmt: skip


def closure(wanted: list[str]) -> dict[str, Distribution]:
    """Installed distributions that these requirements lead to, by name."""
    found: dict[str, Distribution] = {}
    waiting = [Requirement(line) for line in wanted]
    while waiting:
        need = waiting.pop()
        name = canonicalize_name(need.name)
        extras = need.extras or {""}
        if need.marker is not None and not any(need.marker.evaluate({"extra": x}) for x in extras):
            continue
        known = name in found
        try:
            found[name] = distribution(name)
        except PackageNotFoundError:
            sys.exit(f"{name} is not installed")
        if known and not need.extras:
            continue
        for line in found[name].requires or []:
            inner = Requirement(line)
            if inner.marker is None or any(
                inner.marker.evaluate({"extra": x}) for x in extras | {""}
            ):
                inner.marker = None
                waiting.append(inner)
        if known:
            break_loop = {canonicalize_name(one.name) for one in waiting} - found.keys()
            waiting = [one for one in waiting if canonicalize_name(one.name) in break_loop]
    return dict(sorted(found.items()))


def hashes(of: dict[str, Distribution]) -> dict[str, list[str]]:
    """SHA-256 of the files that pip would install of each release, by name: one for each Python that differs."""
    pins = [f"{name}=={dist.version}" for name, dist in of.items()]
    digests: dict[str, dict[str, None]] = {name: {} for name in of}
    for python in PYTHONS:
        command = [sys.executable, "-m", "pip", "install", "--quiet", "--dry-run", "--ignore-installed",
                   "--no-deps", "--only-binary=:all:", "--python-version", python, "--target", "nowhere",
                   "--report", "-", *pins]  # fmt: skip
        ran = subprocess.run(command, check=True, stdout=subprocess.PIPE)  # noqa: S603 - our own words
        for one in json.loads(ran.stdout)["install"]:
            digest = one["download_info"]["archive_info"]["hashes"]["sha256"]
            digests[canonicalize_name(one["metadata"]["name"])][digest] = None
    return {name: list(found) for name, found in digests.items()}


def spdx(of: Distribution) -> str:
    """The license as SPDX where that is known, else as the package words it."""
    metadata = of.metadata
    if metadata["License-Expression"]:
        return str(metadata["License-Expression"])
    classifiers = [
        line.rpartition(" :: ")[2]
        for line in metadata.get_all("Classifier") or []
        if line.startswith("License :: ") and "OSI Approved" not in line.rpartition(" :: ")[2]
    ]
    if classifiers:
        return " OR ".join(dict.fromkeys(SPDX.get(word, word) for word in classifiers))
    return (metadata["License"] or "not stated").strip().splitlines()[0][:60]


def lock(of: dict[str, Distribution], digests: dict[str, list[str]], path: Path) -> None:
    """Write requirements with hashes."""
    lines = [
        " ".join([f"{name}=={dist.version}", *(f"--hash=sha256:{one}" for one in digests[name])])
        for name, dist in of.items()
    ]
    path.write_text(HEAD + "\n".join(lines) + "\n")


def main() -> None:
    """Write both files."""
    project = tomllib.loads((ROOT / "pyproject.toml").read_text())
    base = closure(project["project"]["dependencies"])
    build = closure(project["build-system"]["requires"])
    digests = hashes({**base, **build})
    lock(dict(sorted({**base, **build}.items())), digests, CI / "locked.txt")
    components = [
        {
            "type": "library",
            "name": name,
            "version": dist.version,
            "purl": f"pkg:pypi/{name}@{dist.version}",
            "licenses": [{"license": {"name": spdx(dist)}}],
            "hashes": [{"alg": "SHA-256", "content": digests[name][0]}],
        }
        for name, dist in base.items()
    ]
    bill = {
        "bomFormat": "CycloneDX",
        "specVersion": "1.6",
        "version": 1,
        "metadata": {
            "component": {
                "type": "library",
                "name": project["project"]["name"],
                "version": project["project"]["version"],
                "licenses": [{"license": {"id": project["project"]["license"]}}],
            }
        },
        "components": components,
    }
    (CI / "sbom.cdx.json").write_text(json.dumps(bill, indent=1) + "\n")


if __name__ == "__main__":
    main()

"""Read the whole made corpus and print the share read exactly right of each suite.

Run from the root of the project: `python -m tests.leads.corpus_check [suite] [--faults]`.
"""

from __future__ import annotations

import sys
import tempfile
from pathlib import Path

from tests.leads.corpus.judge import cases, fault, shares


def main(arguments: list[str]) -> None:
    """Print the shares, and with `--faults` each file that was not read right."""
    wanted = {one for one in arguments if not one.startswith("-")}
    with tempfile.TemporaryDirectory() as folder:
        found = [
            (case, fault(case, Path(folder)))
            for case in cases()
            if not wanted or case.suite in wanted
        ]
    for suite, share in shares(found).items():
        sys.stdout.write(f"{suite:10} {share:.3f}\n")
    if "--faults" in arguments:
        for case, problem in found:
            if problem:
                sys.stdout.write(f"{case.suite} / {case.name}: {problem[:300]}\n")


if __name__ == "__main__":
    main(sys.argv[1:])

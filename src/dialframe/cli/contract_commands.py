"""`dialframe contract`: what the service promises, for people and for their tools."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Annotated, Any

import typer

from dialframe.cli.terminal import Answer, AsJson, Table, command
from dialframe.errors import ConfigError

app = typer.Typer(
    help="The service's contract: its operations, and an OpenAPI document of it.",
    no_args_is_help=True,
)

#: Columns of the table, and what they are called in Markdown.
HEADINGS = {
    "name": "operation",
    "endpoint": "method and path",
    "scope": "scope",
    "tier": "tier",
    "client": "client method",
    "assumed": "shapes",
}


@command(app)
def openapi(
    out: Annotated[
        Path | None,
        typer.Option("--to", "--out", metavar="FILE", help="File to write; else it is printed."),
    ] = None,
    server: Annotated[
        str | None,
        typer.Option(help="Address of the service to put into the document."),
    ] = None,
) -> Answer:
    """Write the contract as an OpenAPI 3.1 document.

    Shapes that the contract does not show are marked `x-assumed`. Example:

        dialframe contract openapi --out openapi.json
    """
    from dialframe.contract.openapi import OPEN_ADDRESS, document

    # Without an address the document stands for whichever service it is given to.
    description = document(server or OPEN_ADDRESS)
    text = json.dumps(description, ensure_ascii=False, indent=2)
    if out is None:
        return Answer(description, [text])
    from dialframe import files

    files.write_text(text + "\n", out)
    facts = {"file": str(out), "operations": sum(map(len, description["paths"].values()))}
    return Answer(facts, [f"OpenAPI document written to {out}"])


@command(app)
def operations(
    as_json: AsJson = False,
    as_markdown: Annotated[
        bool, typer.Option("--markdown", help="Print the table as Markdown.")
    ] = False,
) -> Answer:
    """List every operation with its scope, its tier and its method of the client.

    Example:
        dialframe contract operations
    """
    # Whichever won, the other one's reader would get nonsense.
    if as_json and as_markdown:
        raise ConfigError("--json and --markdown exclude each other; choose one")
    rows = _rows()
    shown = [{**row, "assumed": "assumed" if row["assumed"] else ""} for row in rows]
    table = Table(
        [[str(row[name] or "") for name in HEADINGS] for row in shown], list(HEADINGS.values()),
        "Operations", right=(list(HEADINGS).index("tier"),),
    )  # fmt: skip
    return Answer({"operations": rows}, [_markdown(shown) if as_markdown else table])


def _rows() -> list[dict[str, Any]]:
    from dialframe.client import method_path
    from dialframe.contract.operations import ALL

    return [
        {
            "name": row.name,
            "endpoint": f"{row.method} {row.path}",
            "scope": row.scope,
            "tier": row.tier,
            "switch": row.switch,
            "sending_key": row.sending_key,
            "client": f"client.{method_path(row)}",
            "assumed": row.assumed,
            "summary": row.summary,
        }
        for row in ALL
    ]


def _markdown(rows: Iterable[Mapping[str, Any]]) -> str:
    lines = [
        "| " + " | ".join(HEADINGS.values()) + " |",
        "|" + "---|" * len(HEADINGS),
    ]
    for row in rows:
        cells = (
            f"`{row['name']}`",
            f"`{row['endpoint']}`",
            f"`{row['scope']}`" if row["scope"] else "any key",
            str(row["tier"]),
            f"`{row['client']}`",
            row["assumed"],
        )
        lines.append("| " + " | ".join(cells) + " |")
    return "\n".join(lines)

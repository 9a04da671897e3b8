"""`dialframe assistant`: the account's operations and analyses as tools for an assistant."""

from __future__ import annotations

from typing import Annotated

import typer

from dialframe.cli.face import BaseUrl, StoreFolder

app = typer.Typer(
    help="Tools for an assistant (Model Context Protocol); reading only, unless you allow more.",
    no_args_is_help=True,
)


@app.callback()
def _group() -> None:
    pass


@app.command()
def serve(
    allow: Annotated[
        list[str] | None,
        typer.Option(
            help="Offer an operation that changes something: leads.update, or all. May be repeated.",
            show_default=False,
        ),
    ] = None,
    reveal: Annotated[
        bool, typer.Option("--reveal", help="Give phone numbers and signing secrets whole.")
    ] = False,
    http: Annotated[
        bool, typer.Option("--http", help="Answer over HTTP; each request brings its own key.")
    ] = False,
    host: Annotated[str, typer.Option(help="Address to listen on, with --http.")] = "127.0.0.1",
    port: Annotated[
        int, typer.Option(help="Port to listen on, with --http.", min=1, max=65535)
    ] = 8788,
    base_url: BaseUrl = None,
    store: StoreFolder = None,
) -> None:
    """Serve tools on standard input and output, or over HTTP.

    What can reach a person runs only after the user confirmed that very call. Example:

        dialframe assistant serve --allow leads.update --allow callbacks.create
    """
    from dialframe.account import connect
    from dialframe.assistant import serving
    from dialframe.assistant.exposure import Exposure

    exposure = Exposure.of(allow or (), reveal=reveal)
    if not http:
        with connect(base_url=base_url, store=store) as account:
            serving.serve_stdio(account, exposure)
        return
    typer.echo(f"Tools are served at http://{host}:{port}/mcp until you press Ctrl-C.", err=True)
    serving.serve_http(
        lambda key: connect(base_url=base_url, api_key=key, store=store),
        exposure,
        host=host,
        port=port,
    )

"""`dialframe gate`: which numbers may be called, asked before the call; in doubt a number is held."""

from __future__ import annotations

import os
from collections.abc import Iterator
from datetime import UTC, datetime
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Final

import typer

from dialframe import instants
from dialframe.cli.audit_commands import RuleOptions
from dialframe.cli.lead_options import expanded
from dialframe.cli.server_commands import secret_of
from dialframe.cli.suppress_commands import FromFiles, Numbers
from dialframe.cli.terminal import (
    FINDINGS,
    OK,
    AccountOptions,
    Answer,
    AsJson,
    CampaignName,
    Family,
    Host,
    Port,
    Region,
    Table,
    answer,
    command,
)
from dialframe.errors import ConfigError, DialframeError
from dialframe.privacy import E164, mask, redact
from dialframe.serving import until_signal

if TYPE_CHECKING:
    from collections.abc import Sequence

    from dialframe.compliance.gate import Verdict

TOKEN_ENV: Final = "DIALFRAME_GATE_TOKEN"  # noqa: S105 - a variable's name
#: Verdicts shown on a terminal; `--json` gives all.
SHOWN: Final = 50


class _Gate(Family):
    """`dialframe gate +1212...` is `dialframe gate check +1212...`."""

    def parse_args(self, ctx: object, args: list[str]) -> list[str]:
        # The first word may be an option of `check`, too.
        if args and args[0] not in (*self.commands, "--help", "-h"):
            args = ["check", *args]
        return super().parse_args(ctx, args)  # type: ignore[arg-type]


app = typer.Typer(
    cls=_Gate,
    help="Which numbers may be called, asked before the call; `gate NUMBER` is `gate check NUMBER`.",
    no_args_is_help=True,
)

At = Annotated[
    str | None,
    typer.Option("--at", metavar="INSTANT", help="When they would be called; else now."),
]
CallerId = Annotated[str | None, typer.Option("--caller-id", help="Number that would be shown.")]


@command(app)
def check(
    *,
    numbers: Numbers = None,
    file: FromFiles = None,
    region: Region = None,
    options: RuleOptions,
    at: At = None,
    campaign: CampaignName = None,
    caller_id: CallerId = None,
    account_options: AccountOptions,
) -> Answer:
    """Say whether each number may be called, and which rule holds it.

    Asks what the audit would ask of a call at that instant, and looks at the firm's own list. A number is
    held too where an input is missing. Reads the local store; run `dialframe sync` first. Ends with
    status 3 when any number is held. Examples:

        dialframe gate check +12125550142 --campaign cmp_...
        dialframe gate check --file today.csv --region US --rules us,us-* --json
    """
    from dialframe.firm import Firm
    from dialframe.flows import suppression_import
    from dialframe.flows.gate_server import Question, StoredGate, plain
    from dialframe.phones import read_number

    moment = instants.instant("--at", at)
    phones = list(numbers or ())
    for read in suppression_import.read(expanded(file or []), region=region):
        if read.unreadable:
            raise ConfigError(
                f"{read.name}: {suppression_import.lines_named(read.unreadable)}: no number that can be read; "
                "correct them or take them out, so that every number has a verdict"
            )
        phones += read.phones
    if not phones:
        raise ConfigError("gate takes numbers, or a file with --file")
    scope = options.scope()
    region = region or Firm.find(Path.cwd()).lists.region
    # What cannot be read stays as it is: the gate holds it.
    asked = [read_number(text, region).e164 or text for text in phones]
    unread = [text for text in asked if not E164.fullmatch(text)]
    if unread and region is None:
        raise ConfigError(
            f"{mask(unread[0])} names no country: write +1..., or pass its country, such as --region US"
        )
    with account_options.read() as account:
        gate = StoredGate(account, scope, partial(datetime.now, UTC))
        answers = gate(Question(tuple(asked), moment, campaign, caller_id))
    held = sum(each["verdict"] == "held" for each in answers)
    facts = {"asked": len(answers), "held": held, "verdicts": plain(answers)}
    # So that a script dials only where nothing is held.
    return Answer(facts, _lines(answers, held), FINDINGS if held else OK)


@command(app)
def serve(
    *,
    host: Host = "127.0.0.1",
    port: Port = 8791,
    token_env: Annotated[
        str, typer.Option(help="Variable that holds the token of those who ask.")
    ] = TOKEN_ENV,
    options: RuleOptions,
    account_options: AccountOptions,
    as_json: AsJson = False,
) -> None:
    """Answer a dialer over HTTP: POST /v1/may-call.

    The body is {"numbers": [...]}. Each question brings the token: `Authorization: Bearer TOKEN`. What was written to the store, the
    suppression list or the write journal a moment ago counts; else verdicts are remembered for as long as
    nothing that decides changes. Where no verdict can be made the answer is 503, and every number is held. Example:

        dialframe gate serve --port 8791
    """
    from dialframe.flows import gate_server

    scope = options.scope()
    token = secret_of(os.environ, token_env, "--token-env", "token")
    if not token:
        raise ConfigError(f"the gate's token is missing: set {token_env} to a long random text")
    with account_options.read() as account, until_signal():
        decide = gate_server.StoredGate(account, scope, partial(datetime.now, UTC))
        with gate_server.GateServer(decide, token=token, host=host, port=port) as gate:
            if as_json:
                answer({"url": gate.url})
            else:
                typer.echo(f"The gate answers at {gate.url} until you press Ctrl-C.", err=True)
            gate.wait()
            raise DialframeError("the gate ended by itself; start it again")


def _lines(verdicts: Sequence[Verdict], held: int) -> Iterator[str | Table]:
    from dialframe.compliance.gate import framed

    # Masked on every screen; `--json` goes to the dialer, which has the numbers.
    shown = framed(verdicts[:SHOWN])
    shown["number"] = shown["number"].map(mask)
    shown["next_allowed_at"] = shown["next_allowed_at"].map(
        lambda at: f"{at:%Y-%m-%d %H:%M:%S} UTC", na_action="ignore"
    )
    shown["reason"] = shown["reason"].map(redact, na_action="ignore")
    columns = ["number", "verdict", "check", "rule_id", "next_allowed_at", "reason"]
    yield Table.of(shown[columns], "Verdicts")
    if len(verdicts) > SHOWN:
        yield f"the first {SHOWN} of {len(verdicts):,}; --json has all"
    yield f"{len(verdicts) - held:,} of {len(verdicts):,} may be called, {held:,} held"

"""The sandbox: the whole service on your own machine, over real HTTP, dialing and texting nobody.

    with dialframe.sandbox.start(seed=7, size="small") as sandbox:
        client = dialframe.Client(base_url=sandbox.base_url, api_key=sandbox.api_key)

It is held to the contract and shares no code with the client. `start` runs it in a thread, `serve`
until a signal ends the process.
"""

from dialframe.sandbox.console_api import Console
from dialframe.sandbox.launch import Sandbox, serve, start

__all__ = ["Console", "Sandbox", "serve", "start"]


def __dir__() -> list[str]:
    """The public names alone."""
    return sorted(__all__)

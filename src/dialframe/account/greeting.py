"""The first question to a service: is it there, and who are we; knows nothing of tables."""

from __future__ import annotations

from typing import Final

from dialframe.account.ports import Source
from dialframe.errors import ApiError, AuthenticationError, ContractError
from dialframe.store import Store

#: Seconds that the question may take, and how often it is asked: a silent service is given up soon.
GREETING_S: Final = 10.0
GREETINGS: Final = 3


def greet(source: Source, store: Store) -> None:
    """Ask who we are; the client's id is written down, so that a rotated key finds the same data.

    Raises:
        AuthenticationError: The key is not accepted.
        TransportError: The service does not answer.
    """
    # Loaded here, so that stored data can be read without the HTTP library.
    from dialframe.client.options import Options

    try:
        patience = Options(timeout_s=GREETING_S, max_attempts=GREETINGS)
        client_id = source.me(options=patience).client_id
    except AuthenticationError:
        raise
    except (ApiError, ContractError):
        return  # the shape of `me` is assumed: nothing may depend on it
    owner = store.owner
    if client_id and owner is not None and owner.client_id is None:
        store.name_client(client_id)

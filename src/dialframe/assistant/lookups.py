"""What the service says of a thing that a call names only by its id; asks by reading, changes nothing."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final

from dialframe.account import Account
from dialframe.assistant.questions import quoted
from dialframe.client import Options
from dialframe.contract import operations
from dialframe.errors import DialframeError, NotFound

#: Argument to the operation that reads what it names, and the fields by which a person knows it.
_READ_BY: Final[Mapping[str, tuple[str, tuple[str, ...]]]] = {
    "lead_id": ("leads.get", ("full_name", "phone")),
    "campaign_id": ("campaigns.get", ("name", "status")),
    "appointment_id": ("appointments.get", ("contact_name", "phone", "scheduled_at", "status")),
}
#: Most characters of a name.
_NAME: Final = 200


def known(account: Account, arguments: Mapping[str, Any], options: Options) -> dict[str, str]:
    """Argument to what it stands for, in words: who would be reached, at which number.

    Raises:
        NotFound: The service knows no such thing, so that there is nothing to ask.
    """
    found = {
        name: _read(account, name, str(arguments[name]), options)
        for name in _READ_BY
        if name in arguments
    }
    if "callback_id" in arguments:
        found["callback_id"] = _callback(account, str(arguments["callback_id"]), options)
    return found


def _read(account: Account, name: str, identity: str, options: Options) -> str:
    operation, fields = _READ_BY[name]
    row = operations.BY_NAME[operation]
    try:
        raw = account.client.send_raw(
            row, row.request.model_validate({name: identity}), options
        ).raw
    except NotFound:
        raise
    except DialframeError as error:
        return f"(could not be read: {error})"
    told = [quoted(str(raw[field])[:_NAME]) for field in fields if raw.get(field) is not None]
    return ", ".join(told)


def _callback(account: Account, identity: str, options: Options) -> str:
    """Whose callback it is. The service reads none by its id, so the store has to know it."""
    callbacks = account.callbacks()
    lead = callbacks.loc[callbacks["id"] == identity, "lead_id"].dropna()
    if lead.empty:
        return "(not in the local store: store_sync would show whose it is)"
    return f"{lead.iloc[0]}, {_read(account, 'lead_id', lead.iloc[0], options)}"

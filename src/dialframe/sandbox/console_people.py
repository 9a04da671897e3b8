"""The console's calls about who may do what: clients, keys, the account; knows no HTTP."""

from __future__ import annotations

import datetime as dt
import json
from collections.abc import Mapping

from dialframe.sandbox import access, instants, loading
from dialframe.sandbox import console_shapes as shapes
from dialframe.sandbox.access import Client
from dialframe.sandbox.exchange import Json
from dialframe.sandbox.problems import Refusal
from dialframe.sandbox.settings import Settings
from dialframe.sandbox.world import World

Path = Mapping[str, str]


def create_client(world: World, body: shapes.NewClient, path: Path) -> Json:
    """A client of its own data set, with its first key."""
    del path
    now_us, birth = world.clock.now_us(), world.birth
    as_of = birth.as_of or dt.date.fromisoformat(instants.day_of(now_us))
    with world.database.write() as db:
        client = access.add_client(
            db, name=body.name, scopes=body.scopes, ip_allow=body.ip_allow, now_us=now_us
        )
        key = access.add_key(db, client, sending=body.sending, now_us=now_us)
        account = loading.account_of(
            seed=birth.seed, size=body.size, as_of=as_of, client=client.number
        )
        if account is not None:
            loading.load(db, account, client.number)
    world.reload_access()
    return {"client_id": client.client_id, "api_key": key}


def create_key(world: World, body: shapes.NewKey, path: Path) -> Json:
    """A further key of a client."""
    client = client_of(world, path)
    with world.database.write() as db:
        key = access.add_key(db, client, sending=body.sending, now_us=world.clock.now_us())
    world.reload_access()
    return {"api_key": key}


def update_client(world: World, body: shapes.ClientChange, path: Path) -> Json:
    """Change scopes, addresses or whether the client may call at all."""
    client = client_of(world, path)
    columns = {
        "scopes": json.dumps(body.scopes),
        "ip_allow": json.dumps(body.ip_allow),
        "enabled": int(body.enabled),
    }
    with world.database.write() as db:
        for name in body.model_fields_set:
            db.execute(
                f"UPDATE clients SET {name} = ? WHERE number = ?", (columns[name], client.number)
            )
    world.reload_access()
    return _shown(world, client_of(world, path))


def revoke_key(world: World, body: shapes.Nothing, path: Path) -> None:
    """Make a key worthless."""
    del body
    with world.database.write() as db:
        found = db.execute(
            "UPDATE credentials SET revoked = 1 WHERE credential_id = ?", (path["credential_id"],)
        )
        if not found.rowcount:
            raise Refusal("not_found", "No key has this credential id.")
    world.reload_access()


def read_account(world: World, body: shapes.Nothing, path: Path) -> Json:
    """All switches and settings."""
    del body, path
    return world.access.settings.model_dump(mode="json")


def update_account(world: World, body: Settings, path: Path) -> Json:
    """Change the switches and settings that are given."""
    changes = body.model_dump(mode="json", exclude_unset=True)
    with world.database.write() as db:
        whole = {**access.load(db).settings.model_dump(mode="json"), **changes}
        access.save_settings(db, Settings.model_validate_json(json.dumps(whole)))
    world.reload_access()
    return read_account(world, shapes.Nothing(), path)


def client_of(world: World, path: Path) -> Client:
    """The client that a call's path names.

    Raises:
        Refusal: `not_found`.
    """
    for client in world.access.clients.values():
        if client.client_id == path["client_id"]:
            return client
    raise Refusal("not_found", "No client has this id.")


def _shown(world: World, client: Client) -> Json:
    keys = [key for key in world.access.credentials.values() if key.client == client.number]
    return {
        "client_id": client.client_id,
        "name": client.name,
        "scopes": sorted(client.scopes),
        "ip_allow": list(client.ip_allow),
        "enabled": client.enabled,
        "keys": [
            {"credential_id": key.credential_id, "sending": key.sending, "revoked": key.revoked}
            for key in keys
        ],
    }

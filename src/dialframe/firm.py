"""Reads the firm file, `dialframe.toml`: what a firm says once about itself, for every command, page and notebook.

The file holds facts that a person knows and no service tells: the address and the store, the region of the
firm's lists, who is called how, which lists are covered, which files are evidence. The environment and options
override it. The API key is never in it.

Its sections are the fields of `Firm`; `dialframe firm` writes it with every key commented.
"""

from __future__ import annotations

import difflib
import os
import tomllib
from collections.abc import Mapping
from datetime import date
from pathlib import Path
from typing import Any, Final, Literal, TypeVar

from pydantic import BaseModel, ConfigDict, Field, ValidationError

from dialframe.config import read_toml
from dialframe.errors import ConfigError

__all__ = ["FILE_NAME", "Firm"]

#: Name of the file, looked for in the working folder and in each folder above it.
FILE_NAME: Final = "dialframe.toml"

_Model = TypeVar("_Model", bound=BaseModel)


class _Section(BaseModel):
    model_config = ConfigDict(frozen=True, extra="forbid", hide_input_in_errors=True)


class Service(_Section):
    """Where the service and the local store are.

    Attributes:
        address: The service's base address.
        store: Folder of the local store; a relative path starts at the firm file's folder.
    """

    address: str | None = None
    store: Path | None = None


class Lists(_Section):
    """How the firm's lead lists are read.

    Attributes:
        region: Country of numbers without a country code, as ISO 3166 code or name.
        time_zone: Zone of clock times in files that name none (IANA).
        suppression: Files of numbers that must not be called, applied to every list.
        profiles: Folder of the firm's own source profiles.
    """

    region: str | None = None
    time_zone: str | None = None
    suppression: tuple[Path, ...] = ()
    profiles: Path | None = None


class Confirmed(_Section):
    """Rules whose text was read for the firm, where the rule book rests on one voice.

    Attributes:
        rules: Ids of the rules.
        by: Who read them.
        on: The day.
    """

    rules: tuple[str, ...]
    by: str = Field(min_length=1)
    on: date


class Audit(_Section):
    """Which rules the firm asks, and by which tables of its own.

    Attributes:
        rules: Jurisdictions (`us`, `us-*`); empty: all that the calls reach.
        own_rules: A file of the firm's own rules.
        codes: A file that says what the firm's disposition codes mean.
        declared: A file of declared emergencies and holidays.
        exemptions: A table of records that lift a rule for calls (CSV).
        state_field: Custom field of the leads that names the called party's state or ZIP code; else found.
        confirmed: Rules whose text was read for the firm.
    """

    rules: tuple[str, ...] = ()
    own_rules: Path | None = None
    codes: Path | None = None
    declared: Path | None = None
    exemptions: Path | None = None
    state_field: str | None = None
    confirmed: tuple[Confirmed, ...] = ()


class Evidence(_Section):
    """Files of evidence that the firm keeps; each is read by its source profile.

    Attributes:
        consents: Consents given and withdrawn.
        scrubs: Results of a scrubbing vendor, one file a job.
        line_types: Line types and porting of numbers.
        reassigned: Answers of the Reassigned Numbers Database.
        relationships: Established business relationships with their end.
        registries: Registry downloads and change lists.
        requests: Do-Not-Call requests that people made to the firm.
    """

    consents: tuple[Path, ...] = ()
    scrubs: tuple[Path, ...] = ()
    line_types: tuple[Path, ...] = ()
    reassigned: tuple[Path, ...] = ()
    relationships: tuple[Path, ...] = ()
    registries: tuple[Path, ...] = ()
    requests: tuple[Path, ...] = ()


class Sync(_Section):
    """How much of the service's budget a day of syncs may use.

    Attributes:
        pages_per_day: Pages of older rows that are read again each day; None: the default.
    """

    pages_per_day: int | None = Field(default=None, ge=0)


class Backup(_Section):
    """Where backups of the store go, and how often.

    Attributes:
        to: Folder of the backups.
        every: `day` or `week`.
    """

    to: Path | None = None
    every: Literal["day", "week"] = "day"


class Firm(_Section):
    """What a firm says once about itself.

    Attributes:
        path: The file that was read; None where there is none.
        service: Address and store.
        lists: How lead lists are read.
        practice: What `dialframe.compliance.Practice` takes, as its tables: purposes, dialing, caller
            IDs, covered lists, conduct, campaigns.
        audit: Which rules are asked.
        evidence: Files of evidence.
        sync: The budget of syncs.
        backup: Where backups go.

    Example:
        >>> Firm.from_text('lists = {region = "US"}').lists.region
        'US'
    """

    path: Path | None = None
    service: Service = Service()
    lists: Lists = Lists()
    practice: Mapping[str, Any] = Field(default_factory=dict)
    audit: Audit = Audit()
    evidence: Evidence = Evidence()
    sync: Sync = Sync()
    backup: Backup = Backup()

    @property
    def settings(self) -> dict[str, str | Path | None]:
        """What `Settings.from_environment` takes as `in_file`."""
        return {"base_url": self.service.address, "store": self.service.store}

    @classmethod
    def find(cls, start: Path) -> Firm:
        """The firm file of a folder: the nearest `dialframe.toml` there or above; an empty firm where there is none.

        A file that belongs to another user, or that everybody may write, is refused: it says where the
        key is sent.

        Raises:
            ConfigError: The file cannot be read, is another user's, or does not say what it should.
        """
        folder = start.resolve()
        for each in (folder, *folder.parents):
            path = each / FILE_NAME
            if path.is_file():
                return cls.read(path)
        return cls()

    @classmethod
    def read(cls, path: Path) -> Firm:
        """A firm file.

        Raises:
            ConfigError: As `find`.
        """
        try:
            status = path.stat()
            text = path.read_text(encoding="utf-8")
        except (OSError, UnicodeDecodeError) as error:
            raise ConfigError(f"{path} cannot be read ({error}); check the file") from error
        # Where the system knows no owners (Windows), there is nothing to compare.
        own = getattr(os, "getuid", lambda: status.st_uid)()
        if status.st_uid not in {own, 0} or status.st_mode & 0o002:
            raise ConfigError(
                f"{path} belongs to another user or is writable by everybody, and it says where the "
                "key is sent; make it your own (chown, chmod 600)"
            )
        return cls.from_text(text, path=path)

    @classmethod
    def from_text(cls, text: str, *, path: Path | None = None) -> Firm:
        """A firm from TOML text; relative paths start at the folder of `path`.

        Raises:
            ConfigError: The text is no TOML, or a key or value is wrong.
        """
        name = FILE_NAME if path is None else str(path)
        try:
            tables = read_toml(text)
        except tomllib.TOMLDecodeError as error:
            raise ConfigError(f"{name}: not valid TOML ({error}); correct the text") from error
        tables.pop("path", None)
        try:
            firm = cls.model_validate({**tables, "path": path})
        except ValidationError as error:
            raise ConfigError(f"{name}: {_problem(error)}; correct the text") from error
        base = Path() if path is None else path.resolve().parent
        return firm.model_copy(
            update={
                section: _anchor_paths(getattr(firm, section), base)
                for section in ("service", "lists", "audit", "evidence", "backup")
            }
        )


def _anchor_paths(section: _Model, folder: Path) -> _Model:
    """A section whose relative paths start at a folder."""
    paths: dict[str, object] = {}
    for name in type(section).model_fields:
        value = getattr(section, name)
        if isinstance(value, Path):
            paths[name] = folder / value.expanduser()
        elif isinstance(value, tuple) and any(isinstance(each, Path) for each in value):
            paths[name] = tuple(folder / each.expanduser() for each in value)
    return section.model_copy(update=paths)


def _problem(error: ValidationError) -> str:
    """The first fault in words: where it is, what is wrong, and the key that was probably meant."""
    fault = error.errors(include_url=False, include_input=False)[0]
    where = ".".join(str(step) for step in fault["loc"])
    if fault["type"] != "extra_forbidden":
        return f"{where}: {fault['msg'].lower()}"
    section: type[BaseModel] = Firm
    for step in fault["loc"][:-1]:
        section = type(getattr(section(), str(step)))
    if fault["loc"][-1] in {"api_key", "key"}:
        return f"{where}: the key is never in a file; set DIALFRAME_API_KEY"
    known = [name for name in section.model_fields if name != "path"]
    near = difflib.get_close_matches(str(fault["loc"][-1]), known, n=1)
    hint = f"did you mean {near[0]}?" if near else f"known keys: {', '.join(known)}"
    return f"{where}: unknown key, {hint}"

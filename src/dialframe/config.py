"""What a face hands down: settings read once, files of settings, the shape of progress; reads no environment itself.

Only a face (the command line, a notebook's `connect`) calls `Settings.from_environment` with the
environment in hand; every room below takes the values as arguments.
"""

from __future__ import annotations

import re
import tomllib
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Final

#: Of each wait for bytes; the contract gives no time in which an answer comes.
DEFAULT_TIMEOUT_S = 30.0

#: Settings by the variable that a face reads where no argument says otherwise.
ENVIRONMENT = {
    "base_url": "DIALFRAME_BASE_URL",
    "api_key": "DIALFRAME_API_KEY",
    "store": "DIALFRAME_STORE",
}


@dataclass(frozen=True, slots=True)
class Settings:
    """Where the service is, with which key, and where its answers are kept.

    Attributes:
        base_url: The service's base address; paths of the contract follow it.
        api_key: The credential; never part of the repr.
        store: Folder of the local store, or None for the platform's data folder.
        origins: Where each setting comes from: `argument`, the name of a variable, `dialframe.toml`, or `default`;
            no part of equality.
    """

    base_url: str | None = None
    api_key: str | None = field(default=None, repr=False)
    store: Path | None = None
    origins: Mapping[str, str] = field(default_factory=dict, compare=False)

    def called(self, name: str) -> str:
        """A setting with where it comes from, for messages.

        Example:
            >>> Settings.from_environment({"DIALFRAME_BASE_URL": "x"}).called("base_url")
            'base_url (from DIALFRAME_BASE_URL)'
        """
        origin = self.origins.get(name, "")
        named = {*ENVIRONMENT.values(), "dialframe.toml"}
        return f"{name} (from {origin})" if origin in named else name

    @classmethod
    def from_environment(
        cls,
        environment: Mapping[str, str],
        *,
        base_url: str | None = None,
        api_key: str | None = None,
        store: str | Path | None = None,
        in_file: Mapping[str, str | Path | None] | None = None,
    ) -> Settings:
        """Settings from arguments, each falling back to its environment variable, then to the firm file.

        An empty variable counts as unset. What the firm file says (`Firm.settings`) comes last.
        """
        arguments = {"base_url": base_url, "api_key": api_key, "store": store}
        settings: dict[str, str | Path | None] = {}
        origins = {}
        for name, variable in ENVIRONMENT.items():
            sources = (
                ("argument", arguments[name]),
                (variable, environment.get(variable) or None),
                ("dialframe.toml", (in_file or {}).get(name)),
                ("default", None),
            )
            origins[name], settings[name] = next(
                (origin, value)
                for origin, value in sources
                if value is not None or origin == "default"
            )
        folder = settings["store"]
        return cls(
            base_url=_text(settings["base_url"]),
            api_key=_text(settings["api_key"]),
            store=None if folder is None else Path(folder),
            origins=origins,
        )


@dataclass(frozen=True, slots=True)
class Progress:
    """One step of a long piece of work.

    Attributes:
        step: What is being done, in words that a person can read.
        done: Units finished so far.
        total: Units in all, or None where that cannot be known.
    """

    step: str
    done: int
    total: int | None = None


OnProgress = Callable[[Progress], None]


def silent(progress: Progress) -> None:
    """Listen to progress and say nothing: the default listener."""
    del progress


_STEP: Final = r"""(?:[\w-]++|"[^"\n]*+"|'[^'\n]*+')"""
#: A name of a hundred steps (`a.b.c...`): each costs the reader as much as all before it together.
_DEEP: Final = re.compile(rf"(?<![\w-]){_STEP}(?:[ \t]*+\.[ \t]*+{_STEP}){{100}}")


def read_toml(text: str) -> dict[str, Any]:
    """Tables of a TOML text that anybody may have written, in time that grows with its length alone.

    Raises:
        tomllib.TOMLDecodeError: It is not TOML, or is nested deeper than anybody writes.
    """
    try:
        # Before the reader sees it: a name of n steps costs it n squared.
        if _DEEP.search(text) is None:
            return tomllib.loads(text)
    except RecursionError:
        pass
    except tomllib.TOMLDecodeError:
        raise
    except ValueError as error:  # a number of thousands of digits
        raise tomllib.TOMLDecodeError(str(error)) from None
    raise tomllib.TOMLDecodeError("it is nested too deep")


def _text(value: str | Path | None) -> str | None:
    return None if value is None else str(value).strip()

"""Holds what the pages of the web app share: the folder, the account, the firm file, the jobs."""

from __future__ import annotations

import threading
from collections.abc import Callable
from datetime import datetime
from pathlib import Path

from dialframe.account import Account
from dialframe.app.jobs import Jobs
from dialframe.errors import ConfigError
from dialframe.firm import Firm
from dialframe.suppression import SuppressionList


class Workspace:
    """What the pages share; safe to use from several threads.

    Attributes:
        folder: The only folder that lists are read from and written to.
        firm: What the firm file says.
        own_list: The firm's suppression list.
        profiles: Folder of what was answered about lists, by source; None: nothing is remembered.
        jobs: Work in the background.
        now: The clock, UTC.
    """

    def __init__(
        self,
        folder: Path,
        connect: Callable[[], Account] | None,
        firm: Firm,
        own_list: SuppressionList | None,
        now: Callable[[], datetime],
        profiles: Path | None = None,
    ) -> None:
        """Open nothing yet.

        Args:
            folder: The folder.
            connect: Opens the account; None where there is none.
            firm: What the firm file says.
            own_list: The firm's suppression list; None: no list is consulted or added to.
            now: The clock, UTC.
            profiles: Folder of what was answered about lists; None: nothing is remembered.
        """
        self.folder, self.firm, self.now = folder.resolve(), firm, now
        self.own_list, self.profiles = own_list, profiles
        self.jobs = Jobs()
        self._connect = connect
        self._account: Account | None = None
        self._lock = threading.RLock()

    def account(self) -> Account:
        """The account, opened when it is first needed.

        Raises:
            ConfigError: There is no account, or a setting is missing.
        """
        with self._lock:
            if self._account is None:
                if self._connect is None:
                    raise ConfigError("the app was started without an account")
                self._account = self._connect()
            return self._account

    def known_account(self) -> tuple[Account | None, str]:
        """The account, or None and why there is none."""
        try:
            return self.account(), ""
        except ConfigError as error:
            return None, str(error)

    def file(self, name: str) -> Path:
        """A file of the folder.

        Raises:
            ConfigError: The name leads out of the folder, or there is no such file.
        """
        path = (self.folder / name).resolve()
        if not path.is_relative_to(self.folder) or not path.is_file():
            raise ConfigError(f"there is no file {Path(name).name!r} in this folder")
        return path

    def close(self) -> None:
        """Close the account, if it was opened."""
        with self._lock:
            if self._account is not None:
                self._account.close()
                self._account = None

"""Shows a list, a funnel and an audit as widgets: controls above, the answer below."""

from __future__ import annotations

import base64
from datetime import UTC, datetime
from html import escape
from pathlib import Path
from typing import Any, Final

import ipywidgets
import pandas as pd

import dialframe
from dialframe import analytics, leads
from dialframe.account import Account
from dialframe.compliance import Question
from dialframe.errors import ConfigError, DialframeError
from dialframe.flows.firm_records import scope_of
from dialframe.reports import lead_list_page
from dialframe.reports.audit_findings import headlines, violation_cards

#: Rows of a table below a widget; the frames themselves have them all.
_ROWS: Final = 20
_CARDS: Final = 20
#: Columns of leads that most firms split by.
_SPLITS: Final = (("no split", ""), ("lead source", "lead_source"), ("campaign", "campaign_id"))


class _Panel:
    """Controls, a button, an answer; an error of the toolkit is shown in its own words."""

    def __init__(self, title: str, action: str, controls: list[Any]) -> None:
        self.answer = ipywidgets.HTML()
        self.button = ipywidgets.Button(description=action, button_style="primary")
        self.button.on_click(lambda _: self.show())
        heading = ipywidgets.HTML(f"<h3>{escape(title)}</h3>")
        self._view = ipywidgets.VBox([heading, *controls, self.button, self.answer])

    def show(self) -> None:
        """Ask what the controls say, and show the answer."""
        self.button.disabled = True
        try:
            self.answer.value = self._html()
        except (DialframeError, OSError) as error:
            self.answer.value = f"<p role='alert'><b>{escape(str(error))}</b></p>"
        finally:
            self.button.disabled = False

    def _html(self) -> str:
        """The answer to what the controls say."""
        return ""

    def _repr_mimebundle_(self, **options: Any) -> Any:
        # A viewer that runs no JavaScript (a print, an e-mail) shows the answer itself.
        bundle = self._view._repr_mimebundle_(**options)
        data = bundle[0] if isinstance(bundle, tuple) else bundle
        if data is not None:
            data["text/html"] = self.answer.value or f"<p>{escape(type(self).__name__)}</p>"
        return bundle


class FunnelExplorer(_Panel):
    """The lead funnel of an account by campaign and breakdown, as a picture and a table.

    Args:
        account: The account; its store is read.

    Attributes:
        campaign: The campaign that is asked about.
        by: What the funnel is split by.

    Raises:
        ConfigError: What was given is no account.

    Example:
        FunnelExplorer(account)
    """

    def __init__(self, account: Account) -> None:
        """Show the whole account first."""
        self._account = _account(account, "FunnelExplorer")
        table = self._account.campaigns()
        campaigns = [("all campaigns", ""), *zip(table["name"], table["id"], strict=True)]
        self.campaign = ipywidgets.Dropdown(description="Campaign", options=campaigns)
        self.by = ipywidgets.Dropdown(description="Split by", options=_SPLITS)
        super().__init__("Lead funnel", "Show", [self.campaign, self.by])
        self.show()

    def _html(self) -> str:
        account = self._account
        funnel = analytics.funnel(
            account.calls(), account.leads(), appointments=account.appointments(),
            campaigns=account.campaigns(), campaign=self.campaign.value or None,
            by=self.by.value or None,
        )  # fmt: skip
        return f"<p>{escape(funnel.sentence)}</p>" + _picture(funnel.plot()) + _table(funnel.table)


class CoverageDashboard(_Panel):
    """The audit of an account: the numbers that matter, then a card for each violation.

    Args:
        account: The account; its store is read.
        rules: Jurisdictions to ask, `us,us-*`; all that the calls reach without it.

    Attributes:
        audit: The newest audit, None before there is one.

    Raises:
        ConfigError: What was given is no account.

    Example:
        CoverageDashboard(account)
    """

    def __init__(self, account: Account, *, rules: str | None = None) -> None:
        """Audit nothing before the button is pressed, which may take a while."""
        self._account, self._rules = _account(account, "CoverageDashboard"), rules
        self.audit: Any = None
        super().__init__("Compliance", "Check every call", [])

    def _html(self) -> str:
        scope, _ = scope_of(Path.cwd(), Question(now=datetime.now(UTC), rules=self._rules))
        self.audit = dialframe.audit(self._account, scope=scope)
        numbers = "".join(f"<li>{escape(each.sentence)}</li>" for each in headlines(self.audit))
        cards = "".join(
            f"<li><b>{escape(card.title)}</b>: {escape(card.reason)} "
            + "; ".join(f"{escape(name)} {escape(value)}" for name, value in card.facts)
            + "</li>"
            for card in violation_cards(self.audit, _CARDS)
        )
        return f"<ul>{numbers}</ul><ol>{cards}</ol><p>Facts for review, not legal advice.</p>"


class Workbench(_Panel):
    """A lead file that is chosen, cleaned and written.

    Args:
        account: Where numbers may be screened; not needed to clean.
        folder: Where the clean list and what was set aside are written.

    Attributes:
        upload: The file.
        region: Country of numbers written without one.

    Raises:
        ConfigError: What was given is no account.

    Example:
        Workbench(folder="lists")
    """

    def __init__(self, account: Account | None = None, *, folder: str | Path = "cleaned") -> None:
        """Clean nothing before a file is there."""
        if account is not None:
            _account(account, "Workbench")
        self._folder = Path(folder)
        self.upload = ipywidgets.FileUpload(description="Lead file")
        self.region = ipywidgets.Text(description="Region", placeholder="US")
        super().__init__("Lead file", "Clean", [self.upload, self.region])

    def _html(self) -> str:
        if not self.upload.value:
            raise ConfigError("choose a lead file first")
        brought = self.upload.value[0]
        self._folder.mkdir(parents=True, exist_ok=True)
        path = self._folder / Path(brought["name"]).name
        path.write_bytes(bytes(brought["content"]))
        cleaned = leads.clean(leads.read(path), region=self.region.value.strip() or None)
        counts = lead_list_page.sentence(cleaned.counts)
        files = leads.write(cleaned, self._folder)
        written = "".join(f"<li>{escape(str(file))}</li>" for file in files.paths.values())
        return f"<p>{escape(counts)}</p><ul>{written}</ul>"


def _account(given: object, widget: str) -> Account:
    if not isinstance(given, Account):
        raise ConfigError(f"{widget} takes an account: pass the one of dialframe.connect()")
    return given


def _picture(picture: Any) -> str:
    encoded = base64.b64encode(picture.png()).decode()
    return f'<img alt="{escape(str(picture.alt))}" src="data:image/png;base64,{encoded}" style="max-width:100%">'


def _table(frame: pd.DataFrame) -> str:
    return str(frame.head(_ROWS).to_html(index=False, na_rep=""))

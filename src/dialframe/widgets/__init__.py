"""Three widgets for notebooks: a lead workbench, a funnel explorer, a coverage dashboard; each takes the account.

    from dialframe.widgets import FunnelExplorer

    FunnelExplorer(account)

They work nothing out: what they show are the answers of `leads.clean`, `analytics.funnel` and `dialframe.audit`. The web
app (`dialframe app`) shows the same without a notebook.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from dialframe import extras

if TYPE_CHECKING:
    from dialframe.widgets.explorers import CoverageDashboard, FunnelExplorer, Workbench

__all__ = ["CoverageDashboard", "FunnelExplorer", "Workbench"]

if not TYPE_CHECKING:
    # The libraries that draw are loaded when a widget is first made.
    def __getattr__(name: str) -> Any:
        if name not in __all__:
            raise AttributeError(f"module 'dialframe.widgets' has no attribute {name!r}")
        try:
            from dialframe.widgets import explorers
        except ModuleNotFoundError as error:
            raise ModuleNotFoundError(extras.in_words(error), name=error.name) from error
        return getattr(explorers, name)

    def __dir__() -> list[str]:
        return sorted(__all__)

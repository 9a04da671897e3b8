"""Faces for notebooks and the web page: a lead workbench, a funnel explorer, a coverage dashboard.

    from dialframe.widgets import Workbench

    Workbench(folder="lists")          # reads and writes inside that folder alone

Each is two things: a model, a plain class that holds every choice without any widget (`LeadBench`,
`FunnelModel`, `CoverageModel`), and a thin view of it. A viewer that runs no JavaScript sees a table.
"""

from __future__ import annotations

import importlib
from typing import TYPE_CHECKING, Any

from dialframe import extras

if TYPE_CHECKING:
    from dialframe.widgets.dashboard_models import CoverageModel, FunnelModel, FunnelState
    from dialframe.widgets.dashboards import CoverageDashboard, FunnelExplorer
    from dialframe.widgets.lead_workbench import Workbench
    from dialframe.widgets.lead_workbench_model import LeadBench

__all__ = [
    "CoverageDashboard",
    "CoverageModel",
    "FunnelExplorer",
    "FunnelModel",
    "FunnelState",
    "LeadBench",
    "Workbench",
]

if not TYPE_CHECKING:
    # A list is cleaned without the libraries that draw: each is loaded when it is first used.
    _NAMES = {
        "CoverageDashboard": "dashboards",
        "CoverageModel": "dashboard_models",
        "FunnelExplorer": "dashboards",
        "FunnelModel": "dashboard_models",
        "FunnelState": "dashboard_models",
        "LeadBench": "lead_workbench_model",
        "Workbench": "lead_workbench",
    }

    def __getattr__(name: str) -> Any:
        if name in _NAMES:
            try:
                module = importlib.import_module(f"dialframe.widgets.{_NAMES[name]}")
            except ModuleNotFoundError as error:
                raise ModuleNotFoundError(extras.in_words(error), name=error.name) from error
            return getattr(module, name)
        raise AttributeError(f"module 'dialframe.widgets' has no attribute {name!r}")

    def __dir__() -> list[str]:
        return sorted(__all__)

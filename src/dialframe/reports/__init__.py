"""Results as pages that can be sent to somebody: one file, no request to any other host."""

from dialframe.reports.html_page import Card, Figure, Page, Section, Sheet, render

__all__ = ["Card", "Figure", "Page", "Section", "Sheet", "render"]


def __dir__() -> list[str]:
    """The public names alone."""
    return sorted(__all__)

"""axe-core in the page: what it finds against WCAG 2.2 A and AA, in light and in dark."""

from __future__ import annotations

from importlib import resources
from typing import TYPE_CHECKING

import pytest

if TYPE_CHECKING:
    from playwright.sync_api import Page

_OPTIONS = {
    "runOnly": {"type": "tag", "values": ["wcag2a", "wcag2aa", "wcag21a", "wcag21aa", "wcag22aa"]},
    "resultTypes": ["violations"],
}
_RUN = """([where, options]) => axe.run(where ? document.querySelector(where) : document, options)
  .then(found => found.violations.flatMap(v => v.nodes.map(n => `${v.id}: ${n.html.slice(0, 160)} ${n.any.map(a => a.message).join('; ')}`)))"""


def script() -> str:
    """The source of axe-core; where it is not installed the test is skipped."""
    pytest.importorskip("axe_playwright_python", reason="there is no axe-core to look with")
    return resources.files("axe_playwright_python").joinpath("axe.min.js").read_text("utf-8")


def violations(page: Page, axe: str, *, where: str | None = None) -> list[str]:
    """Everything that axe finds, in light and in dark; within a selector where one is given."""
    # A page with a job under way loads again when it has ended, and takes what runs in it with it.
    page.wait_for_function("!document.querySelector('[data-job]')")
    if not page.evaluate("typeof axe === 'object'"):
        page.evaluate(f"(() => {{ {axe} }})()")
    # The order turns round each time, so that the page changes its look once for each state.
    schemes = ["light", "dark"]
    if page.evaluate("matchMedia('(prefers-color-scheme: dark)').matches"):
        schemes.reverse()
    found: list[str] = []
    for scheme in schemes:
        page.emulate_media(color_scheme=scheme, reduced_motion="reduce")
        found += [f"{scheme}: {each}" for each in page.evaluate(_RUN, [where, _OPTIONS])]
    return found

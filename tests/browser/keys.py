"""A person who has a keyboard alone: goes from control to control, and sees where the focus is."""

from __future__ import annotations

from typing import Self

from playwright.sync_api import Page, expect

#: More controls than a face has.
_MOST = 150

# What the focus is on, as it is called, and whether its outline or shadow is seen.
_FOCUS = """() => { const e = document.activeElement;
  if (!e || e === document.body) return ["", true];
  const name = e.getAttribute("aria-label") || [...(e.labels || [])].map(l => l.textContent).join(" ")
    || (e.getAttribute("aria-labelledby") && document.getElementById(e.getAttribute("aria-labelledby"))?.textContent)
    || e.textContent || "";
  const style = getComputedStyle(e);
  return [name.trim(), style.outlineStyle !== "none" && parseFloat(style.outlineWidth) >= 2]; }"""


class Keys:
    """Keys pressed on a page, one after the other."""

    def __init__(self, page: Page) -> None:
        self._page = page

    def to(self, name: str) -> Self:
        """Press Tab until the focus is on a control of this name; wherever it comes, it must be seen."""
        passed: list[str] = []
        for _ in range(_MOST):
            found, seen = self._page.evaluate(_FOCUS)
            assert seen, f"the focus on {found!r} is not seen"
            if found == name:
                return self
            passed.append(found)
            self._page.keyboard.press("Tab")
        raise AssertionError(f"Tab never comes to {name!r}, only to {passed}")

    def press(self, key: str) -> Self:
        """Press a key."""
        self._page.keyboard.press(key)
        return self

    def types(self, words: str) -> Self:
        """Write over what stands in a field."""
        self._page.keyboard.press("Control+a")
        self._page.keyboard.type(words)
        return self

    def picks(self, words: str) -> Self:
        """Choose the first option that begins with these words."""
        self._page.keyboard.type(words)
        return self

    def hears(self, words: str) -> Self:
        """Wait until the status line says this."""
        expect(self._page.locator(".df-status").first).to_contain_text(words)
        return self

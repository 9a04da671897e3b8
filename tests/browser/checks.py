"""Small checks of a page that a browser can make: names, contrast, width."""

from __future__ import annotations

from playwright.sync_api import Page

#: Visible controls and pictures without a name for assistive technology.
UNNAMED = """() => [...document.querySelectorAll('button, input, select, textarea, img, progress, [role=region]')]
  .filter(e => e.checkVisibility())
  .filter(e => !(e.getAttribute('aria-label') || e.getAttribute('alt') || e.labels?.length
    || e.title || e.textContent.trim() || document.getElementById(e.getAttribute('aria-labelledby'))))
  .map(e => e.outerHTML.slice(0, 120))"""

# Text and background as they are painted; what is disabled need not be read (WCAG 2.2, 1.4.3).
_FAINT = """() => {
  const parts = c => (c.match(/[\\d.]+/g) || []).map(Number);
  const over = (top, below) => { const a = top[3] ?? 1; return [0, 1, 2].map(i => top[i] * a + below[i] * (1 - a)); };
  const light = c => { const [r, g, b] = c.map(v => { v /= 255; return v <= 0.04045 ? v / 12.92 : ((v + 0.055) / 1.055) ** 2.4; });
    return 0.2126 * r + 0.7152 * g + 0.0722 * b; };
  const behind = e => { const layers = [];
    for (let at = e; at; at = at.parentElement) { const c = parts(getComputedStyle(at).backgroundColor);
      if (c.length && (c[3] ?? 1) > 0) { layers.push(c); if ((c[3] ?? 1) === 1) break; } }
    return layers.reverse().reduce((below, top) => over(top, below), [255, 255, 255]); };
  const seen = [];
  const walk = document.createTreeWalker(document.body, NodeFilter.SHOW_TEXT);
  while (walk.nextNode()) {
    const e = walk.currentNode.parentElement, words = walk.currentNode.textContent.trim();
    if (!words || !e.checkVisibility() || e.closest('script, style, :disabled, option')) continue;
    const style = getComputedStyle(e), back = behind(e), text = over(parts(style.color), back);
    const [a, b] = [light(text), light(back)].sort((x, y) => y - x), ratio = (a + 0.05) / (b + 0.05);
    const large = parseFloat(style.fontSize) >= 24 || (parseFloat(style.fontSize) >= 18.66 && style.fontWeight >= 700);
    if (ratio < (large ? 3 : 4.5)) seen.push(`${words.slice(0, 40)}: ${ratio.toFixed(2)}`);
  }
  return seen; }"""


def faint(page: Page) -> list[str]:
    """Texts with less contrast than WCAG AA asks for."""
    return list(page.evaluate(_FAINT))


def overflow(page: Page) -> int:
    """Pixels by which the page is wider than its window."""
    return int(
        page.evaluate(
            "Math.max(document.documentElement.scrollWidth, document.body.scrollWidth) - innerWidth"
        )
    )


# Tables and pictures scroll inside themselves; whatever holds them must not grow wider than it is shown.
_CUT = """() => [...document.querySelectorAll('.df-panel, .df-panel .widget-box, .df-panel .widget-html, .df-panel .widget-html-content, .widget-tab-contents, .jupyter-widget-tab-contents')]
  .filter(e => e.checkVisibility() && e.scrollWidth > e.clientWidth + 4)
  .map(e => `${e.className}: ${e.scrollWidth} in ${e.clientWidth}`)"""


def cut(page: Page) -> list[str]:
    """Boxes whose content is wider than they are."""
    return list(page.evaluate(_CUT))

"""Numbers in a form that their plan has given up, in today's form; `legacy_prefixes.toml` has the rewrites."""

from __future__ import annotations

import re
import tomllib
from functools import cache
from importlib import resources

import phonenumbers


def rewritten(text: str, region: str | None) -> str | None:
    """A number in E.164 by the published rewrite of a prefix that its plan has given up.

    Args:
        text: The number, without letters. With a country code of its own that decides, else the region.
        region: Region of national numbers, or None.

    Returns:
        The number, to be read once more; None where no rewrite fits.

    Example:
        >>> rewritten("044 55 1234 5678", "MX"), rewritten("+52 1 55 1234 5678", None)
        ('+525512345678', '+525512345678')
    """
    abroad = re.match(r"\s*(?:\+|00(?=[1-9]))", text) is not None
    if not abroad and region not in _rewrites():
        return None
    digits = re.sub(r"\D", "", text)
    digits = digits.removeprefix("00") if abroad else digits
    for home, rewrites in _rewrites().items():
        code = str(phonenumbers.country_code_for_region(home))
        if abroad and digits.startswith(code):
            national = digits.removeprefix(code)
        elif not abroad and home == region:
            national = digits
        else:
            continue
        for form, becomes in rewrites:
            if match := form.fullmatch(national):
                return f"+{code}{match.expand(becomes)}"
    return None


@cache
def _rewrites() -> dict[str, list[tuple[re.Pattern[str], str]]]:
    text = resources.files(__package__).joinpath("legacy_prefixes.toml").read_text("utf-8")
    return {
        region: [(re.compile(row["form"]), row["becomes"]) for row in table["rewrites"]]
        for region, table in tomllib.loads(text).items()
    }

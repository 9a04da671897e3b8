"""Source profiles: what the columns and codes of a known export mean, as TOML files.

A profile says how a format is recognized, which role each column has, and what its codes say. Those of this
folder are shipped; a person's answers are saved as further ones beside the store (`save`), found by header.

Example:
    >>> from dialframe import profiles
    >>> profiles.recognize(["lead_id", "entry_date", "phone_code", "phone_number"]).title
    'VICIdial lead list'
"""

from dialframe.profiles.profile import (
    KINDS,
    Column,
    Kind,
    Profile,
    load,
    names,
    recognize,
    save,
)

__all__ = ["KINDS", "Column", "Kind", "Profile", "load", "names", "recognize", "save"]

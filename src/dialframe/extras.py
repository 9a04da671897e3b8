"""Names the extra that brings a library which is not installed, and leaves out what another brings for nothing."""

from __future__ import annotations

import re
import sys

_EXTRA = re.compile(r"extra\s*==\s*['\"]([\w-]+)")
#: For those who work on dialframe itself: nobody is sent there for one library.
_NOT_FOR_USERS = "dev"


def needed(library: str) -> tuple[str, ...]:
    """The extras that bring a library; none where the base installation has it.

    Args:
        library: Name of the module as it is imported, `ipywidgets` for instance.

    Example:
        >>> needed("deltalake")
        ('delta',)
        >>> needed("pandas")
        ()
    """
    # It loads the library of mail: for an error alone, and not on the way of every command.
    from importlib.metadata import PackageNotFoundError, requires

    try:
        lines = requires("dialframe") or []
    except PackageNotFoundError:
        return ()
    name = library.partition(".")[0].replace("_", "-").lower()
    extras = []
    for line in lines:
        extra = _EXTRA.search(line)
        distribution = re.match(r"[\w.-]+", line)
        if extra is None or distribution is None or extra[1] == _NOT_FOR_USERS:
            continue
        if distribution[0].replace("_", "-").lower() == name:
            extras.append(extra[1])
    return tuple(extras)


#: Where a page has its numbers, and no pictures of them.
NO_PICTURES = "none: pip install 'dialframe[plots]' brings the library that draws them"


def installed(library: str) -> bool:
    """Whether a library that is not in the base is there; it is not loaded.

    Args:
        library: Name of the module as it is imported.
    """
    from importlib.util import find_spec

    try:
        return find_spec(library) is not None
    except ValueError:  # a module without a spec, such as one that was taken away
        return False


def in_words(error: ModuleNotFoundError) -> str:
    """What is missing and which command brings it.

    Args:
        error: What an import raised.
    """
    library = (error.name or "").partition(".")[0]
    commands = [f"pip install 'dialframe[{extra}]'" for extra in needed(library)]
    brings = " or ".join(commands or ["pip install dialframe"])
    return f"the library {library} is not installed; {brings} brings it"


def skip_address_grammars() -> None:
    """Import jsonschema in a process of ours without the grammars that it would compile first.

    Where JupyterLab is installed they cost a second: RFC 3987 in 38 parts, for formats of addresses that no schema of ours
    names. To be called before anything imports jsonschema.
    """
    sys.modules.setdefault("rfc3987_syntax", None)  # type: ignore[arg-type]

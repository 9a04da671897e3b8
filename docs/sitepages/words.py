"""What stands in a docstring made ready for Sphinx, and names led to where they are described.

A single backtick is code, and a link where it names something public; a type leads to the name under
which it is imported.
"""

from __future__ import annotations

import re
import sys
from typing import Any

from docutils import nodes
from docutils.parsers.rst import roles
from sphinx import addnodes
from sphinx.application import Sphinx
from sphinx.environment import BuildEnvironment

from sitepages.google import as_rest
from sitepages.grid import Name, reference
from sitepages.rooms import constant_words, homes

#: Names that type checkers alone import, as annotations give them.
_ALIASES = {"OnProgress": "dialframe.config.OnProgress"}


def setup(app: Sphinx) -> dict[str, Any]:
    """Join these to a build."""
    roles.register_local_role("name", _name_role)
    app.connect("autodoc-process-docstring", _docstring)
    app.connect("autodoc-process-signature", _signature)
    app.connect("missing-reference", _resolve)
    return {"parallel_read_safe": True}


def _docstring(
    _app: Sphinx, what: str, name: str, _value: Any, _options: Any, lines: list[str]
) -> None:
    if what == "data":
        room, _, short = name.rpartition(".")
        lines[:] = constant_words(room, short) or lines
    lines[:] = as_rest(lines)


def _signature(
    _app: Sphinx,
    what: str,
    name: str,
    _value: Any,
    _options: Any,
    signature: str | None,
    returned: str | None,
) -> tuple[str | None, str | None] | None:
    """Signatures without what nobody writes: private fields, and values that have no literal.

    A class that a client makes, and nobody else, has none.
    """
    if signature is None:
        return None
    if ".client.resources." in name and what == "class":
        return "", None
    public = re.sub(r", \*?_\w+: .*\)$", ")", re.sub(r"= <[^<>]*>", "= ...", signature))
    return public, returned


def _resolve(
    app: Sphinx, env: BuildEnvironment, node: addnodes.pending_xref, content: nodes.Element
) -> nodes.Node | None:
    """A type's own module to the name that people import; a name that may be none stays code."""
    target = node.get("reftarget", "")
    known = homes().get(target) or homes().get(f"dialframe.{target}") or _ALIASES.get(target)
    domain = env.get_domain("py")
    for each in (known, f"dialframe.{target}"):
        if each and each in domain.objects:  # type: ignore[attr-defined]
            return domain.resolve_xref(
                env, node["refdoc"], app.builder, "obj", each, node, content
            )
    return content if node.get("maybe") or _is_inner(target) else None


def _is_inner(target: str) -> bool:
    """Whether a type is one of the package that nobody imports: it is shown, and leads nowhere."""
    module, _, name = target.rpartition(".")
    return module.startswith("dialframe.") and hasattr(sys.modules.get(module), name)


def _name_role(
    _role: str, rawtext: str, text: str, _line: int, inliner: Any, *_rest: Any
) -> tuple[list[nodes.Node], list[nodes.Node]]:
    """Single backticks: a link where the text is a public name, code elsewhere."""
    plain = nodes.unescape(text)
    if not re.fullmatch(r"[A-Za-z_][\w.]*(\(\))?", plain):
        return [nodes.literal(rawtext, plain)], []
    env = inliner.document.settings.env
    node = reference(Name(plain.removesuffix("()"), plain))
    node["py:module"] = env.ref_context.get("py:module")
    node["py:class"] = env.ref_context.get("py:class")
    node["refdoc"] = env.current_document.docname
    return [node], []

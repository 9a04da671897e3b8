"""The reference: for each room a table of what it exports, then the description of each name, from docstrings."""

from __future__ import annotations

import ast
import importlib
import inspect
from functools import cache
from pathlib import Path
from typing import Any, Final, Literal, get_args, get_origin

from docutils import nodes
from docutils.statemachine import StringList
from pydantic import BaseModel
from sphinx.addnodes import pending_xref
from sphinx.application import Sphinx
from sphinx.environment import BuildEnvironment
from sphinx.pycode import ModuleAnalyzer
from sphinx.util.docutils import SphinxDirective

from sitepages.google import as_rest
from sitepages.grid import Name, grid

#: The packages whose `__all__` is the reference.
ROOMS: Final = (
    "dialframe.account", "dialframe.client", "dialframe.phones", "dialframe.leads",
    "dialframe.analytics", "dialframe.compliance", "dialframe.compliance.dnc",
    "dialframe.compliance.rules.rulebook", "dialframe.frames", "dialframe.plots", "dialframe.reports",
    "dialframe.widgets", "dialframe.sandbox", "dialframe.webhooks", "dialframe.store", "dialframe.errors",
)  # fmt: skip

#: Names that two modules give to different things: outside the room that exports one, the other is meant.
MEANT: Final = {
    "LeadInput": ("dialframe.leads", "dialframe.contract.models.lead_models.LeadInput"),
}


def setup(app: Sphinx) -> dict[str, Any]:
    """Join the directives to a build."""
    app.add_directive("room", Room)
    app.add_directive("described", Described)
    app.add_directive("shapes", Shapes)
    app.connect("env-get-outdated", _every_page)
    app.connect("doctree-read", _tell_apart)
    return {"parallel_read_safe": True}


class Room(SphinxDirective):
    """A package: its docstring, what it exports, and each of these that no room before it described."""

    required_arguments = 1

    def run(self) -> list[nodes.Node]:
        """The whole room."""
        room = self.arguments[0]
        names = public_names(room)
        opening = parse(self, [f".. automodule:: {room}", "   :no-members:", ""])
        rows = (
            (Name(home(room, name, each), name), first_line(room, name, each))
            for name, each in names.items()
        )
        lines = [f".. py:currentmodule:: {room}", ""]
        for name, value in names.items():
            if home(room, name, value) == f"{room}.{name}" or _second_name(room, name, value):
                lines += described(f"{room}.{name}", value)
        return [*opening, grid(("name", "what it is"), rows, widths=(30, 70)), *parse(self, lines)]


class Described(SphinxDirective):
    """Single names, one to a line, each with the words of its docstring."""

    has_content = True

    def run(self) -> list[nodes.Node]:
        """The descriptions."""
        lines: list[str] = []
        for path in (line.strip() for line in self.content if line.strip()):
            module, _, name = path.rpartition(".")
            lines += described(path, getattr(importlib.import_module(module), name))
        return parse(self, lines)


class Shapes(SphinxDirective):
    """Every shape of a module that is a model of its own, field by field."""

    required_arguments = 1

    def run(self) -> list[nodes.Node]:
        """The shapes."""
        lines: list[str] = []
        for path, value in shapes(self.arguments[0]).items():
            lines += described(path, value)
        return parse(self, lines)


def public_names(room: str) -> dict[str, Any]:
    """What a room exports by name, functions first; modules are rooms of their own or none."""
    module = importlib.import_module(room)
    found = {name: getattr(module, name) for name in module.__all__}
    shown = {name: value for name, value in found.items() if not inspect.ismodule(value)}
    # What a reader calls stands before the types that it takes and gives.
    return dict(sorted(shown.items(), key=lambda each: not inspect.isroutine(each[1])))


def shapes(module: str) -> dict[str, type[BaseModel]]:
    """The models of a module that are its own and in no room, by the path that leads to them."""
    return {
        f"{module}.{name}": value
        for name, value in vars(importlib.import_module(module)).items()
        if isinstance(value, type)
        and issubclass(value, BaseModel)
        and value.__module__ == module
        and not name.startswith("_")
        and f"{module}.{name}" not in homes()
    }


@cache
def homes() -> dict[str, str]:
    """Where each class and function is described, by the module and name under which it is written."""
    found: dict[str, str] = {}
    for room in ROOMS:
        names = public_names(room)
        for name, value in names.items():
            if isinstance(value, type) or inspect.isfunction(value):
                own = value.__qualname__
                first = own if names.get(own) is value else name
                found.setdefault(f"{value.__module__}.{own}", f"{room}.{first}")
    for name, room in (("Account", "account"), ("connect", "account"), ("Client", "client")):
        found[f"dialframe.{name}"] = f"dialframe.{room}.{name}"
    return found


def home(room: str, name: str, value: Any) -> str:
    """Where a name that a room exports is described."""
    written = f"{getattr(value, '__module__', '')}.{getattr(value, '__qualname__', '')}"
    return homes().get(written, f"{room}.{name}")


def described(path: str, value: Any) -> list[str]:
    """The lines that describe a value."""
    if isinstance(value, type) and issubclass(value, BaseModel):
        return _fields(path, value)
    if isinstance(value, type) and issubclass(value, BaseException):
        return [f".. autoexception:: {path}", "   :show-inheritance:", ""]
    if isinstance(value, type):
        shown = [f".. autoclass:: {path}", "   :members:", "   :exclude-members: set"]
        if value.__mro__[1].__name__.startswith("_"):
            # What a private base gives is its own; the public one above it has its own place.
            public = next(base for base in value.__mro__[1:] if not base.__name__.startswith("_"))
            shown.append(f"   :inherited-members: {public.__name__}")
        return [*shown, ""]
    if inspect.isroutine(value):
        return [f".. autofunction:: {path}", ""]
    return [f".. autodata:: {path}", "   :no-value:", ""]


def first_line(room: str, name: str, value: Any) -> str:
    """The first sentence on a name, from its docstring or the comment above a constant."""
    own = isinstance(value, type) or inspect.isroutine(value)
    lines = (inspect.getdoc(value) or "").splitlines() if own else constant_words(room, name)
    return " ".join(lines[: lines.index("") if "" in lines else None])


def constant_words(room: str, name: str) -> list[str]:
    """What the comment above a constant says, in the module where it is written."""
    comments = ModuleAnalyzer.for_module(_written_in(room, name)).find_attr_docs()
    value = getattr(importlib.import_module(room), name)
    if ("", name) not in comments and get_origin(value) is Literal:
        return [f"One of {', '.join(f'`{each}`' for each in get_args(value))}."]
    return comments.get(("", name), [])


def parse(directive: SphinxDirective, lines: list[str]) -> list[nodes.Node]:
    """Lines of reStructuredText as nodes, inside a page of Markdown."""
    holder = nodes.Element()
    text = ["```````{eval-rst}", *lines, "```````"]
    directive.state.nested_parse(StringList(text, directive.get_source_info()[0]), 0, holder)
    return holder.children


def _fields(path: str, model: type[BaseModel]) -> list[str]:
    """A shape: its words, then a line for each field with its type as it is written."""
    module, _, name = path.rpartition(".")
    lines = [f".. py:currentmodule:: {module}", "", f".. py:class:: {name}", ""]
    lines += [f"   {line}" for line in as_rest((inspect.getdoc(model) or "").splitlines())]
    if not model.model_fields:
        return [*lines, ""]
    lines += ["", "   .. list-table::", "      :widths: 30 70", "      :class: made"]
    lines += ["      :header-rows: 1", "", "      * - field", "        - type"]
    for name, info in model.model_fields.items():
        owner = next(each for each in model.__mro__ if name in inspect.get_annotations(each))
        text = " ".join(str(inspect.get_annotations(owner)[name]).split())
        lines += [
            f"      * - ``{info.alias or name}``",
            f"        - ``{text}``{_values(owner, text)}",
        ]
    return [*lines, ""]


def _values(owner: type, text: str) -> str:
    """The values of a named set of words."""
    known = vars(importlib.import_module(owner.__module__))
    for word in text.replace("|", " ").split():
        value = known.get(word)
        if get_origin(value) is Literal:
            return ": " + ", ".join(f"``{each}``" for each in filter(None, get_args(value)))
    return ""


def _second_name(room: str, name: str, value: Any) -> bool:
    """Whether a function that the room itself describes has this name beside its own."""
    own = getattr(value, "__qualname__", name)
    return inspect.isroutine(value) and own != name and home(room, name, value) == f"{room}.{own}"


def _tell_apart(app: Sphinx, doctree: nodes.document) -> None:
    """Lead each name that two modules give to the one that is meant."""
    del app
    for reference in doctree.findall(pending_xref):
        room, path = MEANT.get(reference.get("reftarget", ""), ("", ""))
        if path and not str(reference.get("py:module")).startswith(room):
            reference["reftarget"] = path


def _written_in(module: str, name: str) -> str:
    """The module that a name comes from, through every one that only hands it on."""
    source = Path(inspect.getfile(importlib.import_module(module))).read_text(encoding="utf-8")
    for node in ast.walk(ast.parse(source)):
        if isinstance(node, ast.ImportFrom) and name in {each.name for each in node.names}:
            return _written_in(node.module or module, name)
    return module


def _every_page(_app: Sphinx, env: BuildEnvironment, *_pages: set[str]) -> set[str]:
    """All pages are made anew each time: what they show is in the package, where Sphinx sees no change."""
    return env.found_docs

"""How the site is built: with Sphinx, from nothing but the package and the notebooks.

    python -m sphinx -n -W docs OUT

Nothing is fetched: no fonts, no scripts and no inventories of other projects, so it builds and reads offline.
"""

from __future__ import annotations

import ast
import gc
import inspect
import sys
from pathlib import Path

from sphinx.ext.autodoc._dynamic import _preserve_defaults

# All nodes of all pages stay to the end: looking for garbage among them takes a quarter of a build, and frees nothing.
gc.disable()
# jsonschema compiles a grammar of IRIs as it is imported, two seconds for a format that no notebook names.
sys.modules.setdefault("rfc3987_syntax", None)  # type: ignore[arg-type]

HERE = Path(__file__).parent
sys.path[:0] = [str(HERE), str(HERE.parent / "src")]

import dialframe  # noqa: E402 - it is found by the line above

project = "dialframe"
version = release = dialframe.__version__
copyright = "the dialframe contributors"  # noqa: A001 - Sphinx asks for this name
language = "en"
smartquotes = False

extensions = [
    "sphinx.ext.autodoc",
    "myst_nb",
    "sitepages.rooms",
    "sitepages.words",
    "sitepages.executed",
    "sitepages.commands",
    "sitepages.tables",
    "sitepages.law",
    "sitepages.readme",
    "sitepages.reading",
]
exclude_patterns = ["notebooks/.*", "**/.ipynb_checkpoints"]
nitpicky = True
# Types of other libraries: their documentation is on the net, and the build asks nobody.
nitpick_ignore_regex = [
    # As they stand in annotations of a module that imports them for type checkers alone.
    (r"py:.*", r"datetime|timedelta|Path|When"),
    # Aliases and inner types of the client and of results, which the words on each argument explain.
    (r"py:.*", r"Audited|Cert|Cut|Evidence|Inputs|Row|Shared|Stated|T|Verify"),
    (
        r"py:.*",
        r"(collections|concurrent|contextlib|dataclasses|datetime|decimal|httpx|io|ipywidgets|matplotlib|mcp|np|numpy|os|pa"
        r"|pandas|pathlib|pd|pyarrow|pydantic|re|socket|ssl|starlette|t|threading|traceback|types|typing|uuid)\..+",
    ),
]

# Notebooks are shown as they are committed; the tests run them.
nb_execution_mode = "off"
nb_ipywidgets_js: dict[str, object] = {}
myst_enable_extensions = ["colon_fence"]
myst_heading_anchors = 3

autodoc_typehints_format = "short"
autodoc_member_order = "bysource"
autodoc_preserve_defaults = True
autoclass_content = "both"
python_use_unqualified_type_names = True
python_maximum_signature_line_length = 80
default_role = "name"

html_theme = "furo"
html_title = f"dialframe {version}"
html_static_path = ["static"]
html_css_files = ["site.css"]
html_js_files = ["reach.js"]
html_search_scorer = str(HERE / "static" / "scorer.js")
html_show_sourcelink = False
html_copy_source = False
html_theme_options = {
    "light_css_variables": {"color-brand-primary": "#005a8c", "color-brand-content": "#005a8c"},
    "dark_css_variables": {"color-brand-primary": "#56b4e9", "color-brand-content": "#56b4e9"},
}
pygments_style = "a11y-high-contrast-light"
pygments_dark_style = "a11y-high-contrast-dark"


def _arguments(obj: object) -> ast.arguments | None:
    """The arguments of a function in its source, with those that stand there as one typed dictionary one by one.

    autodoc takes each default from the source and expects one there for every keyword of the signature.
    """
    arguments = _arguments_of_source(obj)
    if arguments is not None and arguments.kwarg is not None:
        keywords = [
            each
            for each in inspect.signature(obj).parameters.values()
            if each.kind is each.KEYWORD_ONLY
        ]  # type: ignore[arg-type]
        for each in keywords[len(arguments.kwonlyargs) :]:
            named = each.name == "taxonomy"
            arguments.kw_defaults.append(
                ast.Name("DEFAULT") if named else ast.Constant(each.default)
            )
    return arguments


_arguments_of_source = _preserve_defaults._get_arguments  # noqa: SLF001 - there is no public way in
_preserve_defaults._get_arguments = _arguments  # noqa: SLF001 - as above

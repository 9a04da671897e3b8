"""What the service promises, as data: operations, shapes, codes, limits; no I/O, no frames.

Its tables are modules, `from dialframe.contract import operations, error_codes`; a shape is had by its name,
`from dialframe.contract import Lead`.
"""

from importlib import import_module as _import_module

__all__ = ["error_codes", "limits", "models", "openapi", "operations", "scopes"]

_SHAPES = ("base_models", "call_models", "dnc_and_message_models", "lead_models", "webhook_models")


def __getattr__(name: str) -> object:
    """A table, or a shape by its name; loaded when it is first asked for."""
    if name in __all__:
        return _import_module(f"dialframe.contract.{name}")
    if not name.startswith("_"):
        for module in _SHAPES:
            shape: object = vars(_import_module(f"dialframe.contract.models.{module}")).get(name)
            if shape is not None:
                return shape
    raise AttributeError(f"module 'dialframe.contract' has no attribute {name!r}")


def __dir__() -> list[str]:
    """The public names alone."""
    return sorted(__all__)

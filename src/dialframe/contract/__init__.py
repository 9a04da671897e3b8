"""What the service promises, as data: operations, shapes, codes, limits; no I/O, no frames.

Its public names are its tables: `from dialframe.contract import operations, error_codes`.
"""

__all__ = ["error_codes", "limits", "models", "openapi", "operations", "scopes"]


def __getattr__(name: str) -> object:
    """A table, loaded when it is first asked for."""
    if name in __all__:
        from importlib import import_module

        return import_module(f"dialframe.contract.{name}")
    raise AttributeError(f"module 'dialframe.contract' has no attribute {name!r}")


def __dir__() -> list[str]:
    """The public names alone."""
    return sorted(__all__)

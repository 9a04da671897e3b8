"""The command line: parses what a person wants, calls one flow, shows it; knows no rules of its own."""

from dialframe.cli.run import main

__all__ = ["main"]

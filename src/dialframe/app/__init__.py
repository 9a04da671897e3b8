"""The web app: lists, compliance and performance in a browser, served by one process on this machine alone."""

from dialframe.app.server import App, serve

__all__ = ["App", "serve"]

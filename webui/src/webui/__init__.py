"""The browser UI and REST API of the router."""

from importlib.metadata import version

__version__ = version("webui")

"""The router: its configuration document, transaction engine, agent and CLI."""

from importlib.metadata import version

__version__ = version("appliance")

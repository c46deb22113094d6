"""The names by which objects of different kinds refer to each other."""

from __future__ import annotations

_INTERFACE = "interface/"


def interface_token(name: str) -> str:
    """The token that an interface of any kind provides to its dependents."""
    return f"{_INTERFACE}{name}"


def interface_name(token: str) -> str | None:
    """The name in an interface's token; None for any other token."""
    return token.removeprefix(_INTERFACE) if token.startswith(_INTERFACE) else None

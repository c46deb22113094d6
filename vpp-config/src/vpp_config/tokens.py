"""The names by which objects that are not of one kind know each other."""

from __future__ import annotations

_INTERFACE = "interface/"


def interface_token(name: str) -> str:
    """What an interface provides to its dependents, whichever kind it is of."""
    return f"{_INTERFACE}{name}"


def interface_name(token: str) -> str | None:
    """The name in an interface's token; None for any other token."""
    return token.removeprefix(_INTERFACE) if token.startswith(_INTERFACE) else None

"""Reads what a later version wrote, after an upgrade that was rolled back or left."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import fields
from typing import Any


def known_fields(kind: type[Any], recorded: Mapping[str, Any]) -> dict[str, Any]:
    """The entries of ``recorded`` that the dataclass ``kind`` has; others are from a later version."""
    names = {field.name for field in fields(kind)}
    return {name: value for name, value in recorded.items() if name in names}

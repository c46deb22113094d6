"""What a later version wrote, read by an earlier one: after an upgrade that was returned from or left."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import fields
from typing import Any


def known_fields(kind: type[Any], recorded: Mapping[str, Any]) -> dict[str, Any]:
    """The entries of ``recorded`` that the dataclass ``kind`` has; what it has not is of a later version."""
    names = {field.name for field in fields(kind)}
    return {name: value for name, value in recorded.items() if name in names}

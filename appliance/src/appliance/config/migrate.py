"""Older documents to the current schema: one pure function for each older version."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from appliance.config.document import SCHEMA_VERSION
from appliance.errors import Problem, ValidationFailed

Document = dict[str, Any]

MIGRATIONS: dict[int, Callable[[Document], Document]] = {}
"""From a version to the next one. Version 1 is the first, so nothing is registered yet."""


def migrate(document: Document) -> Document:
    """``document`` in the current schema version; its own version is 1 when it gives none.

    Raises ValidationFailed for a version that is not a number, newer than this release, or unknown to it.
    """
    version = document.get("schema_version", 1)
    if not isinstance(version, int) or isinstance(version, bool):
        raise ValidationFailed([Problem("/schema_version", "must be a whole number")])
    if version > SCHEMA_VERSION:
        message = f"version {version} is of a newer release; this one reads up to {SCHEMA_VERSION}"
        raise ValidationFailed([Problem("/schema_version", message)])
    while version != SCHEMA_VERSION:
        step = MIGRATIONS.get(version)
        if step is None:
            raise ValidationFailed([Problem("/schema_version", f"there is no schema version {version}")])
        document, version = step(document), version + 1
    return {**document, "schema_version": SCHEMA_VERSION}

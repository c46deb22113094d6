"""The document's fields, compared with those of each schema version.

An image states the newest schema version that it reads. At an upgrade, or on the way back, only that number
tells whether it can read a document. A change of fields without a new number makes it wrong.
"""

from __future__ import annotations

import json
import os
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from appliance.config.document import SCHEMA_VERSION
from appliance.config.migrate import MIGRATIONS
from appliance.config.schema import entry_of, json_schema

HERE = Path(__file__).parent
TOLD = (
    "const", "default", "enum", "format", "maximum", "maxItems", "maxLength", "maxProperties", "minimum",
    "minItems", "minLength", "minProperties", "pattern", "exclusiveMaximum", "exclusiveMinimum", "type",
)  # fmt: skip
"""The properties of a field that decide which values it takes, and the meaning of leaving it out."""


def fields() -> list[str]:
    """A line for each place of a document: its path, type, limits and default."""
    return list(dict.fromkeys(_lines(json_schema(), "", ())))


def _lines(node: dict[str, Any], path: str, inside: tuple[str, ...]) -> Iterator[str]:
    if "$ref" in node:
        name = node["$ref"]
        if name in inside:
            yield f"{path} as {name.rpartition('/')[2]} above"
            return
        inside = (*inside, name)
        node = {**json_schema()["$defs"][name.removeprefix("#/$defs/")], **node}
    told = [f"{key}={json.dumps(node[key], sort_keys=True)}" for key in TOLD if key in node]
    yield f"{path or '/'} {' '.join(told)}".rstrip()
    for choice in (*node.get("anyOf", ()), *node.get("oneOf", ())):
        yield from _lines(choice, path, inside)
    required = set(node.get("required", ()))
    for name, below in sorted(node.get("properties", {}).items()):
        yield from _lines(below, f"{path}/{name}{'!' if name in required else ''}", inside)
    if (entry := entry_of(node)) is not None:
        yield from _lines(entry, f"{path}/*", inside)
    if isinstance(node.get("items"), dict):
        yield from _lines(node["items"], f"{path}/-", inside)


def golden(version: int) -> Path:
    return HERE / f"schema-{version}.txt"


def test_a_change_of_fields_is_a_change_of_the_schema_version() -> None:
    found = "\n".join(fields()) + "\n"
    path = golden(SCHEMA_VERSION)
    if os.environ.get("MILLRACE_REWRITE_SCHEMA") == str(SCHEMA_VERSION):
        path.write_text(found)
    known = path.read_text() if path.exists() else ""
    gone = sorted(set(known.splitlines()) - set(found.splitlines()))
    new = sorted(set(found.splitlines()) - set(known.splitlines()))
    if gone or new:
        pytest.fail(
            f"The document's fields are not those of schema version {SCHEMA_VERSION}.\n"
            + "".join(f"  - {line}\n" for line in gone)
            + "".join(f"  + {line}\n" for line in new)
            + "An image of this version that is out already cannot read documents with what is new, and "
            "reads what changed as something else. Raise SCHEMA_VERSION (appliance/config/document.py), add "
            "the migration (appliance/config/migrate.py), and run this test with "
            f"MILLRACE_REWRITE_SCHEMA={SCHEMA_VERSION + 1}. Rewrite the file of this version instead "
            f"(MILLRACE_REWRITE_SCHEMA={SCHEMA_VERSION}) only where no image with it has been released, or "
            "where lines are only added and an older image may refuse documents that use them.",
            pytrace=False,
        )


def test_every_version_that_was_left_has_its_fields_and_a_migration() -> None:
    assert sorted(MIGRATIONS) == list(range(1, SCHEMA_VERSION))
    assert all(golden(version).exists() for version in range(1, SCHEMA_VERSION + 1))


def test_the_fields_are_told_apart() -> None:
    """The walk reaches choices, tables and lists, so it covers its purpose."""
    told = fields()
    for path in ("/interfaces/*/mtu", "/routing/bgp/neighbors/*/password", "/acls/*/rules/*/action!"):
        assert any(line.split(" ")[0] == path for line in told), path
    assert len(told) > 150

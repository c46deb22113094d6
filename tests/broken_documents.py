"""Broken documents: each is a base with a patch that breaks it, and the pointer to the place that is wrong.

A case is a file in ``tests/unit/config/broken/`` with ``pointer``, where a problem has to be, and one of

- ``patch``, a JSON merge patch (RFC 7396) to the base named by ``base``, a file in ``broken/bases/``, or to
  ``router`` where none is named. A problem of the base itself does not count;
- ``document``, a whole document, for what a merge patch cannot say, such as a null;
- ``text``, for what is not even JSON.

``python -m tests.broken_documents FILE...`` rewrites whole documents as patches; it may be repeated.
"""

from __future__ import annotations

import json
import sys
from functools import cache
from pathlib import Path
from typing import Any

FOLDER = Path(__file__).resolve().parent / "unit" / "config" / "broken"
CASES = tuple(sorted(FOLDER.glob("*.json")))
BASES = tuple(sorted((FOLDER / "bases").glob("*.json")))
DEFAULT_BASE = "router"
_COLUMNS = 110


def read_source(path: Path) -> Any:
    """What is sent to the router: the document, or the text that is none."""
    case = json.loads(path.read_text())
    if "patch" in case:
        return merged(_base(case.get("base", DEFAULT_BASE)), case["patch"])
    return case["text"] if "text" in case else case["document"]


def read_base(path: Path) -> Any:
    """The document that the case patches; an empty one if it patches none."""
    case = json.loads(path.read_text())
    return _base(case.get("base", DEFAULT_BASE)) if "patch" in case else {}


def read_pointer(path: Path) -> str:
    """Where in it a problem has to be."""
    return str(json.loads(path.read_text())["pointer"])


def merged(target: Any, patch: Any) -> Any:
    """``target`` with a JSON merge patch (RFC 7396, section 2) applied; neither is changed."""
    if not isinstance(patch, dict):
        return patch
    result = dict(target) if isinstance(target, dict) else {}
    for name, value in patch.items():
        if value is None:
            result.pop(name, None)
        else:
            result[name] = merged(result.get(name), value)
    return result


def difference(before: Any, after: Any) -> Any:
    """The merge patch that makes ``after`` of ``before``."""
    if not isinstance(before, dict) or not isinstance(after, dict):
        return after
    removed = {name: None for name in before if name not in after}
    changed = {
        name: difference(before.get(name), value)
        for name, value in after.items()
        if name not in before or not _is_same(before[name], value)
    }
    return removed | changed


def shortened(case: dict[str, Any]) -> dict[str, Any]:
    """The case with the shortest patch in place of a whole document; unchanged if no patch gives it."""
    if "document" not in case:
        return case
    rest = {name: value for name, value in case.items() if name != "document"}
    patches = {path.stem: difference(_base(path.stem), case["document"]) for path in BASES}
    fitting = {
        name: patch
        for name, patch in patches.items()
        if isinstance(patch, dict) and _is_same(merged(_base(name), patch), case["document"])
    }
    if not fitting:
        return case
    base = min(fitting, key=lambda name: (len(json.dumps(fitting[name])), name != DEFAULT_BASE))
    return rest | {"patch": fitting[base]} | ({"base": base} if base != DEFAULT_BASE else {})


def laid_out(value: Any, used: int = 0, depth: int = 0) -> str:
    """JSON with sorted keys: an object or array that fits into a line is on one."""
    line = json.dumps(value, sort_keys=True)
    if not isinstance(value, dict | list) or not value or (depth and used + len(line) < _COLUMNS):
        return line
    if isinstance(value, list):
        parts = [laid_out(each, depth + 1, depth + 1) for each in value]
    else:
        names = {name: f"{json.dumps(name)}: " for name in sorted(value)}
        parts = [
            label + laid_out(value[name], depth + 1 + len(label), depth + 1) for name, label in names.items()
        ]
    indent = "\n" + " " * (depth + 1)
    opening, closing = ("[", "]") if isinstance(value, list) else ("{", "}")
    return f"{opening}{indent}{f',{indent}'.join(parts)}\n{' ' * depth}{closing}"


@cache
def _base(name: str) -> Any:
    return json.loads((FOLDER / "bases" / f"{name}.json").read_text())


def _is_same(one: Any, other: Any) -> bool:
    """Equal as JSON: 1, 1.0 and true are three values."""
    return json.dumps(one, sort_keys=True) == json.dumps(other, sort_keys=True)


if __name__ == "__main__":
    for file in map(Path, sys.argv[1:]):
        file.write_text(laid_out(shortened(json.loads(file.read_text()))) + "\n")

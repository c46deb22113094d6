"""Differences between documents as readable lines, grouped by object."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from functools import cached_property
from typing import Any

from appliance.config.pointer import split
from webui.ui.objects import holds_objects, object_of, place_of
from webui.ui.pointers import get, join
from webui.ui.rule_text import format_rule

Json = Any


@dataclass(frozen=True)
class Line:
    """A line and its part: ``add``, ``del`` or nothing."""

    part: str
    text: str


@dataclass(frozen=True)
class ObjectDiff:
    """The changes of one object. Its lines are made on demand, because a page shows few of many objects."""

    pointer: str
    changes: tuple[Any, ...]
    before: Json = None
    after: Json = None
    """The documents, where they are known."""

    @property
    def title(self) -> str:
        """The object's title."""
        return place_of(self.pointer).title

    @property
    def op(self) -> str:
        """``add``, ``remove`` or ``replace`` for the object as a whole."""
        ops = [part(one, "op") for one in self.changes if part(one, "path") == self.pointer]
        return next((op for op in reversed(ops) if op != "replace"), "replace")

    @property
    def mark(self) -> str:
        """The word that pages show next to it."""
        return {"add": "added", "remove": "removed"}.get(self.op, "changed")

    @cached_property
    def lines(self) -> tuple[Line, ...]:
        """All changes in it."""
        return tuple(_lines(self.pointer, self.changes, self.before, self.after))


def part(change: Any, name: str) -> Any:
    """A field of a change, which is a ``Change`` or the JSON of one."""
    return change.get(name) if isinstance(change, dict) else getattr(change, name)


def group(changes: Iterable[Any], before: Json = None, after: Json = None) -> list[ObjectDiff]:
    """The changes by object, in their order. With both documents, a rule of an access list is one line."""
    by_object: dict[str, list[Any]] = {}
    for change in (one for whole in changes for one in _apart(whole)):
        by_object.setdefault(object_of(part(change, "path")), []).append(change)
    return [ObjectDiff(pointer, tuple(listed), before, after) for pointer, listed in by_object.items()]


def _apart(change: Any) -> Iterator[Any]:
    """The change split by object: the first object of a mapping is reported as the whole mapping."""
    op, path = part(change, "op"), part(change, "path")
    value = part(change, "before" if op == "remove" else "after")
    if op == "replace" or not isinstance(value, dict) or not holds_objects(path):
        yield change
        return
    for key, below in value.items():
        sides = {"before": below, "after": None} if op == "remove" else {"before": None, "after": below}
        yield from _apart({"op": op, "path": path + join(key), **sides})


def _lines(pointer: str, changes: Iterable[Any], before: Json, after: Json) -> Iterator[Line]:
    above = len(split(pointer))
    rules: dict[str, None] = {}
    for change in changes:
        path = part(change, "path")
        tokens = split(path)
        if before is not None and tokens[0] == "acls" and len(tokens) > 3 and tokens[2] == "rules":
            rules[tokens[3]] = None
            continue
        if path == pointer and tokens[0] == "acls" and len(tokens) == 2:
            yield from _whole_acl(change)
            continue
        label = " ".join(tokens[above:])
        if part(change, "op") != "add":
            yield from (Line("del", f"- {text}") for text in render(part(change, "before"), label))
        if part(change, "op") != "remove":
            yield from (Line("add", f"+ {text}") for text in render(part(change, "after"), label))
    for sequence in sorted(rules, key=lambda text: int(text) if text.isdecimal() else 0):
        for kind, sign, document in (("del", "-", before), ("add", "+", after)):
            rule = get(document, f"{pointer}/rules/{sequence}")
            if isinstance(rule, dict):
                yield Line(kind, f"{sign} {format_rule(sequence, rule)}")


def _whole_acl(change: Any) -> Iterator[Line]:
    for side, kind, sign in (("before", "del", "-"), ("after", "add", "+")):
        value = part(change, side) or {}
        if value.get("description"):
            yield Line(kind, f"{sign} description: {value['description']}")
        for sequence, rule in sorted(value.get("rules", {}).items(), key=lambda rule: int(rule[0])):
            yield Line(kind, f"{sign} {format_rule(sequence, rule)}")


def render(value: Any, label: str = "", indent: int = 0) -> list[str]:
    """A JSON value as indented ``name: value`` lines."""
    pad = "  " * indent
    if isinstance(value, dict):
        head = [f"{pad}{label}:"] if label else []
        inner = indent + 1 if label else indent
        if not value:
            return [f"{pad}{label}: (all defaults)" if label else f"{pad}(all defaults)"]
        return head + [line for key, below in value.items() for line in render(below, str(key), inner)]
    if isinstance(value, (list, tuple)):
        if all(not isinstance(one, (dict, list)) for one in value):
            text = ", ".join(_word(one) for one in value) or "(none)"
            return [f"{pad}{label}: {text}" if label else f"{pad}{text}"]
        head = [f"{pad}{label}:"] if label else []
        return head + [line for one in value for line in _item(one, indent + bool(label))]
    return [f"{pad}{label}: {_word(value)}" if label else f"{pad}{_word(value)}"]


def _item(value: Any, indent: int) -> list[str]:
    lines = render(value)
    pad = "  " * indent
    return [pad + ("- " if index == 0 else "  ") + line for index, line in enumerate(lines)]


def _word(value: Any) -> str:
    if value is None:
        return "(unset)"
    if isinstance(value, bool):
        return "yes" if value else "no"
    return str(value)


def text_lines(lines: Iterable[str]) -> list[Line]:
    """Lines of a unified diff with their parts."""
    found = []
    for line in lines:
        kind = (
            "head"
            if line.startswith(("+++", "---", "@@"))
            else "add"
            if line.startswith("+")
            else "del"
            if line.startswith("-")
            else ""
        )
        found.append(Line(kind, line))
    return found

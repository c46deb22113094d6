"""Output as text: tables, the document as an indented tree, differences."""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any

from appliance.client.answers import PlanAnswer
from appliance.config.diff import Change
from appliance.config.pointer import split
from appliance.errors import MillraceError, ValidationFailed

_WIDEST = 60


def as_json(value: Any) -> str:
    """Indented JSON."""
    return json.dumps(value, indent=2, default=str)


def table(rows: Iterable[Mapping[str, Any]], columns: Sequence[str]) -> str:
    """A table with column headings; a nested value is written as ``a, b``."""
    cells = [[_cell(row.get(column)) for column in columns] for row in rows]
    heads = [column.replace("_", " ") for column in columns]
    if not cells:
        return "(none)"
    widths = [
        min(_WIDEST, max(len(head), *(len(line[index]) for line in cells)))
        for index, head in enumerate(heads)
    ]
    lines = [heads, ["-" * width for width in widths], *cells]
    return "\n".join(
        "  ".join(text.ljust(width) for text, width in zip(line, widths, strict=True)).rstrip()
        for line in lines
    )


def _cell(value: Any) -> str:
    if value is None:
        return "-"
    if isinstance(value, bool):
        return "yes" if value else "no"
    if isinstance(value, float):
        return f"{value:.2f}"
    if isinstance(value, Mapping):
        return clean(" ".join(f"{key}={_cell(item)}" for key, item in value.items() if item is not None))
    if isinstance(value, (list, tuple)):
        return ", ".join(_cell(item) for item in value) or "-"
    return clean(str(value))


def clean(text: str) -> str:
    """Without control characters: a neighbor's name must not be able to control the terminal."""
    return "".join(character if character.isprintable() else "?" for character in text)


def findings(plan: PlanAnswer) -> Iterator[str]:
    """The findings of a plan, then its summary."""
    for one in plan.result.findings:
        details = (
            f"if {one.depends_on}" if one.depends_on else "",
            f"now: {one.evidence}" if one.evidence else "",
        )
        more = "".join(f" ({clean(detail)})" for detail in details if detail)
        yield f"{one.grade}: {clean(one.text)}{more}"
    yield from map(clean, plan.summary)


def tree(value: Any, indent: str = "") -> str:
    """A part of the document, one setting a line, in the words that ``set`` takes."""
    if not isinstance(value, (Mapping, list)):
        return f"{indent}{_word(value)}"
    if isinstance(value, list):
        return "\n".join(tree(item, indent) for item in value)
    lines = []
    for key, item in value.items():
        if isinstance(item, Mapping):
            lines.append(f"{indent}{_word(key)}")
            if item:
                lines.append(tree(item, indent + "    "))
        elif isinstance(item, list):
            lines += [f"{indent}{_word(key)} {_inline(element)}" for element in item]
        else:
            lines.append(f"{indent}{_word(key)} {_word(item)}")
    return "\n".join(lines)


def _inline(value: Any) -> str:
    if isinstance(value, Mapping):
        return " ".join(f"{key} {_inline(item)}" for key, item in value.items())
    return _word(value)


def _word(value: Any) -> str:
    if isinstance(value, bool):
        return "true" if value else "false"
    text = clean(str(value))
    return f'"{text}"' if not text or " " in text or "|" in text or ";" in text else text


def changes(found: Sequence[Change]) -> str:
    """Differences, one a line: + added, - removed, ~ changed."""
    lines = []
    for change in found:
        path = " ".join(_word(token) for token in split(change.path))
        if change.op == "add":
            lines.append(f"+ {path} {brief(change.after)}".rstrip())
        elif change.op == "remove":
            lines.append(f"- {path} {brief(change.before)}".rstrip())
        else:
            lines.append(f"~ {path}: {brief(change.before)} -> {brief(change.after)}")
    return "\n".join(lines)


def brief(value: Any) -> str:
    """A value on one line."""
    if isinstance(value, (Mapping, list)):
        return clean(json.dumps(value))
    return _word(value)


def clean_lines(text: str) -> str:
    """``clean`` of each line."""
    return "\n".join(clean(line) for line in text.splitlines())


def told(error: MillraceError) -> str:
    """An error for the terminal, with each problem of a document on its own line."""
    if isinstance(error, ValidationFailed):
        found = [": ".join(filter(None, (one.pointer, one.message))) for one in error.problems]
        return "\n% ".join(map(clean, found))
    return clean_lines(str(error))

"""Marked places of the document, such as secrets and references, and the walks over a document to them.

They enter no part without marked places. ``walk`` visits, ``replaced`` changes.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field
from typing import Any, Generic, TypeVar

from appliance.config.shape import Fields, Items, Keyed, Leaf, Shape, Tagged

M = TypeVar("M")

Token = str | int


@dataclass(frozen=True)
class Marks(Generic[M]):
    """The marks at and below one place of any document."""

    here: M | None = None
    """The value itself is marked."""
    keys: M | None = None
    """Each key of the mapping is marked."""
    fields: Mapping[str, Marks[M]] = field(default_factory=dict)
    each: Marks[M] | None = None
    """The marks below each entry of the mapping, or each item of the list."""

    def below(self, token: Token) -> Marks[M] | None:
        """The marks at the place that this token leads to."""
        return self.fields.get(token, self.each) if isinstance(token, str) else self.each


def marks_of(
    shape: Shape, of_leaf: Callable[[Leaf], M | None], of_key: Callable[[Keyed], M | None]
) -> Marks[M]:
    """The marked places of a shape. Raises ValueError where kinds of one object mark a field differently."""
    return _found(shape, of_leaf, of_key) or Marks()


def _found(
    shape: Shape, of_leaf: Callable[[Leaf], M | None], of_key: Callable[[Keyed], M | None]
) -> Marks[M] | None:
    match shape:
        case Leaf():
            mark = of_leaf(shape)
            return None if mark is None else Marks(here=mark)
        case Items():
            each = _found(shape.item, of_leaf, of_key)
            return None if each is None else Marks(each=each)
        case Keyed():
            keys, each = of_key(shape), _found(shape.value, of_leaf, of_key)
            return None if keys is None and each is None else Marks(keys=keys, each=each)
        case Fields():
            below = {name: _found(inner, of_leaf, of_key) for name, inner in shape.fields.items()}
            fields = {name: marks for name, marks in below.items() if marks is not None}
            return Marks(fields=fields) if fields else None
        case Tagged():
            merged: Marks[M] | None = None
            for choice in shape.choices.values():
                merged = _merged(merged, _found(choice, of_leaf, of_key))
            return merged


def _merged(one: Marks[M] | None, other: Marks[M] | None) -> Marks[M] | None:
    if one is None or other is None or one == other:
        return one or other
    if one.here != other.here or one.keys != other.keys:
        raise ValueError(f"kinds of one object mark the same field differently: {one} and {other}")
    names = {**one.fields, **other.fields}
    fields = {name: _merged(one.fields.get(name), other.fields.get(name)) for name in names}
    return Marks(
        one.here,
        one.keys,
        {name: marks for name, marks in fields.items() if marks is not None},
        _merged(one.each, other.each),
    )


def walk(document: Any, marks: Marks[M], visit: Callable[[list[Token], Any, M], None]) -> None:
    """Call ``visit`` with each marked place of a document, what stands there, and its mark.

    The document is a model, or plain: of dicts, lists and values. A marked key is visited with the key as the
    value. The place is a list that the walk goes on to change.
    """
    _walk(document, marks, visit, [])


def _walk(
    node: Any, marks: Marks[M], visit: Callable[[list[Token], Any, M], None], place: list[Token]
) -> None:
    # A document has hundreds of thousands of places, so the walk allocates only one list.
    if marks.here is not None:
        visit(place, node, marks.here)
    elif isinstance(node, (tuple, list)):
        if (each := marks.each) is not None:
            place.append(0)
            for index, value in enumerate(node):
                place[-1] = index
                _walk(value, each, visit, place)
            place.pop()
    elif isinstance(node, dict):
        if marks.keys is not None or marks.each is not None:
            _walk_entries(node, marks, visit, place)
        else:
            _walk_fields(node.get, marks, visit, place)
    elif marks.fields:
        _walk_fields(getattr(node, "__dict__", {}).get, marks, visit, place)


def _walk_entries(
    node: dict[Any, Any], marks: Marks[M], visit: Callable[[list[Token], Any, M], None], place: list[Token]
) -> None:
    keys, each = marks.keys, marks.each
    place.append("")
    for key, value in node.items():
        place[-1] = key
        if keys is not None:
            visit(place, key, keys)
        if each is not None:
            _walk(value, each, visit, place)
    place.pop()


def _walk_fields(
    value_of: Callable[[str], Any],
    marks: Marks[M],
    visit: Callable[[list[Token], Any, M], None],
    place: list[Token],
) -> None:
    for name, below in marks.fields.items():
        if (value := value_of(name)) is not None:
            place.append(name)
            if (mark := below.here) is not None:
                visit(place, value, mark)
            else:
                _walk(value, below, visit, place)
            place.pop()


def replaced(document: Any, marks: Marks[M], one: Callable[[list[Token], Any, M], Any]) -> Any:
    """A plain document with each marked value replaced by ``one`` of its place, the value and its mark.

    Unchanged parts are shared with ``document``; marked keys stay as they are.
    """
    return _replaced(document, marks, one, [])


def _replaced(
    node: Any, marks: Marks[M], one: Callable[[list[Token], Any, M], Any], place: list[Token]
) -> Any:
    if marks.here is not None:
        return one(place, node, marks.here)
    entries: Iterable[tuple[Any, Any]]
    if isinstance(node, Mapping):
        names = node if marks.each is not None else marks.fields
        entries = ((name, node[name]) for name in names if name in node)
    elif isinstance(node, (list, tuple)) and marks.each is not None:
        entries = enumerate(node)
    else:
        return node
    changed: dict[Any, Any] = {}
    place.append("")
    for token, value in entries:
        place[-1] = token
        below = marks.below(token)
        if below is not None and (new := _replaced(value, below, one, place)) is not value:
            changed[token] = new
    place.pop()
    if not changed:
        return node
    if isinstance(node, Mapping):
        return {**node, **changed}
    return [changed.get(index, value) for index, value in enumerate(node)]

"""The places of secrets in a document, as its models mark them, and how they are masked and replaced."""

from __future__ import annotations

from collections.abc import Callable
from functools import cache
from typing import Any

from appliance.config import marks
from appliance.config.marks import Marks, Token
from appliance.config.pointer import join, split
from appliance.config.shape import document as shape_of_document
from frr_config.types import MASK


@cache
def secret_marks() -> Marks[bool]:
    """The places of secrets in a document."""
    return marks.marks_of(shape_of_document(), lambda leaf: leaf.secret or None, lambda _keyed: None)


def secrets_of(document: Any) -> dict[str, Any]:
    """The values at the places of secrets of a plain document, by pointer."""
    found: dict[str, Any] = {}

    def note(place: list[Token], value: Any, _mark: bool) -> None:
        found[join(place)] = value

    marks.walk(document, secret_marks(), note)
    return found


def replaced(document: Any, one: Callable[[str, str], Any]) -> Any:
    """``document`` with each secret text replaced by ``one`` of its pointer and the text.

    Parts without secrets are shared, not copied.
    """

    def change(place: list[Token], value: Any, _mark: bool) -> Any:
        return one(join(place), value) if isinstance(value, str) else value

    return marks.replaced(document, secret_marks(), change)


def masked(document: Any) -> list[str]:
    """Pointers of secrets in a plain document that are masked instead of given."""
    return [pointer for pointer, value in secrets_of(document).items() if value == MASK]


def unmask(document: Any, base: Any) -> Any:
    """``document`` with each masked secret replaced by the one at the same place of ``base``.

    So a document that was read with masked secrets can be written back without changing them.
    """
    known = secrets_of(base)
    return replaced(document, lambda pointer, value: known.get(pointer, value) if value == MASK else value)


def mask(value: Any, path: str = "") -> Any:
    """``value``, which stands at ``path`` of a document, with its secrets masked."""
    below: Marks[bool] | None = secret_marks()
    for token in split(path):
        below = marks_below(below, token)
    return masked_at(value, below)


def marks_below(here: Marks[bool] | None, token: str) -> Marks[bool] | None:
    """The places of secrets one step further down; None: there are none."""
    return here if here is None or here.here is not None else here.below(token)


def masked_at(value: Any, here: Marks[bool] | None) -> Any:
    """``value``, which stands at these places, with its secrets masked."""
    if here is None:
        return value
    return marks.replaced(value, here, lambda _place, found, _mark: None if found is None else MASK)

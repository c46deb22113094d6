"""Acts on many objects at once: one edit of the change set for the whole batch, or none."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

from appliance.config import pointer as pointers
from appliance.config.references import References
from appliance.errors import Problem, ValidationFailed
from webui.ui.objects import inside, place_of
from webui.ui.pointers import get, join

_USERS_NAMED = 5


def switched(
    document: Mapping[str, Any], mapping: str, names: Iterable[str], enabled: bool
) -> dict[str, Any]:
    """The mapping with these objects enabled or disabled; the others are unchanged."""
    objects = dict(get(document, mapping, {}))
    for name in names:
        if name in objects:
            settings = {key: value for key, value in objects[name].items() if key != "enabled"}
            objects[name] = settings if enabled else {**settings, "enabled": False}
    return objects


def without(document: Mapping[str, Any], mapping: str, names: Iterable[str]) -> dict[str, Any]:
    """The mapping without these objects. Raises ValidationFailed while something else needs one of them."""
    gone = set(names)
    objects = {
        name: settings for name, settings in dict(get(document, mapping, {})).items() if name not in gone
    }
    refuse_used(pointers.put(document, mapping, objects), [mapping + join(name) for name in gone])
    return objects


def refuse_used(document: Any, removed: Iterable[str]) -> None:
    """Raise ValidationFailed where `document`, without the removed objects, still names one of them."""
    references = References(document)
    problems = [
        Problem(pointer, f"{place_of(pointer).title} is used by {named(users)}")
        for pointer in removed
        if (users := [use.pointer for use in references.used_by(pointer) if use.must_exist])
    ]
    if problems:
        raise ValidationFailed(problems)


def named(users: list[str]) -> str:
    """The objects that contain these places, each once; the first few by name."""
    titles = list(dict.fromkeys(inside(pointer) for pointer in users))
    shown = ", ".join(titles[:_USERS_NAMED])
    more = len(titles) - _USERS_NAMED
    return f"{shown} and {more} more" if more > 0 else shown

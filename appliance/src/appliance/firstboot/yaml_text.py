"""YAML as seeds use it. Pure."""

from __future__ import annotations

import re
from typing import Any

import yaml

from appliance.errors import Problem, ValidationFailed

MAX_BYTES = 16 * 1024 * 1024
"""Size of the largest file of a seed."""


class _Loader(yaml.SafeLoader):
    """Safe YAML without aliases, which could make a small file a huge one."""

    def compose_node(self, parent: Any, index: Any) -> Any:
        if self.check_event(yaml.AliasEvent):
            event = self.peek_event()  # type: ignore[no-untyped-call]
            raise yaml.composer.ComposerError(None, None, "aliases are not read", event.start_mark)
        return super().compose_node(parent, index)


# YAML 1.1 takes 52:54:00:12:34:56 for a number of base 60 and a bare `off` for false: a MAC address and a
# setting would be lost. These are YAML 1.2's scalars, with yes and no, which netplan's users write.
_Loader.yaml_implicit_resolvers = {}
for _tag, _pattern, _first in (
    ("bool", r"^(?:true|True|TRUE|false|False|FALSE|yes|Yes|no|No)$", "tTfFyYnN"),
    ("null", r"^(?:~|null|Null|NULL|)$", ["~", "n", "N", ""]),
    ("int", r"^[-+]?(?:0|[1-9][0-9]*)$", "-+0123456789"),
    ("float", r"^[-+]?(?:[0-9]+\.[0-9]*|\.[0-9]+|[0-9]+)(?:[eE][-+]?[0-9]+)?$", "-+.0123456789"),
):
    _Loader.add_implicit_resolver(f"tag:yaml.org,2002:{_tag}", re.compile(_pattern), list(_first))


def mapping(data: bytes, where: str) -> dict[str, Any]:
    """The object in YAML or JSON text; an empty one for empty text.

    Raises ValidationFailed, which says ``where``.
    """
    if len(data) > MAX_BYTES:
        raise _refused(where, f"is larger than {MAX_BYTES // 1024 // 1024} MB")
    try:
        value = yaml.load(data, Loader=_Loader)
    except (yaml.YAMLError, UnicodeError, ValueError, RecursionError) as error:
        place = getattr(error, "problem_mark", None)
        line = f" (line {place.line + 1})" if place is not None else ""
        reason = getattr(error, "problem", None) or type(error).__name__
        raise _refused(where, f"is not YAML: {reason}{line}") from None
    if value is None:
        return {}
    if not isinstance(value, dict):
        raise _refused(where, "must be an object")
    return value


def _refused(where: str, message: str) -> ValidationFailed:
    return ValidationFailed([Problem(f"/{where}", message)])

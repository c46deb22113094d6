"""What a protocol adds to the objects of another, as YANG's ``augment`` does (RFC 7950, section 7.17)."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field

from frr_config.syntax import Form
from frr_config.types import Model
from frr_config.version import FrrVersion


@dataclass(frozen=True, eq=False)
class Augmentation:
    """The part of one protocol in the objects of another protocol, which names neither its settings nor its
    words.
    """

    word: str
    """The word of FRR that its lines begin with."""
    place: str
    """The objects, as their protocol calls the place."""
    settings: type[Model]
    """The fields, and their checks."""
    lines: Callable[[Model], Iterable[str]]
    """What an object with these fields says in addition."""
    forms: tuple[Form, ...]
    """What these lines mean. The object's protocol puts its words before them, and is their kind.

    For a next hop of a static route there is one: it matches the end of the path's line. staticd keeps what
    its groups match where a new line of the path omits it.
    """
    lacking: Callable[[FrrVersion], str] = lambda _version: ""
    """What a release of FRR cannot do, as ``FRR 8.4 ... cannot``; empty where it can."""
    why_down: Mapping[str, tuple[str, str]] = field(default_factory=dict)
    """By a part of FRR's reason for a session that is down: the reason in a user's words, and what to do."""

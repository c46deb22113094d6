"""Reading what FRR prints: ``show running-config`` of a daemon or of vtysh, or a configuration file."""

from __future__ import annotations

from collections.abc import Iterable, Mapping

from frr_config.config import FrrConfig
from frr_config.line import Line
from frr_config.normal import is_configuration
from frr_config.tables import (
    EMPTY_CONTEXTS,
    OPENERS_AT_THE_TOP,
    OPENERS_INSIDE,
    normal_line,
    without_repetitions,
)
from frr_config.version import FrrVersion

# Top-level words that open a context even where a configuration file does not indent what is inside.
# Those of no protocol here are "key chain" and "vnc".
_OPENERS = (*OPENERS_AT_THE_TOP, "key chain ")
_INNER_OPENERS = (*OPENERS_INSIDE, "vnc ")


def parse(text: str, version: FrrVersion) -> FrrConfig:
    """The configuration in ``text``; what no document can hold is kept, so that it shows as drift."""
    return FrrConfig.of(parse_lines(text), version)


def merge(per_daemon: Mapping[str, Iterable[Line]], version: FrrVersion) -> FrrConfig:
    """One configuration from what each daemon printed."""
    holders: dict[Line, set[str]] = {}
    for daemon, lines in per_daemon.items():
        for line in lines:
            holders.setdefault(line, set()).add(daemon)
    known: dict[frozenset[str], frozenset[str]] = {}
    merged = {}
    for line, daemons in holders.items():
        frozen = frozenset(daemons)
        merged[line] = known.setdefault(frozen, frozen)
    return FrrConfig(version, merged)


def parse_lines(text: str) -> tuple[Line, ...]:
    """The lines of a text, in its order, each once."""
    found: dict[Line, None] = {}
    open_contexts: list[str] = []
    for raw in text.splitlines():
        body = raw.strip()
        if not body or body[0] in "!#":
            continue
        if body.startswith("exit"):
            _close(open_contexts, body)
            continue
        if raw[0] != " " and body.startswith(("ip route ", "ipv6 route ")) and not open_contexts:
            found[Line((), body)] = None  # by far the most frequent, and already canonical
            continue
        if raw[0] != " " and (not open_contexts or body.startswith(_OPENERS)):
            open_contexts.clear()
            if not is_configuration(body):
                continue
        body = normal_line(body)
        opens = body.startswith(_INNER_OPENERS if open_contexts else _OPENERS)
        if not (opens and body.startswith(EMPTY_CONTEXTS)):
            found[Line(tuple(open_contexts), body)] = None
        if opens:
            open_contexts.append(body)
    return tuple(without_repetitions(found))


def _close(open_contexts: list[str], body: str) -> None:
    if body == "exit-address-family" or not open_contexts:
        del open_contexts[1:]
    else:
        open_contexts.pop()

"""Cleared counters: the values they had then, to be subtracted from those shown.

Neither VPP nor the kernel resets a counter, as metrics, rates and alarms read the same ones. A clearing holds
a counter's value, who cleared it and when. It holds until the counter starts anew: when the counter falls
below its last value, or when a different object counts (VPP was restarted, the interface was made again).
Clearings survive the agent.
"""

from __future__ import annotations

import json
import logging
import threading
import time
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from pydantic import BaseModel, ValidationError

from appliance.dataplane.base import RuleCounters
from appliance.engine import durable
from appliance.errors import NotFound
from appliance.state.counter_selection import INTERFACE_COUNTERS

log = logging.getLogger(__name__)
LOOK_EVERY_S = 10.0
"""How often the hits of cleared lists are read, regardless of requests."""
KEEP_EVERY_S = 300.0
"""How often the last values are written; a clean stop of the agent writes them as well."""
Interfaces = Mapping[str, Mapping[str, int]]
Origins = Mapping[str, str]
Hits = Mapping[str, Mapping[int, RuleCounters]]
Rules = Mapping[str, Mapping[int, str]]
"""The effect of each rule of each access list, as text, by its sequence."""


class Clearing(BaseModel):
    """Counters of one interface or access list as they were when they were cleared."""

    at: str
    by: str
    origin: str
    """What counts; another one counts from zero."""
    base: dict[str, tuple[int, ...]]
    """By counter, or by rule and which of equal rules it is."""
    last: dict[str, tuple[int, ...]]
    """What was seen last: what is less started anew."""

    def follow(self, now: Mapping[str, tuple[int, ...]]) -> bool:
        """Note the present counters; returns whether all of them went on.

        A counter that started anew, or is gone, is left out from then on.
        """
        over = [
            name
            for name in self.base
            if name not in now or any(new < old for new, old in zip(now[name], self.last[name], strict=True))
        ]
        for name in over:
            del self.base[name]
        self.last = {name: now[name] for name in self.base}
        return not over


class _Kept(BaseModel):
    """The file."""

    interfaces: dict[str, Clearing] = {}
    lists: dict[str, Clearing] = {}


class ClearedCounters:
    """The clearings of one router. Safe to use from any thread; one thread follows the counters.

    ``rules`` returns the rules of the running document.
    """

    def __init__(
        self, path: Path, rules: Callable[[], Rules], monotonic: Callable[[], float] = time.monotonic
    ) -> None:
        self._path, self._rules, self._monotonic = path, rules, monotonic
        self._lock = threading.Lock()
        self._kept = _read(path)
        self.number = 0
        """A different number after each change to the values to subtract."""
        self._written_s = monotonic()

    # Clearing.

    def clear_interfaces(
        self, names: Sequence[str], interfaces: Interfaces, origins: Origins, by: str
    ) -> None:
        """Clear these interfaces, given a sample; raises NotFound for one that it does not have."""
        for name in names:
            if name not in interfaces:
                raise NotFound(f"nothing is counted of interface {name}")
        with self._lock:
            for name in names:
                counted = _of_interface(interfaces[name])
                self._kept.interfaces[name] = _clearing(by, origins.get(name, ""), counted)
            # Objects gone for good do not stay in the file.
            for name in self._kept.interfaces.keys() - interfaces.keys():
                del self._kept.interfaces[name]
            self._write()

    def clear_lists(self, names: Sequence[str], hits: Hits, by: str) -> None:
        """Clear these access lists; raises NotFound for one that the data plane does not have."""
        rules = self._rules()
        for name in names:
            if name not in hits:
                raise NotFound(f"the data plane has no access list {name}")
        with self._lock:
            for name in names:
                counted = _of_list(hits[name], rules.get(name, {}))
                self._kept.lists[name] = _clearing(by, "", counted)
            for name in self._kept.lists.keys() - hits.keys():
                del self._kept.lists[name]
            self._write()

    # Following.

    def follow_interfaces(self, interfaces: Interfaces, origins: Origins) -> None:
        """Note a sample: clearings of counters that started anew end."""
        with self._lock:
            kept = self._kept.interfaces
            over = [
                name
                for name in kept
                if name in interfaces
                and not (
                    kept[name].origin == origins.get(name, "")
                    and kept[name].follow(_of_interface(interfaces[name]))
                )
            ]
            self._drop(kept, over, "interface")

    def follow_lists(self, hits: Hits) -> None:
        """Note a reading of hits."""
        if not self._kept.lists:
            return
        rules = self._rules()
        with self._lock:
            kept = self._kept.lists
            self._drop(kept, [name for name in kept if name not in hits and name not in rules], "access list")
            for name, one in kept.items():
                # While a commit is under way the counted rules are not those of the document.
                if name in hits and hits[name].keys() == rules.get(name, {}).keys():
                    one.follow(_of_list(hits[name], rules[name]))

    @property
    def follows_lists(self) -> bool:
        """Whether any access list was cleared, so that its hits have to be read."""
        return bool(self._kept.lists)

    def keep(self) -> None:
        """From time to time, write the last values: an agent that starts compares with them."""
        with self._lock:
            if self._kept.interfaces or self._kept.lists:
                if self._monotonic() - self._written_s < KEEP_EVERY_S:
                    return
                self._write(synced=False)

    def close(self) -> None:
        """Write the last values."""
        with self._lock:
            if self._kept.interfaces or self._kept.lists:
                self._write()

    # Showing.

    def interfaces(self) -> dict[str, dict[str, Any]]:
        """``at``, ``by`` and ``base`` of each interface that was cleared; ``base`` by counter."""
        with self._lock:
            return {
                name: {
                    "at": one.at,
                    "by": one.by,
                    "base": {counter: value for counter, (value,) in one.base.items()},
                }
                for name, one in self._kept.interfaces.items()
            }

    def of_list(self, name: str, hits: Mapping[int, RuleCounters]) -> dict[str, Any] | None:
        """``at``, ``by`` and ``rules`` of a cleared access list: ``packets`` and ``bytes`` to subtract, by
        sequence. None for a list that was not cleared.
        """
        if name not in self._kept.lists:
            return None
        rules = self._rules().get(name, {})
        with self._lock:
            one = self._kept.lists.get(name)
            if one is None:
                return None
            bases = {
                str(sequence): dict(zip(("packets", "bytes"), one.base[identity], strict=True))
                for sequence, identity in _identities(hits, rules).items()
                if identity in one.base
            }
            return {"at": one.at, "by": one.by, "rules": bases}

    # Inside.

    def _drop(self, kept: dict[str, Clearing], names: Sequence[str], what: str) -> None:
        for name in names:
            log.info("%s %s: its counters started anew, what was cleared is forgotten", what, name)
            del kept[name]
        if names:
            self._write()

    def _write(self, *, synced: bool = True) -> None:
        self.number += 1
        text = self._kept.model_dump_json().encode()
        self._written_s = self._monotonic()
        # On a full disk the clearing does not survive a restart; nothing else is lost.
        with suppress(OSError):
            (durable.write if synced else durable.write_whole)(self._path, text)


def _clearing(by: str, origin: str, counted: Mapping[str, tuple[int, ...]]) -> Clearing:
    at = datetime.now(UTC).isoformat(timespec="seconds")
    return Clearing(at=at, by=by, origin=origin, base=dict(counted), last=dict(counted))


def _of_interface(counters: Mapping[str, int]) -> dict[str, tuple[int, ...]]:
    return {name: (int(counters.get(name, 0)),) for name in INTERFACE_COUNTERS}


def _of_list(hits: Mapping[int, RuleCounters], rules: Mapping[int, str]) -> dict[str, tuple[int, ...]]:
    return {
        identity: (hits[sequence].packets, hits[sequence].bytes)
        for sequence, identity in _identities(hits, rules).items()
    }


def _identities(hits: Mapping[int, RuleCounters], rules: Mapping[int, str]) -> dict[int, str]:
    """The identity of a rule, wherever it moves: its effect, and the number of equal rules before it."""
    seen: dict[str, int] = {}
    found = {}
    for sequence in sorted(hits):
        text = rules.get(sequence, f"rule {sequence}")
        seen[text] = seen.get(text, -1) + 1
        found[sequence] = f"{text} #{seen[text]}"
    return found


def _read(path: Path) -> _Kept:
    try:
        return _Kept.model_validate(json.loads(path.read_bytes()))
    except FileNotFoundError:
        return _Kept()
    except (OSError, ValueError, ValidationError) as error:
        log.warning("%s cannot be read, counters show all they count: %s", path, error)
        return _Kept()

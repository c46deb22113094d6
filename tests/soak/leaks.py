"""What grows over a campaign and must not: memory, descriptors, threads, processes, namespaces, files."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path

from tests.live_lab import LiveLab
from tests.soak import processes
from tests.soak.processes import Held

_WARM_ROUNDS = 5
"""Rounds after which a process has made its pools and caches."""
_MORE_DESCRIPTORS = 40
_MORE_THREADS = 20
_MORE_RSS_BYTES = 96 * 2**20
_RSS_RATIO = 1.5


@dataclass
class Leaks:
    """Readings of one campaign; a process that was killed begins anew."""

    live: LiveLab
    namespaces: set[str] = field(default_factory=processes.namespaces)
    _rounds: dict[int, int] = field(default_factory=dict)
    _warm: dict[int, Held] = field(default_factory=dict)
    _told: set[str] = field(default_factory=set)

    def after_round(self) -> list[str]:
        """What was found to grow, each told once."""
        found = [*self._processes(), *self._left_behind()]
        new = [entry for entry in found if entry not in self._told]
        self._told.update(new)
        return new

    def _processes(self) -> Iterator[str]:
        for name, pid in processes.programs(self.live).items():
            now = processes.held(pid)
            if now is None:
                continue
            self._rounds[pid] = self._rounds.get(pid, 0) + 1
            if self._rounds[pid] < _WARM_ROUNDS:
                continue
            warm = self._warm.setdefault(pid, now)
            if now.descriptors > warm.descriptors + _MORE_DESCRIPTORS:
                yield f"{name}: descriptors grew from {warm.descriptors} past +{_MORE_DESCRIPTORS}"
            if now.threads > warm.threads + _MORE_THREADS:
                yield f"{name}: threads grew from {warm.threads} past +{_MORE_THREADS}"
            if now.rss_bytes > max(warm.rss_bytes * _RSS_RATIO, warm.rss_bytes + _MORE_RSS_BYTES):
                yield f"{name}: memory grew from {warm.rss_bytes >> 20} MiB to {now.rss_bytes >> 20} MiB"

    def _left_behind(self) -> Iterator[str]:
        names = self.live.topology.namespaces.all()
        for name in processes.namespaces() - self.namespaces:
            if name.startswith(self.live.topology.prefix + "-") and name not in names:
                yield f"network namespace {name} was left behind"
        for pid, command in processes.orphans(self.live).items():
            yield f"process {pid} was left behind: {command}"
        for path in _unfinished(self.live):
            yield f"an unfinished file was left behind: {path}"


def _unfinished(live: LiveLab) -> list[Path]:
    """Temporary files of writes that never ended."""
    own = (live.directory / name for name in ("agent", "host-root", "frr"))
    folders = (*own, live.topology.frr_config_dir)
    return [
        path.relative_to(folder)
        for folder in folders
        for path in folder.rglob("*")
        if path.name.endswith((".new", ".tmp")) or path.name.startswith(".frr.conf.")
    ]

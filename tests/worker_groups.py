"""Which tests run one after another in one worker, where ``make test`` runs several.

Tests of one lab go together, since its namespaces have names of their own; else those of one file do. Labs
come first: they wait more than they compute, and what computes fills the time beside them.
"""

from __future__ import annotations

import os
from pathlib import Path

import pytest

_TESTS = Path(__file__).resolve().parent
_LIVE = ("vpp", "linux", "lab", "browser")
"""Groups of live labs, the longest first."""
_BESIDE_LABS = 10
"""Nice value of everything else: what a lab forwards is counted to the packet."""


def shares_out(config: pytest.Config) -> bool:
    """Whether this process runs no test itself: what it puts into the environment, its workers would find."""
    return bool(config.getoption("numprocesses", None)) and not _shares_work(config)


def mark(config: pytest.Config, items: list[pytest.Item]) -> None:
    """Mark each item with its group, for pytest-xdist."""
    if _shares_work(config):
        for item in items:
            item.add_marker(pytest.mark.xdist_group(group_of(item)))


def labs_first(config: pytest.Config, items: list[pytest.Item]) -> None:
    """Put the labs in front of all else; the order is otherwise kept."""
    if _shares_work(config):
        groups = {item: group_of(item) for item in items}
        items.sort(key=lambda item: _LIVE.index(groups[item]) if groups[item] in _LIVE else len(_LIVE))


def _shares_work(config: pytest.Config) -> bool:
    return hasattr(config, "workerinput")


def group_of(item: pytest.Item) -> str:
    """``vpp``, ``linux``, ``lab``, ``browser``, or the path of the file."""
    path = item.path.relative_to(_TESTS)
    if path.is_relative_to("integration/router"):
        parameters = getattr(item, "callspec", None)
        planes = {} if parameters is None else parameters.params
        is_linux = "linux" in (planes.get("live"), planes.get("dataplane"))
        return "linux" if is_linux else "vpp"
    if path == Path("lab/test_live.py"):
        return "lab"
    return "browser" if path.parts[0] == "browser" else path.as_posix()


def give_way(item: pytest.Item) -> None:
    """Let labs of other workers have the processor first."""
    if os.geteuid() == 0 and "PYTEST_XDIST_WORKER" in os.environ:
        os.setpriority(os.PRIO_PROCESS, 0, 0 if group_of(item) in _LIVE else _BESIDE_LABS)

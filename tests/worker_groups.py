"""Which tests run one after another in one worker, when ``make test`` and ``make image-test`` run several
workers.

Tests of one lab go together, because its namespaces have names of their own, and so do those of one machine
that boots the image; otherwise those of one file do. Labs come first: they wait more than they compute, and
other tests use the CPU in that time.
"""

from __future__ import annotations

import os
import re
from collections import Counter
from functools import cache
from pathlib import Path

import pytest
from _pytest.nodeid import coerce_node_id

_LIVE = ("vpp", "linux", "lab", "browser")
"""Groups of live labs, the longest first."""
_BESIDE_LABS = 10
"""Nice value of everything else: a lab's forwarded packets are counted to the packet."""
_IMAGE = "tests/image/"
_OF_A_KIND = re.compile(r"^KIND = (\w+)$", re.MULTILINE)
_ON_LINUX = re.compile(r"\[(?:.*-)?linux(?:-.*)?\]$")


def shares_out(config: pytest.Config) -> bool:
    """Whether this process runs no test itself: what it puts into the environment, its workers would find."""
    return bool(config.getoption("numprocesses", None)) and not _is_worker()


def tell_apart(items: list[pytest.Item]) -> None:
    """Number tests of one id, as schemathesis makes them: pytest-xdist would run one of them for all."""
    seen: Counter[str] = Counter()
    for item in items:
        seen[item.nodeid] += 1
        if seen[item.nodeid] > 1 and _is_worker():
            item._id = coerce_node_id(f"{item.nodeid}[{seen[item.nodeid]}]")


def labs_first(items: list[pytest.Item]) -> None:
    """Put the labs before everything else when work is shared; the order is otherwise kept."""
    if _is_worker():
        items.sort(key=lambda item: _place(group_of(item.nodeid)))


def group_of(nodeid: str) -> str:
    """``vpp``, ``linux``, ``lab``, ``browser``, a machine that boots the image, or the path of the file."""
    path = nodeid.partition("::")[0]
    if path.startswith(_IMAGE):
        return _machine(nodeid) or _machine_of_file(path) or path
    if path.startswith("tests/integration/router/"):
        return "linux" if _ON_LINUX.search(nodeid) else "vpp"
    if path == "tests/lab/test_live.py":
        return "lab"
    return "browser" if path.startswith("tests/browser/") else path


def live_group_of(nodeid: str) -> str:
    """The group of a live lab, or "" where the test is in none."""
    group = group_of(nodeid)
    return group if group in _LIVE else ""


def _machine(nodeid: str) -> str | None:
    """The machine that a test of several is for."""
    from tests.image.kinds import MACHINES

    parameters = nodeid.partition("[")[2]
    return next((kind.name for kind in MACHINES if re.match(rf"{kind.name}[]-]", parameters)), None)


@cache
def _machine_of_file(path: str) -> str | None:
    """The machine that the file says its tests share; None where they have machines of their own."""
    from tests.image import kinds

    found = _OF_A_KIND.search((Path(__file__).resolve().parents[1] / path).read_text())
    return getattr(kinds, found[1]).name if found else None


def give_way(item: pytest.Item) -> None:
    """Give labs of other workers the processor first. Machines that boot the image never run next to a
    lab.
    """
    if os.geteuid() == 0 and _is_worker() and not item.nodeid.startswith(_IMAGE):
        os.setpriority(os.PRIO_PROCESS, 0, 0 if group_of(item.nodeid) in _LIVE else _BESIDE_LABS)


def _place(group: str) -> int:
    return _LIVE.index(group) if group in _LIVE else len(_LIVE)


def _is_worker() -> bool:
    return "PYTEST_XDIST_WORKER" in os.environ

"""Acceptance: the whole stack on both data planes."""

from __future__ import annotations

from collections.abc import Iterator
from typing import cast

import pytest

from lab import readiness
from lab.namespaces import Routes
from tests.live_lab import LiveLab, live_lab
from tests.requirements import require_root_netns, require_rustc, require_vpp

_LABS: dict[str, tuple[str, str, Routes]] = {
    "linux": ("al", "linux", "linux-nl"),
    "vpp": ("av", "vpp", "feeder"),
    "vpp-nl": ("an", "vpp", "linux-nl"),
}
"""Prefix, data plane, and what carries the routes."""


@pytest.fixture(scope="session", params=["linux", "vpp"])
def live(request: pytest.FixtureRequest) -> Iterator[LiveLab]:
    """A running lab on each data plane, on SQLite. Tests that concern routes also request ``vpp-nl``."""
    prefix, dataplane, routes = _LABS[cast(str, request.param)]
    require_root_netns()
    if dataplane == "vpp":
        require_vpp()
    if routes == "feeder":
        require_rustc()
    with live_lab(prefix, dataplane, routes=routes) as lab:
        yield lab


@pytest.fixture(autouse=True)
def routing_is_whole(live: LiveLab) -> None:
    """An earlier test may have closed sessions: each test begins when all prefixes are there again."""
    readiness.wait(readiness.routing_checks(live.topology.namespaces), 120, lambda _: None)

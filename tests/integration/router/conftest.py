"""Acceptance: the whole stack on both data planes."""

from __future__ import annotations

from collections.abc import Iterator
from typing import cast

import pytest

from lab import readiness
from tests.live_lab import LiveLab, live_lab
from tests.requirements import require_root_netns, require_rustc, require_vpp

_PREFIXES = {"linux": "al", "vpp": "av"}


@pytest.fixture(scope="session", params=["linux", "vpp"])
def live(request: pytest.FixtureRequest) -> Iterator[LiveLab]:
    """A running lab on each data plane, on SQLite."""
    dataplane = cast(str, request.param)
    require_root_netns()
    if dataplane == "vpp":
        require_vpp()
        require_rustc()
    with live_lab(_PREFIXES[dataplane], dataplane) as lab:
        yield lab


@pytest.fixture(autouse=True)
def routing_is_whole(live: LiveLab) -> None:
    """An earlier test may have closed sessions: each test begins when all prefixes are there again."""
    readiness.wait(readiness.routing_checks(live.topology.namespaces), 120, lambda _: None)

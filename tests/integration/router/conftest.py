"""Acceptance: the whole stack on both data planes."""

from __future__ import annotations

from collections.abc import Iterator
from typing import cast

import pytest

from tests.live_lab import LiveLab, live_lab
from tests.requirements import require_root_netns, require_vpp


@pytest.fixture(scope="session", params=["linux", "vpp"])
def live(request: pytest.FixtureRequest) -> Iterator[LiveLab]:
    """A running lab on each data plane, on SQLite."""
    dataplane = cast(str, request.param)
    require_root_netns()
    if dataplane == "vpp":
        require_vpp()
    with live_lab(f"a{dataplane[0]}", dataplane) as lab:
        yield lab

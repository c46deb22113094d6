"""The engine over real backends: FRR and the kernel, or FRR and VPP."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path
from typing import cast

import pytest

from tests.real_router import RealRouter, real_routers
from tests.requirements import require_root_netns, require_rustc, require_vpp


@pytest.fixture(scope="module", params=["linux", "vpp"])
def make_router(
    request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory
) -> Iterator[Callable[[Path], RealRouter]]:
    """Makes routers over one set of real daemons; each test provides its own state directory."""
    kind = cast(str, request.param)
    require_root_netns()
    if kind != "linux":
        require_vpp()
        require_rustc()
    with real_routers(kind, tmp_path_factory.mktemp("frr")) as make:
        yield make

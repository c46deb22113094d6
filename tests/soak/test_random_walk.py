"""Two hundred random documents on real backends, each committed over the one before."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.random_walk import walk
from tests.real_router import real_routers
from tests.requirements import require_root_netns, require_rustc, require_vpp
from tests.soak.options import options

pytestmark = [pytest.mark.soak, pytest.mark.root, pytest.mark.timeout(0)]

_DOCUMENTS = 200


@pytest.mark.parametrize("dataplane", options().dataplanes)
def test_every_commit_of_a_long_walk_reads_back(dataplane: str, tmp_path: Path) -> None:
    """A failing walk is taken again with the seed it printed."""
    require_root_netns()
    if dataplane != "linux":
        require_vpp()
        require_rustc()
    asked = options(_DOCUMENTS)
    print(f"\nMILLRACE_SEED={asked.seed}: {len(asked.rounds)} documents on {dataplane}", flush=True)
    with real_routers(dataplane, tmp_path) as make:
        walk(make(tmp_path / "router"), asked.seed, len(asked.rounds))

"""A part of the random walk; `make soak` uses two hundred documents (tests/soak/test_random_walk.py)."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest

from tests.random_walk import walk
from tests.real_router import RealRouter

pytestmark = [pytest.mark.integration, pytest.mark.root, pytest.mark.timeout(900)]

DOCUMENTS = 40
SEED = 11


@pytest.mark.parametrize("make_router", ["linux", "vpp"], indirect=True, scope="module")
def test_every_commit_reads_back(make_router: Callable[[Path], RealRouter], tmp_path: Path) -> None:
    walk(make_router(tmp_path), SEED, DOCUMENTS)

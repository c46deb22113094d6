"""What a dry run shows nothing against, FRR takes: a few documents with edge values."""

from __future__ import annotations

import os

from tests.integration.frr.conftest import require_frr
from tests.integration.frr.edge_campaign import campaign

_SEED, _DOCUMENTS = 8, 60


def test_whatever_frr_refuses_the_dry_run_refuses() -> None:
    require_frr()
    name = f"ev-{os.getpid() % 100000}"
    finds = [find for find in campaign(name, _SEED, range(1, _DOCUMENTS + 1)) if find is not None]
    assert not finds, "\n".join(map(str, finds))

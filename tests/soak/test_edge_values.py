"""What a dry run shows nothing against, FRR takes: two thousand documents with edge values, on FRR alone."""

from __future__ import annotations

import os

import pytest

from tests.integration.frr.conftest import require_frr
from tests.integration.frr.edge_campaign import Find, campaign
from tests.soak.options import options

pytestmark = [pytest.mark.soak, pytest.mark.root, pytest.mark.timeout(0)]

_DOCUMENTS = 2000


def test_whatever_frr_refuses_the_dry_run_refuses() -> None:
    """A find is seen again with the seed that is printed: documents change what the one before left."""
    require_frr()
    asked = options(_DOCUMENTS)
    print(f"\nMILLRACE_SEED={asked.seed}: {len(asked.rounds)} documents", flush=True)
    finds: list[Find] = []
    given = 0
    for find in campaign(f"ec-{os.getpid() % 100000}", asked.seed, asked.rounds):
        given += 1
        if find is not None:
            print(find, flush=True)
            finds.append(find)
        elif given % 100 == 0:
            print(f"{given} given, {len(finds)} refused or different", flush=True)
    print(f"{given} documents, {given} commits, {len(finds)} refused or different after a clean dry run")
    assert not finds

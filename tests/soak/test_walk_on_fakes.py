"""The whole walk over the router in memory, of which `make test` takes the beginning."""

from __future__ import annotations

from pathlib import Path

import pytest

from appliance.engine import keeper
from tests.property.fake_walk import walk

DOCUMENTS = 200


def test_a_walk_over_two_hundred_random_documents(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    # No fake fails to answer: one that takes a second does so because the machine is busy.
    monkeypatch.setattr(keeper, "_QUICK_S", 60.0)
    walk(tmp_path, DOCUMENTS)

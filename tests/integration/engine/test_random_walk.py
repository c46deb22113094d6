"""Two hundred random documents, each committed over the one before, on the real thing.

The engine itself verifies that the second plan is empty; here it is looked at once more from outside.
"""

from __future__ import annotations

import random
from collections.abc import Callable
from pathlib import Path

import pytest

from appliance.config.dump import dump
from appliance.engine.records import CommitRequest
from tests.integration.engine.conftest import RealRouter
from tests.property.documents import random_document

pytestmark = [pytest.mark.integration, pytest.mark.root, pytest.mark.timeout(900)]

DOCUMENTS = 200
SEED = 26_06


def test_every_commit_reads_back(make_router: Callable[[Path], RealRouter], tmp_path: Path) -> None:
    router = make_router(tmp_path)
    engine = router.engine()
    engine.recover()
    rng = random.Random(SEED)
    for number in range(DOCUMENTS):
        document = dump(random_document(rng, engine.capabilities, router.nics), "reveal")
        result = engine.commit(CommitRequest(document, "walk", f"document {number}"))
        assert result.state == "done", f"document {number}: {result.error}"
        again = engine.preview(document)
        assert [planned.step.summary for planned in again.steps] == [], f"document {number}"
    assert engine.revision == DOCUMENTS
    done = engine.rollback(0, "walk", "back to nothing")
    assert done.state == "done", done.error
    engine.close()

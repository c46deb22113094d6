"""Random documents, one after another, committed to a router in memory."""

from __future__ import annotations

import random
from pathlib import Path

from appliance.config.dump import dump
from appliance.engine.records import CommitRequest
from appliance.state.commit_options import CommitOptions
from tests.property.documents import random_document
from tests.property.fake_router import NICS, FakeRouter

SEED = 2606


def walk(directory: Path, documents: int) -> None:
    """Commit each, with nothing left to do after it; then roll back to the empty document.

    A shorter walk is the beginning of a longer one.
    """
    router = FakeRouter(directory)
    engine = router.engine()
    rng = random.Random(SEED)
    for number in range(documents):
        document = dump(random_document(rng, router.capabilities(), NICS), "reveal")
        result = engine.commit(CommitRequest(document, CommitOptions(author="walk")))
        assert result.state == "done", (number, result.error)
        assert engine.preview(document).steps == ()
    assert engine.rollback(0, CommitOptions(author="walk")).state == "done"
    assert engine.preview({}).steps == ()
    engine.close()

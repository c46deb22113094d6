"""Random documents, each committed over the one before, on the real thing.

The engine itself verifies that the second plan is empty; here it is looked at once more from outside.
"""

from __future__ import annotations

import random

from appliance.config.dump import dump
from appliance.engine.records import CommitRequest
from appliance.state.commit_options import CommitOptions
from tests.property.documents import random_document
from tests.real_router import RealRouter


def walk(router: RealRouter, seed: int, documents: int) -> None:
    """Commit this many documents drawn from ``seed``, then return to nothing. Asserts that each reads
    back.
    """
    engine = router.engine()
    engine.recover()
    rng = random.Random(seed)
    for number in range(documents):
        document = dump(random_document(rng, engine.capabilities, router.nics), "reveal")
        result = engine.commit(
            CommitRequest(document, CommitOptions(author="walk", comment=f"document {number}"))
        )
        assert result.state == "done", f"document {number}: {result.error}"
        again = engine.preview(document)
        assert [planned.step.summary for planned in again.steps] == [], f"document {number}"
    assert engine.revision == documents
    done = engine.rollback(0, CommitOptions(author="walk", comment="back to nothing"))
    assert done.state == "done", done.error
    engine.close()

"""From one random document to the next, and after each the kernel reads back as the document."""

from __future__ import annotations

import random

import pytest

from appliance.compile import compile_document
from appliance.dataplane.nic import Nic
from tests.integration.linux.conftest import Router
from tests.property.documents import random_document
from tests.sizes import at_size

pytestmark = pytest.mark.root
DOCUMENTS = at_size(60)


def test_every_document_leads_to_every_next(router: Router) -> None:
    rng = random.Random(20261121)
    backend = router.backend
    nics: tuple[Nic, ...] = backend.compile_context().nics
    documents = [random_document(rng, backend.capabilities(), nics) for _ in range(DOCUMENTS)]
    for config in documents:
        desired = compile_document(config, "linux", backend.compile_context())["linux"]
        for step in backend.plan(desired, backend.observe()):
            backend.apply(step)
        observed = backend.observe()
        assert dict(observed) == dict(desired)
        assert backend.plan(desired, observed) == []

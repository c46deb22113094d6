"""Random documents on the VPP data plane, each led to the next."""

from __future__ import annotations

import random

import pytest

from appliance.compile import compile_document
from tests.integration.vpp_dataplane.conftest import Router
from tests.property.documents import random_document

pytestmark = [pytest.mark.vpp, pytest.mark.root]
DOCUMENTS = 25


def test_every_document_leads_to_every_next(router: Router) -> None:
    rng = random.Random(20261121)
    backend = router.backend
    nics = backend.compile_context().nics
    for _ in range(DOCUMENTS):
        config = random_document(rng, backend.capabilities(), nics)
        desired = compile_document(config, "vpp", backend.compile_context())["vpp"]
        for step in backend.plan(desired, backend.observe()):
            backend.apply(step)
        assert list(backend.plan(desired, backend.observe())) == []

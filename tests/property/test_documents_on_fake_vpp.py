"""From one random document to the next on VPP in memory: read-back equals what was wanted, and back again."""

from __future__ import annotations

import random

import vpp_config
from appliance.compile import CompileContext, compile_document
from appliance.config.capabilities import Capabilities
from appliance.dataplane.nic import Nic
from tests.property.documents import random_document
from vpp_config.fake import FakeVpp

NICS = tuple(Nic(f"nic{number}", f"02:4d:52:00:01:0{number}") for number in range(4))
DOCUMENTS = 100


def test_every_document_leads_to_every_next() -> None:
    rng = random.Random(20261121)
    session = vpp_config.Session(FakeVpp([nic.device for nic in NICS]))
    for _ in range(DOCUMENTS):
        config = random_document(rng, Capabilities("vpp"), NICS)
        desired = compile_document(config, "vpp", CompileContext(NICS))["vpp"].objects
        before = session.observe()
        steps = vpp_config.plan(desired, before)
        for step in steps:
            session.apply(step)
        assert vpp_config.plan(desired, session.observe()) == ()
        for step in reversed(steps):
            session.undo(step)
        assert session.observe() == before
        for step in vpp_config.plan(desired, session.observe()):
            session.apply(step)

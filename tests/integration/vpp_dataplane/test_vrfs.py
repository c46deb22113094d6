"""VRFs on VPP: packets pass between interfaces of one, and between two there is no way.

The mirrors' part, devices of the kernel, is left out here: few kernels that tests run on have VRFs, and VPP
forwards without. That part is tested with a kernel that has them (tests/integration/uml).
"""

from __future__ import annotations

from copy import deepcopy
from typing import Any

import pytest

from appliance.compile import compile_document
from appliance.config.load import parse_document
from appliance.dataplane.route_answer import Entry, VrfTable
from appliance.dataplane.vpp.plan import VppStep
from appliance.engine.backend import PHASES
from appliance.features.vrf.model import Vrf, table_of
from tests.integration.linux.conftest import DOCUMENT
from tests.integration.vpp_dataplane.conftest import Router, _with_devices

pytestmark = [pytest.mark.vpp, pytest.mark.root]
_KERNELS = ("vrf/", "vrf_member/")


def _document(left: str | None, right: str | None, *names: str) -> dict[str, Any]:
    document = deepcopy(DOCUMENT)
    document["vrfs"] = {name: {} for name in names}
    for interface, vrf in (("left0", left), ("right0", right)):
        if vrf is not None:
            document["interfaces"][interface]["vrf"] = vrf
    return document


def _steps(router: Router, document: dict[str, Any]) -> list[VppStep]:
    config = parse_document(_with_devices(document))
    desired = compile_document(config, "vpp", router.backend.compile_context())["vpp"]
    steps = router.backend.plan(desired, router.backend.observe())
    of_vpp = [step for step in steps if not step.key.startswith(_KERNELS)]
    return sorted(of_vpp, key=lambda step: PHASES.index(step.phase))


def _commit(router: Router, document: dict[str, Any]) -> list[VppStep]:
    steps = _steps(router, document)
    for step in steps:
        router.backend.apply(step)
    assert _steps(router, document) == []
    return steps


def _passes(router: Router, attempts: int = 4) -> tuple[bool, bool]:
    """IPv4 and IPv6 from left to right. The first packets may be lost while neighbors are resolved."""
    found = []
    for destination in ("10.77.2.2", "2001:db8:77:2::2"):
        found.append(any(router.ping(router.left, destination) for _ in range(attempts)))
    return found[0], found[1]


def test_packets_stay_inside_their_vrf(router: Router) -> None:
    assert _passes(router) == (True, True)
    together = _commit(router, _document("blue", "blue", "blue", "red"))
    assert {step.impact for step in together} >= {"loses packets on left0", "loses packets on right0"}
    assert _passes(router) == (True, True)
    blue = VrfTable("blue", table_of("blue", Vrf()))
    (elsewhere,), (there,) = (router.backend.fib(["10.77.2.2"], vrf) for vrf in (None, blue))
    assert isinstance(there, Entry)
    assert [hop.interface for hop in there.next_hops] == ["right0"]
    assert elsewhere == Entry("0.0.0.0/0", "blackhole")
    apart = _commit(router, _document("blue", "red", "blue", "red"))
    # The interface that stays where it is loses nothing.
    assert {step.impact for step in apart} == {"loses packets on right0", "none"}
    assert _passes(router, attempts=2) == (False, False)
    _commit(router, _document("blue", None, "blue"))
    assert _passes(router, attempts=2) == (False, False)
    _commit(router, DOCUMENT)
    assert _passes(router) == (True, True)


def test_every_change_of_vrfs_can_be_undone(router: Router) -> None:
    walk = (
        _document("blue", None, "blue"),
        _document("red", "blue", "blue", "red"),
        _document("blue", "red", "blue", "red"),
        _document(None, "red", "red"),
        DOCUMENT,
    )
    for document in walk:
        before = router.backend.observe()
        steps = _steps(router, document)
        for step in steps:
            router.backend.apply(step)
        for step in reversed(steps):
            router.backend.undo(step)
        assert router.backend.observe() == before
        _commit(router, document)

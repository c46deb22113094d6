"""Between any two documents, every intermediate state of a plan is possible: nothing passes unfiltered,
no object lacks what it depends on, and the undo is just as safe.
"""

from __future__ import annotations

import random
from collections.abc import Sequence
from typing import Any

import pytest

from appliance.compile import CompileContext, Driver, compile_document
from appliance.config.capabilities import Capabilities
from appliance.dataplane.linux.plan import plan as linux_plan
from appliance.dataplane.linux.state import LinuxState
from appliance.dataplane.nic import Nic
from tests.integration.vpp.random_states import random_state
from tests.property.documents import random_document
from tests.unit.planner.toys import Planned, World
from vpp_config import VppState
from vpp_config import plan as vpp_plan

NICS = tuple(Nic(f"nic{number}", f"02:4d:52:00:01:0{number}") for number in range(4))
CAPABILITIES = {
    "vpp": Capabilities("vpp"),
    "linux": Capabilities("linux", nic_drivers=("auto",), max_reflecting_interfaces=32),
}
DOCUMENTS = 60


def _plan(driver: Driver, desired: Any, observed: Any) -> Sequence[Planned]:
    return linux_plan(desired, observed) if driver == "linux" else vpp_plan(desired, observed)


@pytest.mark.parametrize("driver", ["linux", "vpp"])
def test_between_documents(driver: Driver) -> None:
    rng = random.Random(20261122)
    before: Any = LinuxState.of(()) if driver == "linux" else VppState.of(())
    for _ in range(DOCUMENTS):
        config = random_document(rng, CAPABILITIES[driver], NICS)
        compiled = compile_document(config, driver, CompileContext(NICS))[driver]
        before = _go(driver, compiled.objects if driver == "vpp" else compiled, before)


def test_between_states_with_vrfs() -> None:
    """The documents have none yet."""
    rng = random.Random(20261122)
    before: Any = VppState.of(())
    for _ in range(DOCUMENTS):
        before = _go("vpp", random_state(rng, "dataplane"), before)


def _go(driver: Driver, desired: Any, before: Any) -> Any:
    """Forward, back, and what was reached. On Linux a VLAN's state is its own."""
    steps = _plan(driver, desired, before)
    world = World(before, desired, inner_waits=driver == "vpp")
    world.run(steps)
    reached = type(desired).of(world.held.values())
    assert not _plan(driver, desired, reached)
    back = World(reached, before, inner_waits=driver == "vpp")
    back.undo(steps)
    assert back.held == dict(before)
    return reached

"""Documents against which a dry run shows nothing, given to real FRR one after another: what it refuses, what
it keeps otherwise than asked, and what a second plan would do.
"""

from __future__ import annotations

import itertools
import random
from collections.abc import Iterable, Iterator
from dataclasses import dataclass

from appliance.config.capabilities import Capabilities
from appliance.config.document import RouterConfig
from frr_config import FrrClient, FrrConfig, FrrError, Routing, plan, render
from frr_config.protocols import augments
from tests.integration.frr.harness import FrrHarness
from tests.property.edge_documents import LINKS, ODD_LINKS, edge_documents


@dataclass(frozen=True)
class Find:
    """A document that FRR did not take as it was meant."""

    number: int
    what: str
    changes: tuple[str, ...]

    def __str__(self) -> str:
        return f"document {self.number}: {self.what}\n    changed: " + "\n             ".join(self.changes)


def campaign(name: str, seed: int, documents: Iterable[int]) -> Iterator[Find | None]:
    """For each document of these numbers what was wrong with it, or None. Each is put over the one before."""
    wanted = set(documents)
    with FrrHarness(name, name) as router:
        for link, addresses in {**LINKS, **{odd: [] for odd in ODD_LINKS}}.items():
            router.add_link(link, *addresses)
        client = router.client()
        can = Capabilities("linux", lacking=augments.lacking(client.version()))
        drawn = edge_documents(random.Random(seed), can)
        for number, (config, changes) in enumerate(itertools.islice(drawn, max(wanted)), 1):
            if number not in wanted:
                continue
            wrong = _given(client, _rendered(client, config))
            yield Find(number, wrong, tuple(changes)) if wrong else None
            if wrong and (stuck := _given(client, render(Routing(), client.version()))):
                raise AssertionError(
                    f"after document {number}: FRR could not be emptied: {stuck}\n{router.ended()}"
                )


def _rendered(client: FrrClient, config: RouterConfig) -> FrrConfig:
    vrfs = {name: vrf.routing for name, vrf in config.vrfs.items()}
    return render(config.routing, client.version(), vrfs=vrfs)


def _given(client: FrrClient, desired: FrrConfig) -> str:
    """What went wrong; empty where FRR has what is desired."""
    try:
        for step in plan(desired, client.observe()):
            client.apply(step)
        left = plan(desired, client.observe())
    except FrrError as error:
        return f"refused: {error}"
    commands = [command.text for step in left for command in step.do]
    return f"differs: {commands[:6]}" if left else ""

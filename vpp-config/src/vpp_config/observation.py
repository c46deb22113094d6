"""Our part of VPP: the objects, the indexes that VPP gave them, and leftovers in the way."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from vpp_config.client import VppClient
from vpp_config.dumps import Dumps, InterfaceRow
from vpp_config.leftover import Leftover
from vpp_config.objects import KINDS
from vpp_config.state import VppState


@dataclass(frozen=True)
class Observation:
    """One reading of a VPP."""

    state: VppState
    dumps: Dumps

    @classmethod
    def of(cls, client: VppClient, prefix: str, generation: int) -> Observation:
        """Ask VPP. Raises ``VppUnavailable``, ``VppApiError``."""
        dumps = Dumps.read(client, prefix, generation, KINDS)
        objects = [item for kind in KINDS for item in kind.observe(dumps)]
        return cls(VppState.of(objects, _leftovers(dumps)), dumps)


def _leftovers(dumps: Dumps) -> Iterator[Leftover]:
    """Everything that may be in the way of a plan."""
    for row in dumps.rows:
        if dumps.is_duplicate(row):
            blocks = _occupied_by(row, dumps) or f"tag/{row.name}"
            yield Leftover("duplicate", blocks, row.index, row.vpp_name)
        elif not row.name and (occupied := _occupied_by(row, dumps)) is not None:
            yield Leftover("untagged", occupied, row.index, row.vpp_name)
    for kind in KINDS:
        yield from kind.duplicates(dumps)


def _occupied_by(row: InterfaceRow, dumps: Dumps) -> str | None:
    """Things that no second interface can have."""
    return next((token for kind in KINDS if (token := kind.occupied_by(row, dumps)) is not None), None)

"""The rules in the kernel: read them, and change them without losing a packet or a count."""

from __future__ import annotations

from dataclasses import replace

from appliance.dataplane.control_plane.answer import answer_of
from appliance.dataplane.control_plane.policy import ControlPlane
from appliance.dataplane.control_plane.rules import TABLE, changes, whole_table
from appliance.dataplane.control_plane.rules_read import read
from appliance.dataplane.nftables import nft
from appliance.state.control_plane import ControlPlaneState


class ControlPlaneGuard:
    """Our nftables table in one namespace. All methods have to be called inside it."""

    def __init__(self) -> None:
        self._table = nft.TableReader(TABLE, read)

    def observe(self) -> ControlPlane | None:
        """What is let in; None where there are no rules of ours. Raises DataPlaneError."""
        reading = self._table.latest()
        return None if reading is None else reading.control_plane

    def change(self, wanted: ControlPlane | None) -> None:
        """Make it so, in one transaction: all of it where there is none, or where it was altered.

        What somebody else altered is not brought back: ``wanted`` is taken as if it had been intact. Raises
        DataPlaneError.
        """
        before = self.observe()
        if wanted is None:
            if before is not None:
                nft.transaction([{"delete": {"table": {"family": "inet", "name": TABLE}}}])
            return
        wanted = replace(wanted, altered=False)
        if before is None or before.altered:
            nft.transaction(whole_table(wanted))
        else:
            nft.transaction(changes(before, wanted))

    def state(self) -> ControlPlaneState:
        """What is let in on each guarded interface, with packets by reason. Raises DataPlaneError."""
        return answer_of(self._table.now())

"""Actions: everything that can be done to the running router without a commit.

A new action is a file and its line in ``ACTIONS``.
"""

from __future__ import annotations

from appliance.actions.action import Action, AnyAction, Done
from appliance.actions.bgp import CLEAR_BGP
from appliance.actions.counters import CLEAR_COUNTERS
from appliance.actions.nat import CLEAR_NAT_SESSIONS
from appliance.actions.neighbors import CLEAR_NEIGHBORS
from appliance.actions.ospf import CLEAR_OSPF_NEIGHBOR

__all__ = ["ACTIONS", "Action", "AnyAction", "Done"]

ACTIONS: tuple[AnyAction, ...] = (
    CLEAR_BGP,
    CLEAR_OSPF_NEIGHBOR,
    CLEAR_NAT_SESSIONS,
    CLEAR_NEIGHBORS,
    CLEAR_COUNTERS,
)
"""Every action, in the order of the API's description."""

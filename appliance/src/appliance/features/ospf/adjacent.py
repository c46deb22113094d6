"""The facts about OSPF from the live router, for foretelling."""

from __future__ import annotations

from appliance.impact.facts import Fact
from appliance.state.ospf import OspfState

ADJACENCIES: Fact[OspfState] = Fact("the state of OSPF neighbors", lambda live: live.routing.ospf_state())

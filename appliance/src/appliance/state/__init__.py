"""Live state: every part of the router that can be looked at.

A new part is a file and its line in ``PARTS``.
"""

from __future__ import annotations

from appliance.state.acls import ACLS
from appliance.state.benches import BENCHES
from appliance.state.bfd import BFD
from appliance.state.bgp import BGP, BGP_NEIGHBOR
from appliance.state.bgp_routes import BGP_ROUTES
from appliance.state.bgp_search import BGP_INDEX, BGP_SEARCH
from appliance.state.bonds import BONDS
from appliance.state.captures import CAPTURES
from appliance.state.control_plane import CONTROL_PLANE
from appliance.state.counters import COUNTERS
from appliance.state.feeder import FEEDER
from appliance.state.forwarding import FORWARDING
from appliance.state.hardware import HARDWARE
from appliance.state.health import HEALTH
from appliance.state.interfaces import INTERFACES
from appliance.state.nat import NAT, NAT_SESSIONS, NAT_USERS
from appliance.state.neighbors import NEIGHBORS
from appliance.state.ospf import OSPF
from appliance.state.ospf_database import OSPF_DATABASE
from appliance.state.part import Answer, AnyPart, Everything, Part, Question, Table
from appliance.state.routes import ROUTES
from appliance.state.system import SYSTEM
from appliance.state.traces import TRACES

__all__ = ["PARTS", "Answer", "AnyPart", "Everything", "Part", "Question", "Table"]

PARTS: tuple[AnyPart, ...] = (
    INTERFACES,
    COUNTERS,
    BONDS,
    ROUTES,
    FEEDER,
    BGP,
    BGP_NEIGHBOR,
    BGP_ROUTES,
    BGP_SEARCH,
    BGP_INDEX,
    OSPF,
    OSPF_DATABASE,
    BFD,
    ACLS,
    NAT,
    NAT_USERS,
    NAT_SESSIONS,
    CONTROL_PLANE,
    NEIGHBORS,
    HARDWARE,
    FORWARDING,
    HEALTH,
    SYSTEM,
    CAPTURES,
    TRACES,
    BENCHES,
)
"""Every part, in the order of the API's description."""

"""What a tunnel needs, on the page of the interface."""

from appliance.errors import MillraceError
from appliance.state.object_state import ObjectPart
from appliance.state.objects import OBJECTS, ObjectsQuery
from webui.agent import agent
from webui.ui.tables.declaration import Panel
from webui.ui.tables.row import Row


def _parts(row: Row) -> list[ObjectPart]:
    try:
        found = agent().state(OBJECTS, ObjectsQuery(under=row.pointer)).objects
    except MillraceError:  # the page has asked as well, and shows why there are no live values
        return []
    return [part for one in found for part in one.parts]


PANEL = Panel(
    "/interfaces",
    "What the tunnel needs",
    (("Needs", lambda one: one.name), ("State", lambda one: one.state), ("Why not", lambda one: one.why)),
    _parts,
    lambda row: row.said("type") in ("gre", "ipip"),
    "It is disabled, or not running yet.",
)

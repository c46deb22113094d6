"""Access lists. A single list has a hand-made page, where its rules are ordered and counted."""

from collections.abc import Mapping
from typing import Any

from appliance.actions.counters import CLEAR_COUNTERS
from webui.agent import agent
from webui.ui.tables.declaration import Column, Link, Live, Look, Page, RowAction, Table
from webui.ui.tables.row import Row


def _ask() -> Any:
    return agent().acl_totals()


def _totals(answer: Any) -> Mapping[str, Any]:
    """Hits since they were cleared."""
    return {
        name: {**one, **since_cleared(one, one.get("cleared"))}
        for name, one in (answer.get("acls") or {}).items()
    }


def since_cleared(hits: Mapping[str, Any], cleared: Mapping[str, Any] | None) -> dict[str, int]:
    """Packets and bytes, without those counted before the clear."""
    base = cleared or {"packets": 0, "bytes": 0}
    return {unit: max(0, hits[unit] - base[unit]) for unit in ("packets", "bytes")}


CLEAR = RowAction(
    CLEAR_COUNTERS,
    "Clear the hits",
    "refresh",
    lambda row: {"acl": row.name} if row.state is not None else None,
    lambda row: f"Clear the hits of {row.name}? They are shown from zero; metrics are not affected.",
)


def _bindings(row: Row) -> list[Link]:
    """Each interface with the direction: ``lan0 in``."""
    found = []
    for place in row.used_by:
        _, _, interface, field, *_ = place.split("/")
        found.append(Link(f"{interface} {field.removeprefix('acl_')}", place))
    return found


def _since(row: Row) -> str:
    cleared = row.live("cleared")
    return f"{cleared['at'][:19].replace('T', ' ')} UTC, cleared by {cleared['by']}" if cleared else ""


PAGE = Page(
    name="acls",
    path="acls",
    title="Access lists",
    icon="shield-lock",
    group="Firewall",
    order=10,
    key="a",
    tables=(
        Table(
            name="acls",
            noun="access list",
            plural="Access lists",
            mapping="/acls",
            own_page="ui:acl",
            actions=(CLEAR,),
            live=Live(_ask, _totals, only_live=False, api="/counters/acls"),
            columns=(
                Column(title="Rules", look=Look.NUMBER, value=lambda row: len(row.said("rules", {}))),
                Column(title="Bound to", value=_bindings),
                Column("packets", "Hits", look=Look.NUMBER, live=True),
                Column(title="Since", value=_since),
            ),
            empty="No access list: everything is forwarded.",
        ),
    ),
)

"""Access lists. One list has a page made by hand: its rules are ordered and counted there."""

from collections.abc import Mapping
from typing import Any

from webui.agent import agent
from webui.ui.tables.declaration import Column, Link, Live, Look, Page, Table
from webui.ui.tables.row import Row


def _ask() -> Any:
    return agent().acl_totals()


def _totals(answer: Any) -> Mapping[str, Any]:
    return answer.get("acls") or {}


def _bindings(row: Row) -> list[Link]:
    """Each interface with the direction: ``lan0 in``."""
    found = []
    for place in row.used_by:
        _, _, interface, field, *_ = place.split("/")
        found.append(Link(f"{interface} {field.removeprefix('acl_')}", place))
    return found


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
            live=Live(_ask, _totals, only_live=False, api="/counters/acls"),
            columns=(
                Column(title="Rules", look=Look.NUMBER, value=lambda row: len(row.said("rules", {}))),
                Column(title="Bound to", value=_bindings),
                Column("packets", "Hits", look=Look.NUMBER, live=True),
            ),
            empty="No access list: everything is forwarded.",
        ),
    ),
)

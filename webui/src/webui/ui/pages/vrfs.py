"""VRFs."""

from collections.abc import Iterator

from webui.ui.tables.declaration import Column, Link, Look, Page, Table
from webui.ui.tables.row import Row


def _interfaces(row: Row) -> Iterator[Link]:
    for name, interface in row.candidate.both("/interfaces").items():
        if interface.get("vrf") == row.name:
            yield Link(name, f"/interfaces/{name}")


def _protocols(row: Row) -> Iterator[str]:
    routing = row.said("routing") or {}
    if routing.get("static"):
        yield f"{len(routing['static'])} static"
    yield from (part.upper() for part, own in routing.items() if part != "static" and own is not None)


PAGE = Page(
    name="vrfs",
    path="vrfs",
    title="VRFs",
    icon="arrows-split",
    group="Routing",
    order=5,
    key="v",
    tables=(
        Table(
            name="vrfs",
            noun="VRF",
            plural="VRFs",
            mapping="/vrfs",
            below=lambda row: row.said("description") or "",
            columns=(
                Column(title="Interfaces", value=_interfaces),
                Column(title="Routing", value=_protocols),
                Column("table", look=Look.NUMBER, title="Table"),
            ),
            empty="No VRF is configured: everything is in the default one.",
        ),
    ),
)

"""VRFs."""

from collections.abc import Iterator

from django.urls import reverse

from appliance.config.vrf_view import DEFAULT_VRF
from webui.ui.candidate import Candidate
from webui.ui.pointers import join
from webui.ui.tables.declaration import Column, Link, Look, Page, Table
from webui.ui.tables.row import Row
from webui.ui.vrfs import query_of

_PAGES = (
    ("Routes", "routes"),
    ("Static routes", "static_routes"),
    ("BGP", "bgp"),
    ("OSPF", "ospf"),
    ("Tools", "tools"),
)


def has_vrfs(candidate: Candidate) -> bool:
    """Whether there are VRFs besides the default one, running or in the change set."""
    return bool(candidate.both("/vrfs"))


def link_to_vrf(name: str | None) -> Link | str:
    """The VRF as its rows show it."""
    return Link(name, "/vrfs" + join(name)) if name else DEFAULT_VRF


def _pages(row: Row) -> Iterator[tuple[str, str]]:
    for title, page in _PAGES:
        yield title, reverse(f"ui:{page}") + query_of(row.name)


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
            pages=_pages,
            columns=(
                Column(title="Interfaces", value=_interfaces),
                Column(title="Routing", value=_protocols),
                Column("table", look=Look.NUMBER, title="Table"),
            ),
            empty="No VRF is configured: everything is in the default one.",
        ),
    ),
)

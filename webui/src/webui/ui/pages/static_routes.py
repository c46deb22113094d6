"""Static routes."""

from collections.abc import Iterator

from appliance.state.static_routes import STATIC_ROUTES
from webui.ui.tables.declaration import Column, Live, Look, Page, Table
from webui.ui.tables.row import Row
from webui.ui.tables.standing import STANDING


def _hops(row: Row) -> Iterator[str]:
    if row.said("blackhole"):
        yield "blackhole"
    for hop in row.said("next_hops", ()):
        leaks = f" in VRF {hop['vrf']}" if hop.get("vrf") else ""
        yield " on ".join(str(hop[part]) for part in ("address", "interface") if hop.get(part)) + leaks


PAGE = Page(
    name="static_routes",
    path="static-routes",
    title="Static routes",
    icon="route",
    group="Routing",
    order=10,
    key="s",
    tables=(
        Table(
            name="static",
            noun="static route",
            plural="Static routes",
            mapping="/routing/static",
            key_title="Prefix",
            mono=True,
            live=Live(
                STATIC_ROUTES,
                lambda answer: {one.name: one for one in answer.routes},
                only_live=False,
                about=lambda answer: answer.about,
            ),
            columns=(
                Column(title="Next hop", look=Look.MONO, value=_hops),
                Column(
                    title="Distance",
                    look=Look.NUMBER,
                    value=lambda row: [hop.get("distance", 1) for hop in row.said("next_hops", ())],
                ),
                *STANDING,
            ),
            empty="No static route is configured.",
        ),
    ),
)

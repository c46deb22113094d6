"""Pages of features: a feature has a file here and its line in `FEATURES`; nothing else names it."""

from webui.ui.pages import (
    acls,
    alarms,
    bfd,
    bgp,
    bgp_search,
    bond,
    forwarding,
    interfaces,
    nat,
    neighbors,
    ospf,
    policies,
    static_routes,
    vrfs,
)
from webui.ui.tables.declaration import Feature, Page, Panel, Table

FEATURES: tuple[Feature, ...] = (
    alarms.PAGE,
    interfaces.PAGE,
    neighbors.PAGE,
    forwarding.PAGE,
    bond.MEMBERS,
    vrfs.PAGE,
    static_routes.PAGE,
    bgp.PAGE,
    bgp_search.PAGE,
    ospf.PAGE,
    ospf.DATABASE,
    bfd.PAGE,
    bfd.NEIGHBOR,
    bfd.INTERFACE,
    policies.PAGE,
    acls.PAGE,
    nat.PAGE,
)

PAGES: tuple[Page, ...] = tuple(feature for feature in FEATURES if isinstance(feature, Page))
PANELS: tuple[Panel, ...] = tuple(feature for feature in FEATURES if isinstance(feature, Panel))
TABLES: dict[str, tuple[Page, Table]] = {table.name: (page, table) for page in PAGES for table in page.tables}
"""Every table by its name."""

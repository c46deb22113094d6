"""Pages of features: each file here declares its pages and panels; nothing else names them."""

from appliance.found import declared_in
from webui.ui.tables.declaration import Feature, Page, Panel, Table

FEATURES: tuple[Feature, ...] = tuple(declared_in(__name__, __path__, Page, Panel))
PAGES: tuple[Page, ...] = tuple(feature for feature in FEATURES if isinstance(feature, Page))
PANELS: tuple[Panel, ...] = tuple(feature for feature in FEATURES if isinstance(feature, Panel))
TABLES: dict[str, tuple[Page, Table]] = {table.name: (page, table) for page in PAGES for table in page.tables}
"""Every table by its name."""

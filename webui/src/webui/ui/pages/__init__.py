"""Pages of features: each file here declares its pages and panels; nothing else names them."""

import pkgutil
from importlib import import_module
from pathlib import Path

from webui.ui.tables.declaration import Feature, Page, Panel, Table


def _declared() -> tuple[Feature, ...]:
    """The declarations of the files in this folder, in their order."""
    names = sorted(found.name for found in pkgutil.iter_modules([str(Path(__file__).parent)]))
    modules = [import_module(f"{__name__}.{name}") for name in names]
    return tuple(
        value for module in modules for value in vars(module).values() if isinstance(value, Page | Panel)
    )


FEATURES: tuple[Feature, ...] = _declared()
PAGES: tuple[Page, ...] = tuple(feature for feature in FEATURES if isinstance(feature, Page))
PANELS: tuple[Panel, ...] = tuple(feature for feature in FEATURES if isinstance(feature, Panel))
TABLES: dict[str, tuple[Page, Table]] = {table.name: (page, table) for page in PAGES for table in page.tables}
"""Every table by its name."""

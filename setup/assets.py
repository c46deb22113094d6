"""Puts the scripts, styles and icons that the pages use into the folder from which Django serves them.

Run as ``python -m setup.assets NODE_MODULES DESTINATION``. The destination is replaced as a whole, so that no
files of an earlier release remain.
"""

import re
import shutil
import sys
import xml.etree.ElementTree as ET
from collections.abc import Iterable
from pathlib import Path

ICON_LIST = Path(__file__).resolve().parent.parent / "webui" / "icons.txt"

# Name in DESTINATION -> file in NODE_MODULES.
FILES = {
    "tabler.min.css": "@tabler/core/dist/css/tabler.min.css",
    "tabler.min.js": "@tabler/core/dist/js/tabler.min.js",
    "htmx.min.js": "htmx.org/dist/htmx.min.js",
    "uPlot.min.css": "uplot/dist/uPlot.min.css",
    "uPlot.iife.min.js": "uplot/dist/uPlot.iife.min.js",
    "LICENSE.htmx.txt": "htmx.org/LICENSE",
    "LICENSE.uplot.txt": "uplot/LICENSE",
    "LICENSE.tabler-icons.txt": "@tabler/icons/LICENSE",
}

# The maps are not shipped, and Django's manifest storage refuses a reference to a missing file.
_SOURCE_MAP = re.compile(r"/\*# sourceMappingURL=[^*]*\*/|^//# sourceMappingURL=.*$", re.MULTILINE)

_SVG = "http://www.w3.org/2000/svg"
_PRESENTATION = ("viewBox", "fill", "stroke", "stroke-width", "stroke-linecap", "stroke-linejoin")


class UnknownIcon(Exception):
    """webui/icons.txt names an icon that the pinned Tabler Icons do not have."""


def icon_names(text: str) -> list[str]:
    """The icons of a list: one name a line, ``#`` starts a comment; sorted, each once."""
    lines = (line.partition("#")[0].strip() for line in text.splitlines())
    return sorted({line for line in lines if line})


def sprite(icons: Path, names: Iterable[str]) -> str:
    """One SVG with a ``<symbol id=name>`` per icon, for ``<use href="…/icons.svg#name">``.

    `icons` is the folder with ``outline/`` and ``filled/``; a name is a file of ``outline/`` without its
    suffix, or ``filled/<name>``, whose id is then ``<name>-filled``. Raises UnknownIcon.
    """
    ET.register_namespace("", _SVG)
    root = ET.Element(f"{{{_SVG}}}svg")
    for name in names:
        folder, _, plain = name.rpartition("/")
        source = icons / (folder or "outline") / f"{plain}.svg"
        if not source.is_file():
            raise UnknownIcon(f"{name}: no {source}")
        drawing = ET.parse(source).getroot()
        attributes = {key: drawing.attrib[key] for key in _PRESENTATION if key in drawing.attrib}
        symbol = ET.SubElement(
            root, f"{{{_SVG}}}symbol", {"id": f"{plain}-filled" if folder else plain, **attributes}
        )
        symbol.extend(list(drawing))
    ET.indent(root, " ")
    return ET.tostring(root, encoding="unicode") + "\n"


def copy_assets(node_modules: Path, destination: Path) -> None:
    """Replace `destination` by the assets of FILES and the icon sprite ``icons.svg``."""
    icons = sprite(node_modules / "@tabler" / "icons" / "icons", icon_names(ICON_LIST.read_text()))
    shutil.rmtree(destination, ignore_errors=True)
    destination.mkdir(parents=True)
    for name, source in FILES.items():
        text = (node_modules / source).read_text(encoding="utf-8")
        (destination / name).write_text(_SOURCE_MAP.sub("", text), encoding="utf-8")
    (destination / "icons.svg").write_text(icons, encoding="utf-8")


if __name__ == "__main__":
    copy_assets(Path(sys.argv[1]), Path(sys.argv[2]))

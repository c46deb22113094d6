"""The step that puts vendored scripts, styles and icons where Django serves them."""

import xml.etree.ElementTree as ET
from pathlib import Path

import pytest

from setup.assets import FILES, ICON_LIST, UnknownIcon, copy_assets, icon_names, sprite

SVG = "{http://www.w3.org/2000/svg}"
DRAWING = '<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 24 24" class="icon"><path d="M1 2"/></svg>'


@pytest.fixture
def icons(tmp_path: Path) -> Path:
    """A folder as Tabler Icons have it, with `router` outline and filled."""
    for style in ("outline", "filled"):
        (tmp_path / style).mkdir()
        (tmp_path / style / "router.svg").write_text(DRAWING)
    return tmp_path


def test_a_list_may_have_comments_and_repeats() -> None:
    assert icon_names("# why\nb\na # c\n\nb\n") == ["a", "b"]


def test_a_symbol_per_icon(icons: Path) -> None:
    symbols = ET.fromstring(sprite(icons, ["filled/router", "router"])).findall(f"{SVG}symbol")
    assert [symbol.attrib for symbol in symbols] == [
        {"id": "router-filled", "viewBox": "0 0 24 24"},
        {"id": "router", "viewBox": "0 0 24 24"},
    ]
    assert all(symbol.find(f"{SVG}path") is not None for symbol in symbols)


def test_an_unknown_icon_is_named(icons: Path) -> None:
    with pytest.raises(UnknownIcon, match="rooter"):
        sprite(icons, ["rooter"])


def test_a_copy_replaces_the_folder_and_refers_to_no_map(tmp_path: Path) -> None:
    modules = tmp_path / "modules"
    for source in FILES.values():
        (modules / source).parent.mkdir(parents=True, exist_ok=True)
        (modules / source).write_text("x{}\n/*# sourceMappingURL=a.map */\n//# sourceMappingURL=a.map\n")
    outline = modules / "@tabler" / "icons" / "icons" / "outline"
    outline.mkdir(parents=True)
    for name in icon_names(ICON_LIST.read_text()):
        (outline / f"{name}.svg").write_text(DRAWING)
    destination = tmp_path / "vendor"
    destination.mkdir()
    (destination / "old.js").write_text("old")

    copy_assets(modules, destination)

    assert {path.name for path in destination.iterdir()} == {*FILES, "icons.svg"}
    assert "sourceMappingURL" not in (destination / "tabler.min.css").read_text()
    assert "sourceMappingURL" not in (destination / "htmx.min.js").read_text()

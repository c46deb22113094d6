"""The screenshots show every page of the sidebar."""

from __future__ import annotations

from pathlib import Path

from tests.browser.screenshots import PAGES, page_of_all
from webui.ui.navigation import groups


def test_every_page_of_the_sidebar_has_its_picture() -> None:
    linked = {entry.url for _, entries in groups() for entry in entries}
    assert linked <= set(PAGES.values())


def test_the_page_of_pictures_has_each_once_and_those_of_a_page_together(tmp_path: Path) -> None:
    names = ["bgp-dark-390", "bgp-edit-light-1440", "bgp-light-1440"]
    for name in names:
        (tmp_path / f"{name}.png").touch()
    shown = page_of_all(tmp_path)
    assert [shown.count(f'src="{name}.png"') for name in names] == [1, 1, 1]
    assert shown.index("<h2>bgp</h2>") < shown.index("bgp-light-1440") < shown.index("<h2>bgp-edit</h2>")

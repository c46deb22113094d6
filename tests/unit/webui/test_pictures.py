"""Pictures for people are of every page of the sidebar."""

from __future__ import annotations

from tests.browser.screenshots import PAGES
from webui.ui.navigation import groups


def test_every_page_of_the_sidebar_has_its_picture() -> None:
    linked = {entry.url for _, entries in groups() for entry in entries}
    assert linked <= set(PAGES.values())

"""The pages of the sidebar, with their keys: ``g`` and then the letter."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cache

from django.urls import reverse

from webui.accounts.models import User
from webui.accounts.roles import Role
from webui.ui.pages import PAGES
from webui.ui.tables.declaration import Page


@dataclass(frozen=True)
class Entry:
    """A line of the sidebar. `url_name` with a pointer in `argument` is an edit page."""

    title: str
    icon: str
    url_name: str
    order: int
    key: str = ""
    argument: str = ""
    badge: str = ""
    section: str = ""
    """The section that a view names to mark the page as current; the url name where empty."""
    role: str = ""
    """The lowest role that sees it; everyone where empty."""

    @property
    def url(self) -> str:
        """Its address."""
        return reverse(self.url_name, args=[self.argument] if self.argument else [])

    @property
    def keys(self) -> tuple[str, ...]:
        """The keys that lead there."""
        return ("g", self.key) if self.key else ()


_BY_HAND: dict[str, tuple[Entry, ...]] = {
    "": (
        Entry("Dashboard", "layout-dashboard", "ui:dashboard", 10, "d"),
        Entry("Routes", "map-route", "ui:routes", 30, "r"),
    ),
    "Routing": (),
    "Firewall": (Entry("Control plane", "shield-check", "ui:control_plane", 90),),
    "Operate": (
        Entry("Changes", "git-pull-request", "ui:changes", 10, "c", badge="changes"),
        Entry("Configuration", "code", "ui:configuration", 15, "f"),
        Entry("Tools", "tool", "ui:tools", 20, "t"),
        Entry("Packet capture", "download", "ui:captures", 25),
        Entry("Logs", "list", "ui:logs", 40, role=Role.OPERATOR),
        Entry("Packet trace", "route", "ui:traces", 26),
    ),
    "System": (
        Entry(
            "Settings",
            "settings",
            "ui:edit",
            10,
            argument="system",
            section="edit:/system",
            role=Role.ENGINEER,
        ),
        Entry(
            "Data plane",
            "cpu",
            "ui:edit",
            20,
            argument="dataplane",
            section="edit:/dataplane",
            role=Role.ENGINEER,
        ),
        Entry("Users", "users", "ui:users", 30, "u", role=Role.ADMIN),
        Entry("API tokens", "key", "ui:tokens", 40, "k"),
        Entry("Audit", "list-details", "ui:audit", 50, role=Role.ADMIN),
        Entry("Upgrade", "upload", "ui:upgrade", 60, role=Role.ADMIN),
    ),
}
"""By the group's title, in the groups' order. Pages of features declare their own position."""


@cache
def groups() -> tuple[tuple[str, tuple[Entry, ...]], ...]:
    """Titles of the groups and their entries, in order."""
    return tuple(
        (
            title,
            tuple(
                sorted(
                    (*by_hand, *(_entry(page) for page in PAGES if page.group == title)),
                    key=lambda entry: entry.order,
                )
            ),
        )
        for title, by_hand in _BY_HAND.items()
    )


def _entry(page: Page) -> Entry:
    return Entry(page.title, page.icon, f"ui:{page.name}", page.order, page.key)


@dataclass(frozen=True)
class ShownPage:
    """A page with whether it is the current one."""

    page: Entry
    active: bool

    @property
    def title(self) -> str:
        return self.page.title

    @property
    def icon(self) -> str:
        return self.page.icon

    @property
    def url(self) -> str:
        return self.page.url

    @property
    def key(self) -> str:
        return self.page.key

    @property
    def keys(self) -> tuple[str, ...]:
        return self.page.keys

    @property
    def badge(self) -> str:
        return self.page.badge


@dataclass(frozen=True)
class ShownGroup:
    """A group as this user sees it."""

    title: str
    items_shown: tuple[ShownPage, ...]


def shown(section: str, user: User) -> tuple[ShownGroup, ...]:
    """The groups with `section` marked; pages that the user may not open are left out."""
    found = []
    for title, entries in groups():
        pages = tuple(
            ShownPage(entry, active=(entry.section or entry.url_name.removeprefix("ui:")) == section)
            for entry in entries
            if not entry.role or user.has_role(Role(entry.role))
        )
        if pages:
            found.append(ShownGroup(title, pages))
    return tuple(found)

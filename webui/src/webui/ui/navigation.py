"""The pages of the sidebar, with their keys: ``g`` and then the letter."""

from __future__ import annotations

from dataclasses import dataclass

from django.urls import reverse


@dataclass(frozen=True)
class Page:
    """A line of the sidebar. `url_name` with a pointer in `argument` is an edit page."""

    title: str
    icon: str
    url_name: str
    key: str = ""
    argument: str = ""
    badge: str = ""
    section: str = ""
    """What a view says it is in, to mark the page as current; the url name where empty."""
    role: str = ""
    """The least role that sees it; everyone where empty."""

    @property
    def url(self) -> str:
        """Its address."""
        return reverse(self.url_name, args=[self.argument] if self.argument else [])

    @property
    def keys(self) -> tuple[str, ...]:
        """The keys that go there."""
        return ("g", self.key) if self.key else ()


@dataclass(frozen=True)
class Group:
    """Pages under one title."""

    title: str
    pages: tuple[Page, ...]


GROUPS = (
    Group(
        "",
        (
            Page("Dashboard", "layout-dashboard", "ui:dashboard", "d"),
            Page("Interfaces", "plug-connected", "ui:interfaces", "i"),
            Page("Routes", "map-route", "ui:routes", "r"),
        ),
    ),
    Group(
        "Routing",
        (
            Page("Static routes", "route", "ui:static_routes", "s"),
            Page("BGP", "world", "ui:bgp", "b"),
            Page("OSPF", "topology-star-3", "ui:ospf", "o"),
            Page("Policies", "filter", "ui:policies", "p"),
        ),
    ),
    Group(
        "Firewall",
        (
            Page("Access lists", "shield-lock", "ui:acls", "a"),
            Page("Control plane", "shield-check", "ui:control_plane"),
        ),
    ),
    Group(
        "Operate",
        (
            Page("Changes", "git-pull-request", "ui:changes", "c", badge="changes"),
            Page("Tools", "tool", "ui:tools", "t"),
        ),
    ),
    Group(
        "System",
        (
            Page("Settings", "settings", "ui:edit", argument="system", section="edit:/system"),
            Page("Data plane", "cpu", "ui:edit", argument="dataplane", section="edit:/dataplane"),
            Page("Users", "users", "ui:users", "u", role="admin"),
            Page("API tokens", "key", "ui:tokens", "k"),
            Page("Audit", "list-details", "ui:audit", role="admin"),
            Page("Upgrade", "upload", "ui:upgrade", role="admin"),
        ),
    ),
)


@dataclass(frozen=True)
class ShownPage:
    """A page with whether it is the current one."""

    page: Page
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


def shown(section: str, *, admin: bool) -> tuple[ShownGroup, ...]:
    """The groups with `section` marked; pages for admins are left out for others."""
    groups = []
    for group in GROUPS:
        pages = tuple(
            ShownPage(page, active=(page.section or page.url_name.removeprefix("ui:")) == section)
            for page in group.pages
            if admin or page.role != "admin"
        )
        if pages:
            groups.append(ShownGroup(group.title, pages))
    return tuple(groups)

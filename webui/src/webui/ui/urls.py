"""Addresses of the pages."""

from __future__ import annotations

from django.urls import URLPattern, path

from webui.ui import converters
from webui.ui.guarded import View, guarded
from webui.ui.pages import PAGES
from webui.ui.views import (
    acls,
    actions,
    audit,
    bgp,
    bgp_routes,
    captures,
    changes,
    commits,
    configuration,
    control_plane,
    dashboard,
    edit,
    history,
    interfaces,
    objects,
    ospf,
    policies,
    routes,
    status,
    tables,
    tokens,
    tools,
    upgrade,
    users,
)
from webui.ui.views.session import Login, Logout

app_name = "ui"

assert converters.AnyText.regex  # imported for its registration


def _page(route: str, view: View, name: str) -> URLPattern:
    return path(route, guarded(view), name=name)


urlpatterns = [
    path("login", Login.as_view(), name="login"),
    path("logout", Logout.as_view(), name="logout"),
    _page("", dashboard.dashboard, "dashboard"),
    _page("dashboard/state", dashboard.dashboard_state, "dashboard_state"),
    _page("status", status.status, "status"),
    *(_page(page.path, tables.page_view(page), page.name) for page in PAGES),
    _page("table/<str:name>", tables.table, "table"),
    _page("table/<str:name>/act", tables.act, "table_act"),
    _page("table/<str:name>/export.<str:form>", tables.export, "table_export"),
    _page("actions/<str:name>", actions.act, "action"),
    _page("object/<any:path>", objects.shown_object, "object"),
    _page("interfaces/<any:name>", interfaces.interface, "interface"),
    _page("routes", routes.routes, "routes"),
    _page("bgp/routes/<str:direction>/<any:address>", bgp_routes.bgp_routes, "bgp_routes"),
    _page("ospf/lsa/<str:kind>/<str:lsa_id>/<str:router>", ospf.ospf_lsa, "ospf_lsa"),
    _page("bgp/neighbors/<any:address>", bgp.bgp_neighbor, "bgp_neighbor"),
    _page("policies/route-maps/<any:name>", policies.route_map, "route_map"),
    _page("acls/move/<any:name>", acls.move_rule, "acl_move"),
    _page("acls/paste/<any:name>", acls.paste_rules, "acl_paste"),
    _page("acls/bind/<any:name>", acls.bind, "acl_bind"),
    _page("acls/text/<any:name>", acls.rules_text, "acl_text"),
    _page("acls/<any:name>", acls.acl, "acl"),
    _page("control-plane", control_plane.control_plane, "control_plane"),
    _page("control-plane/counts", control_plane.control_plane_counts, "control_plane_counts"),
    _page("edit/<any:path>", edit.edit, "edit"),
    _page("add/<any:path>", edit.add, "add"),
    _page("delete/<any:path>", edit.delete, "delete"),
    _page("changes", changes.changes, "changes"),
    _page("changes/pending", changes.pending, "pending"),
    _page("changes/commit", changes.commit, "commit"),
    _page("changes/confirm", changes.confirm, "confirm"),
    _page("changes/keep", changes.keep, "keep"),
    _page("changes/discard", changes.discard, "discard"),
    _page("changes/rebase", changes.rebase, "rebase"),
    _page("changes/resolve", changes.resolve, "resolve"),
    _page("changes/revert", changes.revert, "revert"),
    _page("changes/commits", commits.under_way, "commits"),
    _page("changes/outcome/<any:request_id>", commits.outcome, "outcome"),
    _page("changes/finished/<any:request_id>", commits.finished, "finished"),
    _page("changes/cancel/<any:request_id>", commits.cancel, "cancel_commit"),
    _page("configuration", configuration.configuration, "configuration"),
    _page("configuration/download", configuration.download, "configuration_download"),
    _page("configuration/upload", configuration.upload, "configuration_upload"),
    _page("configuration/compare", configuration.compared, "compare"),
    _page("history", history.history, "history"),
    _page("history/<int:number>", history.revision, "revision"),
    _page("history/<int:number>/rollback", history.rollback_preview, "rollback_preview"),
    _page("history/rollback", history.rollback, "rollback"),
    _page("captures", captures.captures, "captures"),
    _page("captures/list", captures.capture_list, "capture_list"),
    _page("captures/start", captures.start, "capture_start"),
    _page("captures/<slug:capture>/stop", captures.stop, "capture_stop"),
    _page("captures/<slug:capture>/remove", captures.remove, "capture_remove"),
    _page("captures/<slug:capture>/file", captures.download, "capture_file"),
    _page("tools", tools.tools, "tools"),
    _page("tools/job/<uuid:job_id>", tools.job, "job"),
    _page("tools/job/<uuid:job_id>/cancel", tools.cancel, "job_cancel"),
    _page("tools/<str:tool>", tools.run, "tool_run"),
    _page("users", users.users, "users"),
    _page("users/add", users.add_user, "user_add"),
    _page("users/<int:user_id>", users.change_user, "user_change"),
    _page("tokens", tokens.token_page, "tokens"),
    _page("tokens/<int:token_id>/revoke", tokens.revoke_token, "token_revoke"),
    _page("password", tokens.own_password, "own_password"),
    _page("audit", audit.audit, "audit"),
    _page("upgrade", upgrade.upgrade, "upgrade"),
    _page("upgrade/progress", upgrade.progress, "upgrade_progress"),
    _page("upgrade/install", upgrade.install, "upgrade_install"),
    _page("upgrade/switch", upgrade.switch, "upgrade_switch"),
    _page("upgrade/forget", upgrade.forget, "upgrade_forget"),
]

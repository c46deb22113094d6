"""Processors, memory and disks: over REST, on the dashboard, for Prometheus and in a terminal."""

from __future__ import annotations

import os
import re

from django.template.loader import render_to_string
from django.test import Client

from appliance.cli.system import show_system
from appliance.state.feeder import FedRoutes, FeederState
from appliance.state.system import SYSTEM
from tests.api.conftest import ApiClient, MakeClient
from tests.api.router_in_memory import RouterInMemory
from webui.accounts.models import User


def test_a_viewer_reads_the_machine(viewer: ApiClient) -> None:
    system = viewer.get("state/system").body
    assert len(system["processor"]["cpus"]) == os.cpu_count()
    assert system["memory"]["total_bytes"] == os.sysconf("SC_PHYS_PAGES") * os.sysconf("SC_PAGE_SIZE")
    assert {what for disk in system["file_systems"] for what in disk["holds"]} >= {"system", "configuration"}
    reserve = next(one for one in system["kept"] if one["kind"] == "reserve")
    assert reserve["used_bytes"] == reserve["quota_bytes"] == 4 * 1024 * 1024
    assert system["versions"]["kernel"] == os.uname().release


def test_prometheus_sees_it(viewer: ApiClient) -> None:
    page = viewer.get("/metrics").body.decode()
    for cpu in range(os.cpu_count() or 1):
        assert re.search(rf'^millrace_cpu_seconds_total{{cpu="{cpu}",mode="idle"}} [\d.e+]+$', page, re.M)
    assert re.search(r'^millrace_file_system_available_bytes{mount="/[^"]*"} [1-9]', page, re.M)
    for name in ("uptime_seconds", "load1", "memory_total_bytes", "memory_available_bytes"):
        assert re.search(rf"^millrace_{name} [\d.e+]+$", page, re.M), name


def test_the_dashboard_shows_it(client_of: MakeClient, router: RouterInMemory) -> None:
    client_of("viewer")
    browser = Client(headers={"host": "testserver"})
    browser.force_login(User.objects.get(username="viewer"), "django.contrib.auth.backends.ModelBackend")
    page = browser.get("/dashboard/state", secure=True).content.decode()
    assert 'aria-label="Processors busy"' in page
    assert 'aria-label="Disk /' in page
    assert re.search(r'aria-label="Memory used"></progress>\s+<span class="num">\d+ %</span>', page)
    assert f"Kernel {os.uname().release}" in page


def test_the_dashboard_shows_how_many_routes_vpp_has_room_for(router: RouterInMemory) -> None:
    system = router.client.state(SYSTEM)
    room = FeederState(
        carrier="feeder", ipv4=FedRoutes(in_vpp=1200), ipv6=FedRoutes(in_vpp=34), most_routes=2468
    )
    shown = render_to_string("ui/dashboard_system.html", {"system": system, "feeder": room})
    assert '<progress class="bar" max="1" value="0.5" aria-label="Routes in VPP">' in shown
    assert "1,234 in VPP, which has room for 2,468" in shown
    for unknown in (None, FeederState(carrier="kernel"), FeederState(carrier="feeder")):
        shown = render_to_string("ui/dashboard_system.html", {"system": system, "feeder": unknown})
        assert "Routes in VPP" not in shown and "Up for" in shown


def test_a_terminal_shows_it(router: RouterInMemory) -> None:
    shown = show_system(router.client, []).shown
    assert re.search(r"^processors +\d+% busy in the last [\d.]+ s$", shown, re.M)
    assert re.search(r"^memory +[\d.]+ [MGT]iB of [\d.]+ [MGT]iB used", shown, re.M)
    assert re.search(r"^/\S* +\S.* GiB +\d+% ", shown, re.M)
    assert re.search(r"^reserve +4.0 MiB +4.0 MiB$", shown, re.M)

"""Strangers of 24 sources flood nginx and the web half, while who is signed in commits and confirms::

24 sources, fd77:0:0:N::/64, 8 addresses of the first ---+--- nginx --- web half --- agent
who is signed in, fd77:0:0:ff::1 ------------------------+    lan host === router === wan host, 2000 pps

``STRANGER_FLOOD_SECONDS`` is its length (30).
"""

from __future__ import annotations

import json
import os
import ssl
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from pathlib import Path

import httpx
import pytest

from appliance.dataplane.namespace import Namespace
from appliance.programs import run
from lab.traffic import Flow
from tests.front_door import context, nginx
from tests.live_lab import REPOSITORY, LiveLab, live_lab, wait_until
from tests.requirements import require_root_netns, vpp_installed
from tests.soak import processes

SECONDS = float(os.environ.get("STRANGER_FLOOD_SECONDS", "30"))
CONFIRM_S = 2.0
WEB_BYTES, NGINX_BYTES = 400 << 20, 300 << 20
"""Half of the web half's ceiling and nginx' own on a router with 2 GB."""
WEB_DESCRIPTORS, NGINX_DESCRIPTORS = 8192, 16384
NAME, HOST, USER = f"mrf{os.getpid()}", "fd77::1", "fd77:0:0:ff::1"
SOURCES = [f"fd77:0:0:1::{number:x}" for number in range(1, 9)]
SOURCES += [f"fd77:0:0:{number:x}::1" for number in range(2, 25)]


@dataclass
class Site:
    """The web half of a lab behind nginx."""

    live: LiveLab
    directory: Path
    space: Namespace
    nginx: int
    server: int


@pytest.fixture(scope="module")
def site() -> Iterator[Site]:
    require_root_netns()
    with ExitStack() as stack:
        live = stack.enter_context(live_lab("sf", "vpp" if vpp_installed() else "linux"))
        directory = Path(stack.enter_context(tempfile.TemporaryDirectory(prefix="mr-flood-")))
        stack.enter_context(_namespace())
        space = Namespace(NAME)
        stack.callback(space.close)
        server = stack.enter_context(_web_half(live, directory))
        stack.enter_context(nginx(directory, directory / "web.sock", NAME))
        (worker,) = _workers(directory)
        yield Site(live, directory, space, worker, server)


@contextmanager
def _namespace() -> Iterator[None]:
    run(["ip", "netns", "add", NAME])
    try:
        run(["ip", "-n", NAME, "link", "set", "lo", "up"])
        for address in (HOST, USER, *SOURCES):
            run(["ip", "-n", NAME, "address", "add", f"{address}/128", "dev", "lo"])
        yield
    finally:
        subprocess.run(["ip", "netns", "delete", NAME], check=False)


@contextmanager
def _web_half(live: LiveLab, directory: Path) -> Iterator[int]:
    """The lab's, started again on a Unix socket as the image has it; yields its server's process id."""
    pid = processes.programs(live)["web"]
    pairs = (one.partition("=") for one in Path(f"/proc/{pid}/environ").read_text().split("\0") if one)
    told = {name: value for name, _, value in pairs}
    live.supervisorctl("stop", "web")
    told |= {"MILLRACE_TRUSTED_PROXIES": "*", "MILLRACE_ALLOWED_HOSTS": "*"}
    argv = [sys.executable, "-m", "webui", "serve", "--uds", str(directory / "web.sock")]
    with (directory / "web.log").open("wb") as log:
        process = subprocess.Popen(argv, env=told, stdout=log, stderr=log)
    try:
        said = (directory / "web.log").read_text
        wait_until((directory / "web.sock").exists, timeout_s=60, what="the web half's socket", instead=said)
        yield processes.children(process.pid)["web-server"]
    finally:
        process.terminate()
        process.wait(30)


def _workers(directory: Path) -> list[int]:
    master = int((directory / "nginx.pid").read_text())
    return [int(pid) for pid in Path(f"/proc/{master}/task/{master}/children").read_text().split()]


def _commit_and_confirm(site: Site, number: int) -> float:
    """How long the confirmation took, from a new connection on."""
    trusts: ssl.SSLContext = context(site.directory, "http/1.1")
    transport = httpx.HTTPTransport(verify=trusts, local_address=USER)
    headers = {"Authorization": f"Bearer {site.live.environment['TOKEN']}"}
    base = f"https://[{HOST}]/api/v1"
    with httpx.Client(transport=transport, headers=headers, timeout=30) as http:
        done = http.put(f"{base}/config/system/hostname?confirm_s=60", json=f"flood{number}")
        assert done.status_code == 200, done.text
    transport = httpx.HTTPTransport(verify=trusts, local_address=USER)
    with httpx.Client(transport=transport, headers=headers, timeout=30) as http:
        begun = time.perf_counter()
        answer = http.post(f"{base}/confirm")
        took_s = time.perf_counter() - begun
        assert answer.status_code == 204, answer.text
    return took_s


def test_a_confirmation_is_in_time_and_nothing_is_lost(site: Site) -> None:
    names, watched = site.live.topology.namespaces, {"web": site.server, "nginx": site.nginx}
    site.space.run(_commit_and_confirm, site, 0)
    argv = ["ip", "netns", "exec", NAME, sys.executable, "-m", "tests.soak.strangers"]
    argv += [str(site.directory), str(SECONDS), HOST, *SOURCES]
    took, most = list[float](), dict.fromkeys(watched, (0, 0))
    flow = Flow(
        site.live.directory, sender=names.lan, receiver=names.wan_host, destination="203.0.113.10",
        pps=2000, seconds=SECONDS + 60, port=7113,
    )  # fmt: skip
    with flow:
        strangers = subprocess.Popen(argv, cwd=REPOSITORY, stdout=subprocess.PIPE, text=True)
        try:
            while strangers.poll() is None:
                took.append(site.space.run(_commit_and_confirm, site, len(took) + 1))
                for name, pid in watched.items():
                    found = processes.held(pid)
                    assert found is not None, f"{name} was ended"
                    rss, descriptors = most[name]
                    most[name] = (max(rss, found.rss_bytes), max(descriptors, found.descriptors))
            came, _ = strangers.communicate()
        finally:
            strangers.kill()
            strangers.wait()
        result = flow.stop()
    counted = json.loads(came)
    print(
        f"\n{site.live.dataplane}: {len(took)} confirmations in {SECONDS:g} s, slowest {max(took):.2f} s; "
        f"strangers: {counted}; "
        + "".join(
            f"{name} {rss >> 20} MiB, {count} descriptors at most; " for name, (rss, count) in most.items()
        )
        + f"{result.sent} packets sent, {result.lost} lost"
    )
    assert counted["bodies ended by the server"] and counted["pages answered"]
    assert max(took) <= CONFIRM_S
    assert most["web"][0] <= WEB_BYTES and most["nginx"][0] <= NGINX_BYTES
    assert most["web"][1] <= WEB_DESCRIPTORS and most["nginx"][1] <= NGINX_DESCRIPTORS
    assert result.lost == 0

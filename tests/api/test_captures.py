"""Packet captures over REST and on the page: limits and filters, roles, the audit log, the download."""

from __future__ import annotations

import asyncio
import re
import threading
import time
from collections.abc import Iterator
from typing import Any

import pytest
from django.test import Client

from appliance.capture.source import Ended
from appliance.cli.capture import capture as capture_command
from appliance.cli.capture import show_captures
from appliance.cli.errors import CommandError
from appliance.state.captures import CaptureWanted
from tests.api.conftest import ApiClient, MakeClient
from tests.api.router_in_memory import RouterInMemory
from tests.unit.agent.test_pcap_file import HEADER, record
from webui.accounts.models import AuditEntry, User

DATA = HEADER + record(1000) * 1500
"""More than one part of a download."""


class _Scripted:
    """Packets as a test requires them: the data plane here is a dictionary."""

    note = "it is scripted"

    def __init__(self) -> None:
        self.began: list[CaptureWanted] = []

    def begin(self, wanted: CaptureWanted) -> None:
        self.began.append(wanted)

    def run(self, wanted: CaptureWanted, records: Any, stop: threading.Event) -> Ended:
        records.feed(DATA)
        if wanted.seconds > 1:
            stop.wait(30)
        return Ended("it was stopped" if stop.is_set() else "the limit of 1 seconds was reached", 0)


@pytest.fixture
def source(router: RouterInMemory, monkeypatch: pytest.MonkeyPatch) -> Iterator[_Scripted]:
    """The filter is compiled by the real tcpdump, in no namespace of its own."""
    scripted = _Scripted()
    monkeypatch.setattr("appliance.agent.router.KernelSource", lambda _netns: scripted)
    monkeypatch.setattr("appliance.capture.tcpdump._argv", lambda _netns, argv: argv)
    yield scripted
    for one in router.client.state(_captures()).captures:
        router.client.stop_capture(one.id)
        router.client.remove_capture(one.id)


def _captures() -> Any:
    from appliance.state.captures import CAPTURES

    return CAPTURES


def _wait_done(client: ApiClient, name: str) -> dict[str, Any]:
    end = time.monotonic() + 10
    while time.monotonic() < end:
        found = next(one for one in client.get("state/captures").body["captures"] if one["id"] == name)
        if found["state"] != "running":
            return dict(found)
        time.sleep(0.02)
    raise AssertionError("it did not end")


def _body(response: Any) -> bytes:
    async def read() -> bytes:
        return b"".join([part async for part in response.streaming_content])

    return asyncio.run(read())


def test_an_operator_captures_stops_downloads_and_removes(
    client_of: MakeClient, source: _Scripted, viewer: ApiClient
) -> None:
    operator = client_of("operator")
    wanted = {"interface": "lan0", "filter": "tcp port 179", "packets": 2000, "seconds": 60}
    begun = operator("POST", "captures", wanted)
    assert (begun.status, begun.body["state"], begun.body["note"]) == (201, "running", "it is scripted")
    name = begun.body["id"]
    assert source.began[0].filter == "tcp port 179"
    assert operator.get(f"captures/{name}/file").status == 409
    assert operator("DELETE", f"captures/{name}").status == 409
    stopped = operator("POST", f"captures/{name}/stop", {}).body
    assert (stopped["state"], stopped["packets"], stopped["size_bytes"]) == ("done", 1500, len(DATA))
    # A viewer sees that it exists, but not its content.
    assert [one["id"] for one in viewer.get("state/captures").body["captures"]] == [name]
    assert viewer.get(f"captures/{name}/file").status == 403
    assert viewer("POST", "captures", wanted).status == 403
    assert operator("DELETE", f"captures/{name}").status == 200
    assert operator.get(f"captures/{name}/file").status == 404
    log = [(one.action, one.result) for one in AuditEntry.objects.order_by("pk") if "capture" in one.action]
    assert log[:3] == [
        ("capture.start", "done"),
        ("capture.remove", "failed"),
        ("capture.stop", "done"),
    ]
    assert ("capture.remove", "done") in log


def test_the_download_is_the_whole_file_and_in_the_audit_log(
    client_of: MakeClient, source: _Scripted
) -> None:
    operator = client_of("operator")
    name = operator("POST", "captures", {"interface": "wan0", "packets": 2000, "seconds": 1}).body["id"]
    assert _wait_done(operator, name)["ended"] == "the limit of 1 seconds was reached"
    browser = Client(headers={"host": "testserver"})
    browser.force_login(User.objects.get(username="operator"), "django.contrib.auth.backends.ModelBackend")
    answer = browser.get(f"/captures/{name}/file", secure=True)
    assert answer["Content-Type"] == "application/vnd.tcpdump.pcap"
    assert answer["Content-Length"] == str(len(DATA))
    assert answer["Content-Disposition"].startswith('attachment; filename="wan0-')
    assert answer["Cache-Control"] == "no-store"
    assert _body(answer) == DATA
    entry = AuditEntry.objects.filter(action="capture.download").latest("pk")
    assert (entry.target, entry.result) == (name, "done")
    operator("DELETE", f"captures/{name}")


@pytest.mark.parametrize(
    ("wrong", "pointer", "reason"),
    [
        ({"filter": "tcp porty 179"}, "/filter", "syntax error"),
        ({"filter": "tcp\nport 1"}, "/filter", "ASCII"),
        ({"packets": 100_001}, "/packets", "100000"),
        ({"seconds": 601}, "/seconds", "600"),
        ({"size_bytes": 2**27}, "/size_bytes", "67108864"),
        ({"snap_bytes": 20}, "/snap_bytes", "64"),
        ({"direction": "up"}, "/direction", "both"),
        ({"interface": "-w"}, "/interface", ""),
        ({"file": "/etc/passwd"}, "/file", ""),
    ],
)
def test_what_is_wrong_is_named(
    client_of: MakeClient, source: _Scripted, wrong: dict[str, Any], pointer: str, reason: str
) -> None:
    answer = client_of("operator")("POST", "captures", {"interface": "lan0", **wrong})
    assert answer.status == 422
    (error,) = answer.body["errors"]
    assert error["pointer"].endswith(pointer)
    assert reason in error["detail"]
    assert source.began == []


def test_an_interface_that_is_not_configured_is_not_found(client_of: MakeClient, source: _Scripted) -> None:
    answer = client_of("operator")("POST", "captures", {"interface": "nic-lan"})
    assert (answer.status, answer.body["detail"]) == (404, "there is no interface nic-lan")


def test_the_page_begins_shows_and_explains(client_of: MakeClient, source: _Scripted) -> None:
    client_of("operator")
    browser = Client(headers={"host": "testserver"})
    browser.force_login(User.objects.get(username="operator"), "django.contrib.auth.backends.ModelBackend")
    page = browser.get("/captures", secure=True).content.decode()
    assert "<option>wan0</option>" in page
    form = {"interface": "wan0", "direction": "in", "filter": "tcp porty", "packets": "50", "seconds": "9"}
    refused = browser.post("/captures/start", form, secure=True)
    assert refused.status_code == 422
    text = refused.content.decode()
    assert "syntax error" in text
    assert 'value="tcp porty"' in text
    assert "<option selected>wan0</option>" in text
    wrong_number = browser.post("/captures/start", {**form, "filter": "", "size_bytes": "65"}, secure=True)
    assert "must be a whole number from 1 to 64<" in wrong_number.content.decode()
    begun = browser.post("/captures/start", {**form, "filter": "tcp", "size_bytes": "1"}, secure=True)
    assert (begun.status_code, begun["Location"]) == (302, "/captures")
    listed = browser.get("/captures/list", secure=True).content.decode()
    assert 'hx-trigger="every 1s"' in listed
    assert source.began[-1].size_bytes == 2**20
    name = listed.partition('data-capture="')[2][:12]
    # While it runs only its numbers are replaced, so that its button can be pressed.
    assert f'hx-get="/captures/list?running={name}"' in listed
    again = browser.get(f"/captures/list?running={name}", secure=True)
    assert again["HX-Reswap"] == "none"
    assert f'<span id="packets-{name}" hx-swap-oob="true">50</span>' in again.content.decode()
    assert "<button" not in again.content.decode()
    assert browser.post(f"/captures/{name}/stop", secure=True).status_code == 302
    listed = browser.get("/captures/list", secure=True).content.decode()
    assert 'hx-trigger="every 1s"' not in listed
    assert f"/captures/{name}/file" in listed


def test_the_command_line_saves_a_capture(router: RouterInMemory, source: _Scripted, tmp_path: Any) -> None:
    options = ["in", "packets", "2000", "seconds", "60", "snap", "128"]
    words = ["start", "lan0", *options, "filter", "tcp", "port", "179"]
    started = capture_command(router.client, "nina", words)
    assert source.began[0] == CaptureWanted(
        interface="lan0", direction="in", packets=2000, seconds=60, snap_bytes=128, filter="tcp port 179"
    )
    name = started.data["id"]
    assert f"capture stop {name}" in started.shown
    assert "1500 packets" in capture_command(router.client, "nina", ["stop", name]).shown
    table = show_captures(router.client, []).shown
    assert re.search(rf"^{name} +done +lan0 +tcp port 179 +1500 ", table, re.M)
    path = tmp_path / "saved.pcap"
    capture_command(router.client, "nina", ["save", name, str(path)])
    assert path.read_bytes() == DATA
    assert path.stat().st_mode & 0o777 == 0o600
    with pytest.raises(CommandError, match="File exists"):
        capture_command(router.client, "nina", ["save", name, str(path)])
    with pytest.raises(CommandError, match="seconds: must be a whole number"):
        capture_command(router.client, "nina", ["start", "lan0", "seconds", "x"])
    with pytest.raises(CommandError, match="out: direction is given twice"):
        capture_command(router.client, "nina", ["start", "lan0", "in", "out", "filter", "tcp"])

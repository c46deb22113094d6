"""Packet traces over REST, on the page and on the command line: roles, the audit log, hostile text."""

from __future__ import annotations

import time
from collections.abc import Iterator
from typing import Any

import pytest

from appliance.cli.errors import CommandError
from appliance.cli.trace import show_traces
from appliance.cli.trace import trace as trace_command
from appliance.state.traces import TracedPacket, TraceStep, TraceWanted
from appliance.tracing.traces import Seen
from tests.api.conftest import ApiClient, MakeClient
from tests.api.router_in_memory import RouterInMemory
from tests.api.test_pages import browser_of, get
from webui.accounts.models import AuditEntry

EVIL = "<script>alert(1)</script>\x1b[2J"


class _Scripted:
    """A VPP with as many packets as a test wants."""

    def __init__(self) -> None:
        self.began: list[TraceWanted] = []

    def started_s(self) -> int:
        return 1000

    def begin(self, wanted: TraceWanted) -> None:
        self.began.append(wanted)

    def look(self, wanted: TraceWanted) -> Seen:
        step = TraceStep(node="ip4-drop", at_s=1.5, lines=(f"  {EVIL}",))
        packet = TracedPacket(
            number=1,
            thread="vpp_main",
            summary="ICMP 10.10.0.2 → 192.0.2.1",
            end="ip4-drop",
            dropped=True,
            steps=(step,),
        )
        return Seen((packet,) * min(2, wanted.packets), 2)

    def end(self) -> None:
        pass


@pytest.fixture
def vpp(router: RouterInMemory, monkeypatch: pytest.MonkeyPatch) -> Iterator[_Scripted]:
    scripted = _Scripted()
    monkeypatch.setattr("appliance.agent.router.VppTracer", lambda *_: scripted)
    yield scripted


def _done(client: ApiClient, name: str) -> dict[str, Any]:
    end = time.monotonic() + 20
    while time.monotonic() < end:
        found = client.get(f"traces/{name}").body
        if found["trace"]["state"] != "running":
            return dict(found)
        time.sleep(0.02)
    raise AssertionError("it did not end")


def test_an_operator_traces_reads_and_removes(
    client_of: MakeClient, vpp: _Scripted, viewer: ApiClient
) -> None:
    operator = client_of("operator")
    wanted = {"interface": "lan0", "packets": 2, "source": "10.10.0.0/24"}
    begun = operator("POST", "traces", wanted)
    assert (begun.status, begun.body["state"]) == (201, "running")
    name = begun.body["id"]
    assert operator("POST", "traces", wanted).status == 409
    result = _done(operator, name)
    assert result["trace"]["ended"] == "the limit of 2 packets was reached"
    assert result["packets"][0]["steps"][0]["lines"] == [f"  {EVIL}"]
    # A viewer sees that it exists, but not its content.
    assert [one["id"] for one in viewer.get("state/traces").body["traces"]] == [name]
    for method, path in (("GET", f"traces/{name}"), ("POST", f"traces/{name}/stop"), ("POST", "traces")):
        assert viewer(method, path, wanted if path == "traces" else None).status == 403
    assert operator("DELETE", f"traces/{name}").status == 200
    assert operator.get(f"traces/{name}").status == 404
    log = [(one.action, one.result) for one in AuditEntry.objects.order_by("pk") if "trace." in one.action]
    assert log == [
        ("trace.start", "done"),
        ("trace.start", "failed"),
        ("trace.read", "done"),
        ("trace.remove", "done"),
    ]
    assert AuditEntry.objects.filter(action="trace.start")[0].target == "lan0 from 10.10.0.0/24"


@pytest.mark.parametrize(
    ("wrong", "pointer"),
    [
        ({"source": "10.0.0.1/8"}, "/source"),
        ({"packets": 501}, "/packets"),
        ({"seconds": 0}, "/seconds"),
        ({"interface": "a; clear"}, "/interface"),
        ({"source": "10.0.0.1", "destination": "::1"}, ""),
    ],
)
def test_what_is_wrong_is_named(
    client_of: MakeClient, vpp: _Scripted, wrong: dict[str, Any], pointer: str
) -> None:
    answer = client_of("operator")("POST", "traces", {"interface": "lan0", **wrong})
    assert answer.status == 422 and answer.body["errors"][0]["pointer"].endswith(pointer)
    assert vpp.began == []


def test_where_the_kernel_forwards_it_is_refused_by_name(
    client_of: MakeClient, router: RouterInMemory
) -> None:
    answer = client_of("operator")("POST", "traces", {"interface": "lan0"})
    assert answer.status == 422
    assert answer.body["errors"][0]["detail"] == "a packet trace needs the VPP data plane"
    assert AuditEntry.objects.get(action="trace.start").result == "failed"
    page = get(browser_of("operator", client_of), "/traces")
    assert "needs the VPP data plane" in page


def test_the_page_begins_follows_and_shows_what_is_escaped(client_of: MakeClient, vpp: _Scripted) -> None:
    browser = browser_of("operator", client_of)
    form = {"interface": "lan0", "source": "10.10.0.0/24", "packets": "9", "seconds": "60"}
    refused = browser.post("/traces/start", {**form, "source": "10.10.0.1/8"}, secure=True)
    assert refused.status_code == 422 and "must be an address or a prefix" in refused.content.decode()
    both = browser.post("/traces/start", {**form, "destination": "::1"}, secure=True)
    assert "different families" in both.content.decode()
    assert browser.post("/traces/start", form, secure=True)["Location"] == "/traces"
    listed = get(browser, "/traces/list")
    name = listed.partition('data-trace="')[2][:12]
    again = browser.get(f"/traces/list?running={name}", secure=True)
    assert again["HX-Reswap"] == "none" and "<button" not in again.content.decode()
    stopped = browser.post(f"/traces/{name}/stop", secure=True)
    assert stopped["Location"] == f"/traces/{name}"
    page = get(browser, f"/traces/{name}")
    assert "2 of them dropped" in " ".join(page.split())
    assert "&lt;script&gt;alert(1)" in page and EVIL not in page
    assert browser.post(f"/traces/{name}/remove", secure=True)["Location"] == "/traces"


def test_the_command_line_traces(router: RouterInMemory, vpp: _Scripted) -> None:
    agent = router.client
    parties = ["source", "10.10.0.2", "destination", "0.0.0.0/0"]
    started = trace_command(agent, "nina", ["start", "lan0", "packets", "9", "seconds", "60", *parties])
    assert vpp.began[0] == TraceWanted(
        interface="lan0", packets=9, seconds=60, source="10.10.0.2/32", destination="0.0.0.0/0"
    )
    name = started.data["id"]
    assert f"trace stop {name}" in started.shown
    assert "2 packets" in trace_command(agent, "nina", ["stop", name]).shown
    assert name in show_traces(agent, []).shown
    shown = trace_command(agent, "nina", ["show", name]).shown
    assert "1.500000 ip4-drop" in shown and "\x1b" not in shown
    assert trace_command(agent, "nina", ["show", name, "1"]).data["number"] == 1
    trace_command(agent, "nina", ["remove", name])
    for wrong, reason in (
        (["start"], "trace start INTERFACE"),
        (["start", "lan0", "packets", "x"], "whole number"),
        (["start", "lan0", "source", "10.0.0.1/8"], "source: must be an address"),
        (["start", "lan0", "seconds"], "trace start INTERFACE"),
        (["start", "lan0", "packets", "1", "packets", "2"], "packets is given twice"),
    ):
        with pytest.raises(CommandError, match=reason):
            trace_command(agent, "nina", wrong)

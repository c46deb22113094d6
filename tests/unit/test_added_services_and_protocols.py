"""What a feature adds for packets to the router, and a protocol to FRR: a folder, and a line in a list."""

from __future__ import annotations

import json
from pathlib import Path

from tests.unit.test_feature_walls import printed_by

VRRP = {
    "__init__.py": '"""VRRP, and the servers of NTP."""\n',
    "control_plane.py": """
from appliance.config.services import Form, OpenLink, Only, Peer, Ports, Protocols, Service

SERVICES = (
    Service("vrrp", "VRRP", (Protocols((112,)),), links=(Only(ttl=255),)),
    Service("ntp", "NTP", (Ports("udp", (123,), answers=True),), {"server": Form(detail="as a server")}),
)

def opens(config):
    for name, one in config.interfaces.items():
        if name.startswith("wan"):
            yield OpenLink("vrrp", name)
    yield Peer("ntp", "192.0.2.123/32", "server")
""",
}
WITH_VRRP = """
import json, sys
import appliance.features as features
features.__path__.append(sys.argv[1])
from appliance.config.capabilities import Capabilities
from appliance.config.load import parse_document
from appliance.config.validate import check
from appliance.dataplane.control_plane.compile import compile_control_plane
from appliance.dataplane.control_plane.policy import ControlPlane
from appliance.dataplane.control_plane.rules import accepted, changes, chains, dropped, whole_table
from appliance.dataplane.control_plane.rules_read import read
from appliance.dataplane.control_plane.step import describe
from tests.property.test_control_plane import Table

wan = {"type": "ethernet", "match": {"device": "nic0"}, "addresses": ["192.0.2.1/24"]}
forward = {"protocol": "udp", "outside_interface": "wan0", "outside_port": 123, "inside_address": "10.0.0.2",
           "inside_port": 123}
lan = {"type": "ethernet", "match": {"device": "nic1"}, "addresses": ["10.0.0.1/24"]}
nat = {"inside": ["lan0"], "outside": ["wan0"], "masquerade": ["wan0"], "port_forwards": {"time": forward}}
config = parse_document({"interfaces": {"lan0": lan, "wan0": wan}, "nat": nat})
wanted, nothing, table = compile_control_plane(config), ControlPlane(), Table()
table.run(whole_table(nothing))
table.run(changes(nothing, wanted))
print(json.dumps({
    "found": read(table.listing()).control_plane == wanted,
    "step": describe(nothing, wanted),
    "back": describe(wanted, nothing),
    "reasons": [reasons()[:5] for reasons in (accepted, dropped)],
    "links": table.members["accepted-vrrp"],
    "peers": table.members["ntp-ipv4-server"],
    "rules": {name: chains(wanted)[name] for name in ("vrrp", "ntp")},
    "ways": [rule["expr"] for rule in table.rules["protect"] if rule["expr"][-1] in
             ({"goto": {"target": "vrrp"}}, {"goto": {"target": "ntp"}})],
    "refused": [[one.pointer, one.message] for one in check(config, Capabilities("linux"))],
}))
"""


def _match(left: dict[str, object], right: object) -> dict[str, object]:
    return {"match": {"op": "==", "left": left, "right": right}}


def _field(protocol: str, field: str) -> dict[str, object]:
    return {"payload": {"protocol": protocol, "field": field}}


def test_a_service_of_the_router_is_added_by_a_folder_and_one_line(tmp_path: Path) -> None:
    folder = tmp_path / "vrrp"
    folder.mkdir()
    for name, text in VRRP.items():
        (folder / name).write_text(text)
    seen = json.loads(printed_by(WITH_VRRP, str(tmp_path)))
    assert seen["found"]
    assert seen["step"] == ": open VRRP on wan0; open NTP from 192.0.2.123 as a server"
    assert seen["back"] == ": close VRRP on wan0; close NTP from 192.0.2.123 as a server"
    assert seen["reasons"] == [["bgp", "ospf", "tunnel", "vrrp", "bfd"]] * 2
    assert (seen["links"], len(seen["peers"])) == (["wan0"], 1)

    def accepted(reason: str) -> list[dict[str, object]]:
        return [_match({"meta": {"key": "iifname"}}, f"@accepted-{reason}"), {"accept": None}]

    def refused(reason: str) -> list[list[dict[str, object]]]:
        return [
            [_match({"meta": {"key": "iifname"}}, f"@dropped-{reason}"), {"drop": None}],
            [{"drop": None}],
        ]

    assert seen["rules"]["vrrp"] == [
        [_match(_field("ip", "ttl"), 255), *accepted("vrrp")],
        [_match(_field("ip6", "hoplimit"), 255), *accepted("vrrp")],
        *refused("vrrp"),
    ]
    assert seen["rules"]["ntp"] == [
        [_match(_field("ip", "saddr"), "@ntp-ipv4-server"), *accepted("ntp")],
        *refused("ntp"),
    ]
    assert seen["ways"] == [
        [_match({"meta": {"key": "l4proto"}}, 112), {"goto": {"target": "vrrp"}}],
        [_match(_field("udp", "dport"), 123), {"goto": {"target": "ntp"}}],
        [_match(_field("udp", "sport"), 123), {"goto": {"target": "ntp"}}],
    ]
    message = "the router itself answers udp port 123 of 192.0.2.1: NTP"
    assert seen["refused"] == [["/nat/port_forwards/time/outside_port", message]]


WITH_LDP = """
import json, sys
from importlib import reload
import frr_config
from frr_config import protocols
from frr_config.line import Line
from frr_config.syntax import ANY, Form, Kind, Opener, Protocol, Section, by_name

LDP = Kind("ldp", title=lambda _: "LDP", path=lambda _: "/routing/ldp")
def ldpd(version):
    return frozenset({"ldpd"})

def lines(wanted):
    if wanted.routing.ldp:
        yield Line(("mpls ldp",), f"router-id {wanted.routing.ldp}")

PROTOCOL = Protocol(
    "ldp",
    kinds=(LDP,),
    sections=(Section("mpls ldp", (Form("router-id", setting=by_name), ANY), ldpd, LDP),),
    places={110: ("mpls ldp",)},
    openers=(Opener("mpls ldp", empty=True),),
    lines=lines,
    daemons=("ldpd",),
)
protocols.PROTOCOLS += (PROTOCOL,)
for name in ("tables", "layout", "ordering", "config", "parsing", "planning", "rendering"):
    reload(sys.modules[f"frr_config.{name}"])
from frr_config.parsing import parse
from frr_config.planning import plan
from frr_config.rendering import render
from frr_config.routing import Routing
from frr_config.tables import required_daemons
from frr_config.version import V8_4

class WithLdp(Routing):
    ldp: str | None = None

without, wanted = (render(WithLdp(ldp=one), V8_4) for one in (None, "192.0.2.1"))
print(json.dumps({
    "text": wanted.text().splitlines()[4:],
    "read": parse(wanted.text() + "mpls ldp\\nexit\\n", V8_4) == wanted,
    "plan": [[step.summary, *(one.to_json() for one in step.do)] for step in plan(wanted, without)],
    "daemons": required_daemons(V8_4)[-1],
}))
"""


def test_a_protocol_is_added_by_a_folder_one_line_and_its_field() -> None:
    seen = json.loads(printed_by(WITH_LDP))
    assert seen["text"] == ["mpls ldp", " router-id 192.0.2.1", "exit", "!", "end"]
    assert seen["read"]
    line = {"daemons": ["ldpd"], "context": ["mpls ldp"], "text": "router-id 192.0.2.1", "mode": "configure"}
    assert seen["plan"] == [["add LDP", line]]
    assert seen["daemons"] == "ldpd"

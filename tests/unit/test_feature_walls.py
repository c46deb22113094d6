"""A feature is a folder, and the machinery does not know its name."""

from __future__ import annotations

import ast
import json
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from appliance.features.registry import names, parts
from tests.feature_files import ROOT, WORDS, naming

SOURCE = ROOT / "appliance" / "src" / "appliance"
FILES = {"__init__", "model", "checks", "vpp", "linux", "control_plane", "impact", "health"}
"""What a file of a feature may be called; a further one is private to its feature."""
MACHINERY = (
    "compile.py",
    "config/*.py",
    "dataplane/*.py",
    "dataplane/control_plane/*.py",
    "dataplane/linux/*.py",
    "dataplane/vpp/*.py",
    "features/registry.py",
)
NAMES_ITS_FEATURES: dict[str, str] = {
    "config/document.py": "it is the list of the document's sections",
    "dataplane/vpp/sizing.py": "sizes VPP by the data plane's own settings",
}
"""Machinery that imports a feature, and why. Nothing is added here for a new feature."""
OTHER_MEANINGS = {"config/ip_protocols.py": "gre", "dataplane/nics.py": "ipip"}
"""Words of machinery that are no kind of interface: the number of a protocol and a link of the kernel have
the same names.
"""
MOST_FILES = {
    "ethernet": 25,
    "bond": 11,
    "gre": 7,
    "ipip": 6,
    "sub_interface": 14,
    "loopback": 7,
    "memif": 8,
    "acl": 48,
    "dhcp_relay": 5,
    "nat": 19,
    "bgp": 68,
    "ospf": 44,
    "vrf": 183,
    "bfd": 7,
}
"""How many product files outside its folders name a feature. May shrink; may not grow.

BFD watches neighbors of BGP and OSPF, so its folders and page name them; they do not name BFD.
After a commit, `routing/reopening.py` sets up sessions of BGP that a limit had closed. VPP's NAT
drops what OSPF and eBGP send: NAT's checks name them.
A VRF is a part of every protocol's lines in FRR, and checks are given the document as one VRF sees it; VPP's
library had tables before the product had VRFs (ADR 38). A VRF is also a part of the question to every view,
tool and action that is about one: whatever answers passes it on, and says in its words which one it was.
Pages ask for one VRF and carry its name in their addresses and forms.
Routes of a neighbor and the link state database are a part of the state each, with words of their own on
the command line and pages made by hand. Lists of the feeder's have FRR's words for its protocols, and some
prefixes of BGP's stand for a table too long to be judged whole.
A DHCP relay is that of one VRF and asks in one.
The state of an object says which VRF it is of, and its alarm names it.
The clauses of route maps are one table for all daemons that evaluate them. FRR's words after a next hop, as
`bfd` and `vrf`, are no names of interfaces.
A search of BGP's routes is a part of the state, a page and a command. Its index is known to boot and logs."""

NAMELESS = (
    "appliance/src/appliance/config/services.py",
    "appliance/src/appliance/dataplane/control_plane/*.py",
    *(
        f"frr/src/frr_config/{name}.py"
        for name in (
            "bulk",
            "config",
            "layout",
            "line",
            "ordering",
            "parsing",
            "planning",
            "rendering",
            "tables",
            "transition",
        )
    ),
)
"""Files that do what features declare, and name none of them: neither as words nor in examples."""
PASSED_ON = {"vrf"}
"""What others pass on without knowing more of it."""


def _imports(tree: ast.AST) -> Iterator[str]:
    for node in ast.walk(tree):
        if isinstance(node, ast.ImportFrom) and node.module is not None:
            yield node.module
        elif isinstance(node, ast.Import):
            yield from (alias.name for alias in node.names)


def test_machinery_imports_no_feature_and_asks_for_no_kind_of_interface() -> None:
    kinds = {
        json.dumps(module.KIND.model_fields["type"].annotation.__args__[0])
        for module in parts("model")
        if hasattr(module, "KIND")
    }
    assert {'"ethernet"', '"loopback"', '"sub_interface"'} <= kinds
    found: dict[str, list[str]] = {}
    for path in sorted(path for pattern in MACHINERY for path in SOURCE.glob(pattern)):
        tree = ast.parse(path.read_text())
        said = [
            name
            for name in _imports(tree)
            if name.startswith("appliance.features.") and "registry" not in name
        ]
        said += [
            str(node.value)
            for node in ast.walk(tree)
            if isinstance(node, ast.Constant)
            and json.dumps(str(node.value)) in kinds
            and node.value != OTHER_MEANINGS.get(str(path.relative_to(SOURCE)))
        ]
        if said:
            found[str(path.relative_to(SOURCE))] = said
    assert {path: said for path, said in found.items() if path not in NAMES_ITS_FEATURES} == {}
    assert NAMES_ITS_FEATURES.keys() - found.keys() == set(), "these exceptions are no longer needed"


@pytest.mark.parametrize("feature", WORDS)
def test_no_more_files_name_a_feature(feature: str) -> None:
    files = naming(feature)
    assert len(files) <= MOST_FILES[feature], (
        f"{len(files)} product files name {feature}, and {MOST_FILES[feature]} did:\n  "
        + "\n  ".join(files)
        + "\nKnowledge of one feature belongs into its folder (docs/adding-a-feature.md)."
    )


@pytest.mark.parametrize("feature", sorted(WORDS.keys() - PASSED_ON))
def test_what_does_as_features_declare_names_none(feature: str) -> None:
    found = {pattern: [str(path.relative_to(ROOT)) for path in ROOT.glob(pattern)] for pattern in NAMELESS}
    assert all(found.values())
    nameless = {path for paths in found.values() for path in paths}
    assert nameless & set(naming(feature)) == set()


def test_each_folder_of_a_feature_is_found_and_holds_files_of_the_same_names() -> None:
    assert {"bond", "gre", "nat", "bfd"} <= {*names()}
    for feature in names():
        assert FILES & {path.stem for path in (SOURCE / "features" / feature).glob("*.py")} > {"__init__"}


def printed_by(program: str, *arguments: str) -> str:
    """What a program of its own prints, which may add features to those there are."""
    done = subprocess.run(
        [sys.executable, "-c", program, *arguments],
        capture_output=True,
        text=True,
        timeout=60,
        check=False,
        cwd=ROOT,
    )
    assert done.returncode == 0, done.stderr
    return done.stdout


LOADED = """
import json, sys
from appliance.config import references, schema, validate
from appliance.config.services import services
schema.json_schema()
services()
plain = sorted(name for name in sys.modules if name.partition(".")[0] in {"vpp_config", "pyroute2"}
               or name.startswith(("appliance.dataplane", "appliance.engine")))
from appliance.config.document import RouterConfig
from appliance.dataplane.linux.compile import compile_linux
compile_linux(RouterConfig(), {})
print(json.dumps([plain, sorted(name for name in sys.modules if name.startswith("vpp_config"))]))
"""


def test_the_document_loads_no_data_plane_and_the_linux_data_plane_loads_nothing_of_vpp() -> None:
    assert json.loads(printed_by(LOADED)) == [[], []]


TUNNEL = {
    "__init__.py": '"""A tunnel."""\n',
    "model.py": """
from typing import Annotated, Literal
from appliance.features.interface.model import LinkSettings
from frr_config.references import InterfaceReference
from frr_config.types import Address

class Tunnel(LinkSettings):
    takes_vlans = True
    type: Literal["tunnel"]
    over: InterfaceReference
    remote: Address

    @property
    def carrier(self) -> str:
        return self.over

KIND = Tunnel
""",
    "checks.py": """
from appliance.errors import Problem
from appliance.features.tunnel.model import Tunnel

def check(context):
    for name, tunnel in context.config.interfaces_of(Tunnel):
        if tunnel.remote.startswith("127."):
            yield Problem(f"/interfaces/{name}/remote", "is this router")
""",
    "linux.py": """
from appliance.dataplane.kernel_need import KernelNeed
from appliance.dataplane.linux.objects import LoopbackLink
from appliance.features.tunnel.model import Tunnel

NEEDS = (KernelNeed("tunnel", "gre", "this machine's kernel has no GRE, so there are no tunnels"),)

def objects(wanted):
    for name, tunnel in wanted.config.interfaces_of(Tunnel):
        yield LoopbackLink(name, tunnel.mtu, tunnel.enabled)
""",
    "vpp.py": """
import vpp_config as vpp
from appliance.features.tunnel.model import Tunnel

PATHS = {"tunnel": lambda name: "/interfaces/" + name}

def objects(wanted):
    for name, tunnel in wanted.config.interfaces_of(Tunnel):
        yield vpp.Loopback(name, 77, mtu=tunnel.mtu, enabled=tunnel.enabled)
""",
}
WITH_A_TUNNEL = """
import json, sys
import appliance.features as features
features.__path__.append(sys.argv[1])
from appliance.config import schema
from appliance.config.capabilities import Capabilities
from appliance.config.load import parse_document
from appliance.config.references import used_by
from appliance.config.validate import check
from appliance.dataplane.context import CompileContext
from appliance.dataplane.kernel_need import lacking
from appliance.dataplane.linux.compile import compile_linux
from appliance.dataplane.vpp.compile import compile_vpp
from appliance.features.registry import declared

lo = {"type": "loopback", "addresses": ["192.0.2.1/32"]}
def document(**tunnel):
    vlan = {"type": "sub_interface", "parent": "tun0", "vlan_id": 7}
    return parse_document({"interfaces": {"lo1": lo, "tun0.7": vlan, "tun0": {"type": "tunnel", **tunnel}}})

good = document(over="lo1", remote="192.0.2.9", addresses=["198.51.100.1/30"])
bad = document(over="gone", remote="127.0.0.1")
lacks = lacking(declared("linux", "NEEDS"), lambda link: link == "vlan")
linux = Capabilities("linux", lacking=lacks)
on_vpp = compile_vpp(good, {}, CompileContext())
print(json.dumps({
    "kinds": schema.at("/interfaces/new/type")["enum"],
    "good": [problem.pointer for problem in check(good, Capabilities("vpp"))],
    "bad": [[problem.pointer, problem.message] for problem in check(bad, Capabilities("vpp"))],
    "refused": [[problem.pointer, problem.message] for problem in check(good, linux)],
    "uses": [use.pointer for use in used_by(good, "/interfaces/lo1")],
    "linux": sorted(key for key in compile_linux(good, {}) if "tun0" in key),
    "vpp": sorted(key for item in on_vpp.objects.values() if "tun0" in (key := item.key)),
}))
"""


def test_a_kind_of_interface_is_added_by_a_folder(tmp_path: Path) -> None:
    folder = tmp_path / "tunnel"
    folder.mkdir()
    for name, text in TUNNEL.items():
        (folder / name).write_text(text)
    seen = json.loads(printed_by(WITH_A_TUNNEL, str(tmp_path)))
    assert seen["kinds"] == [
        "bond",
        "ethernet",
        "gre",
        "ipip",
        "loopback",
        "memif",
        "sub_interface",
        "tunnel",
    ]
    assert seen["good"] == []
    assert seen["bad"] == [
        ["/interfaces/tun0/over", "there is no interface gone"],
        ["/interfaces/tun0/remote", "is this router"],
    ]
    assert seen["refused"] == [
        ["/interfaces/tun0/type", "this machine's kernel has no GRE, so there are no tunnels"]
    ]
    assert seen["uses"] == ["/interfaces/tun0/over"]
    assert seen["linux"] == ["address/tun0/198.51.100.1/30", "interface/tun0", "interface/tun0.7"]
    assert seen["vpp"] == [
        "address/tun0/198.51.100.1/30",
        "lcp_pair/tun0",
        "lcp_pair/tun0.7",
        "loopback/tun0",
        "sub_interface/tun0.7",
    ]

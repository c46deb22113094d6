"""What a feature edits is what has to be undone to take it out: lines of lists, at most three of them.

Bonds, GRE tunnels, NAT, DHCP relay and BFD are taken out of a copy of the product, which then builds without
them.
"""

from __future__ import annotations

import json
import re
from pathlib import Path

import pytest

from tests.feature_files import WORDS
from tests.taken_out.tree import built, copy_without, documents, parts_of

_APPLIANCE, _FRR, _WEB = "appliance/src/appliance", "frr/src/frr_config", "webui/src/webui"
DOCUMENT = f"{_APPLIANCE}/config/document.py"
ON_LINUX = f"{_APPLIANCE}/dataplane/linux/objects/__init__.py"
ON_VPP = "vpp-config/src/vpp_config/objects/__init__.py"
PROTOCOLS = f"{_FRR}/protocols/__init__.py"
AUGMENTS = f"{_FRR}/protocols/augments.py"
ROUTING = f"{_FRR}/routing.py"

EDITS = {
    "bond": {ON_LINUX: 1, ON_VPP: 1},
    "gre": {ON_LINUX: 1, ON_VPP: 1},
    "ipip": {ON_LINUX: 1, ON_VPP: 1},
    "nat": {ON_LINUX: 1, ON_VPP: 1, DOCUMENT: 3},
    "dhcp_relay": {ON_VPP: 1, DOCUMENT: 3},
    "bfd": {PROTOCOLS: 2, AUGMENTS: 2, ROUTING: 3},
}
"""Lines of a feature in files that are not its own. A section of the document is one field there: its import,
its line and its description. A protocol of FRR is imported and listed."""
MOST_LISTS = 3

FACTS = {
    "bond": {
        f"{_APPLIANCE}/dataplane/link_list.py": "the kernel's word for what knows a NIC's own address",
        f"{_APPLIANCE}/dataplane/nics.py": "an example of what holds a NIC",
    },
    "gre": {
        f"{_APPLIANCE}/config/ip_protocols.py": "a protocol of IP that an access list can match",
        f"{_WEB}/ui/tables/listing.py": "an example of a word in capitals",
    },
    "ipip": {f"{_APPLIANCE}/dataplane/nics.py": "a link of the kernel that is no NIC"},
    "nat": {},
    "dhcp_relay": {},
    "bfd": {
        f"{_APPLIANCE}/features/interface/checks.py": "a word of FRR's that is no name of an interface",
        f"{_FRR}/protocols/static/names.py": "the same",
    },
}
"""Files that name the word and stay as they are without the feature: facts of Linux and of IANA, examples."""

KINDS = ("bond", "ethernet", "gre", "ipip", "loopback", "memif", "sub_interface")
NO_SECTION = "there is no such setting here"
REFUSED = {
    "bond": ["/interfaces/bond0/type"],
    "gre": ["/interfaces/gre1/type"],
    "ipip": ["/interfaces/ipip1/type"],
    "nat": ["/nat"],
    "dhcp_relay": ["/dhcp_relays"],
    "bfd": [
        "/routing/bfd",
        "/routing/bgp/neighbors/192.0.2.1/bfd_profile",
        "/routing/ospf/interfaces/wan0.100/bfd_profile",
        "/routing/static/203.0.113.0~124/next_hops/0/bfd_profile",
    ],
}
"""Where a document that has the feature is refused without it."""


@pytest.mark.parametrize("feature", EDITS)
def test_a_feature_is_lines_of_at_most_three_lists(feature: str) -> None:
    lines = parts_of(feature).lines
    edited = {path: len(found) for path, found in lines.items() if path not in FACTS[feature]}
    assert edited == EDITS[feature], {path: lines[path] for path in edited}
    assert len(edited) <= MOST_LISTS
    assert FACTS[feature].keys() <= lines.keys(), "these files no longer name it"


@pytest.mark.parametrize("feature", EDITS)
def test_the_product_builds_without_the_feature(feature: str, tmp_path: Path) -> None:
    parts = parts_of(feature)
    copy_without(feature, parts.own, parts.lines.keys() - FACTS[feature].keys(), tmp_path)
    told = built(tmp_path, documents(feature))
    assert told.pop("failures") == []
    assert told.pop("from elsewhere") == [], "this was not the copy"

    kinds = [kind for kind in KINDS if kind != feature]
    unknown = f"must be one of {', '.join(map(repr, kinds))}"
    reason = unknown if feature in KINDS else NO_SECTION
    assert sorted(told.pop("refused")) == [[path, reason] for path in REFUSED[feature]]

    assert told["schema"]["kinds"] == kinds
    assert {"interfaces", "routing", "acls"} <= {*told["schema"]["sections"]}
    assert told["web"]["check"] == []
    assert "/interfaces" in told["web"]["menu"]
    left = re.findall(rf".{{0,40}}(?:{WORDS[feature]}).{{0,40}}", json.dumps(told))
    assert left == [], "the product still offers it"


def test_the_product_with_all_features_is_what_they_are_taken_out_of(tmp_path: Path) -> None:
    """So an absence above is the feature's."""
    copy_without("nat", (), (), tmp_path)
    having = documents("nat")["having"]
    told = built(tmp_path, {"having": having, "without": having})
    assert (told["failures"], told["from elsewhere"], told["refused"]) == ([], [], [])
    assert told["schema"]["kinds"] == [*KINDS]
    assert all(known["without"] != known["having"] for known in map(documents, EDITS))
    assert {"/api/v1/config/nat", "/api/v1/state/bonds"} <= {*told["web"]["operations"]}
    assert "/nat" in told["web"]["menu"]

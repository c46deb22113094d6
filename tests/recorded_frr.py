"""An FRR in memory that answers as a real one was seen to: ``tests/recorded/*.json``, by daemon and command.

``python -m tests.integration.frr.test_neighbor_routes`` records anew, with FRR and BIRD on this machine.
"""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from frr_config import FakeFrr

PEER = "10.9.0.2"
ROUTING: dict[str, Any] = {
    "static": {"198.18.0.0/24": {"blackhole": True}},
    "policy": {
        "prefix_lists": {
            "no-private": {
                "rules": {
                    "10": {"action": "deny", "prefix": "10.0.0.0/8", "le": 32},
                    "20": {"action": "permit", "prefix": "0.0.0.0/0", "le": 32},
                }
            },
            "all-but-112": {
                "rules": {
                    "5": {"action": "deny", "prefix": "203.0.112.0/24"},
                    "10": {"action": "permit", "prefix": "0.0.0.0/0", "le": 32},
                }
            },
        },
        "community_lists": {"drop": {"rules": {"10": {"action": "permit", "communities": ["blackhole"]}}}},
        "route_maps": {
            "in": {
                "rules": {
                    "10": {
                        "action": "permit",
                        "match": {"community_list": "drop"},
                        "set": {"local_preference": 50, "communities": ["65000:666"]},
                    },
                    "20": {"action": "permit", "set": {"local_preference": 150}},
                }
            },
            "out": {"rules": {"10": {"action": "permit", "set": {"metric": 7, "as_path_prepend": [65000]}}}},
        },
    },
    "bgp": {
        "asn": 65000,
        "router_id": "10.255.0.1",
        "neighbors": {
            PEER: {
                "remote_asn": 65001,
                "connect_retry_s": 1,
                "ipv4_unicast": {
                    "prefix_list_in": "no-private",
                    "route_map_in": "in",
                    "prefix_list_out": "all-but-112",
                    "route_map_out": "out",
                    "soft_reconfiguration_inbound": True,
                },
            },
            "10.9.0.3": {"remote_asn": 65002, "enabled": False, "ipv4_unicast": {}},
        },
        "ipv4_unicast": {"redistribute": {"static": {}}},
    },
    "ospf": {
        "router_id": "10.255.0.1",
        "interfaces": {
            "d1": {
                "area": "0",
                "network_type": "point-to-point",
                "hello_interval_s": 1,
                "dead_interval_s": 4,
            },
            "d2": {"area": "0.0.0.7"},
        },
    },
}
"""What the FRR that was recorded ran."""
_DIRECTORY = Path(__file__).parent / "recorded"


class RecordedFrr(FakeFrr):
    """Answers from the recording, and records the questions."""

    def __init__(self, name: str) -> None:
        super().__init__()
        self.answers: dict[str, str] = json.loads((_DIRECTORY / f"{name}.json").read_text())
        self.asked: list[str] = []

    def show(self, daemon: str, command: str) -> str:
        """The recorded answer; that of daemons without any state to every other command."""
        self.asked.append(command)
        return self.answers.get(f"{daemon}: {command}") or super().show(daemon, command)


def record(name: str, answers: dict[str, str]) -> None:
    """Keep answers for ``RecordedFrr``."""
    (_DIRECTORY / f"{name}.json").write_text(json.dumps(answers, indent=1, sort_keys=True) + "\n")

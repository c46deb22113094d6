"""The agent of the lab's router: its settings, its process, and the first commit."""

import json
import sys
from dataclasses import asdict
from typing import Any

from lab import bgp_index, frr_daemons, memif_traffic, vpp_process
from lab.layout import REPOSITORY, Layout
from lab.namespaces import Dataplane, Namespaces
from lab.supervision import Program
from tests.lab_support.shifted_clock import ShiftedClock

_PRIORITY = 50


def write_settings(
    layout: Layout,
    names: Namespaces,
    dataplane: Dataplane,
    allowed_uids: tuple[int, ...],
) -> None:
    """Write the agent's settings file."""
    settings: dict[str, Any] = {
        "socket": str(layout.agent_socket),
        "state_dir": str(layout.agent_state),
        "dataplane": dataplane,
        "netns": names.router,
        "nic_netns": names.nic,
        "frr_vty_dir": str(frr_daemons.vty_dir(names.router)),
        "frr_config_dir": str(layout.frr_config),
        "host_root": str(layout.host_root),
        "allowed_uids": sorted(set(allowed_uids)),
        # The owner of the checkout has started this lab as root.
        "folder_owners": sorted(
            {place.stat().st_uid for place in (layout.directory, layout.directory.parent)}
        ),
        "certificate": str(layout.certificate),
        "logs": {"type": "files", "folder": str(layout.log)},
        "service_manager": {"type": "supervisor", "socket": str(layout.supervisor_socket)},
    }
    if dataplane == "vpp":
        settings |= {
            "vpp_api_socket": str(layout.vpp("api.sock")),
            "vpp_stats_socket": str(layout.vpp("stats.sock")),
            "vpp_startup_conf": str(layout.vpp("startup.conf")),
            "feeder_socket": str(layout.feeder_socket),
            "bench_generator": str(memif_traffic.build(layout.bin)),
            "machine": asdict(vpp_process.machine()),
        }
    if bgp_index.lacking() is None:
        settings["bgp_index_socket"] = str(layout.bgp_index_socket)
    layout.agent_config.write_text(json.dumps(settings, indent=1) + "\n")


def program(layout: Layout) -> Program:
    """The agent; it uses a test's clock where a test prepared one."""
    return Program(
        "agent",
        [sys.executable, "-m", "appliance.agent", "--config", str(layout.agent_config)],
        environment=ShiftedClock(layout.directory).environment(),
        priority=_PRIORITY,
        directory=REPOSITORY,
        stop_s=20,
    )

"""The agent's settings on the appliance. Pure."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Literal

from appliance.agent.settings import AgentSettings, MachineSettings, SystemdSettings
from appliance.dataplane.machine import Machine
from appliance.platform.paths import AGENT_STATE, SOCKET, SOCKET_GROUP, STARTUP_FILE


def settings(
    dataplane: Literal["vpp", "linux"],
    netns: str,
    machine: Machine,
    management: frozenset[str],
    allowed_uids: frozenset[int],
    nic_inventory: Path,
    *,
    dpdk: bool,
) -> AgentSettings:
    """The agent of this machine. Its NICs are in the host's own namespace."""
    vpp = dataplane == "vpp"
    return AgentSettings(
        socket=SOCKET,
        socket_group=SOCKET_GROUP,
        state_dir=AGENT_STATE,
        dataplane=dataplane,
        netns=netns,
        nic_netns=None,
        vpp_api_socket=Path("/run/vpp/api.sock") if vpp else None,
        vpp_stats_socket=Path("/run/vpp/stats.sock") if vpp else None,
        vpp_startup_conf=STARTUP_FILE if vpp else None,
        machine=MachineSettings(
            cpus=machine.cpus, memory_mb=machine.memory_mb, numa_nodes=machine.numa_nodes
        ),
        dpdk=dpdk,
        nic_inventory=nic_inventory,
        frr_vty_dir=Path("/run/frr") / netns,
        frr_config_dir=Path("/etc/frr") / netns,
        allowed_uids=allowed_uids,
        management=management,
        service_manager=SystemdSettings(type="systemd"),
    )


def render(agent: AgentSettings) -> str:
    """The file's text."""
    values = agent.model_dump(mode="json", exclude_none=True)
    for name in ("allowed_uids", "management"):
        values[name] = sorted(values[name])
    return json.dumps(values, indent=1) + "\n"

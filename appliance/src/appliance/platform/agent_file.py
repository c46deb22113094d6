"""The agent's settings on the appliance. Pure."""

from __future__ import annotations

import json
from dataclasses import asdict
from pathlib import Path
from typing import Literal

from appliance.agent.settings import AgentSettings, JournalSettings, MachineSettings, SystemdSettings
from appliance.dataplane.machine import Machine
from appliance.firstboot.layout import Layout
from appliance.platform import bgp_index, route_carrier
from appliance.platform.paths import AGENT_STATE, SOCKET, SOCKET_GROUP, STARTUP_FILE


def settings(
    dataplane: Literal["vpp", "linux"],
    netns: str,
    machine: Machine | None,
    management: frozenset[str],
    allowed_uids: frozenset[int],
    nic_inventory: Path,
    *,
    dpdk: bool,
) -> AgentSettings:
    """The agent of this machine. Its NICs are in the host's own namespace.

    Without a ``machine`` the agent neither compares VPP's startup file with the document nor writes it.
    """
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
        vpp_startup_conf=STARTUP_FILE if vpp and machine is not None else None,
        feeder_socket=route_carrier.FEEDER_SOCKET if vpp else None,
        bgp_index_socket=bgp_index.SOCKET,
        machine=MachineSettings(**asdict(machine)) if machine is not None else None,
        dpdk=dpdk,
        nic_inventory=nic_inventory,
        frr_vty_dir=Path("/run/frr") / netns,
        frr_config_dir=Path("/etc/frr") / netns,
        allowed_uids=allowed_uids,
        management=management,
        service_manager=SystemdSettings(type="systemd"),
        certificate=Layout().certificate,
        logs=JournalSettings(type="journal"),
    )


def render(agent: AgentSettings) -> str:
    """The file's text."""
    values = agent.model_dump(mode="json", exclude_none=True)
    for name in ("allowed_uids", "management"):
        values[name] = sorted(values[name])
    return json.dumps(values, indent=1) + "\n"

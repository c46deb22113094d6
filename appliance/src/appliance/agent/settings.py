"""The agent's own settings: where things are on this machine. Not part of the document."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Annotated, Literal, Self

from pydantic import BaseModel, ConfigDict, Field, StringConstraints, ValidationError, model_validator

from appliance.errors import Problem, ValidationFailed

NamespaceName = Annotated[str, StringConstraints(pattern=r"^[A-Za-z0-9][A-Za-z0-9_.-]{0,63}$")]


class _Settings(BaseModel):
    model_config = ConfigDict(frozen=True, extra="forbid")


class SupervisorSettings(_Settings):
    """Processes run under supervisor."""

    type: Literal["supervisor"]
    socket: Path


class SystemdSettings(_Settings):
    """Processes run under systemd."""

    type: Literal["systemd"]


class LogFilesSettings(_Settings):
    """Programs log to files, ``NAME.log`` in a folder."""

    type: Literal["files"]
    folder: Path


class JournalSettings(_Settings):
    """Programs log to journald."""

    type: Literal["journal"]
    namespace: str | None = None
    """Of journald; None is the system's own."""


class MachineSettings(_Settings):
    """Size of the machine."""

    cpus: int = Field(ge=1, le=4096)
    memory_mb: int = Field(ge=1)
    numa_nodes: int = Field(default=1, ge=1, le=64)
    shared: bool = False
    """Whether others use it too, as in a lab: then only the room for routes follows from it."""


class AgentSettings(_Settings):
    """Contents of the file given by ``--config``, JSON."""

    socket: Path
    """Unix socket to listen on."""
    state_dir: Path
    """Revisions, journal, key: the agent's alone."""
    dataplane: Literal["vpp", "linux"]
    netns: NamespaceName = "dataplane"
    """Network namespace of FRR and the mirrors."""
    nic_netns: NamespaceName | None = None
    """Network namespace in which the NICs are found; None is the agent's own."""
    vpp_api_socket: Path | None = None
    vpp_stats_socket: Path | None = None
    vpp_startup_conf: Path | None = None
    feeder_socket: Path | None = None
    """Status socket of the FIB feeder, which carries the routes into VPP. None: nothing carries them."""
    bgp_index_socket: Path | None = None
    """Socket of the index of BGP routes; bgpd then runs with its module bgpd_bmp. None: there is no index."""
    bench_generator: Path = Path("/usr/lib/millrace/bench-generator")
    """The program that sends and counts the packets of a bench."""
    machine: MachineSettings | None = None
    """What VPP is sized by where the document leaves it open; None is a size of no machine's."""
    dpdk: bool = True
    """Whether this VPP has the DPDK plugin."""
    nic_inventory: Path | None = None
    """What the boot found out about the NICs; None where only the kernel is asked."""
    frr_vty_dir: Path = Path("/var/run/frr/dataplane")
    frr_config_dir: Path = Path("/etc/frr/dataplane")
    host_root: Path = Path("/")
    """Directory below which the host's files are written."""
    allowed_uids: frozenset[int] = frozenset()
    """Who may use the socket besides root."""
    socket_group: str | None = None
    """Group of the socket; by default the primary group of the first of ``allowed_uids`` that is not root."""
    folder_owners: frozenset[int] = frozenset()
    """Users besides root who may own folders above what the agent writes; none on a router."""
    management: frozenset[str] = frozenset()
    """Network devices that are never data interfaces."""
    service_manager: Annotated[SupervisorSettings | SystemdSettings, Field(discriminator="type")] | None = (
        None
    )
    certificate: Path | None = None
    """Of the web page, PEM; None: its validity is not watched."""
    logs: Annotated[LogFilesSettings | JournalSettings, Field(discriminator="type")] | None = None
    """Where the router's programs log; None: their logs are not shown."""
    reconcile_interval_s: float = Field(default=3.0, gt=0, le=3600)
    settle_s: float = Field(default=5.0, gt=0, le=60)
    """How long the router may take to show what it was told."""

    @model_validator(mode="after")
    def _vpp_has_sockets(self) -> Self:
        if self.dataplane == "vpp" and (self.vpp_api_socket is None or self.vpp_stats_socket is None):
            raise ValueError("the vpp data plane needs vpp_api_socket and vpp_stats_socket")
        if self.dataplane != "vpp" and self.feeder_socket is not None:
            raise ValueError("feeder_socket is only for the vpp data plane")
        return self


def load(path: Path) -> AgentSettings:
    """The settings in a file. Raises ValidationFailed, or OSError."""
    try:
        return AgentSettings.model_validate(json.loads(path.read_bytes()))
    except json.JSONDecodeError as error:
        raise ValidationFailed([Problem("", f"{path} is not JSON: {error}")]) from None
    except ValidationError as error:
        problems = [
            Problem("".join(f"/{part}" for part in entry["loc"]), entry["msg"]) for entry in error.errors()
        ]
        raise ValidationFailed(problems) from None

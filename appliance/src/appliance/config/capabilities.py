"""The capabilities of a data plane, for validation."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict, dataclass, field
from typing import Any, Literal


@dataclass(frozen=True)
class Capabilities:
    """Features and limits of the data plane that runs. The defaults limit nothing."""

    driver: Literal["vpp", "linux"]
    lacking: Mapping[str, str] = field(default_factory=dict, hash=False)
    """What this machine does not support: kinds of interfaces, and other words of features, each with the
    reason, a sentence."""
    nic_drivers: tuple[str, ...] = ("auto", "native", "dpdk", "af_packet")
    """Values of an ethernet interface's ``driver`` that work."""
    max_mtu: int = 9216
    max_interfaces: int = 4096
    max_acl_rules: int = 65535
    """Rules of all access lists together."""
    max_reflecting_interfaces: int | None = None
    """Interfaces that may have an access list with permit_reflect; None means all."""
    max_static_routes: int = 100_000
    max_workers: int = 64
    packet_buffers: int | None = None
    """VPP's buffers on each NUMA node, if the document does not set them; None: the machine is unknown."""
    workers: int = 0
    """Workers of VPP, if the document sets none."""
    main_heap_mb: int | None = None
    """The heap of VPP, if the document sets nothing of it; None: there is no VPP heap, or a startup file that
    is not ours sizes it."""
    standard_heap_mb: int | None = None
    """The same with ``route_scale: standard``, and with ``auto`` where ``stats_segment_mb`` is set."""
    full_tables_heap_mb: int | None = None
    """The same with ``route_scale: full_tables``."""
    frr: str = ""
    """The release of FRR that runs, such as ``8.4``; empty while it is unknown."""

    def to_json(self) -> dict[str, Any]:
        """The form in the agent's status."""
        return asdict(self)

    @classmethod
    def from_json(cls, data: dict[str, Any]) -> Capabilities:
        """The inverse of ``to_json``; keys of a newer agent are left out."""
        known = {key: value for key, value in data.items() if key in cls.__dataclass_fields__}
        if isinstance(known.get("nic_drivers"), list):
            known["nic_drivers"] = tuple(known["nic_drivers"])
        return cls(**known)

"""A NIC of the machine, and the one that an interface means. Pure."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

from appliance.config.document import RouterConfig
from appliance.config.nic_match import NicMatch
from appliance.errors import Problem, ValidationFailed


@dataclass(frozen=True)
class Nic:
    """A network device that an interface can use."""

    device: str
    """Its own name, before this router renamed it."""
    mac: str
    """Its permanent address, small letters."""
    pci: str | None = None
    """Its address on the PCI bus."""
    kind: str | None = None
    """``veth`` and the like; None for hardware."""
    pci_id: str | None = None
    """Vendor and device, such as ``1af4:1000``."""
    attached: bool = True
    """The kernel drives it; otherwise it is bound to a driver for user space."""
    known_pci: str | None = None
    """The PCI address by which documents know it, if recorded; otherwise ``pci``."""
    driver: str | None = None
    """How the data plane drives it (``native``, ``dpdk``, ``af_packet``), if already decided."""
    note: str | None = None
    """Why it is slower than it could be: a sentence."""
    present: bool = True
    """False for a NIC that the document means, that was once present, and is gone."""

    def is_meant_by(self, match: NicMatch) -> bool:
        """Whether ``match`` names this NIC."""
        if match.mac is not None:
            return self.mac == match.mac
        if match.pci is not None:
            return (self.known_pci if self.known_pci or self.driver else self.pci) == match.pci
        return self.device == match.device


def describe(match: NicMatch) -> str:
    """The NIC a match asks for, in words."""
    if match.mac is not None:
        return f"with MAC address {match.mac}"
    return f"at PCI address {match.pci}" if match.pci is not None else f"named {match.device}"


def resolve(config: RouterConfig, nics: Iterable[Nic]) -> tuple[dict[str, Nic], list[Problem]]:
    """NIC of each interface that is one, and a problem for each that is missing or taken twice."""
    available = sorted(nics, key=lambda nic: nic.device)
    found: dict[str, Nic] = {}
    taken: dict[str, str] = {}
    problems = []
    for name, interface in config.interfaces.items():
        match = interface.nic
        if match is None:
            continue
        path = f"/interfaces/{name}/match"
        nic = next((nic for nic in available if nic.is_meant_by(match)), None)
        if nic is None:
            there = ", ".join(f"{nic.device} ({nic.mac})" for nic in available if nic.present) or "none"
            problems.append(Problem(path, f"there is no NIC {describe(match)}; there are: {there}"))
        elif nic.device in taken:
            problems.append(Problem(path, f"{nic.device} is already the NIC of {taken[nic.device]}"))
        else:
            taken[nic.device] = name
            found[name] = nic
    return found, problems


def require_nics(config: RouterConfig, nics: Iterable[Nic]) -> dict[str, Nic]:
    """NIC of each interface that is one. Raises ValidationFailed when one is missing or taken twice."""
    found, problems = resolve(config, nics)
    if problems:
        raise ValidationFailed(problems)
    return found

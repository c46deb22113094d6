"""Machines that files share: each kind is booted once, and one runs at a time in each process of pytest."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

from tests.image.artefacts import Artefacts
from tests.image.boots import Boots
from tests.image.kinds import Kind
from tests.image.machine import Hardware, Nic
from tests.image.marks import Marks
from tests.image.patience import BOOT_S, wall_time
from tests.image.relay import Relay
from tests.image.router import HTTPS, SSH, Router
from tests.image.taps import Tap
from tests.image.two_hosts import TwoHosts

MANAGEMENT = "198.18.77.1"
MANAGEMENT_V6 = "2001:db8:99::1"


@dataclass(frozen=True)
class Member:
    """A router of a kind, which forwards between its hosts."""

    kind: Kind
    hosts: TwoHosts
    router: Router
    marks: Marks
    hardware: Hardware
    document: dict[str, Any]
    """What every file finds committed: two data NICs."""

    @property
    def desk(self) -> Tap:
        """The administrator's desk: a namespace on the management network."""
        return _desk_of(self.hosts)


def _desk_of(hosts: TwoHosts) -> Tap:
    """The cable of the management NIC."""
    near = hosts.tap(1)
    return replace(
        near,
        name=near.name.removesuffix("1") + "0",
        namespace=near.namespace.replace("left", "desk"),
        addresses=("198.18.77.2/24", "2001:db8:99::2/64"),
        gateways=(),
    )


@dataclass
class Fleet:
    """Boots the requested kind once, and has it forward as its document says."""

    built: Artefacts
    directory: Path
    _members: dict[Kind, Member] = field(default_factory=dict)

    def __post_init__(self) -> None:
        self._boots = Boots(self.built, self.directory)

    def close(self) -> None:
        """End all of it."""
        self._boots.close()

    def member(self, kind: Kind) -> Member:
        """The router of this kind, forwarding, its data NICs configured; others are switched off."""
        self.switch_off(but=kind)
        if kind not in self._members:
            self._members[kind] = self._booted(kind)
            return self._members[kind]
        member = self._members[kind]
        machine = member.router.machine
        if machine.running and machine.hardware == member.hardware:
            member.router.forget_api()
        else:
            member.router.hang_up()
            machine.kill()
            machine.hardware = member.hardware
            machine.start()
            member.router.wait_until_up(f"{kind.name}: power on again to REST")
            member.router.forget_api()
        member.router.put(member.document)
        member.hosts.wait_until_forwarding(timeout_s=BOOT_S)
        return member

    def switch_off(self, but: Kind | None = None) -> None:
        """There are not enough cores for two: the running machine of another kind ends, and keeps its
        disk.
        """
        for kind, member in self._members.items():
            if kind is not but and member.router.machine.running:
                member.router.hang_up()
                member.router.machine.kill()

    def _booted(self, kind: Kind) -> Member:
        hosts, marks = TwoHosts(kind.number), Marks(self.directory / f"{kind.name}.marks")
        how = {"extra": marks.arguments, **kind.hardware}
        if kind.desk:
            router = self._from_seed(kind, hosts, how)
        else:
            router = self._boots.between(hosts, kind.name, kind.model, **how)
            with wall_time(f"{kind.name}: login, commit of two data NICs, first echo through the guest"):
                router.patch({"interfaces": hosts.interfaces()})
                hosts.wait_until_forwarding()
        return Member(kind, hosts, router, marks, router.machine.hardware, router.config())

    def _from_seed(self, kind: Kind, hosts: TwoHosts, how: dict[str, Any]) -> Router:
        """A router with static management addresses and its data NICs configured, by its seed alone."""
        desk = _desk_of(hosts)
        self._boots.on_end(hosts.remove)
        self._boots.on_end(desk.remove)
        seed = self._boots.seed(
            kind.name,
            millrace={
                **self._boots.password_hash(),
                "management_address": f"{MANAGEMENT}/24",
                "management_ipv6_address": f"{MANAGEMENT_V6}/64",
                "configuration": {"schema_version": 1, "interfaces": hosts.interfaces()},
            },
        )
        nics = (Nic(f"52:54:00:6d:{kind.number:02x}:01", tap=desk), *hosts.nics(kind.model))
        hardware = replace(Hardware(self._boots.overlay(kind.name), nics, seed=seed), **how)
        machine = self._boots.machine(kind.name, hardware)
        for port in (SSH, HTTPS):
            relay = Relay(desk.namespace, MANAGEMENT, port)
            self._boots.on_end(relay.close)
            machine.ports[port] = relay.port
        with wall_time(f"{kind.name}: power on to forwarding, configured by the seed alone"):
            hosts.wait_until_forwarding(timeout_s=BOOT_S)
        router = Router(machine, self._boots.credentials())
        self._boots.on_end(router.hang_up)
        router.wait_until_up(f"{kind.name}: and from there to REST")
        return router

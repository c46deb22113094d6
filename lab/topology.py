"""The namespaces, links and addresses of a lab, under any name prefix."""

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from ipaddress import IPv4Interface, IPv6Interface
from pathlib import Path
from types import TracebackType

from lab import addressing as at
from lab import frr_daemons, namespaces, state
from lab.command import run
from lab.errors import LabConflict
from lab.kernel_settings import Register
from lab.layout import Layout
from lab.namespaces import Dataplane, Namespaces
from lab.programs import frr_programs, peer_programs
from lab.state import LabState
from lab.supervision import Program, Supervisor, spawned
from lab.vpp_process import Vpp

_ROUTER_SYSCTLS = {
    "net.ipv4.conf.all.rp_filter": "0",
    "net.ipv4.conf.default.rp_filter": "0",
    "net.ipv6.conf.all.keep_addr_on_down": "1",
    "net.ipv6.conf.default.keep_addr_on_down": "1",
    "net.ipv6.conf.all.accept_dad": "0",
    "net.ipv6.conf.default.accept_dad": "0",
    "net.ipv6.conf.all.accept_ra": "0",
    "net.ipv6.conf.default.accept_ra": "0",
    "net.ipv4.neigh.default.gc_thresh3": "8192",
}
_FORWARDING_SYSCTLS = ("net.ipv4.ip_forward", "net.ipv6.conf.all.forwarding")


@dataclass(frozen=True)
class _Link:
    """A veth pair: `end` of `namespace` is joined to `other_end` of `other_namespace`."""

    namespace: str
    end: str
    other_namespace: str
    other_end: str
    mac: str | None


class Topology:
    """One lab's network: the router's namespace in the middle, hosts and neighbours around it.

    `prefix` names the namespaces ("mr" is the live lab; give tests their own), `directory` holds files, logs
    and sockets (keep its path below some 60 characters, because it holds Unix sockets). Making and removing
    are both idempotent, and everything is recorded in `directory/state.json` before it is made.
    """

    def __init__(self, prefix: str, directory: Path, dataplane: Dataplane) -> None:
        self.prefix = prefix
        self.directory = directory.resolve()
        self.dataplane: Dataplane = dataplane
        self.namespaces = Namespaces.named(prefix, dataplane)
        self.frr_vty_dir = frr_daemons.vty_dir(self.namespaces.router)
        self.frr_config_dir = frr_daemons.config_dir(self.namespaces.router)
        self.vpp = Vpp(Layout(self.directory), self.namespaces) if dataplane == "vpp" else None
        self.state_file = self.directory / "state.json"

    def __enter__(self) -> "Topology":
        self.create()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.destroy()

    @property
    def state(self) -> LabState:
        """Everything that the record says was made; an empty record where there is none."""
        return state.load(self.state_file) or LabState(prefix=self.prefix, dataplane=self.dataplane)

    def presumed_state(self) -> LabState:
        """Everything that a lab of this name would have made, when its record is missing."""
        return LabState(
            prefix=self.prefix,
            dataplane=self.dataplane,
            namespaces=self.namespaces.all(),
            paths=tuple(str(path) for path in frr_daemons.directories(self.namespaces.router)),
        )

    def run(self, namespace: str, argv: Sequence[str], *, timeout_s: float = 60.0, check: bool = True) -> str:
        """Run `argv` inside one of the namespaces and return its output; raises CommandFailed."""
        return namespaces.run_in(namespace, argv, timeout_s=timeout_s, check=check)

    def create(self) -> None:
        """Make the missing namespaces, links, addresses and FRR's directories."""
        record = self.state
        if not record.namespaces:
            self._refuse_what_belongs_to_others()
        mount_by_us = record.namespace_mount or not namespaces.mount_is_shared_directory()
        state.save(
            self.state_file,
            record.changed(namespaces=self.namespaces.all(), namespace_mount=mount_by_us),
        )
        Register().enrol(self.prefix, self.directory, self.dataplane)
        for name in self.namespaces.all():
            if not namespaces.exists(name):
                namespaces.add(name)
            self._prepare(name)
        for link in self._links():
            self._ensure_link(link)
        self._address_hosts()
        paths = (*frr_daemons.directories(self.namespaces.router), *frr_daemons.stray_files())
        if self.vpp is not None:
            paths = (*paths, *self.vpp.shared_memory())
        state.save(self.state_file, self.state.owning(paths, shared=frr_daemons.missing_parents()))
        frr_daemons.make_directories(self.namespaces.router)

    def destroy(self) -> None:
        """Remove the recorded namespaces and directories; ends no process (see `lab.down` for that)."""
        record = self.state
        for name in record.namespaces:
            namespaces.delete(name)
        for path in (*map(Path, record.paths), *frr_daemons.scratch(spawned(self.directory))):
            remove_tree(path)
        for shared in map(Path, record.shared_directories):
            if shared.is_dir() and not any(shared.iterdir()):
                shared.rmdir()
        if record.namespace_mount:
            namespaces.release_directory()
        Register().leave(self.prefix)
        self.state_file.unlink(missing_ok=True)

    def intact(self) -> bool:
        """Whether every namespace and link exists."""
        return all(namespaces.exists(name) for name in self.namespaces.all()) and all(
            self._has_link(link) for link in self._links()
        )

    @contextmanager
    def supervised(
        self, *, peers: bool = True, frr: bool = True, vpp: bool = False, extra: Sequence[Program] = ()
    ) -> Iterator[Supervisor]:
        """The chosen programs under a supervisor of their own, which ends on leaving."""
        programs = [
            *(self.vpp.programs(print) if vpp and self.vpp is not None else ()),
            *(peer_programs(self.directory, self.namespaces) if peers else ()),
            *(frr_programs(self.namespaces, self.dataplane) if frr else ()),
            *extra,
        ]
        supervisor = Supervisor(self.directory)
        supervisor.start(programs)
        try:
            yield supervisor
        finally:
            supervisor.stop()

    def _refuse_what_belongs_to_others(self) -> None:
        taken = [name for name in self.namespaces.all() if namespaces.exists(name)]
        if taken:
            owner = Register().find(self.prefix)
            if owner is None:
                whose, cure = "nothing here says whose", "delete them with `ip netns delete`"
            else:
                whose = f"the lab in {owner.directory} made them"
                down = f"python -m lab down --prefix {self.prefix} --directory {owner.directory}"
                cure = f"remove it with `{down}`"
            raise LabConflict(f"these namespaces exist already, and {whose}: {', '.join(taken)}; {cure}")

    def _links(self) -> tuple[_Link, ...]:
        names = self.namespaces
        return (
            _Link(names.lan, "eth0", names.nic, "nic-lan", at.NIC_MAC["nic-lan"]),
            _Link(names.wan, "eth0", names.nic, "nic-wan", at.NIC_MAC["nic-wan"]),
            _Link(names.core, "eth0", names.nic, "nic-core", at.NIC_MAC["nic-core"]),
            _Link(names.wan_host, "eth0", names.wan, "host0", None),
            _Link(names.core_host, "eth0", names.core, "host0", None),
        )

    def _has_link(self, link: _Link) -> bool:
        # The data plane may have renamed the router's end; the two ends of a veth exist only together.
        return bool(run(["ip", "-n", link.namespace, "-o", "link", "show", "dev", link.end], check=False))

    def _ensure_link(self, link: _Link) -> None:
        if not self._has_link(link):
            mac = [] if link.mac is None else ["address", link.mac]
            near = ["name", link.other_end, *mac, "netns", link.other_namespace]
            far = ["name", link.end, "netns", link.namespace]
            run(["ip", "link", "add", *near, "type", "veth", "peer", *far])
            self._offloads_off(link.other_namespace, link.other_end)
            self._offloads_off(link.namespace, link.end)
            run(["ip", "-n", link.other_namespace, "link", "set", link.other_end, "up"])
        run(["ip", "-n", link.namespace, "link", "set", link.end, "up"])

    def _offloads_off(self, namespace: str, device: str) -> None:
        # VPP reads packets as they are on the link: an unfinished checksum or a merged segment fails there.
        off = [word for name in ("tx", "rx", "gso", "gro", "tso") for word in (name, "off")]
        namespaces.run_in(namespace, ["ethtool", "-K", device, *off])

    def _prepare(self, name: str) -> None:
        values = dict(_ROUTER_SYSCTLS)
        routes = name in (self.namespaces.wan, self.namespaces.core)
        routes = routes or (name == self.namespaces.router and self.dataplane == "linux")
        values.update(dict.fromkeys(_FORWARDING_SYSCTLS, "1" if routes else "0"))
        if name == self.namespaces.nic and name != self.namespaces.router:
            # These links belong to VPP: the kernel must not answer on them.
            values.update({f"net.ipv6.conf.{scope}.disable_ipv6": "1" for scope in ("all", "default")})
        namespaces.run_in(name, ["sysctl", "-q", "-e", *(f"{key}={value}" for key, value in values.items())])
        run(["ip", "-n", name, "link", "set", "lo", "up"])

    def _address_hosts(self) -> None:
        names = self.namespaces
        self._address(names.lan, "eth0", at.LAN.far_v4, at.LAN.far_v6)
        self._address(names.wan, "eth0", at.WAN.far_v4, at.WAN.far_v6)
        self._address(names.wan, "host0", at.WAN_HOST.near_v4, at.WAN_HOST.near_v6)
        self._address(names.wan_host, "eth0", at.WAN_HOST.far_v4, at.WAN_HOST.far_v6)
        self._address(names.core, "eth0", at.CORE.far_v4, at.CORE.far_v6)
        self._address(names.core, "host0", at.CORE_HOST.near_v4, at.CORE_HOST.near_v6)
        self._address(names.core_host, "eth0", at.CORE_HOST.far_v4, at.CORE_HOST.far_v6)
        for host, link in (
            (names.lan, at.LAN),
            (names.wan_host, at.WAN_HOST),
            (names.core_host, at.CORE_HOST),
        ):
            run(["ip", "-n", host, "route", "replace", "default", "via", str(link.near_v4.ip)])
            run(["ip", "-n", host, "-6", "route", "replace", "default", "via", str(link.near_v6.ip)])
        run(["ip", "-n", names.core, "-6", "route", "replace", "default", "via", str(at.CORE.near_v6.ip)])

    def _address(self, namespace: str, device: str, v4: IPv4Interface, v6: IPv6Interface) -> None:
        run(["ip", "-n", namespace, "address", "replace", str(v4), "dev", device])
        run(["ip", "-n", namespace, "address", "replace", str(v6), "dev", device, "nodad"])


def remove_tree(path: Path) -> None:
    """Remove a directory that the lab made, with its content, following no symbolic link."""
    if path.is_symlink() or not path.is_dir():
        path.unlink(missing_ok=True)
        return
    for child in path.iterdir():
        remove_tree(child)
    path.rmdir()

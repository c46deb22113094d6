"""VPP's ``startup.conf``, typed. Rendering only: the file is ours, and no one else edits it."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar, Literal

from pydantic import ConfigDict

from vpp_config.objects import KINDS, Dpdk

MIB = 1 << 20

# What every VPP of this package needs; kinds of objects declare what they need in addition. linux_cp is off
# unless named, whatever the default is. tap carries the mirrors; with everything disabled by default, the
# pairs fail with -30 without it.
_OF_ALL = ("acl", "af_packet", "arping", "linux_cp", "ping", "policer", "tap")
NEEDED_PLUGINS = tuple(sorted({*_OF_ALL, *(plugin for kind in KINDS for plugin in kind.plugins)}))
"""Not linux_nl: it would add the routes that a feeder carries a second time, and has no switch for that."""


@dataclass(frozen=True)
class DpdkDevice:
    """A NIC for the DPDK plugin. It exists from VPP's start on, under the name that ``Dpdk`` looks for."""

    pci_address: str
    rx_queues: int = 1
    tx_queues: int | None = None
    rx_descriptors: int | None = None
    tx_descriptors: int | None = None


@dataclass(frozen=True)
class StartupConf:
    """Settings that VPP takes only at its start.

    Sizes are bytes; ``None`` leaves VPP's own default. ``worker_cores`` are CPU numbers, one worker thread
    each; without a ``main_core`` VPP does not pin. Empty ``dpdk_devices`` leave the plugin out altogether.
    """

    __pydantic_config__: ClassVar[ConfigDict] = ConfigDict(extra="forbid")

    runtime_directory: str = "/run/vpp"
    cli_socket: str = "/run/vpp/cli.sock"
    api_socket: str = "/run/vpp/api.sock"
    stats_socket: str = "/run/vpp/stats.sock"
    log_file: str | None = "/var/log/vpp/vpp.log"
    api_segment_prefix: str | None = None
    group: str | None = "vpp"
    main_core: int | None = None
    worker_cores: tuple[int, ...] = ()
    poll_sleep_us: int | None = None
    main_heap_bytes: int | None = 1024 * MIB
    statseg_bytes: int = 128 * MIB
    buffers_per_numa: int | None = None
    buffer_page_size: Literal["default", "default-hugepage"] | None = None
    plugin_path: str | None = None
    enable_plugins: tuple[str, ...] = NEEDED_PLUGINS
    other_plugins: Literal["enable", "disable"] = "disable"
    lcp_default_netns: str | None = "dataplane"
    dpdk_devices: tuple[DpdkDevice, ...] = ()

    def __post_init__(self) -> None:
        if self.worker_cores and self.main_core is None:
            raise ValueError("worker_cores need a main_core")
        if self.main_core in self.worker_cores:
            raise ValueError(f"core {self.main_core} is both the main core and a worker's")
        if len(set(self.worker_cores)) != len(self.worker_cores):
            raise ValueError("worker_cores names a core twice")

    def render(self) -> str:
        """The file's text."""
        return "\n".join(
            _stanza(name, lines)
            for name, lines in (
                ("unix", self._unix()),
                ("api-segment", self._api_segment()),
                ("socksvr", [f"socket-name {self.api_socket}"]),
                ("cpu", self._cpu()),
                ("memory", _options(("main-heap-size", self.main_heap_bytes))),
                ("buffers", _options(("buffers-per-numa", self.buffers_per_numa),
                                     ("page-size", self.buffer_page_size))),
                ("statseg", [f"socket-name {self.stats_socket}", f"size {self.statseg_bytes}",
                             "per-node-counters on"]),
                ("plugins", self._plugins()),
                ("linux-cp", self._linux_cp()),
                ("dpdk", self._dpdk()),
            )
            if lines
        )  # fmt: skip

    def _unix(self) -> list[str]:
        lines = ["nodaemon", f"runtime-dir {self.runtime_directory}", f"cli-listen {self.cli_socket}"]
        lines += _options(
            ("log", self.log_file), ("gid", self.group), ("poll-sleep-usec", self.poll_sleep_us)
        )
        return lines

    def _api_segment(self) -> list[str]:
        return _options(("prefix", self.api_segment_prefix), ("gid", self.group))

    def _cpu(self) -> list[str]:
        lines = _options(("main-core", self.main_core))
        if self.worker_cores:
            lines.append(f"corelist-workers {','.join(map(str, self.worker_cores))}")
        return lines

    def _plugins(self) -> list[str]:
        names = list(self.enable_plugins)
        if self.dpdk_devices:
            names.append("dpdk")
        lines = _options(("path", self.plugin_path))
        lines.append(f"plugin default {{ {self.other_plugins} }}")
        lines += [f"plugin {name}_plugin.so {{ enable }}" for name in names]
        if not self.dpdk_devices:
            # Unless told which, it takes every unbound NIC it finds, including the management NIC.
            lines.append("plugin dpdk_plugin.so { disable }")
        return lines

    def _linux_cp(self) -> list[str]:
        if "linux_cp" not in self.enable_plugins:
            return []
        # lcp-sync carries state, MTU and addresses to the mirrors; no API call turns it on. When a link goes
        # down, Linux drops its IPv4 routes without a message. Unless linux_cp does the same, VPP keeps them,
        # and crashes when a route that shares such a path changes after the interface is removed.
        return [
            *_options(("default netns", self.lcp_default_netns)),
            "lcp-sync",
            "del-static-on-link-down",
            "del-dynamic-on-link-down",
        ]

    def _dpdk(self) -> list[str]:
        lines = []
        for device in self.dpdk_devices:
            options = _options(
                ("num-rx-queues", device.rx_queues),
                ("num-tx-queues", device.tx_queues),
                ("num-rx-desc", device.rx_descriptors),
                ("num-tx-desc", device.tx_descriptors),
            )
            name = Dpdk(device.pci_address).vpp_name
            lines.append(f"dev {device.pci_address} {{ name {name} {' '.join(options)} }}")
        return lines


def _options(*options: tuple[str, str | int | None]) -> list[str]:
    return [f"{name} {value}" for name, value in options if value is not None]


def _stanza(name: str, lines: list[str]) -> str:
    body = "\n".join(f"  {line}" for line in lines)
    return f"{name} {{\n{body}\n}}\n"

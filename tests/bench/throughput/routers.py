"""The routers that are compared: Millrace's VPP with its agent, VPP configured by hand, the Linux kernel.

::

    memif-traffic (CPU 0)                       memif-traffic (CPU 0)
      | memif        | memif                      | veth         | veth
    left 100.0.0.1  right 200.0.0.1             left 100.0.0.1  right 200.0.0.1
      VPP, worker on CPU 1                        kernel, softirqs on CPU 1
"""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import tempfile
import time
from abc import ABC, abstractmethod
from collections.abc import Iterator, Mapping
from contextlib import ExitStack, contextmanager, suppress
from dataclasses import replace
from pathlib import Path
from typing import Any

from appliance.client import AgentClient
from appliance.state.commit_options import CommitOptions
from lab.memif_traffic import LOG2_RING, MemifTraffic, Stream, Trial
from lab.router_agent import RouterAgent
from tests.bench.throughput.urgency import kernel_thread, threads, urgent
from tests.fib_feeder import Feeder
from tests.integration.frr.harness import FrrHarness
from tests.integration.vpp.harness import PrivateVpp, run
from vpp_config.startup_conf import MIB, NEEDED_PLUGINS, StartupConf

SIDES = ("left", "right")
ADDRESSES = {"left": ("100.0.0.1/24", "2001:db8:100::1/64"), "right": ("200.0.0.1/24", "2001:db8:200::1/64")}
MACS = {"left": "02:fe:00:00:00:01", "right": "02:fe:00:00:00:02"}
SENDER_CPU, FORWARDING_CPU = 0, 1
_TOOLS = Path("/tmp/millrace-memif-traffic")
_SETTLE_S = 0.15
_MAIN_NAP_US = 100
_LEARNT_S = 30.0
_NAP_S = 5.0
_PREFIXES = (("48.0.0.0/8", "200.0.0.2"), ("16.0.0.0/8", "100.0.0.2"))
_PREFIXES_6 = (("2001:4800::/24", "2001:db8:200::2"), ("2001:1600::/24", "2001:db8:100::2"))
STATIC = (*_PREFIXES, *_PREFIXES_6)
"""The routes that traffic takes: prefix and next hop."""


def side_of(hop: str) -> str:
    """The side that a next hop is on."""
    return "left" if hop.startswith(("1", "2001:db8:100")) else "right"


class Router(ABC):
    """A router under test. Between its trials it is stopped, so that the others have the CPU."""

    name: str

    def __init__(self) -> None:
        self._traffic: MemifTraffic | None = None
        self._stack = ExitStack()
        try:
            self._start()
        except BaseException:
            self.close()
            raise

    @abstractmethod
    def _start(self) -> None:
        """Start it, each part with its end in the stack."""

    def close(self) -> None:
        """End everything that was started."""
        self.hush()
        self._stack.close()

    def hush(self) -> None:
        """End the generator."""
        if self._traffic is not None:
            self._traffic.__exit__(None, None, None)
            self._traffic = None

    @property
    @abstractmethod
    def ends(self) -> tuple[str, str]:
        """Where the generator connects."""

    @property
    def namespace(self) -> str | None:
        """Where the generator runs."""
        return None

    log2_ring = LOG2_RING
    """Of the generator's memifs."""

    @abstractmethod
    def priorities(self) -> Mapping[int, int]:
        """Threads with real-time priority during a trial."""

    @contextmanager
    def running(self) -> Iterator[None]:
        """Threads that are not stopped."""
        yield

    def offer(self, streams: tuple[Stream | None, Stream | None]) -> None:
        """Connect, and send these streams from now on; waits until packets of each arrive."""
        self.hush()
        with self.running():
            self._traffic = MemifTraffic(
                _TOOLS, self.ends, cpu=SENDER_CPU, namespace=self.namespace, log2_ring=self.log2_ring
            )
            self._traffic.__enter__()
            for side, stream in enumerate(streams):
                if stream is not None:
                    self._traffic.stream(side, stream)
            ends = time.monotonic() + _LEARNT_S
            while True:
                with urgent(self.priorities()):
                    learnt = self._traffic.learn(0.3)
                if learnt.received >= learnt.offered > 0 and not learnt.foreign:
                    return
                if time.monotonic() > ends:
                    raise RuntimeError(f"{self.name} does not forward: {learnt}")

    def trial(self, pps: float, seconds: float) -> Trial:
        """One trial, with the router running just for it."""
        assert self._traffic is not None
        with self.running():
            time.sleep(_SETTLE_S)
            with urgent(self.priorities()):
                return self._traffic.trial(pps, seconds)

    def steady(self, pps: float, seconds: float) -> Trial:
        """A long trial, without precedence over the machine's other work."""
        assert self._traffic is not None
        with self.running():
            time.sleep(_SETTLE_S)
            return self._traffic.steady(pps, seconds)


class _PinnedVpp(PrivateVpp):
    """VPP with one worker on a CPU of its own."""

    def __init__(self, plugins: tuple[str, ...], mirrors: bool) -> None:
        super().__init__(nics=0, main_heap_mib=2048, statseg_mib=512)
        self._plugins, self._mirrors = plugins, mirrors

    def _startup_conf(self) -> StartupConf:
        return replace(
            super()._startup_conf(),
            main_core=SENDER_CPU,
            worker_cores=(FORWARDING_CPU,),
            poll_sleep_us=_MAIN_NAP_US,  # of the main thread alone
            buffers_per_numa=16384,
            main_heap_bytes=2048 * MIB,
            lcp_default_netns=self.mirror_namespace if self._mirrors else None,
        )


class VppRouter(Router):
    """What both VPPs have in common."""

    vpp: PrivateVpp
    _runs = 0

    def priorities(self) -> Mapping[int, int]:
        """The worker. And the main thread, for whom workers wait at a barrier: without it the sender, with
        whom it shares a CPU, would keep it from letting them go on.
        """
        main, workers = threads(self.vpp.pid, "vpp_main"), threads(self.vpp.pid, "vpp_wk")
        return {**dict.fromkeys(workers, 1), **dict.fromkeys(main, 2)}

    @contextmanager
    def running(self) -> Iterator[None]:
        """Its worker polls, and would take half of the CPU from the other VPP's. May be entered again inside,
        and by another thread there.
        """
        pids = self.processes()
        self._runs += 1
        for pid in pids:
            os.kill(pid, signal.SIGCONT)
        try:
            yield
        finally:
            self._runs -= 1
            if not self._runs:
                self._stop()

    def _stop(self) -> None:
        """VPP's main thread sleeps: it does not wait for a worker, which would have timed out when both
        continue.
        """
        main = Path(f"/proc/{self.vpp.pid}/stat")
        ends = time.monotonic() + _NAP_S
        while main.read_text().rpartition(") ")[2][0] != "S" and time.monotonic() < ends:
            time.sleep(0.001)
        for pid in self.processes():
            os.kill(pid, signal.SIGSTOP)

    def processes(self) -> list[int]:
        """What is stopped between trials."""
        return [self.vpp.pid]

    def cli(self, command: str) -> str:
        """Ask VPP's command line."""
        return self.vpp.cli(*command.split())

    @abstractmethod
    def interface(self, side: str) -> str:
        """VPP's name of it."""

    def nodes(self) -> dict[str, dict[str, float]]:
        """Of the worker since its counters were cleared: calls, packets and clocks a packet of each node."""
        with self.running():
            text = self.cli("show runtime")
        return worker_nodes(text)

    def clear(self) -> None:
        """Node counters back to nothing."""
        with self.running():
            self.cli("clear runtime")

    def close(self) -> None:
        """Let it go on, so that it can end."""
        with suppress(AttributeError, RuntimeError, ProcessLookupError):  # it was not all there yet
            for pid in self.processes():
                os.kill(pid, signal.SIGCONT)
        super().close()


def worker_nodes(text: str) -> dict[str, dict[str, float]]:
    """``show runtime`` of the first worker: nodes that had packets."""
    found: dict[str, dict[str, float]] = {}
    for line in text.partition("vpp_wk_0")[2].splitlines():
        words = line.split()
        if len(words) >= 7 and words[1] in ("active", "polling"):
            calls, vectors, _, clocks = (float(word) for word in words[2:6])
            if vectors:
                found[words[0]] = {"calls": calls, "packets": vectors, "clocks": clocks}
    return found


class Bare(VppRouter):
    """VPP and its command line, nothing else."""

    name = "bare"

    def _start(self) -> None:
        self.vpp = self._stack.enter_context(_PinnedVpp(("memif", "acl", "nat"), mirrors=False))
        (self.vpp.directory / "memif").mkdir()
        for number, side in enumerate(SIDES, 1):
            self.cli(f"create memif socket id {number} filename {self._socket(side)}")
            self.cli(f"create interface memif id 0 socket-id {number} master hw-addr {MACS[side]}")
            for address in ADDRESSES[side]:
                self.cli(f"set interface ip address memif{number}/0 {address}")
            self.cli(f"set interface mtu packet 1500 memif{number}/0")
            self.cli(f"set interface state memif{number}/0 up")
        for prefix, hop in STATIC:
            self.cli(f"ip route add {prefix} via {hop} {self.interface(side_of(hop))}")
        self._stop()

    def _socket(self, side: str) -> Path:
        return self.vpp.directory / "memif" / f"{side}.sock"

    @property
    def ends(self) -> tuple[str, str]:
        """Both memifs."""
        return f"memif:{self._socket('left')}:0", f"memif:{self._socket('right')}:0"

    def interface(self, side: str) -> str:
        """VPP's name of it."""
        return f"memif{SIDES.index(side) + 1}/0"


class Millrace(VppRouter):
    """VPP as the agent configures it from a document, and the agent itself, which counts once a second."""

    name = "millrace"

    def _start(self) -> None:
        self.vpp = self._stack.enter_context(_PinnedVpp(NEEDED_PLUGINS, mirrors=True))
        folder = self.vpp.directory
        netns = self.vpp.mirror_namespace
        self.frr = frr = self._stack.enter_context(FrrHarness(netns, netns, feeds=True))
        self.feeder = feeder = self._stack.enter_context(Feeder(netns, folder, self.vpp.api_socket))
        settings = {
            "socket": str(folder / "agent.sock"),
            "state_dir": str(folder / "agent"),
            "dataplane": "vpp",
            "netns": netns,
            "nic_netns": self.vpp.namespace,
            "frr_vty_dir": str(frr.vty_dir),
            "frr_config_dir": str(folder / "frr"),
            "host_root": str(folder / "host"),
            "vpp_api_socket": str(self.vpp.api_socket),
            "vpp_stats_socket": str(self.vpp.stats_socket),
            "feeder_socket": str(feeder.status_socket),
        }
        for name in ("frr", "host"):
            (folder / name).mkdir()
        (folder / "agent.json").write_text(json.dumps(settings))
        with (folder / "agent.log").open("wb") as log:
            self._agent = subprocess.Popen(
                ["taskset", "-c", str(SENDER_CPU), sys.executable, "-m", "appliance.agent", "--config",
                 str(folder / "agent.json")],
                stdout=log,
                stderr=log,
            )  # fmt: skip
        self._stack.callback(self._end_agent)
        RouterAgent(folder / "agent.sock").wait(60)
        self.commit({})
        self._stop()

    def _end_agent(self) -> None:
        self._agent.terminate()
        self._agent.wait(20)

    def processes(self) -> list[int]:
        """VPP and the agent."""
        return [self.vpp.pid, self._agent.pid]

    def priorities(self) -> Mapping[int, int]:
        """The agent goes before the sender, with which it shares a CPU: the test does not starve it."""
        return {**super().priorities(), **dict.fromkeys(threads(self._agent.pid), 2)}

    @property
    def agent_pid(self) -> int:
        """Of the agent's process."""
        return self._agent.pid

    @property
    def client(self) -> AgentClient:
        """Of the agent."""
        return AgentClient(self.vpp.directory / "agent.sock")

    @property
    def ends(self) -> tuple[str, str]:
        """Both memifs."""
        folder = self.vpp.directory / "memif"
        return f"memif:{folder}/left.sock:0", f"memif:{folder}/right.sock:0"

    def document(self, more: Mapping[str, Any]) -> dict[str, Any]:
        """The document of the bench with these sections, settings of its interfaces, others, and routing."""
        interfaces, routing = more.get("interfaces", {}), more.get("routing", {})
        document: dict[str, Any] = {
            "interfaces": {
                **{
                    side: {
                        "type": "memif", "role": "master", "socket": side, "mac": MACS[side],
                        "addresses": list(ADDRESSES[side]), **interfaces.get(side, {}),
                    }
                    for side in SIDES
                },
                **{name: one for name, one in interfaces.items() if name not in SIDES},
            },
            "routing": {
                **routing,
                "static": {
                    **{prefix: {"next_hops": [{"address": hop}]} for prefix, hop in STATIC},
                    **routing.get("static", {}),
                },
            },
        }  # fmt: skip
        document |= {name: section for name, section in more.items() if name not in ("interfaces", "routing")}
        return document

    def commit(self, more: Mapping[str, Any]) -> None:
        """Commit that document."""
        answer = self.client.commit(self.document(more), CommitOptions(author="bench", comment="bench"))
        if answer.get("revision") is None and answer.get("steps"):
            raise RuntimeError(f"not committed: {answer}")

    def interface(self, side: str) -> str:
        """VPP's name of it."""
        shown = self.cli("show interface").splitlines()
        names = sorted(line.split()[0] for line in shown if line.startswith("memif"))
        hardware = self.cli("show hardware-interfaces")
        mac = MACS[side]
        return next(name for name in names if mac in hardware.partition(f"\n{name}")[2].split("\nmemif")[0])


class Kernel(Router):
    """The Linux kernel, configured by hand: veths, routes, and its softirqs on the forwarding CPU."""

    name = "kernel"

    def _start(self) -> None:
        self._prefix = f"tk{os.getpid() % 100000}"
        self.router, self._sender = f"{self._prefix}-r", f"{self._prefix}-s"
        for space in (self.router, self._sender):
            run("ip", "netns", "add", space)
            self._stack.callback(run, "ip", "netns", "delete", space)
        self.folder = Path(self._stack.enter_context(tempfile.TemporaryDirectory(prefix=self._prefix)))
        self._softirq = kernel_thread(f"ksoftirqd/{FORWARDING_CPU}")
        for name in ("net.ipv4.ip_forward", "net.ipv6.conf.all.forwarding"):
            run("sysctl", "-qw", f"{name}=1", namespace=self.router)
        for number, side in enumerate(SIDES):
            run("ip", "link", "add", side, "netns", self.router, "address", MACS[side],
                "type", "veth", "peer", "name", f"s-{side}", "netns", self._sender)  # fmt: skip
            run("ip", "link", "set", f"s-{side}", "up", namespace=self._sender)
            run("ip", "link", "set", side, "up", namespace=self.router)
            for address in ADDRESSES[side]:
                words = ("nodad",) if ":" in address else ()
                run("ip", "addr", "add", address, "dev", side, *words, namespace=self.router)
            for hop in (f"{number + 1}00.0.0.2", f"2001:db8:{number + 1}00::2"):
                # Not the veth's own address: the far end's stack lets go of what is for somebody else.
                run("ip", "neigh", "add", hop, "lladdr", f"02:77:00:00:00:0{number}", "dev", side,
                    namespace=self.router)  # fmt: skip
            mask = f"{1 << FORWARDING_CPU:x}"
            for space, device in ((self.router, side), (self._sender, f"s-{side}")):
                path = f"/sys/class/net/{device}/queues/rx-0/rps_cpus"
                run("sh", "-c", 'echo "$0" > "$1"', mask, path, namespace=space)
        for prefix, hop in STATIC:
            run("ip", "route", "add", prefix, "via", hop, namespace=self.router)

    @property
    def ends(self) -> tuple[str, str]:
        """The far ends of its veths."""
        return "packet:s-left", "packet:s-right"

    @property
    def namespace(self) -> str | None:
        """Where those are."""
        return self._sender

    def priorities(self) -> Mapping[int, int]:
        """The thread that does the softirqs of the forwarding CPU."""
        return {self._softirq: 1}

"""A private VPP of a test's own: namespaces, veth NICs, sockets and directory are its alone.

         <prefix>-nic                     <prefix>-lcp
    +---------------------+         +--------------------+
    |  VPP     nic0 nic1  |  taps   |  mirrors           |
    |           |    |    |-------->|  (Linux, FRR)      |
    +-----------|----|----+         +--------------------+
                |    |  veth
             peer0 peer1   in <prefix>-far0, <prefix>-far1

Everything ends with :meth:`PrivateVpp.stop`, which ends only the process it started.
"""

from __future__ import annotations

import itertools
import os
import shutil
import signal
import subprocess
import tempfile
import time
from pathlib import Path
from types import TracebackType
from typing import Self

from lab.precedence import LAB_NICE, set_session_nice
from tests.lab_support import vhost_net_stand_in
from vpp_config.errors import VppUnavailable
from vpp_config.papi_client import PapiClient
from vpp_config.startup_conf import MIB, NEEDED_PLUGINS, StartupConf

VPP = Path("/usr/bin/vpp")
_HUGEPAGES = Path("/proc/sys/vm/nr_hugepages")
_FREE_HUGEPAGES_WANTED = 16
_BUFFERS = 8192
_START_TIMEOUT_S = 30.0
_numbers = itertools.count(1)


def run(*argv: str, namespace: str | None = None) -> str:
    """Run a command (in a namespace) and return its output; a failure raises with the command's own words."""
    full = [*(("ip", "netns", "exec", namespace) if namespace else ()), *argv]
    done = subprocess.run(full, capture_output=True, text=True, check=False)
    if done.returncode:
        raise RuntimeError(f"{' '.join(full)}: {done.stderr.strip() or done.stdout.strip()}")
    return done.stdout


def nic_mac(number: int) -> str:
    """The MAC of NIC ``nic<number>``."""
    return f"02:76:63:00:00:{number + 1:02x}"


class PrivateVpp:
    """VPP with ``nics`` veth NICs ``nic0``, ``nic1``, ... whose peers ``peer<n>`` sit in namespaces
    ``far(n)``.
    """

    def __init__(
        self,
        *,
        nics: int = 2,
        other_plugins: tuple[str, ...] = (),
        without_plugins: tuple[str, ...] = (),
        main_heap_mib: int = 256,
        statseg_mib: int = 32,
    ) -> None:
        self.prefix = f"vc{os.getpid() % 100000}x{next(_numbers)}"
        self.namespace = f"{self.prefix}-nic"
        self.mirror_namespace = f"{self.prefix}-lcp"
        self.nics = nics
        # Not pytest's directory: a Unix socket's path is at most 107 bytes long.
        self.directory = Path(tempfile.mkdtemp(prefix=self.prefix, dir="/tmp"))
        self.api_socket = self.directory / "api.sock"
        self.stats_socket = self.directory / "stats.sock"
        self.cli_socket = self.directory / "cli.sock"
        # What a test puts into the mirrors' routes reaches VPP by linux_nl, unless the test has a feeder.
        wanted = (*NEEDED_PLUGINS, "linux_nl", *other_plugins)
        self._plugins = tuple(name for name in wanted if name not in without_plugins)
        self._main_heap_mib, self._statseg_mib = main_heap_mib, statseg_mib
        self._process: subprocess.Popen[bytes] | None = None

    def far(self, number: int) -> str:
        """The namespace at the other end of ``nic<number>``."""
        return f"{self.prefix}-far{number}"

    @property
    def pid(self) -> int:
        """VPP's process id. Raises ``RuntimeError`` when it does not run."""
        if self._process is None:
            raise RuntimeError("VPP is not running")
        return self._process.pid

    # -- life

    def __enter__(self) -> Self:
        try:
            self._make_namespaces()
            self.start()
        except BaseException:
            self.stop()
            raise
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.stop()

    def _make_namespaces(self) -> None:
        for namespace in (self.namespace, self.mirror_namespace, *(self.far(n) for n in range(self.nics))):
            run("ip", "netns", "add", namespace)
            run("ip", "link", "set", "lo", "up", namespace=namespace)
        # Linux else takes a mirror's IPv6 addresses away when it goes down, and linux_nl those of VPP after
        # it.
        run("sysctl", "-qw", "net.ipv6.conf.all.keep_addr_on_down=1", namespace=self.mirror_namespace)
        run("sysctl", "-qw", "net.ipv6.conf.default.keep_addr_on_down=1", namespace=self.mirror_namespace)
        for number in range(self.nics):
            self.add_nic(number)

    def add_nic(self, number: int) -> None:
        """Make the veth pair ``nic<number>`` - ``peer<number>``, without offloads."""
        nic, peer, far = f"nic{number}", f"peer{number}", self.far(number)
        run("ip", "link", "add", nic, "netns", self.namespace, "address", nic_mac(number),
            "type", "veth", "peer", "name", peer, "netns", far)  # fmt: skip
        for device, namespace in ((nic, self.namespace), (peer, far)):
            run("sysctl", "-qw", f"net.ipv6.conf.{device}.accept_dad=0", namespace=namespace)
            run("ethtool", "-K", device, "tx", "off", "rx", "off", "gso", "off", "gro", "off", "tso", "off",
                namespace=namespace)  # fmt: skip
            run("ip", "link", "set", device, "up", namespace=namespace)

    def start(self) -> None:
        """Start VPP and wait for its API. After :meth:`kill` this is the restart."""
        _reserve_hugepages()
        conf = self.directory / "startup.conf"
        conf.write_text(self._startup_conf().render(), encoding="utf-8")
        environment = dict(os.environ)
        if vhost_net_stand_in.needed():
            library = vhost_net_stand_in.build(Path(tempfile.gettempdir()) / "millrace-vhost-net-stand-in")
            environment["LD_PRELOAD"] = str(library)
            print(vhost_net_stand_in.NOTICE)
        for path in (self.api_socket, self.stats_socket, self.cli_socket):
            path.unlink(missing_ok=True)
        with (self.directory / "output").open("ab") as output:
            self._process = subprocess.Popen(
                ["ip", "netns", "exec", self.namespace, str(VPP), "-c", str(conf)],
                stdin=subprocess.DEVNULL,
                stdout=output,
                stderr=output,
                env=environment,
                start_new_session=True,
            )
        set_session_nice(self._process.pid, LAB_NICE)
        self._wait()

    def _startup_conf(self) -> StartupConf:
        return StartupConf(
            runtime_directory=str(self.directory),
            cli_socket=str(self.cli_socket),
            api_socket=str(self.api_socket),
            stats_socket=str(self.stats_socket),
            log_file=str(self.directory / "vpp.log"),
            api_segment_prefix=self.prefix,
            group=None,
            poll_sleep_us=500,
            main_heap_bytes=self._main_heap_mib * MIB,
            statseg_bytes=self._statseg_mib * MIB,
            buffers_per_numa=_BUFFERS,
            enable_plugins=self._plugins,
            lcp_default_netns=self.mirror_namespace,
        )

    def _wait(self) -> None:
        deadline = time.monotonic() + _START_TIMEOUT_S
        while True:
            assert self._process is not None
            if self._process.poll() is not None:
                raise RuntimeError(f"VPP ended at its start:\n{self.output()}")
            try:
                client = PapiClient(self.api_socket)
                client.connect()
                client.close()
                return
            except VppUnavailable:
                if time.monotonic() > deadline:
                    raise RuntimeError(f"VPP does not answer:\n{self.output()}") from None
                time.sleep(0.05)

    def client(self) -> PapiClient:
        """A new client of this VPP."""
        return PapiClient(self.api_socket)

    def cli(self, *words: str) -> str:
        """Ask VPP's command line."""
        return run("vppctl", "-s", str(self.cli_socket), *words)

    def output(self) -> str:
        """What VPP wrote, its log included."""
        parts = [self.directory / "output", self.directory / "vpp.log"]
        return "\n".join(path.read_text(errors="replace") for path in parts if path.exists())

    def kill(self) -> None:
        """``kill -9``: VPP and its whole state are lost at once."""
        self._end(signal.SIGKILL)

    def wait(self, timeout_s: float = 20.0) -> int:
        """Wait until VPP has ended by itself; its return code. Raises ``subprocess.TimeoutExpired``."""
        assert self._process is not None
        code, self._process = self._process.wait(timeout=timeout_s), None
        return code

    def _end(self, number: signal.Signals) -> None:
        process, self._process = self._process, None
        if process is None:
            return
        process.send_signal(number)
        try:
            process.wait(timeout=10)
        except subprocess.TimeoutExpired:
            process.kill()
            process.wait(timeout=10)

    def stop(self) -> None:
        """End VPP and remove everything made. Safe to call twice."""
        self._end(signal.SIGTERM)
        listed = run("ip", "netns", "list").split()
        for name in (self.namespace, self.mirror_namespace, *(self.far(n) for n in range(self.nics))):
            if name in listed:
                run("ip", "netns", "delete", name)
        # What a VPP that was killed could not remove.
        for path in Path("/dev/shm").glob(f"{self.prefix}-*"):
            path.unlink()
        shutil.rmtree(self.directory, ignore_errors=True)


def _reserve_hugepages() -> None:
    """VPP's buffers live in huge pages. Ask the kernel for some more when few are free; it may give fewer."""
    rows = dict(line.split(":", 1) for line in Path("/proc/meminfo").read_text().splitlines())
    if "HugePages_Total" not in rows:
        return  # A kernel without huge pages: VPP takes ordinary ones.
    total, free = (int(rows[name].split()[0]) for name in ("HugePages_Total", "HugePages_Free"))
    if free < _FREE_HUGEPAGES_WANTED:
        _HUGEPAGES.write_text(str(total + _FREE_HUGEPAGES_WANTED - free))

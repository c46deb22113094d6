"""Real FRR daemons of this machine, in a network namespace and path space of their own, for tests.

    with FrrHarness("fc-a", "fc-a") as frr:
        frr.client().observe()

The namespace is made and removed by the harness unless it was there before. With ``FRR_ROOT`` the daemons are
those of another root directory (an unpacked Debian 13, say), run in it by chroot.
"""

from __future__ import annotations

import contextlib
import os
import shutil
import signal
import subprocess
import time
from collections.abc import Callable, Sequence
from pathlib import Path
from types import TracebackType

from frr_config import V10_3, FrrClient, FrrUnavailable, required_daemons

_ROOT = Path(os.environ.get("FRR_ROOT", "/"))
_CHROOT = [] if Path("/") == _ROOT else ["chroot", str(_ROOT)]
_LIBEXEC = "/usr/lib/frr"
LIBEXEC = _ROOT / _LIBEXEC[1:]
_RUN, _ETC, _LIB = _ROOT / "run/frr", _ROOT / "etc/frr", _ROOT / "var/lib/frr"
_USER, _VTY_GROUP = "frr", "frrvty"
DAEMONS = required_daemons(V10_3)
"""Those of every release: what an older one lacks is not on this machine."""
_START_S = 15.0


_LOG_END_LINES = 60


def frr_installed() -> bool:
    """True where FRR's daemons are."""
    return (LIBEXEC / "bgpd").exists()


def wait_until(condition: Callable[[], bool], what: str, timeout_s: float = 20.0) -> None:
    """Wait for a state, not for a time. Raises AssertionError naming the state that was not reached."""
    until = time.monotonic() + timeout_s
    while not condition():
        assert time.monotonic() < until, f"{what} did not happen within {timeout_s} s"
        time.sleep(0.05)


def ip(*words: str, check: bool = True) -> None:
    """The ip command."""
    subprocess.run(["ip", *words], check=check, capture_output=True, timeout=30)


class FrrHarness:
    """FRR in a namespace. Every daemon is a child of this process and is ended by its own pid."""

    def __init__(
        self,
        netns: str,
        pathspace: str,
        daemons: Sequence[str] = DAEMONS,
        *,
        feeds: bool = False,
        indexed: bool = False,
    ) -> None:
        self.netns, self.pathspace = netns, pathspace
        self._feeds, self._indexed = feeds, indexed
        self.vty_dir, self.config_dir = _RUN / pathspace, _ETC / pathspace
        present = [name for name in daemons if (LIBEXEC / name).exists()]
        self.daemons = tuple(dict.fromkeys(present))
        self._processes: dict[str, subprocess.Popen[bytes]] = {}
        self._made_namespace = False
        self._clients: list[FrrClient] = []

    def __enter__(self) -> FrrHarness:
        self.start()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.stop()

    def start(self) -> None:
        """Make the namespace and the directories, start every daemon, wait until each answers."""
        if not (Path("/run/netns") / self.netns).exists():
            ip("netns", "add", self.netns)
            self._made_namespace = True
            ip("-n", self.netns, "link", "set", "lo", "up")
        for directory in (_RUN, self.vty_dir, self.config_dir, _LIB, _LIB / self.pathspace):
            if not directory.is_dir():
                directory.mkdir(mode=0o755, parents=True)
                # Configuration is root's: FRR only reads it.
                shutil.chown(
                    directory, *(("root", "root") if directory == self.config_dir else (_USER, _USER))
                )
        settings = self.config_dir / "vtysh.conf"
        settings.write_text("service integrated-vtysh-config\n")
        shutil.chown(settings, "root", _VTY_GROUP)
        for daemon in self.daemons:
            self.start_daemon(daemon)

    def stop(self) -> None:
        """End the daemons, remove everything that ``start`` made."""
        for client in self._clients:
            client.close()
        for daemon in reversed(self.daemons):
            self._end(daemon, signal.SIGTERM)
        if self._made_namespace:
            ip("netns", "del", self.netns, check=False)
        for directory in (self.vty_dir, self.config_dir, _LIB / self.pathspace):
            shutil.rmtree(directory, ignore_errors=True)

    def start_daemon(self, daemon: str) -> None:
        """Start one daemon and wait until it answers."""
        log = self.vty_dir / f"{daemon}.log"
        argv = ["ip", "netns", "exec", self.netns, *_CHROOT, f"{_LIBEXEC}/{daemon}", "-N", self.pathspace]
        argv += ["-u", _USER, "-g", _USER, "-A", "127.0.0.1", "-P", "0"]
        argv += ["--log", "stdout", "--log-level", "debugging"]
        if daemon == "zebra" and self._feeds:
            argv += ["-M", "dplane_fpm_nl"]
        if daemon == "bgpd" and self._indexed:
            argv += ["-M", "bmp"]
        with log.open("ab") as output:
            self._processes[daemon] = subprocess.Popen(
                argv, stdin=subprocess.DEVNULL, stdout=output, stderr=output, start_new_session=True
            )
        client = FrrClient(self.vty_dir, self.config_dir, timeout_s=5)
        try:
            wait_until(lambda: bool(_answers(client, daemon)), f"{daemon} answering ({log})", _START_S)
        finally:
            client.close()

    def kill(self, daemon: str) -> None:
        """kill -9 of one daemon."""
        self._end(daemon, signal.SIGKILL)

    def pid(self, daemon: str) -> int:
        """Process id of a running daemon."""
        return self._processes[daemon].pid

    def ended(self) -> str:
        """Which daemons ended by themselves, with the end of their logs, where a crash leaves a backtrace."""
        told = []
        for daemon, process in self._processes.items():
            if (status := process.poll()) is not None:
                log = (self.vty_dir / f"{daemon}.log").read_text(errors="replace").splitlines()
                end = [line for line in log if "memstats" not in line][-_LOG_END_LINES:]
                told.append("\n".join([f"{daemon} ended with status {status}; its log ends:", *end]))
        return "\n".join(told) or "every daemon is running"

    def client(self) -> FrrClient:
        """A client, closed by ``stop``."""
        client = FrrClient(self.vty_dir, self.config_dir)
        self._clients.append(client)
        return client

    def vtysh(self, *commands: str) -> str:
        """What vtysh prints."""
        words = [word for command in commands for word in ("-c", command)]
        argv = [*_CHROOT, "vtysh", "-N", self.pathspace, *words]
        return subprocess.run(argv, check=True, capture_output=True, text=True, timeout=60).stdout

    def vtysh_boot(self) -> None:
        """Load ``frr.conf`` as FRR's start script does."""
        argv = [*_CHROOT, "vtysh", "-N", self.pathspace, "-b"]
        subprocess.run(argv, check=True, capture_output=True, timeout=60)

    def vtysh_file(self, text: str) -> None:
        """Let vtysh run lines of configuration."""
        (self.config_dir / "lines.conf").write_text(text)
        argv = [*_CHROOT, "vtysh", "-N", self.pathspace, "-f", f"/etc/frr/{self.pathspace}/lines.conf"]
        subprocess.run(argv, check=True, capture_output=True, timeout=60)

    def add_link(self, name: str, *addresses: str, peer: tuple[str, str] | None = None) -> None:
        """A veth in the namespace; its other end is ``peer``: (namespace, name), else beside it."""
        far_netns, far_name = peer or (self.netns, f"{name}-far")
        ip(
            "-n",
            self.netns,
            "link",
            "add",
            "name",
            name,
            "type",
            "veth",
            "peer",
            "name",
            far_name,
            "netns",
            far_netns,
        )
        self.add_address(name, *addresses)
        ip("-n", self.netns, "link", "set", "dev", name, "up")
        ip("-n", far_netns, "link", "set", "dev", far_name, "up")

    def add_address(self, interface: str, *addresses: str) -> None:
        """Addresses that can be used at once."""
        for address in addresses:
            nodad = ["nodad"] if ":" in address else []
            ip("-n", self.netns, "address", "add", address, "dev", interface, *nodad)

    def _end(self, daemon: str, number: signal.Signals) -> None:
        process = self._processes.pop(daemon, None)
        if process is None:
            return
        with contextlib.suppress(ProcessLookupError):
            os.kill(process.pid, number)
        try:
            process.wait(timeout=10)
        except subprocess.TimeoutExpired:
            process.kill()
            process.wait()


def _answers(client: FrrClient, daemon: str) -> str:
    with contextlib.suppress(FrrUnavailable):
        return client.show(daemon, "show version")
    return ""

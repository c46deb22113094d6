"""Network namespaces: making, entering and removing them with iproute2."""

import re
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Literal

from lab.command import run
from lab.errors import CommandFailed, LabError

Dataplane = Literal["vpp", "linux"]
NAMESPACE_DIR = Path("/run/netns")
LIVE_PREFIX = "mr"
_PREFIX = re.compile(r"[a-z][a-z0-9]{0,7}")


@dataclass(frozen=True)
class Namespaces:
    """The names of one lab's namespaces.

    `nic` holds the router's NICs before the data plane takes them: VPP's own namespace or, where the kernel
    forwards, the router's.
    """

    router: str
    nic: str
    lan: str
    wan: str
    wan_host: str
    core: str
    core_host: str

    @classmethod
    def named(cls, prefix: str, dataplane: Dataplane) -> "Namespaces":
        """The names for `prefix` (a letter, then at most seven letters or digits)."""
        if not _PREFIX.fullmatch(prefix):
            raise LabError(f"prefix {prefix!r} is not a letter followed by at most seven letters or digits")
        router = "dataplane" if prefix == LIVE_PREFIX else f"{prefix}-dataplane"
        return cls(
            router=router,
            nic=f"{prefix}-nic" if dataplane == "vpp" else router,
            lan=f"{prefix}-lan",
            wan=f"{prefix}-wan",
            wan_host=f"{prefix}-wanhost",
            core=f"{prefix}-core",
            core_host=f"{prefix}-corehost",
        )

    def all(self) -> tuple[str, ...]:
        """Every name once, in the order they are made."""
        names = (self.router, self.nic, self.lan, self.wan, self.wan_host, self.core, self.core_host)
        return tuple(dict.fromkeys(names))


def exists(name: str) -> bool:
    """Whether the namespace exists *and* is usable: a file that remains of a dead mount is not."""
    path = NAMESPACE_DIR / name
    if not path.exists():
        return False
    return path.stat().st_dev != NAMESPACE_DIR.stat().st_dev


def add(name: str) -> None:
    """Make the namespace, replacing a dead leftover of the same name."""
    leftover = NAMESPACE_DIR / name
    if leftover.exists() and not exists(name):
        leftover.unlink()
    run(["ip", "netns", "add", name])


def delete(name: str) -> None:
    """Remove the namespace if it exists; its links are removed with it once no process is left inside."""
    if (NAMESPACE_DIR / name).exists():
        run(["ip", "netns", "delete", name])


def enter(name: str, argv: Sequence[str]) -> list[str]:
    """The argument vector that runs `argv` inside the namespace (by exec: the process id stays the same)."""
    return ["ip", "netns", "exec", name, *argv]


def run_in(name: str, argv: Sequence[str], *, timeout_s: float = 60.0, check: bool = True) -> str:
    """Run `argv` inside the namespace and return its output."""
    return run(enter(name, argv), timeout_s=timeout_s, check=check)


def mount_is_shared_directory() -> bool:
    """Whether /run/netns is a mount point of its own; the first `ip netns add` makes it one."""
    return any(line.split()[4] == str(NAMESPACE_DIR) for line in _mountinfo())


def release_directory() -> None:
    """Undo the effect of the first `ip netns add` on /run/netns, only when no namespace is left there."""
    while mount_is_shared_directory():
        if any(NAMESPACE_DIR.iterdir()):
            return
        try:
            run(["umount", str(NAMESPACE_DIR)])
        except CommandFailed:
            return  # somebody made a namespace in between and now owns the mount
    if NAMESPACE_DIR.is_dir() and not any(NAMESPACE_DIR.iterdir()):
        NAMESPACE_DIR.rmdir()


def _mountinfo() -> list[str]:
    return Path("/proc/self/mountinfo").read_text().splitlines()

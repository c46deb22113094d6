"""Work inside a network namespace, from a process that stays outside."""

from __future__ import annotations

import fcntl
import os
import socket
import struct
import threading
from collections.abc import Callable, Iterable, Iterator, Mapping
from concurrent.futures import Future, ThreadPoolExecutor
from pathlib import Path
from typing import Any, ParamSpec, TypeVar

from appliance.dataplane.base import DataPlaneError, NamespaceMissing
from appliance.dataplane.rtnetlink import IPRoute, netns

P = ParamSpec("P")
T = TypeVar("T")

NAMESPACES = Path("/run/netns")
_SIOCGIFFLAGS, _IFF_UP = 0x8913, 1


class Namespace:
    """A thread that lives in a network namespace, to which sockets, sysctls and children made there belong.

    ``name`` is a named namespace; None is that of this process. When the namespace is removed and made again
    under its name, the next call works in the new one.
    """

    def __init__(self, name: str | None) -> None:
        self.name = name
        self._guard = threading.Lock()
        self._thread: ThreadPoolExecutor | None = None
        self._identity: int | None = None
        self._route: IPRoute | None = None

    def run(self, work: Callable[P, T], *args: P.args, **kwargs: P.kwargs) -> T:
        """Call ``work`` inside, one call at a time. Raises NamespaceMissing when there is no namespace."""
        return self.begin(work, *args, **kwargs).result()

    def begin(self, work: Callable[P, T], *args: P.args, **kwargs: P.kwargs) -> Future[T]:
        """Have ``work`` called inside, after earlier calls. Returns at once. Raises as ``run``."""
        with self._guard:
            identity = self._current()
            if self._thread is None or identity != self._identity:
                self._close()
                self._thread = ThreadPoolExecutor(1, f"netns-{self.name}", initializer=self._enter)
                self._identity = identity
            return self._thread.submit(work, *args, **kwargs)

    def route(self) -> IPRoute:
        """The namespace's rtnetlink socket; only for code that runs inside."""
        if self._route is None:
            self._route = IPRoute()
        return self._route

    def close(self) -> None:
        """End the thread."""
        with self._guard:
            self._close()

    def _current(self) -> int | None:
        if self.name is None:
            return None
        try:
            return (NAMESPACES / self.name).stat().st_ino
        except FileNotFoundError:
            raise NamespaceMissing(f"there is no network namespace {self.name}") from None

    def _enter(self) -> None:
        if self.name is not None:
            netns.setns(self.name)

    def _close(self) -> None:
        if self._thread is not None:
            self._thread.submit(self._close_route).result()
            self._thread.shutdown()
            self._thread = None

    def _close_route(self) -> None:
        if self._route is not None:
            self._route.close()
            self._route = None


SYSCTL = Path("/proc/sys")
_SYSCTL_BYTES = 4096
"""More than the kernel returns for one."""


def read_sysctl(name: str) -> str | None:
    """Value of ``net/ipv4/ip_forward`` and the like, inside; None if the kernel does not have it."""
    try:
        # A commit reads dozens of them, and creating a file object takes longer than the kernel's work.
        found = os.open(SYSCTL / name, os.O_RDONLY | os.O_CLOEXEC)
    except OSError:
        return None
    try:
        return " ".join(os.read(found, _SYSCTL_BYTES).decode().split())
    except OSError:
        return None
    finally:
        os.close(found)


def write_sysctl(name: str, value: str) -> None:
    """Set one, inside. Raises DataPlaneError."""
    try:
        (SYSCTL / name).write_text(value)
    except OSError as error:
        raise DataPlaneError(f"cannot set {name} to {value}: {error.strerror}") from error


class Attributes(Mapping[str, Any]):
    """Attributes by name, each decoded on demand: of a link's forty or so, a reader wants five."""

    def __init__(self, found: Iterable[Any]) -> None:
        self._found = {one[0]: one for one in found}

    def __getitem__(self, name: str) -> Any:
        return self._found[name][1]

    def __contains__(self, name: object) -> bool:
        return name in self._found

    def __iter__(self) -> Iterator[str]:
        return iter(self._found)

    def __len__(self) -> int:
        return len(self._found)


def attributes(message: Any) -> Attributes:
    """A netlink message's attributes."""
    return Attributes(message["attrs"])


def is_up(name: str) -> bool:
    """Whether the link is set up (netdevice(7)), inside. Raises DataPlaneError."""
    return bool(interface_flags(name) & _IFF_UP)


def interface_flags(name: str) -> int:
    """IFF_* of the link (netdevice(7)), inside. Raises DataPlaneError."""
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM | socket.SOCK_CLOEXEC) as any_socket:
        try:
            answer = fcntl.ioctl(any_socket, _SIOCGIFFLAGS, struct.pack("16sH22x", name.encode(), 0))
        except OSError as error:
            raise DataPlaneError(f"cannot read the flags of {name}: {error.strerror}") from error
    return int(struct.unpack_from("H", answer, 16)[0])

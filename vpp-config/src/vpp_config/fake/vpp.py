"""The fake client: dispatches calls, counts them, refuses on request, and forgets everything at a restart."""

from __future__ import annotations

import pkgutil
import threading
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from importlib import import_module
from ipaddress import ip_address, ip_network
from pathlib import Path
from types import SimpleNamespace
from typing import Any, TypeVar

from vpp_config.client import Reply, Request
from vpp_config.errors import VppApiError, VppError, VppUnavailable
from vpp_config.fake.interface_calls import InterfaceCalls
from vpp_config.fake.tables import UNSUPPORTED, AnyInterface, FakePath, RefusedError, Tables
from vpp_config.retvals import meaning

_READS = (
    "_dump",
    "_dump_v2",
    "_get",
    "_get_v2",
    "_get_table",
    "_lookup_v2",
    "_running_config",
    "control_ping",
)
Handlers = TypeVar("Handlers")


@dataclass
class _Failure:
    name: str | None
    retval: int
    skip: int


def _parts() -> list[type]:
    """The class of handlers in each file ``<what>_calls.py`` of this folder; a file is one plugin of VPP.

    A public method handles the message with its name; ``cli_<words>`` answers a command.
    """
    names = sorted(found.name for found in pkgutil.iter_modules([str(Path(__file__).parent)]))
    modules = [import_module(f"vpp_config.fake.{name}") for name in names if name.endswith("_calls")]
    return [
        value
        for module in modules
        for name, value in vars(module).items()
        if name.endswith("Calls") and value.__module__ == module.__name__
    ]


class FakeVpp:
    """A :class:`vpp_config.client.VppClient` without VPP. Thread-safe.

    ``host_devices`` are the Linux interfaces that af_packet finds; ``None`` means any name exists.
    """

    netlink_settle_s = 0.0
    """Its mirrors have no routes."""

    def __init__(self, host_devices: Iterable[str] | None = None) -> None:
        self.calls: list[Request] = []
        """Every call that changed something, or tried to."""
        self._host_devices = None if host_devices is None else set(host_devices)
        self._lock = threading.RLock()
        self._generation = 0
        self._running = True
        self._connected = False
        self._failures: list[_Failure] = []
        self._reset()

    def _reset(self) -> None:
        self._held = Tables.fresh()
        self._handlers: dict[str, Callable[..., Any]] = {}
        self._parts = {
            kind: kind(self._held, self._host_devices) if kind is InterfaceCalls else kind(self._held)
            for kind in _parts()
        }
        for part in self._parts.values():
            for name in dir(part):
                if not name.startswith("_"):
                    self._handlers[name] = getattr(part, name)
        self._handlers["control_ping"] = dict
        self._handlers["cli_inband"] = self._cli

    # -- controls that only a fake has

    def restart(self) -> None:
        """VPP crashed and restarted empty."""
        with self._lock:
            self.stop()
            self._running = True

    def stop(self) -> None:
        """VPP crashed."""
        with self._lock:
            self._running = self._connected = False
            self._reset()

    def fail_next(self, name: str, retval: int = -1, *, skip: int = 0) -> None:
        """Refuse the next call of that name once, after letting ``skip`` of them pass."""
        self._failures.append(_Failure(name, retval, skip))

    def fail_after(self, count: int, retval: int = -1) -> None:
        """Refuse once: the changing call that follows ``count`` others, whatever its name."""
        self._failures.append(_Failure(None, retval, count))

    def succeed(self) -> None:
        """Drop requested refusals that have not happened yet."""
        self._failures.clear()

    def mirrored_addresses(self, host_if_name: str) -> set[AnyInterface]:
        """The addresses that Linux would have on a mirror."""
        for row in self._held.interfaces.values():
            if row.pair is not None and row.pair.host_if_name == host_if_name:
                return set(row.pair.addresses)
        raise KeyError(host_if_name)

    def set_route(self, prefix: str, next_hop: str | None, sw_if_index: int, table_id: int = 0) -> None:
        """linux_nl added a route with one path."""
        hop = None if next_hop is None else ip_address(next_hop)
        self._held.routes[table_id, ip_network(prefix)] = (FakePath(0, hop, sw_if_index),)

    def part(self, kind: type[Handlers]) -> Handlers:
        """The handlers of one plugin, until the next restart, for controls that only a fake has."""
        found = self._parts[kind]
        assert isinstance(found, kind)
        return found

    # -- the protocol

    @property
    def connected(self) -> bool:
        """See :class:`vpp_config.client.VppClient`."""
        return self._connected

    @property
    def generation(self) -> int:
        """See :class:`vpp_config.client.VppClient`."""
        return self._generation

    def connect(self) -> int:
        """See :class:`vpp_config.client.VppClient`."""
        with self._lock:
            if not self._running:
                raise VppUnavailable("cannot connect to VPP: it does not run")
            if not self._connected:
                self._connected = True
                self._generation += 1
            return self._generation

    def close(self) -> None:
        """See :class:`vpp_config.client.VppClient`."""
        self._connected = False

    def supports(self, name: str) -> bool:
        """See :class:`vpp_config.client.VppClient`."""
        self.connect()
        return name in self._handlers

    def call(self, name: str, **fields: Any) -> Reply:
        """See :class:`vpp_config.client.VppClient`."""
        answer = self.pipeline([Request(name, fields)])[0]
        if isinstance(answer, VppError):
            raise answer
        return answer

    def dump(self, name: str, **fields: Any) -> list[Reply]:
        """See :class:`vpp_config.client.VppClient`."""
        answer: list[Reply] = self.call(name, **fields)
        return answer

    def stream(self, name: str, **fields: Any) -> Iterator[Reply]:
        """See :class:`vpp_config.client.VppClient`."""
        return iter(self.dump(name, **fields))

    def pipeline(
        self, requests: Sequence[Request], *, generation: int | None = None
    ) -> list[Reply | list[Reply] | VppError]:
        """See :class:`vpp_config.client.VppClient`."""
        with self._lock:
            if generation is not None and not (self._connected and generation == self._generation):
                raise VppUnavailable("VPP was restarted meanwhile")
            self.connect()
            return [self._answer(item.name, item.fields) for item in requests]

    def _cli(self, cmd: str) -> Mapping[str, Any]:
        handler = self._handlers.get(f"cli_{cmd.replace(' ', '_')}")
        if handler is None:
            raise RefusedError(UNSUPPORTED)
        return {"reply": handler()}

    def _answer(self, name: str, fields: Mapping[str, Any]) -> Reply | list[Reply] | VppError:
        handler = self._handlers.get(name)
        if handler is None:
            raise VppApiError(name, -126, "not offered by this VPP: is its plugin enabled?")
        try:
            if not name.endswith(_READS):
                self.calls.append(Request(name, fields))
                self._fail_if_asked(name)
            answer = handler(**fields)
        except RefusedError as refused:
            return VppApiError(name, refused.retval, meaning(refused.retval))
        return answer if isinstance(answer, list) else SimpleNamespace(retval=0, **(answer or {}))

    def _fail_if_asked(self, name: str) -> None:
        for failure in self._failures:
            if failure.name in (None, name):
                if failure.skip == 0:
                    self._failures.remove(failure)
                    raise RefusedError(failure.retval)
                failure.skip -= 1

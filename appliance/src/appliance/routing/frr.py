"""FRRouting as a backend: its configuration, and what it has learned."""

from __future__ import annotations

import grp
import logging
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager, suppress
from ipaddress import ip_interface
from pathlib import Path
from typing import Any, TypeVar

from appliance.config.document import RouterConfig
from appliance.dataplane.namespace import Namespace
from appliance.engine import durable
from appliance.engine.backend import Backend, BackendUnavailable, StepError
from appliance.engine.durable import Owner
from appliance.routing.frr_view import FrrView
from appliance.routing.known_addresses import Address, tell
from appliance.routing.reopening import reopen
from appliance.routing.wanted import WantedRouting
from appliance.state.health import DaemonHealth, PartHealth
from frr_config import (
    FakeFrr,
    FrrClient,
    FrrConfig,
    FrrVersion,
    Step,
    masked_diff,
    plan,
)
from frr_config.errors import FrrError, FrrUnavailable
from frr_config.protocols.bgp.limits import raised

T = TypeVar("T")
log = logging.getLogger(__name__)


class FrrBackend(FrrView, Backend[WantedRouting, FrrConfig, Step]):
    """FRR's daemons with the path space of ``vty_dir``. Desired state is the document's routing.

    With ``feeds`` zebra, which then runs with its module dplane_fpm_nl, sends its routes to a feeder. With
    ``indexed`` bgpd, which then runs with its module bgpd_bmp, sends its routes to an index; without the
    module it would refuse the lines, so the program that starts bgpd says whether it has it. ``client``
    stands for FRR in tests.
    """

    name = "frr"
    label = "FRR"

    def __init__(
        self,
        netns: str,
        vty_dir: Path,
        config_dir: Path,
        *,
        feeds: bool = False,
        indexed: bool = False,
        client: FrrClient | FakeFrr | None = None,
    ) -> None:
        super().__init__(client or FrrClient(vty_dir, config_dir))
        self._netns = netns
        self._space = Namespace(netns)
        self._feeds, self._indexed = feeds, indexed
        self._startup_file = config_dir / "frr.conf"
        self._version: FrrVersion | None = None
        self._rendered: tuple[WantedRouting, FrrVersion, FrrConfig] | None = None

    def observe(self) -> FrrConfig:
        """The running configuration of all daemons."""
        observed = self._asking(self._client.observe)
        self._version = observed.version
        return observed

    def plan(self, desired: WantedRouting, observed: FrrConfig) -> Sequence[Step]:
        """Steps from observed to desired, in the language of the version that was observed. Pure."""
        return plan(self._render(desired, observed.version), observed)

    def diff(self, desired: WantedRouting, observed: FrrConfig) -> list[str]:
        """Unified diff of FRR's own configuration, secrets masked."""
        return masked_diff(observed, self._render(desired, observed.version))

    def apply(self, step: Step) -> None:
        """Run the step's commands. Raises StepError or BackendUnavailable."""
        with self._failing():
            self._client.apply(step)

    def apply_in_portions(self, step: Step, between: Callable[[], None]) -> None:
        """See Backend: a step of many lines is several transactions of FRR."""
        with self._failing():
            self._client.apply(step, between)

    def undo(self, step: Step) -> None:
        """Run the commands that undo it. Raises StepError or BackendUnavailable."""
        with self._failing():
            self._client.undo(step)

    def committed(self, desired: WantedRouting) -> None:
        """Write the file FRR boots from without an agent, even while FRR is down or dies on its lines.

        It belongs to root and is readable by FRR's group, as FRR never writes it. It holds passwords. Raises
        OSError if others may write in its folder.
        """
        with self._failing():
            text = self._render(desired, self._known_version()).text()
        durable.write(self._startup_file, text.encode("utf-8"), 0o640, Owner(gid=_frr_group()))

    # What can be looked at.

    def interfaces_known(self, closely: Iterable[str] = ()) -> dict[str, Any]:
        """See RoutingView."""

        def ask() -> dict[str, Any]:
            known = self._client.interfaces()
            for name in closely:
                addresses = self._client.interface_addresses(name) if name in known else None
                if addresses is not None:
                    found = any(ip_interface(text).ip.is_link_local for text in addresses)
                    known[name]["link_local"] = found
            return known

        return self._asking(ask)

    def tell_addresses(self, addresses: Iterable[Address]) -> None:
        """Have Linux announce again addresses that zebra does not know. Raises DataPlaneError."""
        for name, address in tell(self._space, addresses):
            log.warning("FRR did not know %s of %s: it is told again", address, name)

    def reopen(self, before: RouterConfig, after: RouterConfig) -> list[str]:
        """See Backend: sessions that were closed by a limit that is now raised."""
        said = reopen(self, before.routing.bgp, after.routing.bgp)
        for name, vrf in after.vrfs.items():
            was = before.vrfs.get(name)
            said += reopen(self.in_vrf(name), None if was is None else was.routing.bgp, vrf.routing.bgp, name)
        return said

    def may_reopen(self, before: RouterConfig, after: RouterConfig) -> bool:
        """See Backend."""
        own = [(before.routing.bgp, after.routing.bgp)]
        both = before.vrfs.keys() & after.vrfs.keys()
        own += [(before.vrfs[name].routing.bgp, after.vrfs[name].routing.bgp) for name in both]
        return any(raised(was, now) for was, now in own)

    def health(self) -> PartHealth:
        """Up while every daemon runs; never raises."""
        try:
            daemons = self._client.health()
        except FrrError as error:
            return PartHealth(state="down", detail=str(error), label=self.label)
        down = sorted(name for name, daemon in daemons.items() if not daemon.running)
        detail = f"not running: {', '.join(down)}" if down else "all daemons run"
        shown = {
            name: DaemonHealth(running=daemon.running, version=daemon.version, uptime_s=daemon.uptime_s)
            for name, daemon in daemons.items()
        }
        return PartHealth(state="down" if down else "up", detail=detail, label=self.label, daemons=shown)

    def release(self) -> FrrVersion | None:
        """The release of FRR; None while it is unknown."""
        with suppress(FrrError):
            return self._known_version()
        return None

    def close(self) -> None:
        """Release the daemons' sockets."""
        self._client.close()

    # Inside.

    def _render(self, desired: WantedRouting, version: FrrVersion) -> FrrConfig:
        """The same part of a document is rendered several times in one commit."""
        kept = self._rendered
        if kept is None or not kept[0].is_same(desired) or kept[1] != version:
            before = None if kept is None else kept[2]
            rendered = desired.render(version, feeds=self._feeds, indexed=self._indexed, like=before)
            kept = (desired, version, rendered)
            self._rendered = kept
        return kept[2]

    def _known_version(self) -> FrrVersion:
        """The version as last observed; else that of the boot file; else as FRR answers."""
        if self._version is not None:
            return self._version
        with suppress(OSError, FrrError, UnicodeDecodeError):
            first = self._startup_file.read_text("utf-8").partition("\n")[0]
            return FrrVersion.parse(first.removeprefix("frr version "))
        return self._client.version()

    @contextmanager
    def _failing(self) -> Iterator[None]:
        try:
            yield
        except FrrUnavailable as error:
            raise BackendUnavailable(self.name, str(error)) from error
        except FrrError as error:
            raise StepError(str(error)) from error


def _frr_group() -> int:
    """Number of FRR's group; -1, which changes nothing, if FRR has no user of its own."""
    try:
        return grp.getgrnam("frr").gr_gid
    except KeyError:
        return -1

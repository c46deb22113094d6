"""Applies and undoes steps of the VPP data plane."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, contextmanager, nullcontext
from functools import singledispatchmethod
from pathlib import Path

import vpp_config
from appliance.dataplane import own_mac
from appliance.dataplane.namespace import Namespace
from appliance.dataplane.object_step import ObjectStep
from appliance.dataplane.vpp import startup
from appliance.dataplane.vpp.feeder import FeederClient
from appliance.dataplane.vpp.kept_mirrors import KeptMirrors
from appliance.dataplane.vpp.mirror_namespace import MirrorNamespace
from appliance.dataplane.vpp.mirrors import has_link
from appliance.dataplane.vpp.plan import RestartStep, TakeUpStep, VppStep, mirrored_interface
from appliance.dataplane.vpp.room import RoomStep
from appliance.dataplane.vpp.startup import StartupSettings
from appliance.dataplane.vpp.view import VppView
from appliance.engine import durable
from appliance.engine.backend import StepError
from appliance.service_manager import ServiceError, ServiceManager
from vpp_config import Session, VppClient, VppObject, VppState
from vpp_config.leftover import Leftover

START_S = 60.0
"""How long VPP may take to answer after a restart."""
_LINK_S = 3.0
"""How long all NICs together may take to regain their links after VPP was started."""
_LOOK_AGAIN_S = 0.02


class VppSteps:
    """Applies and undoes steps. Raises StepError, and what the parts of the data plane raise.

    ``space`` is the namespace of the mirrors, ``nic_space`` that of the NICs. ``startup_conf`` and
    ``services`` are None if starting VPP is not our job.
    """

    def __init__(
        self,
        session: Session,
        view: VppView,
        clients: tuple[VppClient, ...],
        space: Namespace,
        mirrors: MirrorNamespace,
        nic_space: Namespace,
        kept: KeptMirrors,
        *,
        startup_conf: Path | None,
        services: ServiceManager | None,
        feeder: FeederClient | None,
    ) -> None:
        self._session, self._view, self._clients = session, view, clients
        self._space, self._mirrors, self._nic_space, self._kept = space, mirrors, nic_space, kept
        self._startup_conf, self._services, self._feeder = startup_conf, services, feeder
        self._links_by: tuple[int, float] | None = None

    @singledispatchmethod
    def apply(self, step: VppStep) -> None:
        """Apply the step."""
        raise TypeError(f"{step!r} is no step of this plane")

    @singledispatchmethod
    def undo(self, step: VppStep) -> None:
        """Undo the step."""
        raise TypeError(f"{step!r} is no step of this plane")

    # VPP's objects.

    @apply.register
    def _(self, step: vpp_config.Step) -> None:
        with self._changing(step), self._own_macs(step.after):
            self._session.apply(step)

    @undo.register
    def _(self, step: vpp_config.Step) -> None:
        with self._changing(step), self._own_macs(step.before):
            self._session.undo(step)

    @apply.register
    def _(self, step: TakeUpStep) -> None:
        if not self._kept.whole:
            raise StepError(f"Linux does not have {step.label} any more: the next try makes it anew")
        self._wait_for_link(step.interface)
        self._session.apply(step)

    def _changing(self, step: vpp_config.Step) -> AbstractContextManager[None]:
        """A mirror that is made or removed is released; the content of one that VPP changes is unknown."""
        item = step.after or step.before
        if item is None or not item.mirrored:
            return nullcontext()
        return self._kept.changing(mirrored_interface(step))

    def _wait_for_link(self, name: str) -> None:
        """A mirror copies its NIC's link state, and FRR ends sessions even when that is lost for a moment."""
        generation = self._session.client.generation
        if self._links_by is None or self._links_by[0] != generation:
            self._links_by = generation, time.monotonic() + _LINK_S
        if self._space.run(has_link, name):
            while not self._view.links().get(name) and time.monotonic() < self._links_by[1]:
                time.sleep(_LOOK_AGAIN_S)

    @contextmanager
    def _own_macs(self, made: VppObject | Leftover | None) -> Iterator[None]:
        """A NIC that gets another MAC address in the block keeps a note of its own until it has it back."""
        given = None if made is None else made.host_mac()
        if given is None:
            yield
            return
        device, mac = given
        self._nic_space.run(own_mac.keep, self._nic_space, device, mac)
        yield
        self._nic_space.run(own_mac.forget, self._nic_space, device)

    # The mirrors' namespace.

    @apply.register
    def _(self, step: ObjectStep) -> None:
        self._space.run(self._mirrors.change, step.key, step.before, step.after)

    @undo.register
    def _(self, step: ObjectStep) -> None:
        self._space.run(self._mirrors.change, step.key, step.after, step.before)

    # The feeder.

    @apply.register
    def _(self, step: RoomStep) -> None:
        self._require_feeder().leave_room(step.before, step.after)

    @undo.register
    def _(self, step: RoomStep) -> None:
        self._require_feeder().set_most(step.before)

    def _require_feeder(self) -> FeederClient:
        """The one that was there when the step was planned."""
        if self._feeder is None:
            raise StepError("there is no feeder to be told how many routes VPP has room for")
        return self._feeder

    # VPP itself.

    @apply.register
    def _(self, step: RestartStep) -> None:
        self._restart(step.after)

    @undo.register
    def _(self, step: RestartStep) -> None:
        # Everything is then made in the order of undoing, which takes mirrors down.
        self._kept.release()
        self._restart(step.before)
        for again in vpp_config.plan(step.lost, VppState.of(())):
            self._session.apply(again)

    def _restart(self, settings: StartupSettings) -> None:
        if self._startup_conf is None or self._services is None:
            raise StepError(
                "VPP cannot be restarted from here: the agent has no startup file or service of it"
            )
        before = self._startup_conf.read_bytes()
        durable.write(self._startup_conf, startup.rewrite(before.decode(), settings).encode(), 0o644)
        try:
            self._start_again(self._services)
        except StepError:
            durable.write(self._startup_conf, before, 0o644)
            self._start_again(self._services)
            raise

    def _start_again(self, services: ServiceManager) -> None:
        """The connections are closed first: any later answer comes from the new VPP."""
        for client in self._clients:
            client.close()
        try:
            services.restart("vpp")
        except ServiceError as error:
            raise StepError(str(error)) from error
        _wait(self._view.answers, START_S)


def _wait(condition: Callable[[], bool], timeout_s: float) -> None:
    end = time.monotonic() + timeout_s
    while not condition():
        if time.monotonic() > end:
            raise StepError(f"VPP did not answer within {timeout_s:.0f} s of its restart")
        time.sleep(0.1)

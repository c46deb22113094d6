"""The part of the router's last commit that the boot needs, read before the agent runs."""

from __future__ import annotations

import logging
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from pydantic import ValidationError

from appliance.config.migrate import migrate
from appliance.config.nic_match import NicMatch
from appliance.engine.store import RevisionStore
from appliance.errors import MillraceError
from appliance.features.dataplane.model import Dataplane
from appliance.features.ethernet.model import Ethernet

log = logging.getLogger(__name__)


@dataclass(frozen=True)
class Wishes:
    """The parts of a document that decide about hardware."""

    dataplane: Dataplane = field(default_factory=Dataplane)
    ethernets: tuple[Ethernet, ...] = ()

    @property
    def matches(self) -> tuple[NicMatch, ...]:
        """The NICs it means."""
        return tuple(ethernet.match for ethernet in self.ethernets)


def read(state_dir: Path) -> Wishes:
    """Those of the last recorded revision. One that cannot be read counts as empty, and the log says so."""
    try:
        store = RevisionStore(state_dir)
        return wishes(migrate(store.document(store.head)))
    except (MillraceError, OSError, ValueError, TypeError) as error:
        log.error("the last commit cannot be read, so no NIC is remembered for it: %s", error)
        return Wishes()


def wishes(document: dict[str, Any]) -> Wishes:
    """The parts of a document; an invalid one is left out, and the log says so."""
    ethernets = []
    for name, interface in document.get("interfaces", {}).items():
        if interface.get("type") == "ethernet":
            try:
                ethernets.append(Ethernet.model_validate(interface))
            except ValidationError as error:
                log.error("interface %s of the last commit: %s", name, error)
    try:
        dataplane = Dataplane.model_validate(document.get("dataplane", {}))
    except ValidationError as error:
        log.error("data plane settings of the last commit: %s", error)
        dataplane = Dataplane()
    return Wishes(dataplane, tuple(ethernets))

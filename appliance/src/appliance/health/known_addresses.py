"""zebra's view of the addresses against the document: lost ones are announced again."""

from __future__ import annotations

import time
from collections.abc import Iterator, Mapping
from typing import TYPE_CHECKING, Any

from appliance.config.document import RouterConfig
from appliance.health.check import Check, Finding, Look
from appliance.routing.known_addresses import LINK_LOCAL, untold

if TYPE_CHECKING:
    from appliance.agent.router import Router

PERIOD_S = 5.0
"""The interval of looks, roughly."""
PATIENCE_S = 30.0
"""A commit adds addresses, and a busy zebra learns of them late; after this they are announced again."""


_CLOSELY = 16
"""Interfaces queried one by one in a look; all take turns."""


def _known(router: Router) -> Mapping[str, Any]:
    interfaces = router.engine.running_config.interfaces
    names = [name for name, one in interfaces.items() if any(":" in address for address in one.addresses)]
    begin = int(time.monotonic() / PERIOD_S) * _CLOSELY % len(names) if len(names) > _CLOSELY else 0
    return router.routing.interfaces_known(names[begin : begin + _CLOSELY])


def _concerns(config: RouterConfig) -> bool:
    return any(interface.addresses for interface in config.interfaces.values())


def _lost(look: Look[Mapping[str, Any]]) -> frozenset[tuple[str, str]]:
    """Unknown in two looks: in between zebra had time to learn of it. Link-local ones: in one look."""
    if look.before is None:
        return frozenset()
    now, before = untold(look.now, look.config), untold(look.before, look.config)
    return frozenset(one for one in now if one in before or one[1] == LINK_LOCAL)


def unknown(look: Look[Mapping[str, Any]]) -> Iterator[Finding]:
    """Addresses without which FRR routes nothing over the interface."""
    by_interface: dict[str, list[str]] = {}
    for name, address in sorted(_lost(look)):
        # Whether Linux has one is not known here.
        if address != LINK_LOCAL:
            by_interface.setdefault(name, []).append(address)
    for name, addresses in by_interface.items():
        yield Finding(
            "addresses_unknown",
            name,
            "major",
            f"FRR does not know {', '.join(addresses[:3])} of interface {name}, and routes nothing over it",
            "The router gives FRR the addresses again automatically. If this persists, restart FRR: "
            "systemctl restart frr.",
            {"addresses": ", ".join(addresses)},
            pointer=f"/interfaces/{name}",
            patience_s=PATIENCE_S,
        )


def tell_again(router: Router, look: Look[Mapping[str, Any]]) -> None:
    """Have Linux announce again what FRR missed."""
    if lost := _lost(look):
        router.routing.tell_addresses(lost)


CHECKS = (Check("addresses in FRR", _known, unknown, _concerns, mends=tell_again),)

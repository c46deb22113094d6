"""Which NIC is the management NIC. Pure, but for `inventory`.

NICs are identified by MAC and PCI address, never by the order in which they are found: a NIC that is added,
removed or moved to another slot does not take the management addresses with it.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path

_ETHERNET = "1"
_PCI = re.compile(r"[0-9a-f]{4}:[0-9a-f]{2}:[01][0-9a-f]\.[0-7]")


@dataclass(frozen=True)
class Card:
    """A NIC that the kernel drives."""

    device: str
    mac: str
    """Small letters."""
    pci: str | None
    """Where it sits; None for one that is not on the PCI bus."""


@dataclass(frozen=True)
class Choice:
    """The management NIC, or None, and why."""

    card: Card | None
    reason: str


def in_pci_order(cards: Iterable[Card]) -> list[Card]:
    """By domain, bus, device and function; those that are not on the bus come last."""
    return sorted(cards, key=lambda card: (card.pci is None, card.pci or "", card.device))


def choose(
    cards: Sequence[Card],
    *,
    wanted_mac: str | None,
    last: Card | None,
    known_macs: frozenset[str],
) -> Choice:
    """The management NIC among ``cards``.

    If ``wanted_mac`` was requested, no other NIC is taken. Otherwise ``last``, that of the previous boot:
    found by its MAC address, else by its PCI address, provided the card there is new. A card whose MAC
    address is in ``known_macs`` had another use before and is never taken over. Without a previous boot it is
    the first in PCI order.
    """
    if wanted_mac is not None:
        card = next((card for card in cards if card.mac == wanted_mac), None)
        return Choice(card, "as asked for" if card else f"there is no NIC with MAC address {wanted_mac}")
    if last is None:
        first = next(iter(in_pci_order(cards)), None)
        return Choice(first, "the first NIC" if first else "there is no NIC")
    if (same := next((card for card in cards if card.mac == last.mac), None)) is not None:
        return Choice(same, "as before")
    there = next((card for card in cards if card.pci is not None and card.pci == last.pci), None)
    if there is not None and there.mac not in known_macs:
        return Choice(there, f"in the place of {last.mac}")
    return Choice(None, f"the management NIC {last.mac} is gone")


def inventory(sys: Path = Path("/sys")) -> list[Card]:
    """Ethernet devices of hardware in this namespace, in PCI order."""
    found = []
    for place in (sys / "class/net").iterdir():
        link = place / "device"
        if not link.exists() or _line(place / "type") != _ETHERNET:
            continue
        mac = _line(place / "address").lower()
        found.append(Card(place.name, mac, _pci_address(link.resolve())))
    return in_pci_order(found)


def _pci_address(path: Path) -> str | None:
    """The last PCI address on the way: virtio's own device lies below its PCI function."""
    return next((part for part in reversed(path.parts) if _PCI.fullmatch(part)), None)


def _line(path: Path) -> str:
    try:
        return path.read_text().strip()
    except OSError:
        return ""

"""The names of NICs, stable across boots. Pure.

The document names NICs by MAC, by PCI address or by device name. Of these only the MAC stays when NICs are
added, removed or reordered: the kernel numbers and places them anew. So the names a NIC was first known by
are recorded with its MAC, and are its names from then on, wherever it sits. An address therefore never moves
to another wire; a NIC that is gone leaves its interface absent, and no other takes its place.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from itertools import count

from appliance.config.nic_match import NicMatch


@dataclass(frozen=True)
class Identity:
    """A NIC's names."""

    mac: str
    device: str
    pci: str | None
    """Address it is known by; None while another NIC is known by the one it has."""


@dataclass(frozen=True)
class Found:
    """A NIC as this boot finds it."""

    mac: str
    device: str
    pci: str


@dataclass(frozen=True)
class Identities:
    """The NICs that are present, and those only recorded."""

    present: tuple[Identity, ...]
    """In the order of what was found."""
    absent: tuple[Identity, ...]
    """NICs that are gone but meant by the document: their names stay taken."""

    @property
    def all(self) -> tuple[Identity, ...]:
        """The names to record."""
        return (*self.present, *self.absent)


def identify(
    found: Sequence[Found],
    remembered: Iterable[Identity],
    matches: Sequence[NicMatch] = (),
    reserved: Iterable[str] = (),
) -> Identities:
    """Names for every NIC that was found.

    ``matches`` are those of the document: a name it does not use follows the NIC's place, and a NIC that is
    gone is forgotten unless one of them means it. ``reserved`` device names are never given (management).
    """
    known: dict[str, Identity] = {}
    for identity in remembered:
        known.setdefault(identity.mac, identity)
    here = {nic.mac for nic in found}
    absent = tuple(i for i in known.values() if i.mac not in here and any(_means(m, i) for m in matches))
    # Fixed names come first: those of NICs that are gone, and those the document uses.
    pinned = {match.pci for match in matches if match.pci is not None}
    places = {identity.pci for identity in absent}
    places |= {i.pci for mac, i in known.items() if mac in here and i.pci in pinned}
    names = {identity.device for identity in absent} | set(reserved)
    names |= {identity.device for mac, identity in known.items() if mac in here}
    present = []
    seen: set[str] = set()
    for nic in found:
        old = known.get(nic.mac) if nic.mac not in seen else None
        seen.add(nic.mac)
        if old is None:
            free = nic.device not in names
            device = nic.device if free else _free(names | {other.device for other in found})
            old = Identity(nic.mac, device, None)
        names.add(old.device)
        if old.pci is None or old.pci not in pinned:
            old = replace(old, pci=nic.pci if nic.pci not in places else None)
        present.append(old)
    return Identities(tuple(present), absent)


def _means(match: NicMatch, identity: Identity) -> bool:
    if match.mac is not None:
        return match.mac == identity.mac
    return match.pci == identity.pci if match.pci is not None else match.device == identity.device


def _free(taken: set[str]) -> str:
    return next(name for number in count() if (name := f"eth{number}") not in taken)

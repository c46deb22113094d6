"""Translation in the kernel: reading it, and changing it in one transaction."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from ipaddress import IPv4Address

from appliance.dataplane.base import DataPlaneError
from appliance.dataplane.linux import conntrack
from appliance.dataplane.linux.nat_rules import (
    TABLE,
    Forward,
    Mappings,
    Reading,
    Translation,
    mapping_changes,
    read,
    translation_changes,
    whole_table,
)
from appliance.dataplane.nftables import nft

_NUMBERS = {"tcp": 6, "udp": 17}


class NatTable:
    """Our nftables table in one namespace. All methods have to be called inside it."""

    def __init__(self) -> None:
        self._table = nft.TableReader(TABLE, read)

    def observe(self) -> Reading | None:
        """The observed state; None if there is no table. Raises DataPlaneError."""
        return self._table.latest()

    def translate(self, wanted: Translation | None) -> None:
        """Set the translation. Sessions of addresses no longer used end. Raises DataPlaneError."""
        before = self.observe()
        if wanted is None:
            if before is not None:
                nft.script(f"delete table inet {TABLE}\n")
                conntrack.end(lambda _: True)
            return
        wanted = replace(wanted, altered=False)
        if before is None or before.translation.altered:
            nft.script(whole_table(wanted, before.mappings if before is not None else Mappings()))
        else:
            nft.script(translation_changes(before.translation, wanted))
        if before is not None and (gone := before.translation.addresses - wanted.addresses):
            conntrack.end(_of_addresses(gone))

    def map(self, wanted: Mappings) -> None:
        """Set the mappings that lead inside. Sessions of the others end. Raises DataPlaneError."""
        before = self.observe()
        if before is None:
            if wanted != Mappings():
                raise DataPlaneError("the table of translations is gone: somebody removed it")
            return
        if before.mappings != wanted:
            nft.script(mapping_changes(before.mappings, wanted))
            static = set(before.mappings.static) - set(wanted.static)
            forwards = set(before.mappings.forwards) - set(wanted.forwards)
            if static or forwards:
                conntrack.end(_of_mappings({outside for outside, _ in static}, forwards))


def _of_addresses(gone: set[str]) -> Callable[[conntrack.Tracked], bool]:
    numbers = {int(IPv4Address(address)) for address in gone}
    return lambda one: one.source_translated and one.reply.destination in numbers


def _of_mappings(static: set[str], forwards: set[Forward]) -> Callable[[conntrack.Tracked], bool]:
    hosts = {int(IPv4Address(address)) for address in static}
    ports = {(int(IPv4Address(one.outside)), _NUMBERS[one.protocol], one.outside_port) for one in forwards}

    def matches(one: conntrack.Tracked) -> bool:
        asked = one.original.destination
        if one.source_translated and one.reply.destination in hosts:
            return True
        if not one.destination_translated:
            return False
        return asked in hosts or (asked, one.protocol, one.original.destination_port) in ports

    return matches

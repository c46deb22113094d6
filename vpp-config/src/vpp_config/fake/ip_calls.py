"""The fake's address, table and route calls."""

from __future__ import annotations

from collections.abc import Mapping
from ipaddress import IPv4Address, IPv4Network, IPv6Address, IPv6Network, ip_network
from types import SimpleNamespace
from typing import Any

from vpp_config.fake import tables as t
from vpp_config.fake.tables import AnyInterface, FakeInterface, FakePath, RefusedError, Tables

_NORMAL, _LOCAL, _DROP = 0, 1, 2
_NO_HOP4, _NO_HOP6 = IPv4Address(0), IPv6Address(0)


class IpCalls:
    """Handlers of the messages about IP, by message name."""

    def __init__(self, held: Tables) -> None:
        self._held = held

    def sw_interface_add_del_address(self, sw_if_index: int, is_add: bool, prefix: AnyInterface) -> None:
        """Subnets may not overlap within a table; one interface may have several addresses of a subnet."""
        row = self._held.interface(sw_if_index)
        if not is_add:
            if prefix not in row.addresses:
                raise RefusedError(t.ADDRESS_NOT_FOUND)
            row.addresses.remove(prefix)
            if row.pair is not None:
                row.pair.addresses.discard(prefix)
            return
        for other in self._neighbors_in_table(row, prefix.version):
            for taken in other.addresses:
                if not _compatible(prefix, taken, same_interface=other is row):
                    raise RefusedError(t.ADDRESS_IN_USE if prefix.version == 4 else t.DUPLICATE_IF_ADDRESS)
        row.addresses.append(prefix)
        if row.pair is not None:
            row.pair.addresses.add(prefix)

    def _neighbors_in_table(self, row: FakeInterface, version: int) -> list[FakeInterface]:
        six = version == 6
        return [other for other in self._held.interfaces.values() if other.tables[six] == row.tables[six]]

    def ip_address_dump(self, sw_if_index: int, is_ipv6: bool) -> list[SimpleNamespace]:
        """An interface that does not exist has no addresses."""
        row = self._held.interfaces.get(sw_if_index)
        version = 6 if is_ipv6 else 4
        addresses = row.addresses if row is not None else []
        return [
            SimpleNamespace(sw_if_index=sw_if_index, prefix=address)
            for address in addresses
            if address.version == version
        ]

    def ip_table_add_del_v2(self, is_add: bool, create_mfib: bool, table: Mapping[str, Any]) -> None:
        """Making a table twice, or removing one that is missing or in use, is no error."""
        assert create_mfib
        key = (table["table_id"], bool(table["is_ip6"]))
        if is_add:
            self._held.ip_tables.setdefault(key, table["name"])
        elif not any(row.tables[key[1]] == key[0] for row in self._held.interfaces.values()):
            self._held.ip_tables.pop(key, None)

    def ip_table_dump(self) -> list[SimpleNamespace]:
        """All tables, including VPP's own."""
        return [
            SimpleNamespace(table=SimpleNamespace(table_id=table_id, is_ip6=is_ip6, name=name))
            for (table_id, is_ip6), name in self._held.ip_tables.items()
        ]

    def sw_interface_set_table(self, sw_if_index: int, is_ipv6: bool, vrf_id: int) -> None:
        """Refused for a missing table, and while the interface has addresses."""
        row = self._held.interface(sw_if_index)
        if (vrf_id, is_ipv6) not in self._held.ip_tables:
            raise RefusedError(t.NO_SUCH_FIB)
        if any((address.version == 6) == is_ipv6 for address in row.addresses):
            raise RefusedError(t.ADDRESS_FOUND)
        row.tables[is_ipv6] = vrf_id

    def sw_interface_get_table(self, sw_if_index: int, is_ipv6: bool) -> Mapping[str, Any]:
        """The table's id."""
        return {"vrf_id": self._held.interface(sw_if_index).tables[is_ipv6]}

    def ip_route_lookup_v2(
        self, table_id: int, exact: bool, prefix: IPv4Network | IPv6Network
    ) -> Mapping[str, Any]:
        """The longest match of a prefix, or its own entry, among VPP's own routes and the added ones."""
        if (table_id, prefix.version == 6) not in self._held.ip_tables:
            raise RefusedError(t.NO_SUCH_FIB)
        routes = self._routes(table_id, prefix.version)
        if exact:
            best = prefix if prefix in routes else None
        else:
            covering = [known for known in routes if _covers(known, prefix)]
            best = max(covering, key=lambda known: known.prefixlen, default=None)
        if best is None:
            raise RefusedError(t.NO_SUCH_ENTRY)
        paths = [_path(path, prefix.version) for path in routes[best]]
        return {
            "route": SimpleNamespace(table_id=table_id, prefix=best, n_paths=len(paths), src=0, paths=paths)
        }

    def _routes(self, table_id: int, version: int) -> dict[IPv4Network | IPv6Network, tuple[FakePath, ...]]:
        everything = ip_network("0.0.0.0/0" if version == 4 else "::/0")
        routes: dict[IPv4Network | IPv6Network, tuple[FakePath, ...]] = {everything: (FakePath(_DROP),)}
        for row in self._held.interfaces.values():
            for address in row.addresses:
                if row.up and address.version == version and row.tables[version == 6] == table_id:
                    routes[address.network] = (FakePath(_NORMAL, None, row.index),)
                    routes[ip_network(address.ip)] = (FakePath(_LOCAL, address.ip, row.index),)
        for (table, prefix), paths in self._held.routes.items():
            if table == table_id and prefix.version == version:
                routes[prefix] = paths
        return routes


def _covers(known: IPv4Network | IPv6Network, other: IPv4Network | IPv6Network) -> bool:
    shift = known.max_prefixlen - known.prefixlen
    return known.prefixlen <= other.prefixlen and int(known[0]) >> shift == int(other[0]) >> shift


def _path(path: FakePath, version: int) -> SimpleNamespace:
    address = path.next_hop if path.next_hop is not None else (_NO_HOP4 if version == 4 else _NO_HOP6)
    six = address.version == 6
    return SimpleNamespace(
        sw_if_index=path.sw_if_index,
        weight=path.weight,
        preference=0,
        type=path.kind,
        proto=int(six),
        nh=SimpleNamespace(
            address=SimpleNamespace(ip4=_NO_HOP4 if six else address, ip6=address if six else _NO_HOP6)
        ),
    )


def _compatible(new: AnyInterface, taken: AnyInterface, *, same_interface: bool) -> bool:
    if new.version != taken.version or not _overlap(new, taken):
        return True
    return same_interface and new.network == taken.network and new.ip != taken.ip


def _overlap(one: AnyInterface, other: AnyInterface) -> bool:
    shorter, longer = sorted((one.network, other.network), key=lambda network: network.prefixlen)
    return int(longer.network_address) >> (longer.max_prefixlen - shorter.prefixlen) == int(
        shorter.network_address
    ) >> (shorter.max_prefixlen - shorter.prefixlen)

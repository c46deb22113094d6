"""The management NIC's addresses in the network files of cloud-init and OpenStack. Pure.

A file may describe several NICs. The management NIC is the one with ``management_mac``, else the first; the
others belong to the configuration document and are named in a remark.
"""

from __future__ import annotations

import ipaddress
from collections.abc import Iterable, Mapping
from typing import Any

from appliance.errors import Problem, ValidationFailed

Values = dict[str, Any]


def version_1(config: Mapping[str, Any], mac: str | None) -> tuple[Values, list[str]]:
    """Values and remarks of network-config version 1 (what Proxmox writes). Raises ValidationFailed."""
    entries = _mappings(config.get("config"), "network-config/config")
    nics = [entry for entry in entries if entry.get("type") == "physical"]
    chosen, remarks = _choose(nics, lambda nic: nic.get("mac_address"), lambda nic: nic.get("name"), mac)
    values: Values = {"dns_servers": [], "search_domains": []}
    for server in (entry for entry in entries if entry.get("type") == "nameserver"):
        values["dns_servers"] += _texts(server.get("address"))
        values["search_domains"] += _texts(server.get("search"))
    if chosen is None:
        return values, remarks
    values |= _mac(chosen.get("mac_address"))
    values |= {"management_address": "off", "management_ipv6_address": "off"}
    for subnet in _mappings(chosen.get("subnets"), "network-config/subnets"):
        values |= _subnet(subnet)
        values["dns_servers"] += _texts(subnet.get("dns_nameservers"))
        values["search_domains"] += _texts(subnet.get("dns_search"))
    return values, remarks


def version_2(config: Mapping[str, Any], mac: str | None) -> tuple[Values, list[str]]:
    """Values and remarks of network-config version 2 (netplan's form). Raises ValidationFailed."""
    ethernets = config.get("ethernets") or {}
    if not isinstance(ethernets, Mapping):
        raise _refused("network-config/ethernets", "must be an object")
    nics: list[Mapping[str, Any]] = [
        {"name": name, **entry}
        for name, entry in ethernets.items()
        if isinstance(entry, Mapping) and isinstance(name, str)
    ]
    chosen, remarks = _choose(nics, _matched_mac, lambda nic: nic.get("name"), mac)
    if chosen is None:
        return {}, remarks
    names = chosen.get("nameservers") or {}
    if not isinstance(names, Mapping):
        raise _refused("network-config/nameservers", "must be an object")
    values: Values = {
        "dns_servers": _texts(names.get("addresses")),
        "search_domains": _texts(names.get("search")),
        "management_address": "dhcp" if _yes(chosen.get("dhcp4")) else "off",
        "management_ipv6_address": "off" if chosen.get("accept-ra") is False else "auto",
        **_mac(_matched_mac(chosen)),
    }
    for text in _texts(chosen.get("addresses")):
        values[_address_field(text)] = text
    gateways = [*_texts(chosen.get("gateway4")), *_texts(chosen.get("gateway6"))]
    for route in _mappings(chosen.get("routes"), "network-config/routes"):
        if route.get("to") in ("default", "0.0.0.0/0", "::/0"):
            gateways += _texts(route.get("via"))
        else:
            remarks.append(f"network-config: the route to {route.get('to')!s:.60} is not taken over")
    return values | _gateways(gateways), remarks


def openstack(data: Mapping[str, Any], mac: str | None) -> tuple[Values, list[str]]:
    """Values and remarks of ConfigDrive's network_data.json. Raises ValidationFailed."""
    links = _mappings(data.get("links"), "network_data/links")
    nics = [link for link in links if link.get("ethernet_mac_address")]
    chosen, remarks = _choose(
        nics, lambda nic: nic.get("ethernet_mac_address"), lambda nic: nic.get("id"), mac
    )
    servers = _mappings(data.get("services"), "network_data/services")
    values: Values = {
        "dns_servers": [text for entry in servers if entry.get("type") == "dns"
                        for text in _texts(entry.get("address"))],
    }  # fmt: skip
    if chosen is None:
        return values, remarks
    values |= _mac(chosen.get("ethernet_mac_address"))
    values |= {"management_address": "off", "management_ipv6_address": "off"}
    gateways = []
    for network in _mappings(data.get("networks"), "network_data/networks"):
        if network.get("link") != chosen.get("id"):
            continue
        kind = str(network.get("type"))
        if kind == "ipv4_dhcp":
            values["management_address"] = "dhcp"
        elif kind.startswith("ipv6_"):
            values["management_ipv6_address"] = "auto"
        elif kind in ("ipv4", "ipv6"):
            text = _with_length(str(network.get("ip_address")), network.get("netmask"))
            values[_address_field(text)] = text
        for route in _mappings(network.get("routes"), "network_data/routes"):
            if route.get("network") in ("0.0.0.0", "::"):
                gateways += _texts(route.get("gateway"))
    return values | _gateways(gateways), remarks


def _choose(
    nics: list[Mapping[str, Any]], mac_of: Any, name_of: Any, mac: str | None
) -> tuple[Mapping[str, Any] | None, list[str]]:
    chosen = nics[0] if nics else None
    if mac is not None:
        chosen = next((nic for nic in nics if str(mac_of(nic) or "").lower() == mac.lower()), None)
    rest = [str(name_of(nic)) for nic in nics if nic is not chosen]
    remarks = [f"network-config: {', '.join(rest)[:120]} not taken over: data interfaces belong to the "
               "configuration document"] if rest else []  # fmt: skip
    return chosen, remarks


def _subnet(subnet: Mapping[str, Any]) -> Values:
    kind = str(subnet.get("type"))
    match kind:
        case "dhcp" | "dhcp4":
            return {"management_address": "dhcp"}
        case "dhcp6" | "ipv6_slaac" | "ipv6_dhcpv6-stateless" | "ipv6_dhcpv6-stateful":
            return {"management_ipv6_address": "auto"}
        case "manual":
            return {}
        case "static" | "static6":
            text = _with_length(str(subnet.get("address")), subnet.get("netmask"))
            return {_address_field(text): text} | _gateways(_texts(subnet.get("gateway")))
    raise _refused("network-config/subnets/type", f"{kind[:40]!r} is not known")


def _with_length(address: str, netmask: object) -> str:
    """``address/length`` where the mask stands apart."""
    if "/" in address or netmask is None:
        return address
    try:
        return ipaddress.ip_interface(f"{address}/{netmask}").with_prefixlen
    except ValueError:
        # An IPv6 mask may be written as an address too.
        try:
            bits = bin(int(ipaddress.IPv6Address(str(netmask)))).count("1")
            return f"{address}/{bits}"
        except ValueError:
            raise _refused("network-config/netmask", f"{netmask!s:.40} is not a network mask") from None


def _address_field(text: str) -> str:
    return "management_ipv6_address" if ":" in text else "management_address"


def _gateways(texts: Iterable[str]) -> Values:
    return {"management_ipv6_gateway" if ":" in text else "management_gateway": text for text in texts}


def _matched_mac(nic: Mapping[str, Any]) -> Any:
    match = nic.get("match")
    return match.get("macaddress") if isinstance(match, Mapping) else None


def _mac(value: object) -> Values:
    return {"management_mac": value.lower()} if isinstance(value, str) else {}


def _yes(value: object) -> bool:
    return value in (True, "true", "yes", "on")


def _texts(value: object) -> list[str]:
    if value is None:
        return []
    return [str(entry) for entry in value] if isinstance(value, list | tuple) else str(value).split()


def _mappings(value: object, where: str) -> list[Mapping[str, Any]]:
    if value is None:
        return []
    if not isinstance(value, list) or not all(isinstance(entry, Mapping) for entry in value):
        raise _refused(where, "must be a list of objects")
    return value


def _refused(where: str, message: str) -> ValidationFailed:
    return ValidationFailed([Problem(f"/{where}", message)])

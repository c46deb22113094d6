"""Which fields name other objects of the document, so that the form can offer the names there are."""

from __future__ import annotations

_ACLS = "/acls"
_INTERFACES = "/interfaces"
_POLICY = "/routing/policy"

_BY_FIELD: dict[str, str] = {
    "acl_in": _ACLS,
    "acl_out": _ACLS,
    "parent": _INTERFACES,
    "interface": _INTERFACES,
    "update_source": _INTERFACES,
    "peer_group": "/routing/bgp/peer_groups",
    "route_map": f"{_POLICY}/route_maps",
    "route_map_in": f"{_POLICY}/route_maps",
    "route_map_out": f"{_POLICY}/route_maps",
    "call": f"{_POLICY}/route_maps",
    "prefix_list": f"{_POLICY}/prefix_lists",
    "prefix_list_in": f"{_POLICY}/prefix_lists",
    "prefix_list_out": f"{_POLICY}/prefix_lists",
    "ipv6_prefix_list": f"{_POLICY}/prefix_lists",
    "as_path_list": f"{_POLICY}/as_path_lists",
    "community_list": f"{_POLICY}/community_lists",
    "area": "/routing/ospf/areas",
}


def refers_to(name: str) -> str:
    """Pointer of the mapping a field of this name draws from; empty where it draws from none.

    Only suggestions come from here: whether a name exists is the validation's to say.
    """
    return _BY_FIELD.get(name, "")


def key_refers_to(pointer_tail: str) -> str:
    """The same for the keys of a mapping, by the mapping's own name and its parent's."""
    return _INTERFACES if pointer_tail == "ospf/interfaces" else ""

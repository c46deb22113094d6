"""The features of the router: a folder each, with the same file names in all of them, and a line here.

Nothing outside a folder knows the feature's name. ``appliance.features.registry`` finds what a folder has.
"""

from __future__ import annotations

FEATURES: tuple[str, ...] = (
    "system",
    "vrf",
    "dataplane",
    "interface",
    "ethernet",
    "bond",
    "sub_interface",
    "loopback",
    "memif",
    "gre",
    "acl",
    "nat",
    "control_plane",
    "static",
    "policy",
    "bgp",
    "ospf",
    "bfd",
)
"""Folders, in the order in which problems of a document are told."""

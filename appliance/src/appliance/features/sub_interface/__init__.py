"""A VLAN on another interface (IEEE 802.1Q)."""

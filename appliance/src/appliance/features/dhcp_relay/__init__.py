"""DHCP relay: clients of a VRF get their addresses from a server elsewhere (RFC 2131, RFC 1542, RFC 3046)."""

"""What the relay's nodes of VPP's graph do. Packets that are forwarded do not pass them."""

NODES = {"dhcp-proxy": "DHCP relay"}

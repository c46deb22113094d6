"""The relay's nodes in VPP's graph. Forwarded packets do not pass them."""

NODES = {"dhcp-proxy": "DHCP relay"}

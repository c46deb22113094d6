"""The kernel as the data plane: netlink for links and addresses, nftables for access lists."""

from appliance.dataplane.linux.backend import LinuxDataplane

__all__ = ["LinuxDataplane"]

"""The host around the router: its name, resolvers, clock and banner."""

from appliance.host.backend import HostBackend

__all__ = ["HostBackend"]

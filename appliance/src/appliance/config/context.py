"""The document, with lookups that several checks share."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field, replace
from functools import lru_cache
from ipaddress import ip_address

from appliance.config import vrf_view
from appliance.config.capabilities import Capabilities
from appliance.config.document import RouterConfig
from appliance.config.interface_address import IpInterface, address_of
from frr_config.types import DEFAULT_VRF, IpAddress, IpNetwork, network_of


@dataclass(frozen=True)
class Context:
    """One document under validation."""

    config: RouterConfig
    capabilities: Capabilities
    addresses: dict[str, tuple[IpInterface, ...]]
    """Addresses by interface."""
    own: dict[IpAddress, str]
    """The router's own addresses, and the interface each is on."""
    vrf: str = ""
    """The VRF that this view of the document is of; empty: the default one, or the whole document."""
    views: Mapping[str, Context] = field(default_factory=dict)
    """The document as each VRF sees it, by name, the default one (empty) first. Empty for a document without
    VRFs, which is its own only view."""
    _connected: dict[str, str | None] = field(default_factory=dict)
    """Results of ``connected``: thousands of routes share a few next hops."""

    @classmethod
    def of(cls, config: RouterConfig, capabilities: Capabilities) -> Context:
        """Gather the router's addresses."""
        addresses = {
            name: tuple(map(address_of, interface.addresses)) for name, interface in config.interfaces.items()
        }
        own = {address.ip: name for name, known in addresses.items() for address in known}
        views: dict[str, Context] = {}
        if config.vrfs:
            for vrf, seen in vrf_view.views(config):
                views[vrf] = replace(cls.of(seen, capabilities), vrf=vrf, views=views)
        return cls(config, capabilities, addresses, own, views=views)

    def each_vrf(self) -> Iterable[Context]:
        """The document as each VRF sees it."""
        return self.views.values() if self.views else (self,)

    @property
    def default(self) -> Context:
        """The document as the default VRF sees it: others may have the same addresses and networks."""
        return self.views.get("", self)

    def beside(self, vrf: str | None) -> Context | None:
        """The view of another VRF; None: there is none of this name. Of None: this one."""
        if vrf is None:
            return self
        return self.views.get("" if vrf == DEFAULT_VRF else vrf)

    def connected(self, text: str, interface: str | None = None) -> str | None:
        """The interface (this one, if given) with a network that holds the address, or None."""
        if interface is None:
            if text not in self._connected:
                self._connected[text] = self._network_of(text, self.addresses)
            return self._connected[text]
        return self._network_of(text, (interface,))

    def _network_of(self, text: str, names: Iterable[str]) -> str | None:
        wanted = address(text)
        for name in names:
            for known in self.addresses.get(name, ()):
                if known.version == wanted.version and wanted in known.network:
                    return name
        return None

    def has_ipv4(self) -> bool:
        """Whether any interface has an IPv4 address, from which routing protocols take a router id."""
        return any(known.version == 4 for known in self.own)


def network(text: str) -> IpNetwork:
    """A prefix that is known to be one."""
    return network_of(text)


@lru_cache(maxsize=1 << 17)
def address(text: str) -> IpAddress:
    """An address that is known to be one."""
    return ip_address(text)


def family_of(text: str) -> str:
    """``ipv4`` or ``ipv6``, of an address or a prefix."""
    return "ipv6" if ":" in text else "ipv4"


def family_title(family: str) -> str:
    """The family as it is written in a sentence."""
    return "IPv6" if family == "ipv6" else "IPv4"

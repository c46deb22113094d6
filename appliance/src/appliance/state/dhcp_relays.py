"""DHCP relays as VPP has them: which address tells the server a client's network, and what was relayed."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from pydantic import Field

from appliance.config.counted import counted
from appliance.state.object_state import Standing
from appliance.state.part import Answer, Everything, Part, PartlyRead, Table

if TYPE_CHECKING:
    from appliance.agent.router import Router
    from appliance.config.document import RouterConfig
    from appliance.dataplane.looking import VppLooking
    from vpp_config.stats import StatsSegment

_NODES = "/err/dhcp-proxy-to-"
_TO_SERVERS, _TO_CLIENTS = "DHCP packets relayed to the server", "DHCP packets relayed to clients"


class RelayedNetwork(Answer):
    """An interface whose clients are relayed."""

    interface: str
    address: str = Field(
        description="The first IPv4 address that VPP has on it: the server is told it (option 82, link"
        " selection), and clients get addresses of its network."
    )


class DhcpRelayState(Answer):
    """The relay of one VRF."""

    name: str = Field(description="In the configuration; empty where it has no relay of this VRF.")
    vrf: str | None = Field(None, description="VRF of the clients; null: the default one.")
    table: int = Field(description="VPP's table of that VRF.")
    server: str
    server_vrf: str | None = Field(None, description="VRF by which the server is reached; null: the default.")
    source_address: str = Field(description="That the server answers to (giaddr).")
    networks: tuple[RelayedNetwork, ...] = ()
    state: Standing = Field("unknown", description="`inactive`: no route leads to the server, or no clients.")
    why: str = Field("", description="Why it is not working.")


class DhcpRelays(PartlyRead):
    """Every relay, and the packets of all of them: VPP does not count by relay."""

    relays: tuple[DhcpRelayState, ...]
    to_servers: int = Field(0, description="Packets of clients that were relayed since VPP's start.")
    to_clients: int = Field(0, description="Packets of servers that were taken for clients.")
    failures: dict[str, int] = Field(
        {}, description="Packets that were not relayed, or without option 82, by VPP's words for the reason."
    )

    @property
    def words(self) -> str:
        """The counts in a sentence."""
        if not (self.relays or self.to_servers or self.failures):
            return ""
        failed = "".join(f" {count:,}: {reason}." for reason, count in sorted(self.failures.items()))
        return (
            f"Relayed since VPP started: {counted(self.to_servers, 'packet')} from clients,"
            f" {self.to_clients:,} from servers.{failed}"
        )


def _read(router: Router, _: Everything) -> DhcpRelays:
    config = router.engine.running_config
    found = router.dataplane.look(
        vpp=lambda vpp: on_vpp(vpp, config), linux=lambda _kernel: _unable("the kernel relays no DHCP")
    )
    known = {one.name: one for one in router.liveness.of("dhcp_relay")} if found.relays else {}
    return found.model_copy(
        update={
            "relays": tuple(
                one.model_copy(update={"state": known[one.name].state, "why": known[one.name].why})
                if one.name in known
                else one
                for one in found.relays
            )
        }
    )


def _unable(why: str) -> DhcpRelays:
    counts = ("to_servers", "to_clients", "failures")
    return DhcpRelays(relays=(), untold=dict.fromkeys(("relays", *counts), why))


def on_vpp(vpp: VppLooking, config: RouterConfig) -> DhcpRelays:
    """The relays that VPP has; names are those of the document. Raises VppError."""
    from appliance.features.dhcp_relay.vpp import table_number

    if not vpp.client.supports("dhcp_proxy_dump"):
        return _unable("VPP's plugin dhcp is not loaded, so nothing is relayed")
    rows = vpp.client.dump("dhcp_proxy_dump", is_ip6=False)
    vrfs = {table_number(config, name): name for name in config.vrfs}
    names = {relay.vrf: name for name, relay in config.dhcp_relays.items()}
    networks = _networks(vpp, config, {vrfs.get(row.rx_vrf_id) for row in rows})
    counts = vpp.read_stats(_counts)
    return DhcpRelays(
        relays=tuple(
            DhcpRelayState(
                name=names.get(vrf, "") if row.rx_vrf_id in (0, *vrfs) else "",
                vrf=vrf,
                table=row.rx_vrf_id,
                server=str(server.dhcp_server),
                server_vrf=vrfs.get(server.server_vrf_id),
                source_address=str(row.dhcp_src_address),
                networks=networks.get(vrf, ()),
            )
            for row in rows
            for vrf in (vrfs.get(row.rx_vrf_id),)
            for server in row.servers
        ),
        to_servers=counts.pop(_TO_SERVERS, 0),
        to_clients=counts.pop(_TO_CLIENTS, 0),
        failures=counts,
    )


def _counts(segment: StatsSegment) -> dict[str, int]:
    """By VPP's words, of both nodes."""
    found: dict[str, int] = {}
    for entry, packets in segment.counted(_NODES).items():
        reason = entry.rpartition("/")[2]
        found[reason] = found.get(reason, 0) + packets
    return found


def _networks(
    vpp: VppLooking, config: RouterConfig, vrfs: set[str | None]
) -> Mapping[str | None, tuple[RelayedNetwork, ...]]:
    """By VRF, of the interfaces whose clients these VRFs' relays reach by the document."""
    from appliance.features.dhcp_relay.clients import relayed
    from vpp_config.client import request
    from vpp_config.errors import VppError

    indexes = {name: index for index, name in vpp.names().items()}
    asked = [name for vrf in vrfs for name in relayed(config, vrf) if name in indexes]
    answers = vpp.client.pipeline(
        [request("ip_address_dump", sw_if_index=indexes[name], is_ipv6=False) for name in asked]
    )
    found: dict[str | None, list[RelayedNetwork]] = {}
    for name, answer in zip(asked, answers, strict=True):
        if isinstance(answer, VppError):
            raise answer
        rows: list[Any] = list(answer)
        if rows:
            network = RelayedNetwork(interface=name, address=str(rows[0].prefix))
            found.setdefault(config.interfaces[name].vrf, []).append(network)
    return {vrf: tuple(networks) for vrf, networks in found.items()}


DHCP_RELAYS = Part(
    "dhcp-relays",
    "DHCP relays: their servers, the networks of their clients, and how many packets were relayed.",
    Everything,
    DhcpRelays,
    _read,
    table=Table(
        ("name", "vrf", "server", "server_vrf", "source_address", "networks", "state", "why"),
        lambda answer: answer.relays,
        lambda answer: answer.words,
        field="relays",
    ),
)

"""Access lists for the packets of a bench. The bench's own lists have a tag."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from ipaddress import ip_network
from typing import TYPE_CHECKING

from appliance.bench import traffic
from appliance.bench.load import Ends, Load

if TYPE_CHECKING:
    # A machine without VPP does not load what drives it.
    from vpp_config import AclRule, VppClient
    from vpp_config.client import Reply

_TAG = "millrace-bench-"
_NEW, _ALL = 0xFFFFFFFF, 0xFFFFFFFF
_ANYWHERE = "0.0.0.0/0"
_OTHERS = traffic.FIRST_CLIENT + (1 << 24)
_UDP = 17


def ruled_hosts(rules: int) -> Iterator[str]:
    """One prefix per rule: those of the traffic first, then others; a single rule covers all traffic."""
    if rules == 1:
        yield _ANYWHERE
        return
    for number in range(rules):
        yield f"{(traffic.FIRST_CLIENT if number < traffic.HOSTS else _OTHERS) + number}/32"


def access_list(rules: int, side: int) -> list[AclRule]:
    """For packets that come in on the left, 0, or on the right, 1."""
    from vpp_config import AclRule

    anywhere = ip_network(_ANYWHERE)
    hosts = map(ip_network, ruled_hosts(rules))
    return [AclRule("permit", *((anywhere, one) if side else (one, anywhere)), _UDP) for one in hosts]


class AccessLists(Load):
    """One on each interface, for received packets."""

    name = "acl"
    packets = "rules on both interfaces"
    units = "rules"
    usual, most = 50, 1_024

    def title(self, size: int) -> str:
        """With where the rules are."""
        return f"{size:,} rules on each interface, for received packets"

    def passes(self, size: int) -> str:
        """Lists alone."""
        del size
        return "its table has two routes, its interfaces one access list each"

    def streams(self, macs: Sequence[str], size: int) -> traffic.Streams:
        """A flow for each rule, as far as there are hosts."""
        return traffic.both(macs, hosts=min(size, traffic.HOSTS))

    def heap_bytes(self, size: int, threads: int) -> int:
        """Two lists, each bound once; they share the tables of the document's lists."""
        del threads
        from appliance.features.acl.memory import BOUND_RULE_BYTES, RULE_BYTES

        return 2 * size * (RULE_BYTES + BOUND_RULE_BYTES)

    def against(self, vpp: VppClient) -> str:
        """The tables that the first bound list makes stay, and would take room that is meant for routes."""
        if not _is_known(vpp):
            return "this VPP runs without its plugin acl"
        if not any(row.acls for row in vpp.dump("acl_interface_list_dump", sw_if_index=_ALL)):
            return (
                "no access list is bound to an interface: the first one takes 76 MB of VPP's main heap, "
                "which VPP keeps until it is restarted and which routes count on. Measure where lists are in "
                "use"
            )
        return ""

    def put(self, vpp: VppClient, size: int, ends: Ends) -> None:
        """One list per side, for the packets that come in there."""
        for side, index in enumerate(ends.indexes):
            rules = access_list(size, side)
            made = vpp.call("acl_add_replace", acl_index=_NEW, tag=f"{_TAG}{side}", count=len(rules), r=rules)
            _bind(vpp, index, [int(made.acl_index)])

    def take_from(self, vpp: VppClient, indexes: Sequence[int]) -> None:
        """Unbind first: VPP does not delete a bound list."""
        if not _is_known(vpp):
            return
        for index in indexes:
            _bind(vpp, index, [])
        for row in _lists(vpp):
            vpp.call("acl_del", acl_index=int(row.acl_index))

    def remains(self, vpp: VppClient) -> int:
        """The lists."""
        return len(_lists(vpp)) if _is_known(vpp) else 0


LOAD = AccessLists()


def _is_known(vpp: VppClient) -> bool:
    return vpp.supports("acl_interface_set_acl_list")


def _lists(vpp: VppClient) -> list[Reply]:
    return [row for row in vpp.dump("acl_dump", acl_index=_ALL) if str(row.tag).startswith(_TAG)]


def _bind(vpp: VppClient, index: int, bound: list[int]) -> None:
    count = len(bound)
    vpp.call("acl_interface_set_acl_list", sw_if_index=index, count=count, n_input=count, acls=bound)

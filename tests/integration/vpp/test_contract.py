"""VPP's answers, call by call. The fake must answer the same."""

from __future__ import annotations

from ipaddress import ip_interface, ip_network
from typing import Any

import pytest

from tests.integration.vpp.conftest import Target
from tests.integration.vpp.harness import nic_mac
from vpp_config import AclRule, VppApiError, VppUnavailable
from vpp_config.client import Request, VppClient, request
from vpp_config.fib import fib_lookups

_ALL = 0xFFFFFFFF
_PERMIT_ALL = AclRule("permit", ip_network("0.0.0.0/0"), ip_network("0.0.0.0/0"))


def _refusal(client: VppClient, name: str, **fields: Any) -> int:
    """The return value of a call that must fail."""
    with pytest.raises(VppApiError) as caught:
        client.call(name, **fields)
    assert caught.value.call == name
    assert str(caught.value.retval) in str(caught.value)
    return caught.value.retval


def _af_packet(device: str = "nic0", number: int = 0) -> Request:
    return request(
        "af_packet_create_v3", mode=1, hw_addr=nic_mac(number), use_random_hw_addr=False, host_if_name=device,
        rx_frame_size=2048, tx_frame_size=2048, rx_frames_per_block=1024, tx_frames_per_block=1024, flags=0,
        num_rx_queues=1, num_tx_queues=1,
    )  # fmt: skip


def _make_nic(client: VppClient, device: str = "nic0", number: int = 0) -> int:
    index: int = client.call("af_packet_create_v3", **_af_packet(device, number).fields).sw_if_index
    return index


def _make_loopback(client: VppClient, instance: int) -> int:
    reply = client.call(
        "create_loopback_instance",
        mac_address="00:00:00:00:00:00", is_specified=True, user_instance=instance,
    )  # fmt: skip
    index: int = reply.sw_if_index
    return index


def _address(index: int, text: str, *, is_add: bool = True) -> dict[str, Any]:
    return {"sw_if_index": index, "is_add": is_add, "prefix": ip_interface(text)}


def _table(table_id: int, name: str, *, is_add: bool = True) -> dict[str, Any]:
    return {
        "is_add": is_add,
        "create_mfib": True,
        "table": {"table_id": table_id, "is_ip6": False, "name": name},
    }


def _acl(index: int, tag: str, *rules: AclRule) -> dict[str, Any]:
    return {"acl_index": index, "tag": tag, "count": len(rules), "r": rules}


def _bind(index: int, inbound: list[int], outbound: list[int]) -> dict[str, Any]:
    return {
        "sw_if_index": index,
        "count": len(inbound + outbound),
        "n_input": len(inbound),
        "acls": inbound + outbound,
    }


def _row(client: VppClient, index: int) -> Any:
    rows = client.dump("sw_interface_dump", sw_if_index=_ALL)
    return next(row for row in rows if row.sw_if_index == index)


def test_af_packet(target: Target) -> None:
    client = target.client
    index = _make_nic(client)
    row = _row(client, index)
    assert (row.interface_name, str(row.l2_address), row.tag) == ("host-nic0", nic_mac(0), "")
    assert (row.link_mtu, row.mtu[0], row.sup_sw_if_index, int(row.flags) & 1) == (9000, 9000, index, 0)
    assert [(r.sw_if_index, r.host_if_name) for r in client.dump("af_packet_dump")] == [(index, "nic0")]
    assert _refusal(client, "af_packet_create_v3", **_af_packet().fields) == -79
    assert _refusal(client, "af_packet_create_v3", **_af_packet("absent").fields) == -71
    assert _refusal(client, "af_packet_delete", host_if_name="absent") == -11
    client.call("af_packet_delete", host_if_name="nic0")
    assert client.dump("af_packet_dump") == []


def test_loopback(target: Target) -> None:
    client = target.client
    index = _make_loopback(client, 5)
    assert _row(client, index).interface_name == "loop5"
    assert str(_row(client, index).l2_address) == "de:ad:00:00:00:05"
    fields = {"mac_address": "00:00:00:00:00:00", "is_specified": True, "user_instance": 5}
    assert _refusal(client, "create_loopback_instance", **fields) == -31
    assert _refusal(client, "delete_loopback", sw_if_index=99) == -2
    client.call("delete_loopback", sw_if_index=index)
    assert _refusal(client, "delete_loopback", sw_if_index=index) == -2


def test_memif(target: Target) -> None:
    client = target.client
    name, add = "memif_socket_filename_add_del_v2", {"is_add": True, "socket_filename": "memif/left.sock"}
    forget = {"is_add": False, "socket_filename": ""}
    ours = 0x80000007

    def memif(number: int, **fields: Any) -> dict[str, Any]:
        made = {"role": 0, "mode": 0, "id": number, "socket_id": ours, "hw_addr": "02:fe:00:00:00:01"}
        return made | fields

    assert client.call(name, socket_id=ours, **add).socket_id == ours
    client.call(name, socket_id=ours, **add)
    assert _refusal(client, name, socket_id=ours, is_add=True, socket_filename="memif/x.sock") == -116
    assert _refusal(client, name, socket_id=0, **add) == -73
    assert _refusal(client, name, socket_id=9, **forget) == -73
    paths = {row.socket_id: row.socket_filename for row in client.dump("memif_socket_filename_dump")}
    assert paths[ours].endswith("/memif/left.sock")
    assert paths[ours].startswith("/")
    assert _refusal(client, "memif_create_v2", **memif(1, socket_id=9)) == -73
    index = client.call("memif_create_v2", **memif(1)).sw_if_index
    row = _row(client, index)
    assert (row.interface_name, str(row.l2_address)) == (f"memif{ours}/1", "02:fe:00:00:00:01")
    assert (row.mtu[0], row.sup_sw_if_index, int(row.flags) & 3) == (9000, index, 0)
    assert _refusal(client, "memif_create_v2", **memif(1)) == -68
    assert _refusal(client, "memif_create_v2", **memif(2, role=1)) == -68
    assert _refusal(client, "memif_create_v2", **memif(2, ring_size=1000)) == -73
    (told,) = client.dump("memif_dump")
    assert (told.sw_if_index, told.id, told.socket_id, int(told.role)) == (index, 1, ours, 0)
    # Why the rings are kept in the socket's id: while unconnected, VPP does not report the requested ones.
    assert (told.ring_size, told.buffer_size) == (1, 0)
    assert _refusal(client, name, socket_id=ours, **forget) == -74
    assert _refusal(client, "memif_delete", sw_if_index=99) == -2
    client.call("memif_delete", sw_if_index=index)
    assert _refusal(client, "memif_delete", sw_if_index=index) == -2
    client.call(name, socket_id=ours, **forget)
    assert client.dump("memif_dump") == []


def test_sub_interface(target: Target) -> None:
    client = target.client
    parent = _make_nic(client)
    index = client.call("create_vlan_subif", sw_if_index=parent, vlan_id=10).sw_if_index
    row = _row(client, index)
    assert (row.interface_name, row.sup_sw_if_index) == ("host-nic0.10", parent)
    assert (row.sub_number_of_tags, row.sub_outer_vlan_id, row.mtu[0]) == (1, 10, 0)
    assert _refusal(client, "create_vlan_subif", sw_if_index=parent, vlan_id=10) == -56
    assert _refusal(client, "create_vlan_subif", sw_if_index=99, vlan_id=10) == -2
    assert _refusal(client, "sw_interface_set_flags", sw_if_index=index, flags=1) == -1
    client.call("sw_interface_set_flags", sw_if_index=parent, flags=1)
    client.call("sw_interface_set_flags", sw_if_index=index, flags=1)
    client.call("sw_interface_set_mtu", sw_if_index=index, mtu=[1300, 0, 0, 0])
    client.call("hw_interface_set_mtu", sw_if_index=parent, mtu=1400)
    assert _row(client, index).mtu[0] == 1400
    assert int(_row(client, index).flags) & 1
    assert _refusal(client, "delete_subif", sw_if_index=parent) == -98
    client.call("af_packet_delete", host_if_name="nic0")
    assert index not in [row.sw_if_index for row in client.dump("sw_interface_dump", sw_if_index=_ALL)]


def test_properties(target: Target) -> None:
    client = target.client
    nic, loopback = _make_nic(client), _make_loopback(client, 5)
    client.call("sw_interface_tag_add_del", is_add=True, sw_if_index=nic, tag="millrace:wan0")
    client.call("hw_interface_set_mtu", sw_if_index=nic, mtu=1400)
    assert _row(client, nic).mtu[0] == 1400
    client.call("sw_interface_set_mtu", sw_if_index=nic, mtu=[1300, 0, 0, 0])
    row = _row(client, nic)
    assert (row.tag, row.link_mtu, row.mtu[0]) == ("millrace:wan0", 1400, 1300)
    client.call("sw_interface_tag_add_del", is_add=False, sw_if_index=nic, tag="")
    assert _row(client, nic).tag == ""
    assert _refusal(client, "hw_interface_set_mtu", sw_if_index=loopback, mtu=1500) == -126
    assert _refusal(client, "hw_interface_set_mtu", sw_if_index=nic, mtu=20) == -11
    for name, fields in (
        ("hw_interface_set_mtu", {"mtu": 1500}),
        ("sw_interface_set_mtu", {"mtu": [1500, 0, 0, 0]}),
        ("sw_interface_set_flags", {"flags": 1}),
        ("sw_interface_tag_add_del", {"is_add": True, "tag": "x"}),
    ):
        assert _refusal(client, name, sw_if_index=99, **fields) == -2


def test_addresses(target: Target) -> None:
    client = target.client
    nic, loopback = _make_nic(client), _make_loopback(client, 5)
    add = "sw_interface_add_del_address"
    client.call(add, **_address(nic, "10.0.0.1/24"))
    client.call(add, **_address(nic, "10.0.0.2/24"))
    for index, text in (
        (nic, "10.0.0.1/24"), (nic, "10.0.0.1/25"), (nic, "10.0.0.9/28"), (loopback, "10.0.0.1/24"),
        (loopback, "10.0.0.1/32"), (loopback, "10.0.0.3/24"),
    ):  # fmt: skip
        assert _refusal(client, add, **_address(index, text)) == -105
    client.call(add, **_address(nic, "2001:db8::1/64"))
    client.call(add, **_address(nic, "2001:db8::2/64"))
    for index, text in ((nic, "2001:db8::1/64"), (nic, "2001:db8::1/96"), (loopback, "2001:db8::3/64")):
        assert _refusal(client, add, **_address(index, text)) == -127
    for text in ("192.0.2.1/24", "2001:db8::9/64"):
        assert _refusal(client, add, **_address(nic, text, is_add=False)) == -60
    assert _refusal(client, add, **_address(99, "192.0.2.1/24")) == -2
    four = client.dump("ip_address_dump", sw_if_index=nic, is_ipv6=False)
    six = client.dump("ip_address_dump", sw_if_index=nic, is_ipv6=True)
    assert sorted(row.prefix for row in four) == [ip_interface("10.0.0.1/24"), ip_interface("10.0.0.2/24")]
    assert sorted(row.prefix for row in six) == [
        ip_interface("2001:db8::1/64"),
        ip_interface("2001:db8::2/64"),
    ]
    assert client.dump("ip_address_dump", sw_if_index=99, is_ipv6=False) == []


def test_tables(target: Target) -> None:
    client = target.client
    nic = _make_nic(client)

    def tables() -> dict[int, str]:
        rows = [row.table for row in client.dump("ip_table_dump") if not row.table.is_ip6]
        return {row.table_id: row.name for row in rows}

    bind = {"sw_if_index": nic, "is_ipv6": False, "vrf_id": 10}
    assert _refusal(client, "sw_interface_set_table", **bind) == -3
    client.call("ip_table_add_del_v2", **_table(10, "millrace:blue"))
    client.call("ip_table_add_del_v2", **_table(10, "another name"))
    client.call("ip_table_add_del_v2", **_table(11, "never made", is_add=False))
    assert tables() == {0: "ipv4-VRF:0", 10: "millrace:blue"}
    client.call("sw_interface_set_table", **bind)
    client.call("sw_interface_add_del_address", **_address(nic, "10.0.0.1/24"))
    assert client.call("sw_interface_get_table", sw_if_index=nic, is_ipv6=False).vrf_id == 10
    assert _refusal(client, "sw_interface_set_table", **{**bind, "vrf_id": 0}) == -114
    assert _refusal(client, "sw_interface_set_table", **{**bind, "sw_if_index": 99}) == -2
    assert _refusal(client, "sw_interface_get_table", sw_if_index=99, is_ipv6=False) == -2
    # The same address in another table is another address.
    client.call("sw_interface_add_del_address", **_address(_make_loopback(client, 5), "10.0.0.1/24"))
    client.call("sw_interface_add_del_address", **_address(nic, "10.0.0.1/24", is_add=False))
    client.call("sw_interface_set_table", **{**bind, "vrf_id": 0})
    client.call("ip_table_add_del_v2", **_table(10, "", is_add=False))
    assert tables() == {0: "ipv4-VRF:0"}


def test_mirrors(target: Target) -> None:
    client = target.client
    nic, loopback = _make_nic(client), _make_loopback(client, 5)
    sub = client.call("create_vlan_subif", sw_if_index=nic, vlan_id=10).sw_if_index

    def pair(index: int, name: str, *, is_add: bool = True) -> dict[str, Any]:
        return {
            "is_add": is_add,
            "sw_if_index": index,
            "host_if_name": name,
            "host_if_type": 0,
            "netns": target.netns,
        }

    add = "lcp_itf_pair_add_del_v3"
    assert _refusal(client, add, **pair(sub, "wan0.10")) == -2
    reply = client.call(add, **pair(nic, "wan0"))
    assert _row(client, reply.host_sw_if_index).tag == ""
    assert _refusal(client, add, **pair(nic, "other")) == -81
    assert _refusal(client, add, **pair(99, "other")) == -2
    assert _refusal(client, add, **pair(loopback, "other", is_add=False)) == -2
    (row,) = client.dump("lcp_itf_pair_get")
    assert (row.phy_sw_if_index, row.host_if_name, row.netns) == (nic, "wan0", target.netns)
    assert (row.host_sw_if_index, int(row.host_if_type)) == (reply.host_sw_if_index, 0)
    client.call(add, **pair(nic, "wan0", is_add=False))
    assert client.dump("lcp_itf_pair_get") == []


def test_access_lists(target: Target) -> None:
    client = target.client
    nic = _make_nic(client)
    any_v4, any_v6 = ip_network("0.0.0.0/0"), ip_network("::/0")
    ten, host = ip_network("10.0.0.0/8"), ip_network("192.0.2.1/32")
    rules = (
        AclRule("deny", ten, host, 6, (1, 2), (80, 90), tcp_flags=2, tcp_mask=18),
        AclRule("permit_reflect", any_v4, any_v4, 17, destination_ports=(53, 53)),
        AclRule("deny", any_v4, any_v4, 1, icmp_type=(8, 8), icmp_code=(0, 3)),
        AclRule("deny", ip_network("2001:db8::/32"), any_v6, 58, icmp_type=(128, 129)),
        AclRule("permit", any_v6, any_v6, 89),
        _PERMIT_ALL,
    )
    first = client.call("acl_add_replace", **_acl(_ALL, "millrace:one", *rules)).acl_index
    second = client.call("acl_add_replace", **_acl(_ALL, "millrace:one", _PERMIT_ALL)).acl_index
    empty = client.call("acl_add_replace", **_acl(_ALL, "empty")).acl_index
    seen = {row.acl_index: (row.tag, tuple(row.r)) for row in client.dump("acl_dump", acl_index=_ALL)}
    assert seen == {
        first: ("millrace:one", rules),
        second: ("millrace:one", (_PERMIT_ALL,)),
        empty: ("empty", ()),
    }
    assert [row.acl_index for row in client.dump("acl_dump", acl_index=second)] == [second]
    client.call("acl_interface_set_acl_list", **_bind(nic, [first], [second, empty]))
    bound = {row.sw_if_index: row for row in client.dump("acl_interface_list_dump", sw_if_index=_ALL)}[nic]
    assert (list(bound.acls), bound.n_input) == ([first, second, empty], 1)
    assert client.call("acl_add_replace", **_acl(first, "millrace:one", _PERMIT_ALL)).acl_index == first
    assert _refusal(client, "acl_del", acl_index=first) == -142
    assert _refusal(client, "acl_del", acl_index=second) == -143
    assert _refusal(client, "acl_del", acl_index=77) == -6
    assert _refusal(client, "acl_add_replace", **_acl(77, "x", _PERMIT_ALL)) == -6
    assert _refusal(client, "acl_interface_set_acl_list", **_bind(nic, [77], [])) == -6
    assert _refusal(client, "acl_interface_set_acl_list", **_bind(99, [first], [])) == -2
    client.call("af_packet_delete", host_if_name="nic0")
    for index in (first, second, empty):
        client.call("acl_del", acl_index=index)
    assert client.dump("acl_dump", acl_index=_ALL) == []


def test_a_pipeline_goes_on_after_a_refusal(target: Target) -> None:
    answers = target.client.pipeline(
        [_af_packet("absent"), _af_packet("nic0"), request("af_packet_dump"), request("control_ping")]
    )
    assert isinstance(answers[0], VppApiError)
    assert not isinstance(answers[1], VppApiError)
    assert isinstance(answers[2], list)
    assert [row.host_if_name for row in answers[2]] == ["nic0"]
    assert getattr(answers[3], "retval", None) == 0


def test_an_unknown_message_is_refused_by_name(target: Target) -> None:
    assert not target.client.supports("no_such_message")
    assert target.client.supports("sw_interface_dump")
    with pytest.raises(VppApiError, match="no_such_message"):
        target.client.call("no_such_message")


def test_restart(target: Target) -> None:
    client = target.client
    _make_nic(client)
    generation = client.connect()
    connected = [client.connected]
    target.restart()
    connected.append(client.connected)
    assert connected == [True, False]
    with pytest.raises(VppUnavailable):
        client.pipeline([request("control_ping")], generation=generation)
    assert client.dump("af_packet_dump") == []
    assert client.generation == generation + 1


def test_route_lookup(target: Target) -> None:
    client = target.client
    index = _make_nic(client)
    client.call("sw_interface_add_del_address", **_address(index, "192.0.2.2/30"))
    client.call("sw_interface_set_flags", sw_if_index=index, flags=1)

    def prefix(destination: str, *, exact: bool) -> str:
        reply = client.call(
            "ip_route_lookup_v2", table_id=0, exact=exact, prefix=ip_network(destination, strict=False)
        )
        assert reply.route.n_paths == len(reply.route.paths) >= 1
        return str(reply.route.prefix)

    assert prefix("192.0.2.0/30", exact=True) == "192.0.2.0/30"
    assert prefix("192.0.2.2", exact=False) == prefix("192.0.2.2/32", exact=True) == "192.0.2.2/32"
    assert prefix("192.0.2.1", exact=False) == "192.0.2.0/30"
    # VPP drops packets without a route by a default of its own.
    assert prefix("198.51.100.1", exact=False) == prefix("0.0.0.0/0", exact=True) == "0.0.0.0/0"
    assert prefix("2001:db8::1", exact=False) == "::/0"
    missing = {"table_id": 0, "exact": True, "prefix": ip_network("198.51.100.0/24")}
    assert _refusal(client, "ip_route_lookup_v2", **missing) == -6
    assert _refusal(client, "ip_route_lookup_v2", **{**missing, "table_id": 99}) == -3
    answers = fib_lookups(client, ["192.0.2.1", "198.51.100.0/24", "192.0.2.0/30"])
    assert [None if route is None else str(route.prefix) for route in answers] == [
        "192.0.2.0/30",
        None,
        "192.0.2.0/30",
    ]

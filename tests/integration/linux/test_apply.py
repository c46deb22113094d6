"""The linux data plane on a real kernel: apply, observe, plan again is empty; and back."""

from __future__ import annotations

import copy
import json
from typing import Any

import pytest

from appliance.dataplane.route_answer import Entry, Untold
from appliance.engine.backend import BackendUnavailable
from tests.integration.linux.conftest import DOCUMENT, Router, run

pytestmark = pytest.mark.root


def with_changes(**interfaces: Any) -> dict[str, Any]:
    """DOCUMENT with these interfaces' settings changed; None removes an interface."""
    document = copy.deepcopy(DOCUMENT)
    for name, changes in interfaces.items():
        if changes is None:
            del document["interfaces"][name]
        else:
            document["interfaces"].setdefault(name, {}).update(changes)
    return document


LOOPBACK = {"type": "loopback", "addresses": ["10.77.255.1/32", "2001:db8:77:ff::1/128"]}
WALK: list[dict[str, Any]] = [
    {},
    DOCUMENT,
    with_changes(loop0=LOOPBACK),
    with_changes(left0={"mtu": 1400, "addresses": ["10.77.1.1/24", "10.77.9.1/24", "10.77.9.2/24"]}),
    with_changes(left0={"enabled": False}),
    with_changes(left0={"match": {"device": "nic-r"}}, right0={"match": {"device": "nic-l"}}),
    with_changes(right0=None),
    {"interfaces": {"renamed": DOCUMENT["interfaces"]["left0"]}},
    {"interfaces": {"left0": LOOPBACK}},
    {},
]


def test_every_step_of_a_walk_reads_back_as_it_was_wanted(router: Router) -> None:
    for document in WALK:
        router.commit(document)
    for document in reversed(WALK):
        router.commit(document)


def test_every_plan_can_be_undone(router: Router) -> None:
    router.commit(WALK[0])
    for document in WALK[1:]:
        before = router.backend.observe()
        steps = router.steps(document)
        for step in steps:
            router.backend.apply(step)
        for step in reversed(steps):
            router.backend.undo(step)
        assert dict(router.backend.observe()) == dict(before)
        router.commit(document)


def test_a_nic_that_is_let_go_has_its_own_name_and_no_address(router: Router) -> None:
    router.commit({})
    # A kernel with drivers of tunnels has a device of each in every namespace.
    before = _links(router)
    router.commit(DOCUMENT)
    router.commit({})
    after = _links(router)
    assert set(after) == set(before) >= {"nic-l", "nic-r"}
    nics = [after["nic-l"], after["nic-r"]]
    assert all(not nic["addr_info"] and "UP" not in nic["flags"] for nic in nics)


def _links(router: Router) -> dict[str, Any]:
    return {link["ifname"]: link for link in json.loads(run(router.middle, "ip", "-j", "addr").stdout)}


def test_the_kernel_forwards_between_the_interfaces(router: Router) -> None:
    router.commit(DOCUMENT)
    assert router.ping(router.left, "10.77.2.2")
    assert router.ping(router.left, "2001:db8:77:2::2")
    counters = router.backend.counters()["interfaces"]
    assert counters["left0"]["rx_packets"] >= 4
    assert counters["right0"]["tx_bytes"] > 0


def test_what_somebody_else_adds_is_drift_and_is_taken_back(router: Router) -> None:
    router.commit(DOCUMENT)
    run(router.middle, "ip", "addr", "add", "192.0.2.77/24", "dev", "left0")
    run(router.middle, "ip", "link", "set", "right0", "mtu", "1300")
    run(router.middle, "sysctl", "-q", "-w", "net.ipv4.ip_forward=0")
    assert {step.path for step in router.steps(DOCUMENT)} == {
        "",
        "/interfaces/left0/addresses",
        "/interfaces/right0",
    }
    router.commit(DOCUMENT)


def test_state_tells_what_is_there(router: Router) -> None:
    router.commit(with_changes(loop0=LOOPBACK))
    state = {entry.name: entry for entry in router.backend.interfaces_state()}
    assert (state["left0"].link, state["left0"].device) == ("up", "nic-l")
    assert (state["loop0"].type, state["loop0"].link) == ("loopback", "up")
    answers = router.backend.fib(["10.77.1.0/24", "2001:db8:77:1::/64", "2001:db8:77:ff::1"])
    prefixes = {answer.prefix for answer in answers if isinstance(answer, Entry)}
    assert {"10.77.1.0/24", "2001:db8:77:1::/64", "2001:db8:77:ff::1/128"} <= prefixes
    router.ping(router.left, "10.77.1.1")
    assert "10.77.1.2" in {entry.address for entry in router.backend.neighbors()}
    assert router.backend.forget_neighbors("left0", "10.77.1.77") == 0
    assert router.backend.forget_neighbors("left0", "10.77.1.2") == 1
    assert "10.77.1.2" not in {entry.address for entry in router.backend.neighbors()}
    router.ping(router.left, "10.77.1.1")
    assert router.backend.forget_neighbors(None, None) >= 1
    assert router.backend.health().state == "up"
    looked = router.backend.look(vpp=lambda vpp: None, linux=lambda kernel: kernel.index("loop0"))
    assert looked is not None
    assert "nic-l" in {nic.device for nic in router.backend.hardware().nics}
    json.dumps(router.backend.counters())


def test_every_kind_of_kernel_route_is_found(router: Router) -> None:
    router.commit(DOCUMENT)
    for words in (
        "route add 198.51.100.0/25 via 10.77.1.9",
        "route add 198.51.100.128/25 nexthop via 10.77.1.9 weight 3 nexthop via 10.77.2.9",
        "route add 198.51.100.0/24 via 10.77.2.9",
        "route add blackhole 203.0.113.0/24",
        "route add 203.0.113.0/25 dev left0",
        "route add unreachable 203.0.112.0/24",
        "route add 192.0.2.0/24 via inet6 2001:db8:77:1::9",
        "route add default via 10.77.1.9",
        "-6 route add 2001:db8:99::/48 nexthop via 2001:db8:77:1::9 nexthop via fe80::9 dev right0",
        "-6 route add blackhole 2001:db8:98::/48",
        "-6 route add default via 2001:db8:77:1::9",
    ):
        run(router.middle, "ip", *words.split())

    def found(destination: str) -> tuple[str | None, str, list[tuple[str | None, str | None, int]]] | None:
        (answer,) = router.backend.kernel_routes([destination])
        if answer is None:
            return None
        assert isinstance(answer, Entry), answer
        hops = [(hop.address, hop.interface, hop.weight) for hop in answer.next_hops]
        return answer.prefix, answer.kind, hops

    one = ("198.51.100.0/25", "unicast", [("10.77.1.9", "left0", 1)])
    assert found("198.51.100.0/25") == found("198.51.100.5") == one
    several = [("10.77.1.9", "left0", 3), ("10.77.2.9", "right0", 1)]
    assert found("198.51.100.128/25") == ("198.51.100.128/25", "unicast", several)
    assert found("203.0.113.0/25") == ("203.0.113.0/25", "unicast", [(None, "left0", 1)])
    assert found("192.0.2.0/24") == ("192.0.2.0/24", "unicast", [("2001:db8:77:1::9", "left0", 1)])
    # The kernel puts IPv6 next hops in an order of its own.
    both = found("2001:db8:99::/48")
    assert both is not None
    prefix, kind, v6 = both
    assert (prefix, kind) == ("2001:db8:99::/48", "unicast")
    assert sorted(v6) == [("2001:db8:77:1::9", "left0", 1), ("fe80::9", "right0", 1)]
    assert found("::/0") == found("2001:db8:1::1") == ("::/0", "unicast", [("2001:db8:77:1::9", "left0", 1)])
    assert found("0.0.0.0/0") == found("9.9.9.9") == ("0.0.0.0/0", "unicast", [("10.77.1.9", "left0", 1)])
    assert found("10.77.1.0/24") == ("10.77.1.0/24", "unicast", [(None, "left0", 1)])
    assert found("10.77.1.1") == ("10.77.1.1/32", "local", [(None, "left0", 1)])
    # The kernel reports no prefix for a route that drops.
    assert found("203.0.113.200") == found("203.0.113.0/24") == (None, "blackhole", [])
    assert found("203.0.112.7") == found("203.0.112.0/24") == (None, "unreachable", [])
    assert found("2001:db8:98::/48") == found("2001:db8:98::1") == (None, "blackhole", [])
    # Not there, though shorter or longer ones are.
    assert found("198.51.0.0/16") is None
    assert found("198.51.100.0/26") is None
    assert found("10.77.0.0/20") is None
    # Two halves cover it: the kernel has no address that would tell.
    (hidden,) = router.backend.kernel_routes(["198.51.100.0/24"])
    assert isinstance(hidden, Untold)
    run(router.middle, "ip", "route", "del", "default")
    assert found("9.9.9.9") is None
    assert list(router.backend.fib(["198.51.100.5"])) == list(router.backend.kernel_routes(["198.51.100.5"]))


def test_a_namespace_that_is_gone_is_said_so(router: Router) -> None:
    from appliance.dataplane.linux.backend import LinuxDataplane

    backend = LinuxDataplane("cfg-never-made")
    with pytest.raises(BackendUnavailable, match="cfg-never-made"):
        backend.observe()
    assert backend.health().state == "down"


def test_counters_of_an_interface_that_is_made_again_are_another_ones(router: Router) -> None:
    router.commit(with_changes(loop0=LOOPBACK))
    before = router.backend.counters()["origins"]
    assert before == router.backend.counters()["origins"] and before.keys() >= {"loop0", "left0"}
    router.commit(DOCUMENT)
    router.commit(with_changes(loop0=LOOPBACK))
    after = router.backend.counters()["origins"]
    assert after["loop0"] != before["loop0"] and after["left0"] == before["left0"]
    # The same name on another NIC is another one as well.
    router.commit(with_changes(left0={"match": {"device": "nic-r"}}, right0={"match": {"device": "nic-l"}}))
    swapped = router.backend.counters()["origins"]
    assert (swapped["left0"], swapped["right0"]) == (after["right0"], after["left0"])

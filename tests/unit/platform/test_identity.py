"""A NIC's names stay with its MAC: whatever is added, removed or moved, no address moves to another wire."""

from __future__ import annotations

import random
from collections.abc import Iterable, Sequence
from itertools import permutations, product

import pytest

from appliance.config.nic_match import NicMatch
from appliance.dataplane.nic import Nic
from appliance.dataplane.nic_inventory import NicRecord
from appliance.platform.identity import Found, Identity, identify

SLOTS = tuple(f"0000:00:{number:02x}.0" for number in range(4, 14))


def mac(number: int) -> str:
    return f"52:54:00:00:00:{number:02x}"


def plugged(order: Sequence[int]) -> list[Found]:
    """NICs with these numbers, in the slots from the first on; the kernel names them by slot."""
    return [Found(mac(number), f"ens{slot + 4}", SLOTS[slot]) for slot, number in enumerate(order)]


def nics(identities: Iterable[Identity], found: Sequence[Found]) -> list[Nic]:
    """As the agent sees them."""
    places = {nic.mac: nic.pci for nic in found}
    return [
        NicRecord(i.device, i.mac, places.get(i.mac), i.pci, "1af4:1000", "native", "uio_pci_generic").nic()
        for i in identities
    ]


def meant(match: NicMatch, seen: Iterable[Nic]) -> list[Nic]:
    return [nic for nic in seen if nic.is_meant_by(match)]


def boots(orders: Sequence[Sequence[int]], matches: Sequence[NicMatch]) -> list[list[Nic]]:
    """What each boot sees, one after the other, with its memory."""
    remembered: tuple[Identity, ...] = ()
    seen = []
    for order in orders:
        found = plugged(order)
        identities = identify(found, remembered, matches)
        remembered = identities.all
        seen.append(nics(identities.all, found))
    return seen


def matches_of(how: Sequence[str], first: Sequence[int]) -> list[NicMatch]:
    """The document names NIC ``n`` of the first boot by MAC, by place or by name."""
    found = plugged(first)
    return [
        NicMatch(**{kind: {"mac": nic.mac, "pci": nic.pci, "device": nic.device}[kind]})
        for kind, nic in zip(how, found, strict=True)
    ]


@pytest.mark.parametrize("size", [1, 2, 3, 4])
def test_every_order_of_up_to_four_nics_under_every_way_to_name_them(size: int) -> None:
    first = list(range(size))
    for how in product(("mac", "pci", "device"), repeat=size):
        matches = matches_of(how, first)
        for order in permutations(first):
            before, after = boots([first, order], matches)
            for number, match in enumerate(matches):
                assert [nic.mac for nic in meant(match, before)] == [mac(number)]
                (nic,) = meant(match, after)
                assert nic.mac == mac(number)
                assert nic.pci == SLOTS[order.index(number)], "it is driven where it sits now"
                assert nic.present


@pytest.mark.parametrize("size", [2, 3, 4])
def test_one_goes_a_new_one_comes_and_all_change_places(size: int) -> None:
    first = list(range(size))
    for how in (("mac",) * size, ("pci",) * size, ("device",) * size):
        matches = matches_of(how, first)
        for gone in first:
            for order in permutations([*(number for number in first if number != gone), 9]):
                _, after, again = boots([first, order, first], matches)
                for number, match in enumerate(matches):
                    (nic,) = meant(match, after)
                    assert nic.mac == mac(number)
                    assert nic.present == (number != gone)
                    (back,) = meant(match, again)
                    assert (back.mac, back.present, back.pci) == (mac(number), True, SLOTS[number])


@pytest.mark.parametrize("seed", range(40))
def test_up_to_eight_nics_over_many_boots(seed: int) -> None:
    rng = random.Random(seed)
    first = list(range(rng.randint(5, 8)))
    how = [rng.choice(["mac", "pci", "device"]) for _ in first]
    matches = matches_of(how, first)
    orders = [first]
    for _ in range(12):
        strangers = [20 + rng.randrange(6) for _ in range(rng.randint(0, 2))]
        order = [*rng.sample(first, rng.randint(0, len(first))), *dict.fromkeys(strangers)]
        rng.shuffle(order)
        orders.append(order)
    for order, seen in zip(orders, boots(orders, matches), strict=True):
        assert len({nic.device for nic in seen}) == len(seen), "no two have one name"
        for number, match in enumerate(matches):
            found = meant(match, seen)
            assert [nic.mac for nic in found] == [mac(number)]
            assert found[0].present == (number in order)


def test_a_name_the_document_does_not_use_follows_the_place() -> None:
    _, after = boots([[0, 1], [1, 0]], [])
    assert {nic.mac: nic.known_pci for nic in after} == {mac(1): SLOTS[0], mac(0): SLOTS[1]}
    assert {nic.mac: nic.device for nic in after} == {mac(0): "ens4", mac(1): "ens5"}


def test_a_nic_that_nobody_means_is_forgotten() -> None:
    _, after = boots([[0, 1], [1]], [NicMatch(mac=mac(1))])
    assert [nic.mac for nic in after] == [mac(1)]


def test_the_management_name_is_never_given_to_a_data_nic() -> None:
    identities = identify([Found(mac(1), "ens3", SLOTS[0])], [], [], reserved=["ens3"])
    assert identities.present == (Identity(mac(1), "eth0", SLOTS[0]),)


def test_two_nics_with_one_mac_have_two_names() -> None:
    found = [Found(mac(1), "ens4", SLOTS[0]), Found(mac(1), "ens5", SLOTS[1])]
    first = identify(found, [])
    again = identify(found, first.all)
    for identities in (first, again):
        assert len({identity.device for identity in identities.present}) == 2

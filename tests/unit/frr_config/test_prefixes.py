"""Prefixes are read as the library reads them."""

from __future__ import annotations

from ipaddress import ip_network
from random import Random

import pytest

from frr_config.types import network_of

_ODD = [
    "0.0.0.0/0", "::/0", "192.0.2.0/24", "192.0.2.1/32", "192.0.2.1/24", "192.0.2.0/33", "192.0.2.0/-1",
    "192.0.2.0/024", "192.0.2.0/+4", "192.0.2.0/ 4", "192.0.2.0/٢٤", "192.0.2.0/255.255.255.0", "192.0.2.0",
    "192.0.2.0/", "192.0.02.0/24", "192.0.2/24", "3221225984/24", "0xc0.0.2.0/24", "192.0.2.0/24/24",
    "192.0.2.256/32", "192.0.2.0\0/24", " 192.0.2.0/24", "192.0.2.0 /24", "2001:db8::/32", "2001:db8::1/32",
    "2001:db8::/129", "::ffff:192.0.2.0/120", "fe80::%eth0/64", "", "/", "/24", "é/24",
]  # fmt: skip


@pytest.mark.parametrize("text", _ODD)
def test_what_is_odd(text: str) -> None:
    try:
        expected = ip_network(text)
    except ValueError as error:
        with pytest.raises(ValueError) as caught:
            network_of(text)
        assert str(caught.value) == str(error)
    else:
        assert network_of(text) == expected


def test_what_is_common() -> None:
    random = Random(3)
    for _ in range(2000):
        length = random.randrange(33)
        address = random.getrandbits(32)
        for number in (address, address >> (32 - length) << (32 - length)):
            text = f"{'.'.join(map(str, number.to_bytes(4)))}/{length}"
            try:
                expected = ip_network(text)
            except ValueError:
                with pytest.raises(ValueError, match="host bits"):
                    network_of(text)
            else:
                assert (network_of(text), str(network_of(text))) == (expected, text)

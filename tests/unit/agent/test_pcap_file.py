"""Whole records only, and no more than was asked for, however the bytes are cut."""

from __future__ import annotations

import struct

import pytest
from hypothesis import given
from hypothesis import strategies as st

from appliance.capture.pcap_file import NotPcap, Records

HEADER = struct.pack("<IHHiIII", 0xA1B2C3D4, 2, 4, 0, 0, 9000, 1)


def record(length: int) -> bytes:
    """A record with a packet of this length."""
    return struct.pack("<IIII", 1, 2, length, length) + bytes(length)


@given(
    lengths=st.lists(st.integers(0, 90), max_size=30),
    cuts=st.lists(st.integers(1, 200), min_size=1, max_size=50),
    most=st.integers(1, 40),
    most_bytes=st.integers(24, 3000),
)
def test_what_is_written_are_the_first_records_that_fit(
    lengths: list[int], cuts: list[int], most: int, most_bytes: int
) -> None:
    written = bytearray()
    records = Records(written.extend, most, most_bytes)
    data, at, turn = HEADER + b"".join(map(record, lengths)), 0, 0
    while at < len(data):
        size = cuts[turn % len(cuts)]
        records.feed(data[at : at + size])
        at, turn = at + size, turn + 1
    fits, size = 0, len(HEADER)
    for length in lengths[:most]:
        if size + 16 + length > most_bytes:
            break
        fits, size = fits + 1, size + 16 + length
    assert bytes(written) == data[:size]
    assert (records.packets, records.size_bytes) == (fits, size)
    assert bool(records.full) == (fits == most or (fits < len(lengths) and fits < most))


def test_the_other_byte_order_and_nanoseconds_are_read() -> None:
    written = bytearray()
    records = Records(written.extend, 10, 1000)
    big = struct.pack(">IHHiIII", 0xA1B23C4D, 2, 4, 0, 0, 9000, 1) + struct.pack(">IIII", 1, 2, 3, 3) + b"abc"
    records.feed(big)
    assert (records.packets, bytes(written)) == (1, big)


@pytest.mark.parametrize(
    "data", [b"x" * 24, HEADER + struct.pack("<IIII", 1, 2, 0xFFFFFF00, 1)], ids=["magic", "length"]
)
def test_what_is_no_pcap_is_refused(data: bytes) -> None:
    with pytest.raises(NotPcap):
        Records(lambda _: None, 10, 1000).feed(data)

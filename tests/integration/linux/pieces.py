"""Packets in pieces, and which of them arrive: ``python -m tests.integration.linux.pieces``.

``send`` sends the packets of its input, one a line in hexadecimal, as they are. ``see`` prints ``ready``, and
once the packet of number LAST came and no other follows, the numbers of all that came.
"""

from __future__ import annotations

import json
import socket
import struct
import subprocess
import sys
from contextlib import suppress
from ipaddress import IPv4Address, IPv6Address

LAST = 0x7FFF
"""No packet of a test has this number, which is the identification of IPv4 or the flow label of IPv6."""
TCP, UDP, ICMPV6 = 6, 17, 58
DESTINATION_OPTIONS, FRAGMENT = 60, 44
SYN, ACK = 0x02, 0x10
_WAIT_S = 20.0
_QUIET_S = 0.3
"""Packets of two families may overtake each other in VPP."""
_ALL_PROTOCOLS = 3


def tcp(port: int, flags: int = SYN) -> bytes:
    """A header without options."""
    return struct.pack("!HHIIBBHHH", 40000, port, 1, 0, 5 << 4, flags, 1024, 0, 0)


def udp(port: int, content: bytes = b"12345678") -> bytes:
    """A datagram without a checksum, which IPv4 allows."""
    return struct.pack("!HHHH", 40000, port, 8 + len(content), 0) + content


def ipv4(
    number: int, addresses: tuple[str, str], protocol: int, content: bytes, at: int = 0, more: bool = False
) -> bytes:
    """A packet, or a piece of one that begins ``at`` so many bytes."""
    source, destination = (IPv4Address(one).packed for one in addresses)
    place = at // 8 | (0x2000 if more else 0)
    head = struct.pack("!BBHHHBBH", 0x45, 0, 20 + len(content), number, place, 64, protocol, 0)
    return head + source + destination + content


def ipv6(number: int, addresses: tuple[str, str], following: int, content: bytes) -> bytes:
    """A packet whose content begins with the header ``following``."""
    source, destination = (IPv6Address(one).packed for one in addresses)
    return (
        struct.pack("!IHBB", 6 << 28 | number, len(content), following, 64) + source + destination + content
    )


def piece(following: int, content: bytes, at: int = 0, more: bool = False) -> bytes:
    """IPv6's fragment header and what is behind it."""
    return struct.pack("!BBHI", following, 0, at | more, 7) + content


def options(following: int, size: int = 8) -> bytes:
    """Destination options that say nothing."""
    return struct.pack("!BBBB", following, size // 8 - 1, 1, size - 4) + bytes(size - 4)


def arrived(sender: str, receiver: str, packets: list[bytes], last: bytes) -> set[int]:
    """Numbers of the packets that came from one namespace to the other."""
    enter = ["ip", "netns", "exec"]
    program = [sys.executable, "-m", "tests.integration.linux.pieces"]
    seeing = subprocess.Popen([*enter, receiver, *program, "see"], stdout=subprocess.PIPE, text=True)
    try:
        assert seeing.stdout is not None
        assert seeing.stdout.readline() == "ready\n"
        lines = "\n".join(one.hex() for one in [*packets, last])
        subprocess.run(
            [*enter, sender, *program, "send"], input=lines, text=True, check=True, timeout=_WAIT_S
        )
        return set(json.loads(seeing.stdout.readline() or "null"))
    finally:
        seeing.kill()
        seeing.communicate()


def _send() -> None:
    senders = {
        4: socket.socket(socket.AF_INET, socket.SOCK_RAW, socket.IPPROTO_RAW),
        6: socket.socket(socket.AF_INET6, socket.SOCK_RAW, socket.IPPROTO_RAW),
    }
    for line in sys.stdin:
        packet = bytes.fromhex(line)
        if packet[0] >> 4 == 4:
            senders[4].sendto(packet, (str(IPv4Address(packet[16:20])), 0))
        else:
            senders[6].sendto(packet, (str(IPv6Address(packet[24:40])), 0))


def _see() -> None:
    seen: list[int] = []
    with socket.socket(socket.AF_PACKET, socket.SOCK_DGRAM, socket.htons(_ALL_PROTOCOLS)) as link:
        link.settimeout(_WAIT_S)
        print("ready", flush=True)
        with suppress(TimeoutError):
            while True:
                packet, (_, _, kind, _, _) = link.recvfrom(65536)
                if kind == socket.PACKET_OUTGOING:
                    continue
                if packet[0] >> 4 == 4 and len(packet) >= 20:
                    seen.append(struct.unpack_from("!H", packet, 4)[0])
                elif packet[0] >> 4 == 6 and len(packet) >= 40:
                    seen.append(struct.unpack_from("!I", packet)[0] & 0xFFFFF)
                if LAST in seen:
                    link.settimeout(_QUIET_S)
    print(json.dumps(seen if LAST in seen else None), flush=True)


if __name__ == "__main__":
    _send() if sys.argv[1] == "send" else _see()

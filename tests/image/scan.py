"""A TCP connect scan of every port, and UDP probes: ``python -m tests.image.scan ADDRESS [PORT...]``.

Prints ``{"tcp": [open ports], "udp": [ports that answered]}``. A port that is silent or refuses is closed.
With ports given, only these are tried over TCP. Run it in the namespace it is to look from.
"""

from __future__ import annotations

import argparse
import asyncio
import json
import resource
import selectors
import socket
import time
from collections.abc import Iterable

ALL_TCP = range(1, 65536)
# The well-known services, what a router speaks, and what Millrace itself runs anywhere.
UDP = (
    *(
        7,
        9,
        13,
        19,
        53,
        67,
        68,
        69,
        111,
        123,
        137,
        161,
        162,
        179,
        319,
        323,
        389,
        443,
        500,
        514,
        520,
        521,
        546,
    ),
    *(
        547,
        646,
        698,
        1645,
        1701,
        1812,
        1900,
        2049,
        2152,
        2600,
        2601,
        2604,
        2605,
        3478,
        3784,
        3785,
        4500,
        4784,
    ),
    *(
        4789,
        5353,
        5355,
        5432,
        6081,
        6343,
        6379,
        6784,
        7784,
        8080,
        8125,
        9995,
        9996,
        11211,
        12345,
        49152,
        51820,
    ),
)
_AT_ONCE = 1500
_CONNECT_S = 2.0
# A slow router that is asked for everything at once may answer late: these are asked again, without haste.
_AGAIN = range(1, 1024)
_AGAIN_AT_ONCE = 1023
_AGAIN_CONNECT_S = 6.0
_UDP_WAIT_S = 3.0
# An NTP request, a DNS query for ". NS", and bytes that provoke an answer from whatever echoes.
_PROBES = (
    bytes([0x1B]) + bytes(47),
    bytes.fromhex("000001000001000000000000") + bytes.fromhex("0000020001"),
    b"\r\n\r\n",
)


async def _open_tcp(address: str, ports: Iterable[int], at_once: int, connect_s: float) -> set[int]:
    limit = asyncio.Semaphore(at_once)

    async def is_open(place: int, port: int) -> int | None:
        async with limit:
            if place < at_once:
                # Not all at once, nor ever after: those that are silent end one after another, too.
                await asyncio.sleep(connect_s * place / at_once)
            try:
                async with asyncio.timeout(connect_s):
                    _, writer = await asyncio.open_connection(address, port)
            except (OSError, TimeoutError):
                return None
            writer.close()
            return port

    found = await asyncio.gather(*(is_open(place, port) for place, port in enumerate(ports)))
    return {port for port in found if port is not None}


async def _open(address: str, ports: Iterable[int]) -> list[int]:
    found = await _open_tcp(address, ports, _AT_ONCE, _CONNECT_S)
    again = [port for port in ports if port in _AGAIN and port not in found]
    return sorted(found | await _open_tcp(address, again, _AGAIN_AT_ONCE, _AGAIN_CONNECT_S))


def _answering_udp(address: str) -> list[int]:
    family = socket.AF_INET6 if ":" in address else socket.AF_INET
    answered: set[int] = set()
    with selectors.DefaultSelector() as selector:
        for port in UDP:
            probe = socket.socket(family, socket.SOCK_DGRAM)
            probe.connect((address, port))
            probe.setblocking(False)
            selector.register(probe, selectors.EVENT_READ, port)
            for payload in _PROBES:
                try:
                    probe.send(payload)
                except OSError:
                    break  # refused already
        deadline_s = time.monotonic() + _UDP_WAIT_S
        while (left_s := deadline_s - time.monotonic()) > 0:
            for key, _ in selector.select(left_s):
                assert isinstance(key.fileobj, socket.socket)
                try:
                    key.fileobj.recv(2048)
                    answered.add(key.data)
                except OSError:
                    pass  # refused: nobody is there
                selector.unregister(key.fileobj)
                key.fileobj.close()
        for key in list(selector.get_map().values()):
            assert isinstance(key.fileobj, socket.socket)
            key.fileobj.close()
    return sorted(answered)


def main() -> None:
    """The command line."""
    parser = argparse.ArgumentParser(prog="tests.image.scan")
    parser.add_argument("address")
    parser.add_argument("port", type=int, nargs="*")
    arguments = parser.parse_args()
    address = arguments.address
    most = resource.getrlimit(resource.RLIMIT_NOFILE)[1]
    resource.setrlimit(resource.RLIMIT_NOFILE, (min(2 * _AT_ONCE, most), most))
    found = asyncio.run(_open(address, arguments.port or ALL_TCP))
    print(json.dumps({"tcp": found, "udp": _answering_udp(address)}))


if __name__ == "__main__":
    main()

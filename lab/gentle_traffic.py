"""A host's gentle traffic: UDP at a varying rate, so that charts show activity from the start.

``python -m lab.gentle_traffic --to ADDRESS [--to ADDRESS ...]`` receives on port 9000 and sends to each
address at a rate that varies between a tenth of the peak and the peak; the peak is about 1 Mbit/s per
address.
"""

import argparse
import math
import selectors
import socket
import time
from dataclasses import dataclass
from ipaddress import ip_address

PORT = 9000
_PEAK_PPS = 150.0
_SIZES_BYTES = (200, 600, 1000, 1400)
_TICK_S = 0.05


@dataclass
class _Flow:
    """One destination; `owed` is the fraction of a packet not yet sent."""

    destination: tuple[str, int]
    sender: socket.socket
    period_s: float
    phase: float
    owed: float = 0.0
    sent: int = 0

    def rate_pps(self, now_s: float) -> float:
        wave = 0.5 + 0.5 * math.sin(2 * math.pi * (now_s / self.period_s) + self.phase)
        ripple = 0.1 * math.sin(2 * math.pi * now_s / 7.0 + 3 * self.phase)
        return _PEAK_PPS * max(0.1, 0.15 + 0.75 * wave + ripple)

    def send(self, now_s: float, elapsed_s: float) -> None:
        # After a stall the backlog is dropped, not sent as a burst.
        self.owed = min(self.owed + self.rate_pps(now_s) * elapsed_s, 2 * _PEAK_PPS * _TICK_S)
        while self.owed >= 1.0:
            self.owed -= 1.0
            payload = bytes(_SIZES_BYTES[self.sent % len(_SIZES_BYTES)])
            self.sent += 1
            try:
                self.sender.sendto(payload, self.destination)
            except OSError:
                return  # no route or a full queue at the moment: nobody misses this traffic


def _sink(family: socket.AddressFamily) -> socket.socket:
    sink = socket.socket(family, socket.SOCK_DGRAM)
    if family == socket.AF_INET6:
        sink.setsockopt(socket.IPPROTO_IPV6, socket.IPV6_V6ONLY, 1)
    sink.bind(("", PORT))
    sink.setblocking(False)
    return sink


def _drain(sink: socket.socket) -> None:
    try:
        while True:
            sink.recv(2048)
    except OSError:
        return  # empty


def main() -> None:
    """Send and receive until ended by a signal."""
    parser = argparse.ArgumentParser(prog="lab.gentle_traffic")
    parser.add_argument("--to", action="append", default=[], metavar="ADDRESS")
    arguments = parser.parse_args()
    families = {4: socket.AF_INET, 6: socket.AF_INET6}
    flows = [
        _Flow(
            destination=(address, PORT),
            sender=socket.socket(families[ip_address(address).version], socket.SOCK_DGRAM),
            period_s=45.0 + 17.0 * index,
            phase=2.1 * index + len(address),
        )
        for index, address in enumerate(arguments.to)
    ]
    sinks = [_sink(family) for family in families.values()]
    with selectors.DefaultSelector() as selector:
        before_s = time.monotonic()
        while True:
            now_s = time.monotonic()
            for flow in flows:
                flow.send(now_s, now_s - before_s)
            before_s = now_s
            for sink in sinks:
                _drain(sink)
            selector.select(_TICK_S)


if __name__ == "__main__":
    main()

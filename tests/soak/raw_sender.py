"""Sends Ethernet frames, one a line of hex on standard input: ``python -m tests.soak.raw_sender DEVICE``."""

from __future__ import annotations

import socket
import sys
import time

_AT_ONCE = 32
_BREATH_S = 0.002


def main() -> None:
    """Send each frame once; what the link refuses (too short, too long) is counted and told."""
    refused = 0
    with socket.socket(socket.AF_PACKET, socket.SOCK_RAW) as link:
        link.bind((sys.argv[1], 0))
        for number, line in enumerate(sys.stdin):
            try:
                link.send(bytes.fromhex(line))
            except OSError:
                refused += 1
            if number % _AT_ONCE == 0:
                time.sleep(_BREATH_S)  # a bounded rate: it is the content that is hostile
    print(refused)


if __name__ == "__main__":
    main()

"""A host on a VLAN, for a kernel without 8021q: ``python -m tests.image.tagged_host VLAN ADDRESS ROUTER``.

Runs in a namespace, on its ``port0``. Resolves ROUTER (RFC 826) and sends it an echo (RFC 792), both tagged
(IEEE 802.1Q); prints ``{"mac": ..., "replies": [VLANs of the answers]}``.
"""

from __future__ import annotations

import argparse
import json
from pathlib import Path

from scapy.config import conf
from scapy.layers.inet import ICMP, IP
from scapy.layers.l2 import ARP, Dot1Q, Ether
from scapy.sendrecv import srp1

DEVICE = "port0"
_WAIT_S = 3
_TRIES = 5


def main() -> None:
    """The command line."""
    parser = argparse.ArgumentParser(prog="tests.image.tagged_host")
    parser.add_argument("vlan", type=int)
    parser.add_argument("address")
    parser.add_argument("router")
    arguments = parser.parse_args()
    conf.verb = 0
    own = Path(f"/sys/class/net/{DEVICE}/address").read_text().strip()
    tag = Dot1Q(vlan=arguments.vlan)
    asked = ARP(op="who-has", hwsrc=own, psrc=arguments.address, pdst=arguments.router)
    mac, replies = None, []
    for _ in range(_TRIES):
        if mac is None:
            found = srp1(Ether(src=own, dst="ff:ff:ff:ff:ff:ff") / tag / asked, iface=DEVICE, timeout=_WAIT_S)
            mac = found[ARP].hwsrc if found is not None and ARP in found else None
        if mac is not None:
            echo = IP(src=arguments.address, dst=arguments.router) / ICMP() / b"millrace"
            answer = srp1(Ether(src=own, dst=mac) / tag / echo, iface=DEVICE, timeout=_WAIT_S)
            if answer is not None and ICMP in answer and answer[ICMP].type == 0:
                replies.append(answer[Dot1Q].vlan if Dot1Q in answer else None)
                break
    print(json.dumps({"mac": mac, "replies": replies}))


if __name__ == "__main__":
    main()

"""What answers at an address, and something that answers: ``python -m tests.integration.linux.reach``.

``listen PORT...`` accepts TCP and echoes UDP on the ports, on every address, and prints a line for each TCP
connection, after ``ready``. ``probe [--ttl N] SOURCE DESTINATION PORT...`` prints the ports that took a
connection and those that echoed, as ``{"tcp": [...], "udp": [...]}``. Run either in the namespace it is for.
"""

from __future__ import annotations

import argparse
import json
import selectors
import socket
import sys
import time

_WAIT_S = 1.5
_AGAIN_S = 0.3


def listen(ports: list[int]) -> None:
    """Until it is ended."""
    selector = selectors.DefaultSelector()
    for port in ports:
        for kind in (socket.SOCK_STREAM, socket.SOCK_DGRAM):
            one = socket.socket(socket.AF_INET6, kind)
            one.setsockopt(socket.IPPROTO_IPV6, socket.IPV6_V6ONLY, 0)
            one.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
            one.bind(("::", port))
            if kind == socket.SOCK_STREAM:
                one.listen(16)
            selector.register(one, selectors.EVENT_READ, port)
    print("ready", flush=True)
    connections: list[socket.socket] = []
    while True:
        for key, _ in selector.select():
            assert isinstance(key.fileobj, socket.socket)
            if key.fileobj.type == socket.SOCK_DGRAM:
                data, sender = key.fileobj.recvfrom(2048)
                key.fileobj.sendto(data, sender)
            elif key.data is None:
                data = key.fileobj.recv(2048)
                if data:
                    key.fileobj.sendall(data)
                else:
                    selector.unregister(key.fileobj)
                    key.fileobj.close()
            else:
                accepted, sender = key.fileobj.accept()
                connections.append(accepted)
                selector.register(accepted, selectors.EVENT_READ, None)
                print(key.data, sender[0], flush=True)


def probe(source: str, destination: str, ports: list[int], ttl: int | None) -> dict[str, list[int]]:
    """Ask each port, UDP several times: the first packet may be lost while an address is resolved."""
    family = socket.AF_INET6 if ":" in destination else socket.AF_INET
    found: dict[str, set[int]] = {"tcp": set(), "udp": set()}
    with selectors.DefaultSelector() as selector:
        for name, kind in (("tcp", socket.SOCK_STREAM), ("udp", socket.SOCK_DGRAM)):
            for port in ports:
                one = socket.socket(family, kind)
                one.setblocking(False)
                if ttl is not None:
                    one.setsockopt(*_ttl_option(family), ttl)
                one.bind((source, 0))
                one.connect_ex((destination, port))
                selector.register(
                    one, selectors.EVENT_WRITE if name == "tcp" else selectors.EVENT_READ, (name, port)
                )
        deadline, again = time.monotonic() + _WAIT_S, 0.0
        while time.monotonic() < deadline and selector.get_map():
            if time.monotonic() >= again:
                _ask(selector)
                again = time.monotonic() + _AGAIN_S
            for key, _ in selector.select(0.1):
                assert isinstance(key.fileobj, socket.socket)
                name, port = key.data
                if _answered(name, key.fileobj):
                    found[name].add(port)
                selector.unregister(key.fileobj)
                key.fileobj.close()
        for key in list(selector.get_map().values()):
            assert isinstance(key.fileobj, socket.socket)
            key.fileobj.close()
    return {name: sorted(answered) for name, answered in found.items()}


def _ttl_option(family: int) -> tuple[int, int]:
    if family == socket.AF_INET6:
        return socket.IPPROTO_IPV6, socket.IPV6_UNICAST_HOPS
    return socket.IPPROTO_IP, socket.IP_TTL


def _ask(selector: selectors.BaseSelector) -> None:
    for key in selector.get_map().values():
        if key.data[0] == "udp":
            assert isinstance(key.fileobj, socket.socket)
            try:
                key.fileobj.send(b"who is there?")
            except OSError:
                continue  # it was refused; what comes next says so


def _answered(name: str, one: socket.socket) -> bool:
    if name == "tcp":
        return one.getsockopt(socket.SOL_SOCKET, socket.SO_ERROR) == 0
    try:
        return bool(one.recv(2048))
    except OSError:
        return False


def main() -> None:
    """The command line."""
    parser = argparse.ArgumentParser()
    commands = parser.add_subparsers(dest="command", required=True)
    listening = commands.add_parser("listen")
    listening.add_argument("port", type=int, nargs="+")
    probing = commands.add_parser("probe")
    probing.add_argument("--ttl", type=int)
    probing.add_argument("source")
    probing.add_argument("destination")
    probing.add_argument("port", type=int, nargs="+")
    arguments = parser.parse_args()
    if arguments.command == "listen":
        listen(arguments.port)
    json.dump(probe(arguments.source, arguments.destination, arguments.port, arguments.ttl), sys.stdout)


if __name__ == "__main__":
    main()

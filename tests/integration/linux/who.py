"""Who is heard by whom: ``python -m tests.integration.linux.who``.

``listen PORT...`` answers over TCP and UDP, on every address, with the address and port it was asked from;
after ``ready``. ``ask tcp|udp DESTINATION PORT [--count N] [--source-port P]`` asks once by each of N sockets
that are all open at once, and prints a list of the answers; null for none. ``hold tcp DESTINATION PORT`` asks
on one connection for each line of its input. ``ftp PORT`` is an FTP server in passive mode with one file.
"""

from __future__ import annotations

import argparse
import json
import selectors
import socket
import sys

_WAIT_S = 2.0
FILE = b"a file that came by FTP\n"


def listen(ports: list[int]) -> None:
    """Until it is ended."""
    selector = selectors.DefaultSelector()
    for port in ports:
        for kind in (socket.SOCK_STREAM, socket.SOCK_DGRAM):
            one = socket.socket(socket.AF_INET, kind)
            one.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
            one.bind(("0.0.0.0", port))
            if kind == socket.SOCK_STREAM:
                one.listen(512)
            selector.register(one, selectors.EVENT_READ, kind)
    print("ready", flush=True)
    while True:
        for key, _ in selector.select():
            assert isinstance(key.fileobj, socket.socket)
            if key.data == socket.SOCK_STREAM:
                accepted, sender = key.fileobj.accept()
                selector.register(accepted, selectors.EVENT_READ, sender)
            elif key.data == socket.SOCK_DGRAM:
                _, sender = key.fileobj.recvfrom(2048)
                key.fileobj.sendto(_words(sender), sender)
            elif key.fileobj.recv(2048):
                key.fileobj.sendall(_words(key.data))
            else:
                selector.unregister(key.fileobj)
                key.fileobj.close()


def _words(sender: tuple[str, int]) -> bytes:
    return f"{sender[0]}:{sender[1]}".encode()


def ask(protocol: str, destination: str, port: int, count: int, source_port: int) -> list[str | None]:
    """From so many sockets at once."""
    kind = socket.SOCK_STREAM if protocol == "tcp" else socket.SOCK_DGRAM
    sockets, answers = [], []
    for _ in range(count):
        one = socket.socket(socket.AF_INET, kind)
        one.settimeout(_WAIT_S)
        one.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        one.bind(("0.0.0.0", source_port))
        sockets.append(one)
        answers.append(_asked(one, (destination, port)))
    return answers


def _asked(one: socket.socket, where: tuple[str, int]) -> str | None:
    try:
        one.connect(where)
        one.sendall(b"who am I?")
        return one.recv(2048).decode() or None
    except OSError:
        return None


def hold(destination: str, port: int) -> None:
    """One connection, asked again and again."""
    one = socket.create_connection((destination, port), timeout=_WAIT_S)
    for _ in sys.stdin:
        try:
            one.sendall(b"still me?")
            print(one.recv(2048).decode() or "closed", flush=True)
        except OSError as error:
            print(type(error).__name__, flush=True)


def ftp(port: int) -> None:
    """Enough of RFC 959 for a client that fetches a file in passive mode."""
    server = socket.create_server(("0.0.0.0", port), reuse_port=True)
    print("ready", flush=True)
    while True:
        control, _ = server.accept()
        with control, control.makefile("rb") as lines:
            control.sendall(b"220 ready\r\n")
            passive: socket.socket | None = None
            for line in lines:
                word = line.decode().split()[0].upper()
                if word == "PASV":
                    passive = socket.create_server(("0.0.0.0", 0))
                    high, low = divmod(passive.getsockname()[1], 256)
                    own = control.getsockname()[0].replace(".", ",")
                    control.sendall(f"227 Entering Passive Mode ({own},{high},{low})\r\n".encode())
                elif word == "RETR" and passive is not None:
                    control.sendall(b"150 here it comes\r\n")
                    data, _ = passive.accept()
                    with data:
                        data.sendall(FILE)
                    control.sendall(b"226 done\r\n")
                elif word == "QUIT":
                    control.sendall(b"221 bye\r\n")
                    break
                else:
                    known = {"USER": b"331 password\r\n", "PASS": b"230 in\r\n", "PWD": b'257 "/"\r\n'}
                    known |= {"TYPE": b"200 fine\r\n", "CWD": b"250 fine\r\n", "SIZE": b"213 24\r\n"}
                    control.sendall(known.get(word, b"502 no\r\n"))


def main() -> None:
    """The command line."""
    parser = argparse.ArgumentParser()
    commands = parser.add_subparsers(dest="command", required=True)
    commands.add_parser("listen").add_argument("port", type=int, nargs="+")
    commands.add_parser("ftp").add_argument("port", type=int)
    for name in ("ask", "hold"):
        asking = commands.add_parser(name)
        asking.add_argument("protocol", choices=["tcp", "udp"])
        asking.add_argument("destination")
        asking.add_argument("port", type=int)
        asking.add_argument("--count", type=int, default=1)
        asking.add_argument("--source-port", type=int, default=0)
    given = parser.parse_args()
    if given.command == "listen":
        listen(given.port)
    elif given.command == "ftp":
        ftp(given.port)
    elif given.command == "hold":
        hold(given.destination, given.port)
    else:
        answers = ask(given.protocol, given.destination, given.port, given.count, given.source_port)
        json.dump(answers, sys.stdout)


if __name__ == "__main__":
    main()

"""Carries TCP from a port of this machine into a network namespace: the tests' way to a management address.

``python -m tests.image.relay LISTENER ADDRESS PORT``, run in the namespace, with the number of a listening
socket that was opened outside it.
"""

from __future__ import annotations

import asyncio
import socket
import subprocess
import sys
from contextlib import suppress
from dataclasses import dataclass

from lab import namespaces
from tests.image.artefacts import REPOSITORY


@dataclass
class Relay:
    """The relay to a port of an address in a namespace; `port` is where it is reached, on 127.0.0.1."""

    namespace: str
    address: str
    remote_port: int

    def __post_init__(self) -> None:
        with socket.create_server(("127.0.0.1", 0), backlog=128) as listener:
            self.port: int = listener.getsockname()[1]
            words = [str(listener.fileno()), self.address, str(self.remote_port)]
            inside = namespaces.enter(self.namespace, [sys.executable, "-m", "tests.image.relay", *words])
            self._process = subprocess.Popen(
                ["setpriv", "--pdeathsig", "KILL", "--", *inside],
                stdin=subprocess.DEVNULL,
                pass_fds=[listener.fileno()],
                cwd=REPOSITORY,
            )

    def close(self) -> None:
        """End it, and every connection through it."""
        self._process.kill()
        self._process.wait(timeout=30)


async def _carry(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
    with suppress(OSError):
        while data := await reader.read(1 << 18):
            writer.write(data)
            await writer.drain()
        writer.write_eof()


async def _serve(listener: socket.socket, address: str, port: int) -> None:
    # asyncio itself keeps no connection whose streams rest.
    carried: set[asyncio.Task[object] | None] = set()

    async def relay(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        carried.add(asyncio.current_task())
        try:
            await connect(reader, writer)
        finally:
            carried.discard(asyncio.current_task())

    async def connect(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        try:
            far_reader, far_writer = await asyncio.open_connection(address, port)
        except OSError:
            writer.close()
            return
        await asyncio.gather(_carry(reader, far_writer), _carry(far_reader, writer))
        for one in (writer, far_writer):
            one.close()

    server = await asyncio.start_server(relay, sock=listener)
    await server.serve_forever()


def main() -> None:
    """The command line."""
    number, address, port = sys.argv[1:]
    asyncio.run(_serve(socket.socket(fileno=int(number)), address, int(port)))


if __name__ == "__main__":
    main()

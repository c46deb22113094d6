"""The image's nginx, with its own configuration but for places and ports, and HTTP/2 frames made by hand."""

from __future__ import annotations

import re
import shutil
import socket
import ssl
import struct
import subprocess
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from lab import certificates

CONFIGURATION = Path(__file__).resolve().parent.parent / "appliance/system/etc/nginx/nginx.conf"
PORT = 443
HEADERS, RST_STREAM, SETTINGS = 1, 3, 4
_WINDOW_UPDATE = 8
_MAX_CONCURRENT_STREAMS = 3
_START_S = 30.0


def configuration(directory: Path, upstream: Path) -> str:
    """The image's configuration for a run below `directory`, passing requests on to the socket `upstream`."""
    text = CONFIGURATION.read_text()
    changes = [
        (r"^user www-data;$", "user root;\ndaemon off;"),
        (r"^pid \S+;$", f"pid {directory}/nginx.pid;"),
        (r"unix:\S+;", f"unix:{upstream};"),
        (r"/data/millrace/tls/server\.pem", f"{directory}/server.pem"),
        (r"/data/millrace/tls/server\.key", f"{directory}/server.key"),
    ]
    if _version() < (1, 25, 1):
        # Debian 12's nginx is older than the image's and knows HTTP/2 as a property of the socket only.
        changes += [(r"^ +http2 on;\n", ""), (r"listen 443 ssl;", "listen 443 ssl http2;")]
        changes += [(r"listen \[::\]:443 ssl;", "listen [::]:443 ssl http2;")]
    for pattern, instead in changes:
        text, count = re.subn(pattern, instead, text, flags=re.MULTILINE)
        assert count == 1, pattern
    return text


def _version() -> tuple[int, ...]:
    told = subprocess.run(["nginx", "-v"], capture_output=True, text=True, check=True).stderr
    found = re.search(r"nginx/([\d.]+)", told)
    assert found is not None, told
    return tuple(int(part) for part in found[1].split("."))


@contextmanager
def nginx(directory: Path, upstream: Path, namespace: str) -> Iterator[int]:
    """nginx in a network namespace, until the block ends; yields its process id."""
    if shutil.which("nginx") is None:
        pytest.skip("there is no nginx here")
    certificates.make(directory / "ca.pem", directory / "server.pem", directory / "server.key")
    path, log = directory / "nginx.conf", directory / "nginx.log"
    path.write_text(configuration(directory, upstream))
    argv = ["ip", "netns", "exec", namespace, "nginx", "-c", str(path), "-e", str(log)]
    with (directory / "nginx.out").open("wb") as out:
        process = subprocess.Popen(argv, stdout=out, stderr=out)
    try:
        deadline = time.monotonic() + _START_S
        listening = ["ip", "netns", "exec", namespace, "ss", "-Hltn", f"sport = :{PORT}"]
        while not subprocess.run(listening, capture_output=True, text=True, check=True).stdout:
            said = (directory / "nginx.out").read_text()
            assert process.poll() is None and time.monotonic() < deadline, said
            time.sleep(0.05)
        yield process.pid
    finally:
        process.terminate()
        process.wait(20)


def context(directory: Path, *protocols: str) -> ssl.SSLContext:
    """TLS to that nginx, which is reached by addresses that its certificate does not name."""
    made = ssl.create_default_context(cafile=str(directory / "ca.pem"))
    made.check_hostname = False
    made.set_alpn_protocols(list(protocols))
    return made


class H2:
    """One HTTP/2 connection (RFC 9113). Requests have no end: their bodies may still come."""

    def __init__(self, connection: ssl.SSLSocket) -> None:
        assert connection.selected_alpn_protocol() == "h2"
        self._connection, self._last, self._rest = connection, -1, b""
        connection.sendall(b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n" + frame(SETTINGS, 0, 0, b""))

    def most_streams(self) -> int:
        """What the server says that it takes at once."""
        while True:
            kind, _, body = self.read()
            if kind == SETTINGS and body:
                entries = [struct.unpack("!HI", body[at : at + 6]) for at in range(0, len(body), 6)]
                return int(dict(entries)[_MAX_CONCURRENT_STREAMS])

    def post(self, path: str = "/") -> int:
        """The head of a POST; returns its stream."""
        self._last += 2
        # RFC 7541: indexed method and scheme, literal path and authority.
        head = b"\x83\x87\x04" + _text(path) + b"\x01" + _text("router")
        self._connection.sendall(frame(HEADERS, 4, self._last, head))
        return self._last

    def get(self, path: str) -> int:
        """A whole GET; returns its stream."""
        self._last += 2
        head = b"\x82\x87\x04" + _text(path) + b"\x01" + _text("router")
        self._connection.sendall(frame(HEADERS, 5, self._last, head))
        return self._last

    def taken(self, stream: int, size: int) -> None:
        """So many bytes of an answer were read: the server may send as many again."""
        more = struct.pack("!I", size)
        self._connection.sendall(frame(_WINDOW_UPDATE, 0, 0, more) + frame(_WINDOW_UPDATE, 0, stream, more))

    def timeout(self, seconds: float) -> None:
        """The longest wait of a read."""
        self._connection.settimeout(seconds)

    def body(self, stream: int, part: bytes) -> None:
        """A part of its body, not the last one."""
        self._connection.sendall(frame(0, 0, stream, part))

    def read(self) -> tuple[int, int, bytes]:
        """Type, stream and content of the next frame."""
        while len(self._rest) < 9 or len(self._rest) < 9 + int.from_bytes(self._rest[:3], "big"):
            more = self._connection.recv(65536)
            if not more:
                raise ConnectionError("the server closed the connection")
            self._rest += more
        length, kind = int.from_bytes(self._rest[:3], "big"), self._rest[3]
        stream = int.from_bytes(self._rest[5:9], "big") & 0x7FFFFFFF
        body, self._rest = self._rest[9 : 9 + length], self._rest[9 + length :]
        return kind, stream, body

    def close(self) -> None:
        """End it."""
        self._connection.close()


def connect(
    directory: Path, source: str, host: str, *protocols: str, timeout_s: float = 30.0
) -> ssl.SSLSocket:
    """TLS from one of this namespace's addresses."""
    plain = socket.create_connection((host, PORT), timeout_s, (source, 0))
    return context(directory, *protocols).wrap_socket(plain)


def frame(kind: int, flags: int, stream: int, body: bytes) -> bytes:
    """RFC 9113, 4.1."""
    return struct.pack("!I", len(body))[1:] + bytes((kind, flags)) + struct.pack("!I", stream) + body


def _text(value: str) -> bytes:
    return bytes((len(value),)) + value.encode()

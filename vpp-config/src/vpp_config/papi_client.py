"""The client for a running VPP, over its binary API socket.

Message definitions and encoding are vpp_papi's, from VPP's installed ``*.api.json``. The connection is our
own (:mod:`vpp_config.transport`): vpp_papi's passes every message between threads through pipes, and cannot
pipeline. Only the needed definition files are loaded, so that connecting takes tens of milliseconds.
"""

from __future__ import annotations

import struct
import threading
from collections.abc import Callable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

from vpp_papi.vpp_papi import VPPApiJSONFiles

from vpp_config import acl_codec, route_codec
from vpp_config.client import Reply, Request
from vpp_config.errors import VppApiError, VppError, VppUnavailable
from vpp_config.recent import Recent
from vpp_config.retvals import meaning
from vpp_config.transport import Transport

API_SOCKET = "/run/vpp/api.sock"
API_DIRECTORY = Path("/usr/share/vpp/api")

# Loaded at first connect; any other definition file is looked up when a message needs it.
_FILES = (
    "memclnt", "vlib", "vpe", "interface", "ip", "ip_neighbor", "acl", "af_packet", "lcp", "virtio", "arping",
)  # fmt: skip
_PREFIX = struct.Struct(">HI")  # message id and context, at the start of every reply
_CALLER = struct.Struct(">II")  # client index and context, behind the message id of every request
_KNOWN, _KNOWN_BYTES = 2048, 1024
"""How many messages are kept decoded, and the longest of them: most of an observation is as it was before."""
_RETRY_WITH_CURSOR = -165
# Requests in flight at a time. VPP answers while it reads, so this only bounds memory on both sides.
_WINDOW = 512
_PING = Request("control_ping", {})
_STREAM_CONTEXT = 1
# Messages that are read so often, or have so many parts, that vpp_papi's one call for each part is too slow.
_DECODERS: Mapping[str, Callable[[bytes], Reply]] = {
    "acl_details": acl_codec.decode_details,
    "ip_route_lookup_v2_reply": route_codec.decode_lookup_reply,
    "ip_route_v2_details": route_codec.decode_details,
}


class PapiClient:
    """A :class:`vpp_config.client.VppClient` on VPP's API socket. Thread-safe: calls queue up one behind
    the other.
    """

    netlink_settle_s = 0.1
    """Twice the time for which linux_nl gathers a batch (its default, 50 ms)."""

    def __init__(
        self,
        api_socket: str | Path = API_SOCKET,
        *,
        api_directory: str | Path | None = None,
        name: str = "millrace",
        timeout_s: float = 30.0,
    ) -> None:
        """Connects nothing yet. ``timeout_s`` is how long to wait for a silent VPP."""
        self._path = str(api_socket)
        self._directory = Path(api_directory or API_DIRECTORY)
        self._name = name
        self._timeout_s = timeout_s
        self._lock = threading.RLock()
        self._transport: Transport | None = None
        self._generation = 0
        self._client_index = 0
        self._context = 0
        self._messages: dict[str, Any] = {}
        self._services: dict[str, dict[str, str]] = {}
        self._unread: dict[str, Path] = {}
        self._ids: dict[str, int] = {}
        self._by_id: dict[int, Any] = {}
        self._supported: dict[str, bool] = {}
        """The messages that somebody asked about, for the VPP that is connected."""
        self._decoded: Recent[Reply] = Recent(_KNOWN)
        self._encoded: Recent[bytes] = Recent(_KNOWN)

    # -- connection

    @property
    def connected(self) -> bool:
        """Whether the socket is open and VPP has not hung up."""
        transport = self._transport
        return transport is not None and transport.alive()

    @property
    def generation(self) -> int:
        """The number of connects so far."""
        return self._generation

    def connect(self) -> int:
        """Connect unless connected. Raises :class:`VppUnavailable`."""
        with self._lock:
            if self.connected:
                return self._generation
            self.close()
            if not self._messages:
                self._load_definitions()
            transport = Transport(self._path, timeout_s=self._timeout_s)
            try:
                handshake = transport.handshake(self._name)
            except BaseException:
                transport.close()
                raise
            self._transport = transport
            self._client_index = handshake.client_index
            self._ids = handshake.message_ids
            self._by_id = {}
            for message in self._messages.values():
                self._index(message)
            self._supported = {}
            self._decoded, self._encoded = Recent(_KNOWN), Recent(_KNOWN)
            self._generation += 1
            return self._generation

    def close(self) -> None:
        """Close the socket; VPP forgets this client."""
        with self._lock:
            if self._transport is not None:
                self._transport.close()
                self._transport = None

    # -- definitions

    def _load_definitions(self) -> None:
        files = {path.name.removesuffix(".api.json"): path for path in self._directory.rglob("*.api.json")}
        if not files:
            raise VppUnavailable(f"no VPP API definitions under {self._directory}")
        self._unread = files
        # Types are global in vpp_papi and must come before their users.
        for name in (*sorted(n for n in files if n.endswith("_types")), *_FILES):
            if name in self._unread:
                self._load(name)

    def _load(self, name: str) -> None:
        with self._unread.pop(name).open(encoding="utf-8") as file:
            messages, services = VPPApiJSONFiles.process_json_file(file)
        self._messages.update(messages)
        self._services.update(services)
        if self._ids:
            for message in messages.values():
                self._index(message)

    def _index(self, message: Any) -> None:
        number = self._ids.get(f"{message.name}_{message.crc.removeprefix('0x')}")
        if number is not None:
            self._by_id[number] = message

    def _definition(self, name: str) -> Any:
        """The message's definition; definition files not read yet are searched when needed."""
        if name not in self._messages:
            wanted = f'"{name}"'
            for file, path in list(self._unread.items()):
                if wanted in path.read_text(encoding="utf-8"):
                    self._load(file)
                    if name in self._messages:
                        break
        return self._messages.get(name)

    def _id_of(self, message: Any) -> int | None:
        return self._ids.get(f"{message.name}_{message.crc.removeprefix('0x')}")

    def supports(self, name: str) -> bool:
        """Whether this VPP has the message with the signature of the definitions."""
        with self._lock:
            # Whether VPP has hung up is a system call, and an observation asks for dozens of messages.
            if self._transport is None or name not in self._supported:
                self.connect()
                definition = self._definition(name)
                self._supported[name] = definition is not None and self._id_of(definition) is not None
            return self._supported[name]

    # -- calls

    def call(self, name: str, **fields: Any) -> Reply:
        """One request, one reply."""
        answer = self.pipeline([Request(name, fields)])[0]
        if isinstance(answer, VppError):
            raise answer
        return answer

    def dump(self, name: str, **fields: Any) -> list[Reply]:
        """One request, all its details."""
        answer: list[Reply] = self.call(name, **fields)
        return answer

    def stream(self, name: str, **fields: Any) -> Iterator[Reply]:
        """One detail at a time; see :class:`vpp_config.client.VppClient`.

        It uses a connection of its own, so that a reader that is slow, stops early, or moves to another
        thread delays nobody.
        """
        with self._lock:
            self.connect()
            transport = Transport(self._path, timeout_s=self._timeout_s)
            try:
                index = transport.handshake(f"{self._name}-stream").client_index
                frames = [
                    self._encode(item, _STREAM_CONTEXT, index) for item in (Request(name, fields), _PING)
                ]
                messages = self._by_id
            except BaseException:
                transport.close()
                raise
        return _rows(transport, frames, messages)

    def pipeline(
        self, requests: Sequence[Request], *, generation: int | None = None
    ) -> list[Reply | list[Reply] | VppError]:
        """Send all, gather all; see :class:`vpp_config.client.VppClient`."""
        with self._lock:
            if generation is not None and not (self.connected and generation == self._generation):
                raise VppUnavailable("VPP was restarted meanwhile")
            self.connect()
            answers: list[Reply | list[Reply] | VppError] = []
            try:
                for start in range(0, len(requests), _WINDOW):
                    answers += self._exchange(requests[start : start + _WINDOW])
            except VppUnavailable:
                self.close()
                raise
            return answers

    def _send(self, requests: Sequence[Request]) -> list[int]:
        """Encode and send; returns the context of each request. Encodes everything before it sends
        anything.
        """
        frames, contexts = [], []
        for item in requests:
            self._context = self._context % 0xFFFFFFFE + 1
            contexts.append(self._context)
            frames.append(self._frame(item))
            if "stream" in self._services[item.name] and "stream_msg" not in self._services[item.name]:
                frames.append(self._frame(_PING))
        assert self._transport is not None
        self._transport.send(frames)
        return contexts

    def _frame(self, item: Request) -> bytes:
        """The request in this context. Its fields are encoded once: most requests are repeated."""
        try:
            key = item.name, tuple(item.fields.items())
            hash(key)
        except TypeError:  # a list among them
            return self._encode(item, self._context, self._client_index)
        known = self._encoded.of(key, lambda: self._encode(item, 0, 0))
        return known[:2] + _CALLER.pack(self._client_index, self._context) + known[2 + _CALLER.size :]

    def _reply(self, message: Any, raw: bytes) -> Reply:
        """The message, decoded once whatever its context: nobody looks at that of a decoded one."""
        if len(raw) > _KNOWN_BYTES:
            return _decode(message, raw)
        key = raw[:2] + raw[_PREFIX.size :]
        return self._decoded.of(key, lambda: _decode(message, raw))

    def _encode(self, item: Request, context: int, client_index: int) -> bytes:
        message = self._definition(item.name)
        number = self._id_of(message) if message is not None else None
        if message is None or number is None:
            raise VppApiError(item.name, -126, "not offered by this VPP: is its plugin enabled?")
        unknown = item.fields.keys() - set(message.fields)
        if unknown:
            raise TypeError(f"{item.name} has no field {', '.join(sorted(unknown))}")
        if item.name == "acl_add_replace":
            return acl_codec.encode_add_replace(
                number,
                client_index,
                context,
                item.fields["acl_index"],
                item.fields["tag"],
                item.fields["r"],
            )
        values = {**item.fields, "_vl_msg_id": number, "client_index": client_index, "context": context}
        encoded: bytes = message.pack(values)
        return encoded

    def _receive(self) -> tuple[int, int, bytes]:
        assert self._transport is not None
        raw = self._transport.receive()
        number, context = _PREFIX.unpack_from(raw)
        return number, context, raw

    def _exchange(self, requests: Sequence[Request]) -> list[Reply | list[Reply] | VppError]:
        contexts = self._send(requests)
        answers: dict[int, Reply | list[Reply] | VppError] = {}
        details: dict[int, list[Reply]] = {
            context: [] for context, item in zip(contexts, requests, strict=True)
            if "stream" in self._services[item.name]
        }  # fmt: skip
        names = {context: item.name for context, item in zip(contexts, requests, strict=True)}
        while len(answers) < len(requests):
            number, context, raw = self._receive()
            name = names.get(context)
            message = self._by_id.get(number)
            if name is None or message is None:
                continue  # an event, or the late end of an abandoned stream
            service = self._services[name]
            if context not in details:
                reply = self._reply(message, raw)
                retval = getattr(reply, "retval", 0)
                answers[context] = VppApiError(name, retval, meaning(retval)) if retval < 0 else reply
            elif message.name == service.get("stream_msg", service["reply"]):
                details[context].append(self._reply(message, raw))
            elif "stream_msg" in service:
                reply = _decode(message, raw)
                if reply.retval == _RETRY_WITH_CURSOR:
                    again = self._send([Request(name, {**_fields_of(requests, contexts, context),
                                                       "cursor": reply.cursor})])[0]  # fmt: skip
                    # The rest arrives under a new context and belongs to the same request.
                    details[again] = details.pop(context)
                    names[again] = name
                    contexts[contexts.index(context)] = again
                else:
                    answers[context] = details[context]
            else:
                answers[context] = details[context]
        return [answers[context] for context in contexts]


def _rows(transport: Transport, frames: list[bytes], messages: dict[int, Any]) -> Iterator[Reply]:
    """The details of one dump, until the ping behind it is answered; then the connection is closed."""
    try:
        transport.send(frames)
        while True:
            raw = transport.receive()
            number, context = _PREFIX.unpack_from(raw)
            message = messages.get(number)
            if message is None or context != _STREAM_CONTEXT:
                continue
            if message.name == "control_ping_reply":
                return
            yield _decode(message, raw)
    finally:
        transport.close()


def _fields_of(requests: Sequence[Request], contexts: list[int], context: int) -> dict[str, Any]:
    return dict(requests[contexts.index(context)].fields)


def _decode(message: Any, raw: bytes) -> Reply:
    quick = _DECODERS.get(message.name)
    return message.unpack(raw)[0] if quick is None else quick(raw)

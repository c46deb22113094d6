"""The user at the other end of the socket, as reported by the kernel (SO_PEERCRED), not by the caller."""

from __future__ import annotations

import logging
import os
import pwd
import socket
import struct
from pathlib import Path

from aiohttp import web
from aiohttp.typedefs import Middleware

from appliance.agent.problems import Handler, problem
from appliance.engine import durable
from appliance.engine.durable import Owner

log = logging.getLogger(__name__)
_CREDENTIALS = struct.Struct("3i")  # struct ucred: pid, uid, gid


def only(allowed_uids: frozenset[int]) -> Middleware:
    """Middleware that lets in root, the agent's own user and these users."""
    allowed = allowed_uids | {0, os.geteuid()}

    @web.middleware
    async def check(request: web.Request, handler: Handler) -> web.StreamResponse:
        uid = peer_uid(request)
        if uid not in allowed:
            log.warning("refused %s %s of uid %s", request.method, request.path, uid)
            return problem(403, f"user {uid} may not use the agent")
        return await handler(request)

    return check


def peer_uid(request: web.Request) -> int:
    """The caller's uid; -1 when the connection is gone or is not local."""
    transport = request.transport
    peer = transport.get_extra_info("socket") if transport is not None else None
    if peer is None or peer.family != socket.AF_UNIX:
        return -1
    raw = peer.getsockopt(socket.SOL_SOCKET, socket.SO_PEERCRED, _CREDENTIALS.size)
    uid: int = _CREDENTIALS.unpack(raw)[1]
    return uid


def listening_socket(path: Path, group: str | None, allowed_uids: frozenset[int]) -> socket.socket:
    """A Unix socket at ``path``, mode 0660, of a group that gives the first allowed user access."""
    durable.make_folder(path.parent)
    path.unlink(missing_ok=True)
    listening = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
    before = os.umask(0o177)
    try:
        listening.bind(str(path))
    finally:
        os.umask(before)
    gid = _gid(group, allowed_uids)
    durable.give(path, 0o660, Owner(gid=gid if gid is not None else -1))
    listening.listen(128)
    return listening


def _gid(group: str | None, allowed_uids: frozenset[int]) -> int | None:
    if group is not None:
        import grp

        return grp.getgrnam(group).gr_gid
    for uid in sorted(allowed_uids - {0}):
        try:
            return pwd.getpwuid(uid).pw_gid
        except KeyError:
            continue
    return None

"""The user at the other end of the socket, as reported by the kernel (SO_PEERCRED), not by the caller.

Root is uid 0 in group 0. A service that runs as uid 0 but must not command the router (VPP) has a group of
its own and no CAP_SETGID: no credential that it can take makes it root here.
"""

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
    """Middleware that lets in root (uid 0 in group 0), the agent's own user and these users."""
    own = os.geteuid()

    @web.middleware
    async def check(request: web.Request, handler: Handler) -> web.StreamResponse:
        uid, gid = peer(request)
        if not admitted(uid, gid, allowed_uids, own):
            log.warning("refused %s %s of uid %s, gid %s", request.method, request.path, uid, gid)
            return problem(403, refusal(uid, gid))
        return await handler(request)

    return check


def admitted(uid: int, gid: int, allowed_uids: frozenset[int], own: int) -> bool:
    """Whether a caller may use the agent of user ``own``. Pure."""
    return gid == 0 if uid == 0 else uid == own or uid in allowed_uids


def refusal(uid: int, gid: int) -> str:
    """Why it may not. Pure."""
    if uid == 0:
        return f"root in group {gid} may not use the agent: only root in group 0 may"
    return f"user {uid} may not use the agent"


def peer(request: web.Request) -> tuple[int, int]:
    """The caller's uid and gid; -1 when the connection is gone or is not local."""
    transport = request.transport
    caller = transport.get_extra_info("socket") if transport is not None else None
    if caller is None or caller.family != socket.AF_UNIX:
        return -1, -1
    raw = caller.getsockopt(socket.SOL_SOCKET, socket.SO_PEERCRED, _CREDENTIALS.size)
    _pid, uid, gid = _CREDENTIALS.unpack(raw)
    return uid, gid


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

"""The agent as a process: one for each state directory, from start to a clean end."""

from __future__ import annotations

import asyncio
import fcntl
import logging
import os
import signal
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from aiohttp import web

from appliance.agent import peers
from appliance.agent.application import application
from appliance.agent.notify import notify
from appliance.agent.router import Router
from appliance.agent.settings import AgentSettings
from appliance.engine import durable
from appliance.errors import Conflict

log = logging.getLogger(__name__)


@contextmanager
def alone(state_dir: Path) -> Iterator[None]:
    """Hold the state directory. Raises Conflict when another agent does."""
    durable.make_folder(state_dir, 0o700)
    descriptor = durable.lock_file(state_dir / "lock")
    try:
        fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        os.close(descriptor)
        raise Conflict(f"another agent owns {state_dir}") from None
    durable.forget_drafts(state_dir)
    try:
        yield
    finally:
        os.close(descriptor)


async def serve(router: Router, settings: AgentSettings) -> None:
    """Serve until SIGTERM or SIGINT. Commits under way are finished; forwarding is not touched."""
    stop = asyncio.Event()
    loop = asyncio.get_running_loop()
    for number in (signal.SIGTERM, signal.SIGINT):
        loop.add_signal_handler(number, stop.set)
    runner = web.AppRunner(
        application(router, settings.allowed_uids), access_log=None, handle_signals=False, shutdown_timeout=5
    )
    await runner.setup()
    listening = peers.listening_socket(settings.socket, settings.socket_group, settings.allowed_uids)
    try:
        await asyncio.to_thread(router.engine.start)
        await web.SockSite(runner, listening).start()
        notify("READY=1")
        log.info("serving revision %s on %s", router.engine.revision, settings.socket)
        await stop.wait()
        log.info("stopping; forwarding goes on")
        notify("STOPPING=1")
    finally:
        settings.socket.unlink(missing_ok=True)
        await runner.cleanup()
        await asyncio.to_thread(router.close)

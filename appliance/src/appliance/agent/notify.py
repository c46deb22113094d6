"""Notifications to systemd (sd_notify): ready, alive, stopping. None when systemd did not start us."""

from __future__ import annotations

import asyncio
import os
import socket


def notify(state: str) -> None:
    """Send one line, such as ``READY=1``, to NOTIFY_SOCKET."""
    address = os.environ.get("NOTIFY_SOCKET")
    if not address:
        return
    if address.startswith("@"):
        address = "\0" + address[1:]
    with socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM) as sender:
        sender.sendto(state.encode(), address)


async def watchdog() -> None:
    """Feed systemd's watchdog twice as often as it asks (WATCHDOG_USEC); ends at once if it does not ask."""
    period_us = int(os.environ.get("WATCHDOG_USEC", "0"))
    while period_us:
        notify("WATCHDOG=1")
        await asyncio.sleep(period_us / 2_000_000)

"""Ping and traceroute in the data plane's namespace, bounded in count and time."""

from __future__ import annotations

import asyncio
import re
import shutil
from dataclasses import dataclass
from ipaddress import IPv4Address, IPv6Address
from typing import Any

from appliance.dataplane.namespace import NAMESPACES
from appliance.errors import RouterUnavailable

_OUTPUT_BYTES = 64 * 1024
_MAX_HOPS = 30
_CONTROL = re.compile(r"[\x00-\x08\x0b-\x1f\x7f-\x9f]")
_SENT = re.compile(r"(\d+) packets transmitted, (\d+) (?:packets )?received")
_TIMES = re.compile(r"= ([\d.]+)/([\d.]+)/([\d.]+)(?:/([\d.]+))? ms")
_HOP = re.compile(r"^\s*(\d+)\s+(?:(\S+)\s+([\d.]+) ms|\*)", re.MULTILINE)
IpAddress = IPv4Address | IPv6Address


@dataclass(frozen=True)
class Ran:
    """How a tool ended. ``output`` is untrusted text: other hosts influence it."""

    output: str
    exit_code: int | None
    """None when it was stopped at its time limit."""


async def ping(
    netns: str,
    destination: IpAddress,
    count: int,
    source: IpAddress | str | None,
    size: int | None,
    vrf: str | None = None,
) -> dict[str, Any]:
    """``output`` and ``result``: packets sent and received, round trip times in milliseconds.

    ``vrf`` is the device of the VRF in whose table the route is looked up.
    """
    argv = ["ping", "-n", "-c", str(count), "-i", "0.5", "-W", "2"]
    # The kernel knows the VRF of an interface.
    argv += ["-I", vrf] if vrf is not None and not isinstance(source, str) else []
    argv += ["-I", str(source)] if source is not None else []
    argv += ["-s", str(size)] if size is not None else []
    ran = await _run(netns, [*argv, "--", str(destination)], timeout_s=count * 0.5 + 5)
    sent, times = _SENT.search(ran.output), _TIMES.search(ran.output)
    return {
        "output": ran.output,
        "result": {
            "destination": str(destination),
            "sent": int(sent[1]) if sent else 0,
            "received": int(sent[2]) if sent else 0,
            "min_ms": float(times[1]) if times else None,
            "avg_ms": float(times[2]) if times else None,
            "max_ms": float(times[3]) if times else None,
        },
    }


async def traceroute(
    netns: str, destination: IpAddress, source: IpAddress | None, vrf: str | None = None
) -> dict[str, Any]:
    """``output`` and ``result``: hops with address (None: no answer) and round trip time in milliseconds."""
    argv = ["traceroute", "-n", "-q", "1", "-w", "1", "-m", str(_MAX_HOPS)]
    argv += ["-i", vrf] if vrf is not None else []
    argv += ["-s", str(source)] if source is not None else []
    ran = await _run(netns, [*argv, "--", str(destination)], timeout_s=_MAX_HOPS + 5)
    hops = [
        {"hop": int(number), "address": address or None, "time_ms": float(time_ms) if time_ms else None}
        for number, address, time_ms in _HOP.findall(ran.output)
    ]
    return {
        "output": ran.output,
        "result": {
            "destination": str(destination),
            "hops": hops,
            "reached": bool(hops) and hops[-1]["address"] == str(destination),
        },
    }


async def _run(netns: str, argv: list[str], timeout_s: float) -> Ran:
    """Run ``argv`` inside the namespace; stopped when it takes longer than ``timeout_s``."""
    if shutil.which(argv[0]) is None:
        raise RouterUnavailable(f"{argv[0]} is not installed on this router")
    process = await asyncio.create_subprocess_exec(
        # Not `ip netns exec`: it mounts, which the confined agent may not do.
        "nsenter", f"--net={NAMESPACES / netns}", "--", *argv,
        stdin=asyncio.subprocess.DEVNULL,
        stdout=asyncio.subprocess.PIPE,
        stderr=asyncio.subprocess.STDOUT,
        env={"PATH": "/usr/sbin:/usr/bin:/sbin:/bin", "LC_ALL": "C"},
    )  # fmt: skip
    assert process.stdout is not None
    collected = bytearray()
    exit_code: int | None = None
    try:
        async with asyncio.timeout(timeout_s):
            while len(collected) < _OUTPUT_BYTES and (chunk := await process.stdout.read(4096)):
                collected += chunk
            exit_code = await process.wait() if len(collected) < _OUTPUT_BYTES else None
    except TimeoutError:
        collected += b"\n(stopped: it took too long)\n"
    finally:
        if process.returncode is None:
            process.kill()
            await process.wait()
    text = bytes(collected[: _OUTPUT_BYTES + 64]).decode(errors="replace")
    return Ran(_CONTROL.sub("", text), exit_code)

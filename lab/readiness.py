"""The conditions for a ready lab: sessions up, prefixes present, packets forwarded, the page answering."""

import json
import ssl
import time
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from functools import partial
from pathlib import Path

import httpx

from lab import addressing as at
from lab import frr_daemons
from lab.command import run
from lab.errors import LabError, NotReady
from lab.layout import Layout
from lab.namespaces import Dataplane, Namespaces, run_in


@dataclass(frozen=True)
class Check:
    """One condition. `problem` checks it now: None when it holds, otherwise the observed state."""

    name: str
    problem: Callable[[], str | None]


def routing_checks(names: Namespaces) -> list[Check]:
    """BGP with both families, OSPF, and all prefixes in the routing table."""
    return [
        Check("BGP", lambda: _bgp(names.router)),
        Check("OSPF", lambda: _ospf(names.router)),
    ]


def forwarding_checks(names: Namespaces, dataplane: Dataplane, layout: Layout) -> list[Check]:
    """All prefixes present where packets are forwarded, and the far hosts answering the LAN host."""
    return [
        Check("prefixes in the data plane", lambda: _data_plane_routes(names, dataplane, layout)),
        *(
            Check(f"{address} answers", partial(_answers, names.lan, address))
            for address in (
                str(at.WAN_HOST.far_v4.ip),
                str(at.WAN_HOST.far_v6.ip),
                str(at.CORE_HOST.far_v4.ip),
                str(at.CORE_HOST.far_v6.ip),
            )
        ),
    ]


def page_check(base_url: str, ca_file: Path) -> Check:
    """The page answers, with a certificate of the lab's authority."""
    return Check(f"page {base_url}/", lambda: _page(base_url, ca_file))


def problems(checks: Iterable[Check]) -> dict[str, str]:
    """The conditions that do not hold now, each with the observed state."""
    found = {}
    for check in checks:
        seen = look(check)
        if seen is not None:
            found[check.name] = seen
    return found


def look(check: Check) -> str | None:
    """The condition's problem; failing to check it is a problem too."""
    try:
        return check.problem()
    except (LabError, OSError, json.JSONDecodeError) as error:
        return str(error)


def wait(checks: Iterable[Check], timeout_s: float, told: Callable[[str], None]) -> None:
    """Wait for one condition after the other, reporting each that holds.

    Raises NotReady with the last observed state when `timeout_s` is over for all of them together.
    """
    deadline = time.monotonic() + timeout_s
    for check in checks:
        while (seen := look(check)) is not None:
            if time.monotonic() > deadline:
                raise NotReady(f"{check.name}: {seen}")
            time.sleep(0.5)
        told(check.name)


def _page(base_url: str, ca_file: Path) -> str | None:
    context = ssl.create_default_context(cafile=str(ca_file))
    try:
        answer = httpx.get(f"{base_url}/", verify=context, timeout=10, follow_redirects=True)
    except httpx.HTTPError as error:
        return f"{type(error).__name__}: {error}"
    return None if answer.is_success else f"status {answer.status_code}"


def _bgp(path_space: str) -> str | None:
    summary = frr_daemons.show(path_space, "show bgp summary")
    wanted = (
        ("ipv4Unicast", str(at.WAN.far_v4.ip), len(at.WAN_PREFIXES_V4)),
        ("ipv6Unicast", str(at.WAN.far_v6.ip), len(at.WAN_PREFIXES_V6)),
    )
    for family, address, prefixes in wanted:
        peer = summary.get(family, {}).get("peers", {}).get(address)
        if peer is None:
            return f"{address} is not configured"
        if peer["state"] != "Established":
            return f"{address} is {peer['state']}"
        if peer["pfxRcd"] < prefixes:
            return f"{peer['pfxRcd']} of {prefixes} prefixes from {address}"
    return None


def _ospf(path_space: str) -> str | None:
    neighbors = frr_daemons.show(path_space, "show ip ospf neighbor").get("neighbors", {})
    states = [
        entry.get("nbrState", entry.get("state", "?")) for entry in neighbors.get(str(at.CORE.far_v4.ip), [])
    ]
    if not any(state.startswith("Full") for state in states):
        return f"{at.CORE.far_v4.ip} is {', '.join(states) or 'not there'}"
    summary = frr_daemons.show(path_space, "show ip route summary").get("routes", [])
    routes = sum(entry["fib"] for entry in summary if entry["type"] == "ospf")
    if routes < len(at.CORE_PREFIXES):
        return f"{routes} of {len(at.CORE_PREFIXES)} routes"
    return None


def _data_plane_routes(names: Namespaces, dataplane: Dataplane, layout: Layout) -> str | None:
    wanted = len(at.WAN_PREFIXES_V4) + len(at.CORE_PREFIXES)
    if dataplane == "linux":
        routes = run(["ip", "-n", names.router, "-o", "route", "show"]).splitlines()
    else:
        # One line for each prefix length: "  25    999".
        summary = run(["vppctl", "-s", str(layout.vpp("cli.sock")), "show", "ip", "fib", "summary"])
        counted = [line.split() for line in summary.splitlines()]
        routes = [""] * sum(
            int(words[1]) for words in counted if len(words) == 2 and all(word.isdecimal() for word in words)
        )
    return None if len(routes) >= wanted else f"{len(routes)} of {wanted} routes"


def _answers(namespace: str, address: str) -> str | None:
    shown = run_in(namespace, ["ping", "-n", "-q", "-c", "1", "-W", "1", address], check=False)
    return None if " 0% packet loss" in shown else "no answer"

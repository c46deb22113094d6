"""The host's filter: ssh and https through the management NIC, nothing through the others."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from appliance.errors import MillraceError
from appliance.programs import run

TABLE = "millrace"
_ISOLATION = "millrace_data"


class BadDeviceName(MillraceError):
    """A network device's name is invalid."""


def management_ruleset(devices: Iterable[str]) -> str:
    """Input for nft: the devices are the management NICs of the host's filter, and no others are. Pure."""
    names = [_quoted(name) for name in sorted(devices)]
    lines = [f"flush set inet {TABLE} management"]
    if names:
        lines.append(f"add element inet {TABLE} management {{ {', '.join(names)} }}")
    return "\n".join(lines) + "\n"


def isolation_ruleset(devices: Sequence[str]) -> str:
    """Input for nft: the host's own stack hears nothing of the devices, while packet sockets hear all. Pure.

    VPP reads a NIC of the kernel's through a packet socket, which sits before this hook.
    """
    lines = [f"table netdev {_ISOLATION}", f"delete table netdev {_ISOLATION}"]
    if devices:
        names = ", ".join(_quoted(name) for name in sorted(devices))
        hook = f"type filter hook ingress devices = {{ {names} }} priority -500; policy drop;"
        lines += [f"table netdev {_ISOLATION} {{", "  chain unheard {", f"    {hook}", "  }", "}"]
    return "\n".join(lines) + "\n"


def let_management_in(devices: Iterable[str]) -> None:
    """Open ssh and https on these devices only. Raises ProgramFailed."""
    run(["nft", "-f", "-"], management_ruleset(devices))


def isolate(devices: Sequence[str]) -> None:
    """Keep packets that arrive on these devices from the host. Raises ProgramFailed."""
    run(["nft", "-f", "-"], isolation_ruleset(devices))


def _quoted(name: str) -> str:
    if not 1 <= len(name) <= 15 or not all(character.isalnum() or character in "._-" for character in name):
        raise BadDeviceName(f"{name!r} is not the name of a network device")
    return f'"{name}"'

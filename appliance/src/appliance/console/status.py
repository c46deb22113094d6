"""The content of the status screen, gathered from the host. Parts that do not answer are shown as such."""

from __future__ import annotations

import hashlib
import json
import socket
import ssl
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Protocol, TypeVar

from appliance.client import AgentClient, StatusAnswer
from appliance.errors import MillraceError
from appliance.firstboot.generated_password import shown_password
from appliance.firstboot.layout import Layout
from appliance.programs import ProgramFailed, Programs
from appliance.state import Answer, Part, Question
from appliance.state.health import HEALTH

A = TypeVar("A", bound=Answer)
Q = TypeVar("Q", bound=Question)

UNITS = {
    "millrace-agent": "agent",
    "vpp": "VPP",
    "frr": "FRR",
    "millrace-web": "web",
    "postgresql": "database",
    "nginx": "TLS",
}
"""Unit to the word it is shown under."""
_AGENT_TIMEOUT_S = 5.0
_DAMAGE_SHOWN = 3
"""How many sentences about damage are shown: the first concerns what runs, and the screen is small."""
_PEM_END = "-----END CERTIFICATE-----"


class Agent(Protocol):
    """The part of AgentClient that is used."""

    def status(self) -> StatusAnswer: ...
    def state(self, part: Part[Q, A], question: Q | None = None) -> A: ...


@dataclass(frozen=True)
class Status:
    """One look at the router."""

    hostname: str = ""
    version: str = "unknown"
    made_of: str = ""
    """The components of the image: VPP and Debian with their versions."""
    device: str | None = None
    """The management NIC; None when there is none."""
    mac: str | None = None
    link: str = ""
    """``up``, ``down`` or what the kernel says."""
    addresses: tuple[str, ...] = ()
    """With their lengths; link-local ones left out."""
    method: str = ""
    """How they are got: ``dhcp`` or ``static``."""
    fingerprint: str | None = None
    """SHA-256 of the web page's certificate."""
    agent: str = ""
    """Revision, data plane and health in one line."""
    services: tuple[tuple[str, str], ...] = ()
    """Word and what systemd says."""
    slots: str | None = None
    password: str | None = None
    """The generated password, until it is changed."""
    problems: tuple[str, ...] = ()
    remarks: tuple[str, ...] = ()
    """Remarks of the boot that are not problems, such as a part of a seed that was ignored."""


def gather(layout: Layout, programs: Programs, agent: Agent | None = None) -> Status:
    """Read everything now."""
    release = _json(layout.release)
    management = _json(layout.management)
    report = _json(layout.report)
    device = management.get("device")
    link, addresses = _addresses(programs, device) if device else ("", ())
    told, damage = _agent(agent or AgentClient(layout.run / "agent.sock", timeout_s=_AGENT_TIMEOUT_S))
    problems = [*damage, *_failed(programs), *(str(problem) for problem in report.get("problems") or [])]
    return Status(
        hostname=socket.gethostname(),
        version=str(release.get("version", "unknown")),
        made_of=_made_of(release),
        device=device,
        mac=management.get("mac"),
        link=link,
        addresses=addresses,
        method="dhcp" if management.get("ipv4") == "dhcp" else "static",
        fingerprint=_fingerprint(layout.tls / "server.pem"),
        agent=told,
        services=_services(programs, release.get("dataplane")),
        slots=_slots(_json(layout.run / "slots.json"), release),
        password=shown_password(layout),
        problems=tuple(problems),
        remarks=tuple(str(remark) for remark in report.get("remarks") or []),
    )


def _made_of(release: Mapping[str, Any]) -> str:
    parts = (("VPP", release.get("vpp_version")), ("Debian", release.get("debian")))
    return ", ".join(f"{name} {version}" for name, version in parts if version)


def _addresses(programs: Programs, device: str) -> tuple[str, tuple[str, ...]]:
    try:
        done = programs.run(["ip", "-json", "address", "show", "dev", device])
        (entry,) = json.loads(done.output)
        found = [
            f"{address['local']}/{address['prefixlen']}"
            for address in entry.get("addr_info", [])
            if address.get("scope") == "global"
        ]
        return str(entry.get("operstate", "unknown")).lower(), tuple(found)
    except (ProgramFailed, ValueError, KeyError, TypeError, AttributeError):
        return "not there", ()


def _agent(agent: Agent) -> tuple[str, list[str]]:
    """Its line, and the parts of its recorded state that cannot be read."""
    try:
        status = agent.status()
        parts = agent.state(HEALTH).parts
    except MillraceError:
        return "the agent does not answer", []
    bad = [name for name, part in parts.items() if part.state != "up"]
    health = f"not well: {', '.join(bad)}" if bad else "healthy"
    pending = ", waits for confirmation" if status.pending_confirm else ""
    drift = ", differs from its configuration" if status.drift else ""
    line = f"revision {status.revision} on {status.dataplane}, {health}{pending}{drift}"
    return line, status.damage[:_DAMAGE_SHOWN]


def _services(programs: Programs, dataplane: object) -> tuple[tuple[str, str], ...]:
    units = {unit: word for unit, word in UNITS.items() if unit != "vpp" or dataplane != "linux"}
    try:
        done = programs.run(["systemctl", "is-active", *units])
    except ProgramFailed:
        return ()
    states = done.output.split()
    return tuple(zip(units.values(), states, strict=False))


def _failed(programs: Programs) -> list[str]:
    """Units that ended badly: a service may be down only because one of these is."""
    try:
        done = programs.run(["systemctl", "list-units", "--state=failed", "--plain", "--no-legend"])
    except ProgramFailed:
        return []
    units = [line.split()[0] for line in done.output.splitlines() if line.strip()] if done.code == 0 else []
    # This program's own units fail where a machine has no such port, and ESXi's have no serial one.
    told = [unit for unit in units if not unit.startswith("millrace-console@")]
    return [f"{unit} failed: journalctl -b -u {unit}" for unit in told]


def _slots(slots: Mapping[str, Any], release: Mapping[str, Any]) -> str | None:
    running = slots.get("slot")
    if running is None:
        return None
    versions = slots.get("versions") or {}
    words = []
    for slot in ("a", "b"):
        version = versions.get(slot) or (release.get("version") if slot == running else None)
        marks = ["running"] if slot == running else []
        marks += ["trusted"] if slot == slots.get("good") else []
        words.append(f"{slot}: {version or 'empty'}" + (f" ({', '.join(marks)})" if marks else ""))
    trying = f"; on trial: goes back to {slots.get('good')} unless healthy" if slots.get("trying") else ""
    return "  ".join(words) + trying


def _fingerprint(certificate: Path) -> str | None:
    """In the form browsers show: SHA-256 in pairs of hex digits."""
    try:
        # The first is the page's own; those of a chain follow.
        first, end, _ = certificate.read_text().strip().partition(_PEM_END)
        whole = ssl.PEM_cert_to_DER_cert(first + end)
    except (OSError, ValueError):
        return None
    return hashlib.sha256(whole).digest().hex(":").upper()


def _json(path: Path) -> dict[str, Any]:
    try:
        value = json.loads(path.read_bytes())
    except (OSError, ValueError):
        return {}
    return value if isinstance(value, dict) else {}

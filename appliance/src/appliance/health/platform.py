"""The platform under the router: its programs, its clock, its page's certificate and its system slot."""

from __future__ import annotations

import ctypes
import time
from collections.abc import Iterator
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import TYPE_CHECKING

from cryptography import x509

from appliance.config.document import RouterConfig
from appliance.errors import RouterUnavailable
from appliance.health.check import Check, Finding, Look
from appliance.service_manager import ServiceManager
from appliance.state.alarms import Severity
from appliance.upgrade import slots
from appliance.upgrade.errors import UpgradeRefused
from appliance.upgrade.paths import Paths

if TYPE_CHECKING:
    from appliance.agent.router import Router

EXPIRES_SOON_S = 30 * 86400.0
CLOCK_PATIENCE_S = 900.0
"""After a boot chrony takes some minutes; a server that is down for this long is worth a look."""
_SERVICES_EVERY_S = 30.0
"""A query to systemd costs a process."""
_TIME_ERROR = 5
"""The value of adjtimex(2) while no program keeps the kernel's clock in step."""
_TIMEX_BYTES = 256
_OWN_CONSOLE = "millrace-console@"
"""Units of a terminal that a machine may lack: they fail if there is no such port."""


@dataclass(frozen=True)
class Validity:
    """The validity of a certificate, and the clock's time, in seconds since 1970."""

    begins_s: float
    ends_s: float
    now_s: float


@dataclass
class Platform:
    """Where these things are; None for those this machine does not have."""

    services: ServiceManager | None = None
    certificate: Path | None = None
    """The certificate of the web page, PEM."""
    upgrade: Paths | None = None

    _failed: tuple[str, ...] = ()
    _asked_s: float | None = None

    def failed(self) -> tuple[str, ...]:
        """Programs that were given up, as of at most half a minute ago. Raises ServiceError."""
        if self.services is None:
            return ()
        if self._asked_s is None or time.monotonic() - self._asked_s > _SERVICES_EVERY_S:
            self._failed = tuple(name for name in self.services.failed() if not name.startswith(_OWN_CONSOLE))
            self._asked_s = time.monotonic()
        return self._failed

    def validity(self) -> Validity | None:
        """None if there is no certificate. Raises RouterUnavailable if it cannot be read."""
        if self.certificate is None:
            return None
        try:
            read = x509.load_pem_x509_certificate(self.certificate.read_bytes())
        except (OSError, ValueError) as error:
            raise RouterUnavailable(f"the certificate {self.certificate} cannot be read: {error}") from error
        begins, ends = read.not_valid_before_utc.timestamp(), read.not_valid_after_utc.timestamp()
        return Validity(begins, ends, time.time())

    def slots(self) -> slots.Slots | None:
        """None on a machine without slots."""
        if self.upgrade is None:
            return None
        try:
            return slots.read(self.upgrade)
        except UpgradeRefused:
            return None


def clock_is_kept() -> bool:
    """Whether the kernel's clock is kept in step with another; see adjtimex(2)."""
    return bool(ctypes.CDLL(None).adjtimex(ctypes.create_string_buffer(_TIMEX_BYTES)) != _TIME_ERROR)


def programs(look: Look[tuple[str, ...]]) -> Iterator[Finding]:
    """Programs that were restarted repeatedly in vain, and given up."""
    for name in look.now:
        yield Finding(
            "program_failed",
            name,
            "major",
            f"{name} failed, and is not restarted automatically",
            f"See why in its log (journalctl -b -u {name}), then start it: systemctl restart {name}.",
        )


def clock(look: Look[bool]) -> Iterator[Finding]:
    """The document names time servers, but the clock is not synchronized."""
    if not look.now:
        servers = ", ".join(map(str, look.config.system.ntp_servers))
        yield Finding(
            "clock_not_kept",
            "clock",
            "warning",
            "The clock is synchronized to none of the document's time servers",
            "Check that the servers answer over the management network: chronyc sources.",
            {"servers": servers},
            pointer="/system/ntp_servers",
            patience_s=CLOCK_PATIENCE_S,
        )


def certificate(look: Look[Validity | None]) -> Iterator[Finding]:
    """The certificate of the page is expired, not yet valid, or about to expire."""
    found = look.now
    if found is None:
        return
    begins, ends = _day(found.begins_s), _day(found.ends_s)
    advice = "Replace it with a new certificate: browsers and clients refuse one that is not valid."
    severity: Severity = "major"
    if found.now_s < found.begins_s:
        summary = f"The web page's certificate is valid from {begins}, and the clock is before that"
        advice = "Set the clock: it is most likely wrong."
    elif found.now_s > found.ends_s:
        summary = f"The web page's certificate expired on {ends}"
    elif found.ends_s - found.now_s < EXPIRES_SOON_S:
        summary, severity = f"The web page's certificate expires on {ends}", "warning"
    else:
        return
    evidence = {"valid from": begins, "valid until": ends, "the router's clock": _day(found.now_s)}
    yield Finding("certificate", "page", severity, summary, advice, evidence)


def trial(look: Look[slots.Slots | None]) -> Iterator[Finding]:
    """The running system is on trial, or another will be at the next boot."""
    found = look.now
    if found is None:
        return
    if found.on_trial:
        yield Finding(
            "slot_on_trial",
            f"slot {found.running}",
            "warning",
            f"The system in slot {found.running} is on trial: unless it is found healthy, the router goes"
            f" back to slot {found.good}",
            "Wait for the end of the trial; commits are refused until then.",
        )
    elif found.tried is not None:
        yield Finding(
            "slot_to_be_tried",
            f"slot {found.tried}",
            "warning",
            f"The next boot tries the system in slot {found.tried}",
            "Restart the router when convenient, or install another upgrade.",
        )


def _day(unix_s: float) -> str:
    return datetime.fromtimestamp(unix_s, UTC).date().isoformat()


def _names_servers(config: RouterConfig) -> bool:
    return bool(config.system.ntp_servers)


def _failed(router: Router) -> tuple[str, ...]:
    return router.platform.failed()


def _validity(router: Router) -> Validity | None:
    return router.platform.validity()


def _slots(router: Router) -> slots.Slots | None:
    return router.platform.slots()


CHECKS = (
    Check("programs", _failed, programs),
    Check("clock", lambda _router: clock_is_kept(), clock, _names_servers),
    Check("certificate", _validity, certificate),
    Check("system slots", _slots, trial),
)

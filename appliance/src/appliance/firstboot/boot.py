"""The work of every boot, before the network, ssh and the data plane start."""

from __future__ import annotations

import json
import logging
import pwd
import socket
from collections.abc import Callable
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

from appliance.engine import durable
from appliance.errors import MillraceError, Problem, ValidationFailed
from appliance.firstboot import host_files, sources
from appliance.firstboot.host_files import HostFile
from appliance.firstboot.instance import Decision, Instance, decide, kind_of, load, with_card
from appliance.firstboot.layout import ADMIN, Layout
from appliance.firstboot.nics import Card, choose, inventory
from appliance.firstboot.placing import put
from appliance.firstboot.seed import Seed, read
from appliance.programs import ProgramFailed, Programs

log = logging.getLogger("appliance.firstboot")

_SETTLE_S = 30
_DMI_UUID = Path("sys/class/dmi/id/product_uuid")


@dataclass
class Report:
    """The console's report of this boot."""

    source: str | None = None
    """Where the seed was found."""
    applied: bool = False
    """Whether it was applied at this boot."""
    management: str = ""
    """Why this NIC is the management NIC."""
    problems: list[str] = field(default_factory=list)
    remarks: list[str] = field(default_factory=list)

    def as_json(self) -> dict[str, Any]:
        """For the report's file."""
        return dict(vars(self))


@dataclass(frozen=True)
class Boot:
    """One boot of one instance. Its fields are its access to the outside world."""

    layout: Layout
    programs: Programs
    find: Callable[[Programs, Path], list[sources.Found]] = sources.find
    cards: Callable[[Path], list[Card]] = inventory
    name_host: Callable[[str], None] = socket.sethostname

    def run(self) -> Report:
        """Find the seed, decide, and write everything that follows. Done twice, it changes nothing.

        Problems of a seed are reported and the boot goes on. Raises OSError and MillraceError when the host
        itself is at fault, such as a data partition that cannot be written.
        """
        report = Report()
        for folder, mode in ((self.layout.data, 0o700), (self.layout.run, 0o755)):
            durable.make_folder(folder, mode)
        self._settle(report)
        previous = self._previous(report)
        seed, found = self._seed(report)
        decision = self._decide(previous, seed, found, report)
        cards = self.cards(self.layout.root / "sys")
        choice = choose(
            cards,
            wanted_mac=decision.instance.management.mac,
            last=decision.instance.last_card,
            known_macs=frozenset(decision.instance.known_macs),
        )
        report.management = choice.reason
        if choice.card is None:
            report.problems.append(f"management: {choice.reason}")
        instance = with_card(decision.instance, choice, cards)
        self._keep(decision, instance, seed if report.applied else None, previous)
        # For one boot only, and last: after a power cut before, it still holds.
        self.layout.seed_again.unlink(missing_ok=True)
        self._write(instance, choice.card)
        durable.write_json(self.layout.report, report.as_json())
        for problem in report.problems:
            log.error("%s", problem)
        for remark in report.remarks:
            log.warning("%s", remark)
        return report

    def _settle(self, report: Report) -> None:
        """NICs and discs are found by udev; wait until it has seen what is there."""
        try:
            self.programs.run(["udevadm", "settle", f"--timeout={_SETTLE_S}"], timeout_s=_SETTLE_S + 5)
        except ProgramFailed as error:
            report.remarks.append(str(error))

    def _previous(self, report: Report) -> Instance | None:
        path = self.layout.instance
        try:
            return load(path.read_bytes())
        except FileNotFoundError:
            return None
        except ValidationFailed as failed:
            # Kept for diagnosis; the boot goes on as a first one.
            durable.rename(path, "instance.damaged")
            report.problems += _told("instance", failed.problems)
            return None

    def _seed(self, report: Report) -> tuple[Seed | None, sources.Found | None]:
        found = self.find(self.programs, self.layout.root)
        if not found:
            return None, None
        first, *others = found
        report.source = first.source
        report.remarks += first.remarks
        report.remarks += [f"seed in {other.source}: not read, {first.source} counts" for other in others]
        if first.problems:
            report.problems += _told(f"seed in {first.source}", first.problems)
            return None, first
        try:
            return read(first.values), first
        except ValidationFailed as failed:
            return self._without_document(first, failed, report), first

    def _without_document(
        self, found: sources.Found, failed: ValidationFailed, report: Report
    ) -> Seed | None:
        """A document that cannot be read does not cost the router its addresses and its password."""
        report.problems += _told(f"seed in {found.source}", failed.problems)
        if any(not problem.pointer.startswith("/configuration") for problem in failed.problems):
            return None
        try:
            return read({key: value for key, value in found.values.items() if key != "configuration"})
        except ValidationFailed as more:
            # Relations between settings are checked once each setting on its own is right.
            report.problems += _told(f"seed in {found.source}", more.problems)
            return None

    def _decide(
        self, previous: Instance | None, seed: Seed | None, found: sources.Found | None, report: Report
    ) -> Decision:
        source = found.source if found else None
        machine = _machine(self.layout.root)
        if previous is not None and self.layout.web_password_changed.exists():
            # Somebody has taken the router: it waits for no seed any more.
            previous = previous.model_copy(update={"awaits_seed": None})
        again = self.layout.seed_again.exists()
        try:
            decision = decide(previous, seed, source, again=again, machine=machine)
        except ValidationFailed as failed:
            report.problems += _told(f"seed in {source}", failed.problems)
            seed, decision = None, decide(previous, None, None)
        report.applied = decision.is_new and seed is not None
        if decision.refused:
            report.remarks.append(
                f"seed in {source}: it is another one than this router's and was not applied. To apply it at "
                "the next start, choose it on the console, or: sudo touch /data/millrace/seed-again"
            )
        changes = {"machine": machine}
        if previous is None and seed is None and source is not None:
            changes["awaits_seed"] = kind_of(source)
        return replace(decision, instance=decision.instance.model_copy(update=changes))

    def _keep(
        self, decision: Decision, instance: Instance, seed: Seed | None, previous: Instance | None
    ) -> None:
        """Everything that survives the boot; the instance last, for it says that the seed is applied."""
        layout = self.layout
        durable.make_folder(layout.data / "secrets", 0o700)
        if decision.renew_keys or not all(path.exists() for path in layout.keys):
            self._make_keys(instance, renew=decision.renew_keys)
        if decision.generated_password is not None:
            durable.write(layout.generated_password, f"{decision.generated_password}\n".encode())
        elif previous is not None and previous.password_hash != instance.password_hash:
            layout.generated_password.unlink(missing_ok=True)
        if seed is not None:
            durable.write_json(layout.first_document, first_document(seed))
        if instance != previous:
            durable.write(layout.instance, instance.model_dump_json().encode())

    def _make_keys(self, instance: Instance, *, renew: bool) -> None:
        # Loaded when keys are made, which is once.
        from appliance.firstboot import own_secrets

        layout = self.layout
        own_secrets.ensure_ssh_host_keys(layout.ssh, renew=renew)
        static = (instance.management.address, instance.management.ipv6_address)
        own_secrets.ensure_certificate(
            layout.tls,
            instance.hostname,
            [f"{instance.hostname}.{domain}" for domain in instance.search_domains[:1]],
            [text.partition("/")[0] for text in static if "/" in text],
            built_s=_built_s(layout.release),
            renew=renew,
        )

    def _write(self, instance: Instance, card: Card | None) -> None:
        for file in host_files.files(instance, card):
            put(self.layout.root, file)
        shadow = self.layout.etc / "shadow"
        try:
            text = host_files.shadow(shadow.read_text(), instance.password_hash)
        except LookupError as error:
            raise MillraceError(str(error)) from None
        put(self.layout.root, HostFile("etc/shadow", text, 0o640), like=shadow)
        self._home()
        self.name_host(instance.hostname)

    def _home(self) -> None:
        try:
            account = pwd.getpwnam(ADMIN)
        except KeyError:
            raise MillraceError(f"this system has no user {ADMIN}") from None
        home = self.layout.root / account.pw_dir.lstrip("/")
        durable.make_folder(home, 0o700, durable.Owner(account.pw_uid, account.pw_gid))


def first_document(seed: Seed) -> dict[str, Any]:
    """What is left for the agent: the seed's document, and its host settings for those it leaves out."""
    system: dict[str, Any] = {}
    if seed.hostname is not None:
        system["hostname"] = seed.hostname
    if seed.search_domains:
        system["domain"] = seed.search_domains[0]
    if seed.dns_servers:
        system["dns_servers"] = list(seed.dns_servers)
    if seed.ntp_servers:
        system["ntp_servers"] = list(seed.ntp_servers)
    return {"document": seed.configuration, "system": system}


def _machine(root: Path) -> str | None:
    """The hypervisor's id of this machine, which nobody in it can change; None where it gives none."""
    try:
        return (root / _DMI_UUID).read_text().strip().lower() or None
    except OSError:
        return None


def _built_s(release: Path) -> int | None:
    """When this image was built, seconds since the epoch; None if it does not say."""
    try:
        value = json.loads(release.read_bytes()).get("built_s")
    except (OSError, ValueError, AttributeError):
        return None
    return value if isinstance(value, int) else None


def _told(where: str, problems: tuple[Problem, ...]) -> list[str]:
    return [
        f"{where}: {problem.pointer.removeprefix('/')}: {problem.message}"
        if problem.pointer.strip("/")
        else f"{where}: {problem.message}"
        for problem in problems
    ]

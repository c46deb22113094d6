"""Where first boot reads and writes."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

ADMIN = "admin"
"""The one user that signs in, by ssh and on the web page."""
WEB_USER = "millrace-web"


@dataclass(frozen=True)
class Layout:
    """Paths below ``root``, which is ``/`` except in tests."""

    root: Path = Path("/")

    @property
    def data(self) -> Path:
        """What survives boots and upgrades; root's alone."""
        return self.root / "data/millrace"

    @property
    def run(self) -> Path:
        """What lives until the next boot."""
        return self.root / "run/millrace"

    @property
    def etc(self) -> Path:
        """Made anew at every boot."""
        return self.root / "etc"

    @property
    def instance(self) -> Path:
        return self.data / "instance.json"

    @property
    def ssh(self) -> Path:
        """Host keys."""
        return self.data / "ssh"

    @property
    def tls(self) -> Path:
        """``server.key`` and ``server.pem`` of the web page."""
        return self.data / "tls"

    @property
    def certificate(self) -> Path:
        """Of the web page."""
        return self.tls / "server.pem"

    @property
    def keys(self) -> tuple[Path, ...]:
        """Every file of this instance's own keys."""
        hosts = (self.ssh / f"ssh_host_{kind}_key" for kind in ("ed25519", "ecdsa"))
        return (*hosts, self.tls / "server.key", self.certificate)

    @property
    def generated_password(self) -> Path:
        """In clear, until it is changed: the console shows it."""
        return self.data / "secrets/generated-password"

    @property
    def first_document(self) -> Path:
        """The document still to be committed."""
        return self.data / "secrets/first-document.json"

    @property
    def factory_reset(self) -> Path:
        """A mark: at the next boot, before anything else starts, all state is removed."""
        return self.data / "factory-reset"

    @property
    def seed_again(self) -> Path:
        """A mark: at the next boot the seed is applied, whatever was applied before."""
        return self.data / "seed-again"

    @property
    def report(self) -> Path:
        """How this boot went: seed, problems, remarks."""
        return self.run / "first-boot.json"

    @property
    def management(self) -> Path:
        """Which NIC is management."""
        return self.run / "management.json"

    @property
    def web_password_changed(self) -> Path:
        """The web page leaves this when the first administrator has chosen a password of their own."""
        return self.root / "var/lib/millrace/web/first-password-changed"

    @property
    def release(self) -> Path:
        """What this image is."""
        return self.root / "usr/lib/millrace/release.json"

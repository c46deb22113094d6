"""The table of docs/security.md that says what each process can reach, made from the units."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

ROOT = Path(__file__).resolve().parents[3]
TREE = ROOT / "appliance/system"
PAGE = ROOT / "docs/security.md"
BEGIN, END = "<!-- from the units: begin -->\n", "<!-- from the units: end -->\n"
_ASKS = {
    "systemd": ("/run/systemd/private", "root's alone"),
    "D-Bus": ("/run/dbus/system_bus_socket", None),
    "agent": ("/run/millrace/agent.sock", "millrace"),
    "VPP": ("/run/vpp/api.sock", "vpp"),
}
"""Whom a process can ask: by which socket, which belongs to which group; None lets in anybody."""
_ALL = "all"


@dataclass(frozen=True)
class Unit:
    """What a unit's file says of a process."""

    name: str
    settings: dict[str, list[str]]

    def words(self, key: str) -> list[str]:
        """The words of a setting, without the marks that say that a path need not exist."""
        return [word.lstrip("-") for value in self.settings.get(key, []) for word in value.split()]

    @property
    def user(self) -> str:
        """Who it runs as."""
        return next(iter(self.words("User")), "root")

    @property
    def groups(self) -> set[str]:
        """Its own group and those besides."""
        return {next(iter(self.words("Group")), self.user), *self.words("SupplementaryGroups")}

    @property
    def capabilities(self) -> list[str]:
        """The most it can have; `all` where nothing is taken away."""
        if "CapabilityBoundingSet" not in self.settings:
            return [_ALL]
        return [word.removeprefix("CAP_") for word in self.words("CapabilityBoundingSet")]

    @property
    def writes(self) -> list[str]:
        """Folders and files, besides /proc and /sys as far as its user may, and a /tmp of its own."""
        if self.words("ProtectSystem") != ["strict"]:
            return [_ALL]
        own = [f"/run/{name}" for name in self.words("RuntimeDirectory")]
        own += [f"/var/lib/{name}" for name in self.words("StateDirectory")]
        shown = [path.partition(":")[0] for path in self.words("BindPaths") if not path.startswith("/dev")]
        return sorted({*self.words("ReadWritePaths"), *own, *shown})

    @property
    def hidden(self) -> list[str]:
        """What it does not see, besides the secrets that its user may not read."""
        home = ["/home", "/root"] if self.words("ProtectHome") == ["yes"] else []
        empty = [f"{path.partition(':')[0]} but its own" for path in self.words("TemporaryFileSystem")]
        return [*empty, *sorted({*self.words("InaccessiblePaths"), *home})]

    @property
    def network(self) -> str:
        """The namespace, and what it may speak there."""
        families = [word.removeprefix("AF_").lower() for word in self.words("RestrictAddressFamilies")]
        others = [word for word in families if word not in ("unix", "none")]
        if not others or self.words("PrivateNetwork") == ["yes"]:
            return "none"
        where = "router" if self.words("NetworkNamespacePath") else "host"
        return f"{where}: {', '.join(others)}"

    @property
    def asks(self) -> list[str]:
        """Whose socket it can open."""
        families = self.words("RestrictAddressFamilies")
        if families and "AF_UNIX" not in families:
            return []
        return [name for name, (path, group) in _ASKS.items() if self._opens(path, group)]

    def _opens(self, path: str, group: str | None) -> bool:
        if not self._sees(path):
            return False
        # Root owns every socket; whether its owner answers it is another matter (`agent/peers.py`).
        return group is None or self.user == "root" or group in self.groups

    def _sees(self, path: str) -> bool:
        def below(folders: list[str]) -> bool:
            return any(path == folder or path.startswith(f"{folder}/") for folder in folders)

        shown = [
            word.partition(":")[0] for key in ("BindPaths", "BindReadOnlyPaths") for word in self.words(key)
        ]
        emptied = [word.partition(":")[0] for word in self.words("TemporaryFileSystem")]
        return not below(self.words("InaccessiblePaths")) and (not below(emptied) or below(shown))


def _settings(path: Path) -> dict[str, list[str]]:
    found: dict[str, list[str]] = {}
    for line in path.read_text().splitlines():
        key, equals, value = line.partition("=")
        if equals and not line.startswith("#"):
            found[key] = [*found.get(key, []), value] if value else []
    return found


def units() -> dict[str, Unit]:
    """Services of ours, and nginx as our settings confine it, by name."""
    files = {
        path.name: path
        for folder in ("usr/lib/systemd/system", "etc/systemd/system")
        for path in (TREE / folder).glob("*.service")
        if not path.is_symlink()
    }
    files["nginx.service"] = TREE / "etc/systemd/system/nginx.service.d/millrace.conf"
    return {name: Unit(name, _settings(path)) for name, path in sorted(files.items())}


def table() -> str:
    """The rows. Pure but for the units' files."""
    lines = [
        "| unit | user | rights (CAP_…) | writes | does not see | network | can ask |",
        "|---|---|---|---|---|---|---|",
    ]
    for unit in units().values():
        groups = sorted(unit.groups - {unit.user})
        user = unit.user + (f" ({', '.join(groups)})" if groups else "")
        cells = (
            unit.name.removesuffix(".service"), user, ", ".join(unit.capabilities), ", ".join(unit.writes),
            ", ".join(unit.hidden), unit.network, ", ".join(unit.asks),
        )  # fmt: skip
        lines.append("| " + " | ".join(cell or "nothing" for cell in cells) + " |")
    return "\n".join(lines) + "\n"


def rewrite() -> None:
    """Put the table into the page."""
    text = PAGE.read_text()
    before, _, rest = text.partition(BEGIN)
    after = rest.partition(END)[2]
    PAGE.write_text(f"{before}{BEGIN}{table()}{END}{after}")


if __name__ == "__main__":
    rewrite()

"""The files of a lab, and who may read them."""

import os
from dataclasses import dataclass
from pathlib import Path

REPOSITORY = Path(__file__).resolve().parent.parent


@dataclass(frozen=True)
class Layout:
    """The paths below one lab's directory."""

    directory: Path

    @property
    def env_file(self) -> Path:
        """KEY=value lines that say how to reach the lab."""
        return self.directory / "env"

    @property
    def lock_file(self) -> Path:
        """The lock held while `up` or `down` works."""
        return self.directory / "lock"

    @property
    def run(self) -> Path:
        """Sockets and pid files."""
        return self.directory / "run"

    @property
    def log(self) -> Path:
        """One log for each process."""
        return self.directory / "log"

    @property
    def bin(self) -> Path:
        """Compiled tools."""
        return self.directory / "bin"

    @property
    def agent_config(self) -> Path:
        """The agent's settings."""
        return self.directory / "agent.json"

    @property
    def agent_socket(self) -> Path:
        """The agent's socket."""
        return self.run / "agent.sock"

    @property
    def feeder_socket(self) -> Path:
        """The FIB feeder's socket."""
        return self.run / "feeder" / "feeder.sock"

    @property
    def bgp_index_socket(self) -> Path:
        """The socket of the index of BGP routes."""
        return self.run / "bgp-index" / "index.sock"

    @property
    def supervisor_socket(self) -> Path:
        """The socket of supervisord."""
        return self.run / "supervisor.sock"

    @property
    def agent_state(self) -> Path:
        """The agent's revisions and journal."""
        return self.directory / "agent"

    @property
    def frr_config(self) -> Path:
        """The folder of the agent's boot file for FRR; Debian's own folder belongs to user frr."""
        return self.directory / "frr"

    @property
    def host_root(self) -> Path:
        """The agent's replacement for `/` when it writes host settings, so that the machine's own stay
        unchanged.
        """
        return self.directory / "host-root"

    @property
    def web(self) -> Path:
        """Files of the web half, owned by its user."""
        return self.directory / "web"

    @property
    def certificate(self) -> Path:
        """The certificate of the page."""
        return self.web / "server.pem"

    @property
    def ca_file(self) -> Path:
        """The certificate of the lab's own authority."""
        return self.directory / "ca.pem"

    def vpp(self, name: str) -> Path:
        """A socket or file of VPP: `api.sock`, `stats.sock`, `cli.sock`, `startup.conf`."""
        return (self.directory if name.endswith(".conf") else self.run) / f"vpp-{name}"

    def files(self) -> tuple[Path, ...]:
        """Everything that a lab puts into its directory, and therefore everything that `down` removes
        from it.
        """
        directories = ("run", "log", "bin", "agent", "frr", "host-root", "web", "databases")
        settings = (
            "agent.json",
            "supervisord.conf",
            "wan-peer.conf",
            "core-neighbour.conf",
            "vpp-startup.conf",
        )
        rest = ("env", "ca.pem", "lock", "state.new", "state.json")
        return tuple(self.directory / name for name in (*directories, *settings, *rest))

    def make(self, owner_uid: int) -> None:
        """Make the directories. Other accounts may traverse to their own files; `owner_uid` may read the
        logs.
        """
        for path, mode in (
            (self.directory, 0o711),
            (self.run, 0o711),
            (self.log, 0o700),
            (self.bin, 0o711),
            (self.agent_state, 0o700),
            (self.frr_config, 0o700),
            (self.host_root / "etc", 0o755),
        ):
            path.mkdir(parents=True, exist_ok=True)
            path.chmod(mode)
        os.chown(self.log, owner_uid, -1)

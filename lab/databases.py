"""The lab's own PostgreSQL and Redis, on Unix sockets that only their owner can reach."""

import secrets
import shutil
from dataclasses import dataclass
from pathlib import Path
from urllib.parse import quote

from lab.accounts import Account, as_account, own
from lab.after import wait_for_socket
from lab.command import run
from lab.errors import MissingProgram, NotReady
from lab.supervision import Program

_POSTGRES_VERSIONS = Path("/usr/lib/postgresql")
_REDIS_PROGRAMS = ("redis-server", "valkey-server")
_DATABASE = "millrace"
_PRIORITY = 15


@dataclass(frozen=True)
class Databases:
    """A PostgreSQL cluster and a Redis below `directory`, run as `account`."""

    directory: Path
    account: Account

    @property
    def _sockets(self) -> Path:
        return self.directory / "sockets"

    @property
    def _cluster(self) -> Path:
        return self.directory / "postgres"

    @property
    def _password_file(self) -> Path:
        return self.directory / "postgres-password"

    def database_url(self) -> str:
        """The value of DATABASE_URL."""
        password = self._password_file.read_text().strip()
        host = quote(str(self._sockets), safe="")
        return f"postgresql://{_DATABASE}:{password}@{host}/{_DATABASE}"

    def redis_url(self) -> str:
        """The value of REDIS_URL: caches."""
        return f"unix://{self._sockets}/redis.sock?db=0"

    def broker_url(self) -> str:
        """The value of CELERY_BROKER_URL."""
        return f"redis+socket://{self._sockets}/redis.sock?virtual_host=1"

    def prepare(self) -> None:
        """Make the directories and the cluster, once."""
        for path in (self.directory, self._sockets, self.directory / "redis"):
            path.mkdir(mode=0o700, parents=True, exist_ok=True)
        if not self._password_file.exists():
            self._password_file.touch(mode=0o600)
            self._password_file.write_text(secrets.token_urlsafe(24) + "\n")
        own(self.directory, self.account)
        if not (self._cluster / "PG_VERSION").exists():
            initdb = [str(_postgres("initdb")), "-D", str(self._cluster), "-U", _DATABASE, "--no-sync"]
            initdb += [
                "-E",
                "UTF8",
                "--locale=C.UTF-8",
                "-A",
                "scram-sha-256",
                f"--pwfile={self._password_file}",
            ]
            run(as_account(self.account, initdb), timeout_s=120)

    def programs(self) -> list[Program]:
        """The two servers. A lab's data need not survive a power cut, so nothing waits for the disk."""
        postgres = [str(_postgres("postgres")), "-D", str(self._cluster), "-k", str(self._sockets)]
        settings = {"listen_addresses": "", "fsync": "off", "shared_buffers": "32MB", "max_connections": "50"}
        postgres += [word for key, value in settings.items() for word in ("-c", f"{key}={value}")]
        redis = [_redis(), "--port", "0", "--unixsocket", f"{self._sockets}/redis.sock"]
        redis += [
            "--unixsocketperm",
            "700",
            "--dir",
            f"{self.directory}/redis",
            "--save",
            "",
            "--daemonize",
            "no",
        ]
        # Their own directory: they may have no access to the lab's.
        user, directory = self.account.name, self.directory
        return [
            Program(
                "postgres", postgres, user=user, priority=_PRIORITY, directory=directory, stop_signal="INT"
            ),
            Program("redis", redis, user=user, priority=_PRIORITY, directory=directory),
        ]

    def wait(self, timeout_s: float) -> None:
        """Wait until both accept connections; raises NotReady."""
        for name in (".s.PGSQL.5432", "redis.sock"):
            if not wait_for_socket(self._sockets / name, timeout_s):
                raise NotReady(f"{self._sockets / name} does not answer after {timeout_s:g} s")

    def ensure_database(self) -> None:
        """Create the database in the running server, once. Raises CommandFailed while the server does not
        answer.
        """
        env = {"PGPASSWORD": self._password_file.read_text().strip(), "LC_ALL": "C.UTF-8"}
        psql = [str(_postgres("psql")), "-X", "-h", str(self._sockets), "-U", _DATABASE, "-d", "postgres"]
        psql += ["-tA", "-v", "ON_ERROR_STOP=1", "-c"]
        if run([*psql, f"SELECT 1 FROM pg_database WHERE datname = '{_DATABASE}'"], env=env).strip() != "1":
            run([*psql, f"CREATE DATABASE {_DATABASE}"], env=env)


def _postgres(program: str) -> Path:
    """The newest installed server's program."""
    found = sorted(_POSTGRES_VERSIONS.glob(f"*/bin/{program}"), key=lambda path: int(path.parts[-3]))
    if not found:
        raise MissingProgram("PostgreSQL is not installed (Debian package postgresql)")
    return found[-1]


def _redis() -> str:
    """Redis, or Debian's replacement for it."""
    for name in _REDIS_PROGRAMS:
        if (found := shutil.which(name)) is not None:
            return found
    raise MissingProgram("Redis is not installed (Debian package redis-server or valkey-server)")

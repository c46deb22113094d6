"""PostgreSQL and Redis of the tests: private, on Unix sockets, started when the first test asks for them.

No TCP port is opened, and a server the machine may be running is not touched. The addresses are known before
the servers run, so that Django's settings can name them at import: `addresses()` gives them, the fixtures
`postgres_url`, `redis_url` and `broker_url` start what they name.
"""

import os
import pwd
import shutil
import signal
import subprocess
import tempfile
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from urllib.parse import quote

import psycopg
import pytest
import redis

_START_TIMEOUT_S = 60.0
_POLL_S = 0.05


class ServiceFailed(Exception):
    """A server of the tests is not installed or did not start; the message has its own last words."""


@dataclass(frozen=True)
class Addresses:
    """Where this session's servers listen once started; a short folder, as a socket's path has 107 bytes."""

    directory: Path

    @property
    def postgres_url(self) -> str:
        """For psycopg and dj-database-url alike: the socket's directory is the percent-encoded host."""
        return f"postgresql://postgres@{quote(str(self.directory), safe='')}/postgres"

    @property
    def redis_url(self) -> str:
        """For redis-py."""
        return f"unix://{self.directory}/redis.sock"

    @property
    def broker_url(self) -> str:
        """For Celery, which spells the same socket differently."""
        return f"redis+socket://{self.directory}/redis.sock"


_addresses: list[Addresses] = []


def addresses() -> Addresses:
    """This session's addresses; the directory is made on the first call and removed by `remove_directory`."""
    if not _addresses:
        directory = Path(tempfile.mkdtemp(prefix="mr-test-"))
        directory.chmod(0o755)
        _addresses.append(Addresses(directory))
    return _addresses[0]


def remove_directory() -> None:
    """Forget the addresses and remove what the servers left."""
    while _addresses:
        shutil.rmtree(_addresses.pop().directory, ignore_errors=True)


def _account(name: str) -> pwd.struct_passwd | None:
    """The account to run a server as: None is our own. PostgreSQL refuses to run as root."""
    return pwd.getpwnam(name) if os.geteuid() == 0 else None


def _program(*candidates: Path | str) -> str:
    for candidate in candidates:
        found = shutil.which(candidate)
        if found:
            return found
    raise ServiceFailed(f"none of {', '.join(map(str, candidates))} is installed; 'make test' installs it")


@contextmanager
def _running(
    argv: Sequence[str],
    *,
    account: pwd.struct_passwd | None,
    log: Path,
    ready: Callable[[], bool],
    end: signal.Signals = signal.SIGTERM,
) -> Iterator[None]:
    """Run a server until the block ends; raises ServiceFailed if it is not ready in time."""
    with log.open("wb") as output:
        server = subprocess.Popen(
            argv,
            stdin=subprocess.DEVNULL,
            stdout=output,
            stderr=output,
            cwd="/",
            user=account.pw_uid if account else None,
            group=account.pw_gid if account else None,
            extra_groups=[] if account else None,
            env={"PATH": "/usr/sbin:/usr/bin:/sbin:/bin", "LC_ALL": "C.UTF-8"},
        )
    try:
        deadline = time.monotonic() + _START_TIMEOUT_S
        while not ready():
            if server.poll() is not None or time.monotonic() > deadline:
                raise ServiceFailed(f"{argv[0]} did not start: {log.read_text(errors='replace')[-2000:]}")
            time.sleep(_POLL_S)
        yield
    finally:
        server.send_signal(end)
        try:
            server.wait(timeout=20)
        except subprocess.TimeoutExpired:
            server.kill()
            server.wait()


@contextmanager
def postgres(at: Addresses) -> Iterator[None]:
    """A fresh PostgreSQL cluster on `at.directory`; unsafe on a power cut, and fast for it."""
    make_cluster(at)
    with cluster(at):
        yield


def _postgres_program(name: str) -> str:
    versions = sorted(
        Path("/usr/lib/postgresql").glob("*/bin"), key=lambda path: int(path.parent.name), reverse=True
    )
    return _program(*(path / name for path in versions), name)


def make_cluster(at: Addresses) -> None:
    """What `cluster` runs."""
    initdb = _postgres_program("initdb")
    account = _account("postgres")
    home = at.directory / "postgres"
    home.mkdir()
    if account:
        os.chown(home, account.pw_uid, account.pw_gid)
    home.chmod(0o755)
    data = home / "data"
    done = subprocess.run(
        [
            initdb,
            "-D",
            str(data),
            "-U",
            "postgres",
            "-A",
            "trust",
            "-E",
            "UTF8",
            "--locale=C.UTF-8",
            "--no-sync",
        ],
        capture_output=True,
        text=True,
        check=False,
        timeout=120,
        cwd="/",
        user=account.pw_uid if account else None,
        group=account.pw_gid if account else None,
        extra_groups=[] if account else None,
    )
    if done.returncode:
        raise ServiceFailed(f"initdb failed: {done.stderr[-2000:]}")
    (at.directory / ".s.PGSQL.5432").symlink_to(home / ".s.PGSQL.5432")


@contextmanager
def cluster(at: Addresses, end: signal.Signals = signal.SIGTERM) -> Iterator[None]:
    """Run the cluster that was made there, and `end` it: SIGQUIT is PostgreSQL's way to crash."""
    home = at.directory / "postgres"
    settings = {
        "listen_addresses": "",
        "unix_socket_directories": f"{home}",
        "fsync": "off",
        "synchronous_commit": "off",
        "full_page_writes": "off",
        "max_connections": "200",
        "shared_buffers": "64MB",
    }
    argv = [
        _postgres_program("postgres"),
        "-D",
        str(home / "data"),
        *(word for key, value in settings.items() for word in ("-c", f"{key}={value}")),
    ]

    def ready() -> bool:
        try:
            psycopg.connect(at.postgres_url, connect_timeout=2).close()
        except psycopg.OperationalError:
            return False
        return True

    log = at.directory / "postgres.log"
    with _running(argv, account=_account("postgres"), log=log, ready=ready, end=end):
        yield


@contextmanager
def redis_server(at: Addresses) -> Iterator[None]:
    """A Redis (or Valkey) without persistence on `at.directory`."""
    socket = at.directory / "redis.sock"
    argv = [_program("redis-server", "valkey-server"), "--port", "0", "--unixsocket", str(socket)]
    argv += ["--unixsocketperm", "777", "--save", "", "--appendonly", "no", "--dir", str(at.directory)]

    def ready() -> bool:
        try:
            return bool(redis.Redis.from_url(at.redis_url).ping())
        except redis.exceptions.ConnectionError:
            return False

    with _running(argv, account=None, log=at.directory / "redis.log", ready=ready):
        yield


@pytest.fixture(scope="session")
def postgres_url() -> Iterator[str]:
    """The URL of a running PostgreSQL, its superuser and its database `postgres`."""
    at = addresses()
    with postgres(at):
        yield at.postgres_url


@pytest.fixture(scope="session")
def redis_url() -> Iterator[str]:
    """The URL, as redis-py takes it, of a running Redis."""
    at = addresses()
    with redis_server(at):
        yield at.redis_url


@pytest.fixture(scope="session")
def broker_url(redis_url: str) -> str:
    """The URL of the same Redis as Celery takes it."""
    return addresses().broker_url

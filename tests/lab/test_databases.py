"""PostgreSQL and Redis of a lab: as their own user, reachable by nobody else, gone without a trace."""

import shutil
import tempfile
from collections.abc import Iterator
from pathlib import Path

import psycopg
import pytest
import redis

from lab import accounts
from lab.databases import Databases
from lab.leftovers import marked_processes
from lab.supervision import Supervisor
from tests.requirements import needs_root_netns

pytestmark = needs_root_netns


@pytest.fixture
def directory() -> Iterator[Path]:
    made = Path(tempfile.mkdtemp(prefix="mr-lab-", dir="/tmp"))
    made.chmod(0o711)
    yield made
    shutil.rmtree(made)


def test_both_answer_on_sockets_of_their_own(directory: Path) -> None:
    databases = Databases(directory / "databases", accounts.unprivileged())
    databases.prepare()
    supervisor = Supervisor(directory)
    supervisor.start(databases.programs())
    try:
        supervisor.wait_running(60)
        databases.wait(30)
        databases.ensure_database()
        databases.ensure_database()
        with psycopg.connect(databases.database_url()) as connection:
            assert connection.execute("SELECT current_database()").fetchone() == ("millrace",)
            shown = connection.execute("SHOW listen_addresses").fetchone()
            assert shown == ("",)
        client = redis.Redis.from_url(databases.redis_url())
        assert client.ping()
        assert client.config_get("port") == {"port": "0"}
        client.close()
        assert (directory / "databases").stat().st_mode & 0o777 == 0o700
    finally:
        supervisor.stop()
    assert marked_processes(directory) == []


def test_servers_of_a_killed_supervisor_are_found_though_they_hide_their_environment(directory: Path) -> None:
    databases = Databases(directory / "databases", accounts.unprivileged())
    databases.prepare()
    supervisor = Supervisor(directory)
    supervisor.start(databases.programs())
    supervisor.wait_running(60)
    databases.wait(30)
    pids = {supervisor.pid("postgres"), supervisor.pid("redis")}
    assert pids <= set(marked_processes(directory))
    supervisor.stop()
    assert marked_processes(directory) == []

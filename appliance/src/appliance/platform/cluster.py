"""PostgreSQL's cluster: this instance's own, made at the first start. Run as user postgres.

``python -m appliance.platform.cluster prepare|run``.
"""

from __future__ import annotations

import logging
import os
import shutil
import sys
from collections.abc import Sequence
from pathlib import Path

from appliance.agent import logfmt
from appliance.engine import durable
from appliance.errors import MillraceError
from appliance.programs import run

log = logging.getLogger("appliance.platform.cluster")

_INSTALLED = Path("/usr/lib/postgresql")
_STATE = Path("/var/lib/postgresql")
_INITDB_S = 540

CONF = """\
# Written by Millrace at every start.
listen_addresses = ''
unix_socket_directories = '/run/postgresql'
unix_socket_permissions = 0777
max_connections = 40
shared_buffers = 32MB
work_mem = 4MB
maintenance_work_mem = 32MB
max_wal_size = 256MB
min_wal_size = 80MB
wal_compression = on
checkpoint_timeout = 15min
log_destination = 'stderr'
logging_collector = off
log_timezone = 'UTC'
timezone = 'UTC'
max_parallel_workers_per_gather = 0
jit = off
"""
"""Small, and no TCP: the web half is its only client, and on the same machine."""

HBA = """\
# Written by Millrace at every start. The kernel says who connects; there is no password.
local all all peer
"""


class NoPostgres(MillraceError):
    """PostgreSQL is not installed."""


def programs(installed: Path = _INSTALLED) -> Path:
    """Directory of the newest installed server's programs. Raises NoPostgres."""
    found = sorted(installed.glob("*/bin/postgres"), key=lambda path: int(path.parts[-3]))
    if not found:
        raise NoPostgres(f"there is no PostgreSQL in {installed}")
    return found[-1].parent


def directory(bin_directory: Path, state: Path = _STATE) -> Path:
    """Where the cluster of this major version is."""
    return state / bin_directory.parent.name / "millrace"


def prepare(installed: Path = _INSTALLED, state: Path = _STATE) -> None:
    """Make the cluster once, and write its settings. Raises MillraceError or OSError.

    It is made next to its place and moved there whole: a power cut in between leaves no partial one.
    """
    bin_directory = programs(installed)
    cluster = directory(bin_directory, state)
    if not (cluster / "PG_VERSION").exists():
        draft = cluster.with_name("millrace.new")
        shutil.rmtree(draft, ignore_errors=True)
        durable.make_folder(draft.parent, 0o700)
        log.info("making the database cluster %s", cluster)
        argv = [str(bin_directory / "initdb"), "-D", str(draft), "-U", "postgres", "-E", "UTF8"]
        argv += ["--locale=C.UTF-8", "-A", "peer", "--data-checksums", "--no-sync"]
        run(argv, timeout_s=_INITDB_S)
        # Sync all of it at once, before it gets its name.
        os.sync()
        durable.rename(draft, cluster.name)
    durable.write(cluster / "postgresql.conf", CONF.encode())
    durable.write(cluster / "pg_hba.conf", HBA.encode())


def main(arguments: Sequence[str]) -> int:
    """Run one command. The exit status; ``run`` becomes the server and does not return."""
    logfmt.configure()
    try:
        if arguments == ["prepare"]:
            prepare()
        elif arguments == ["run"]:
            server = programs() / "postgres"
            os.execv(server, [str(server), "-D", str(directory(server.parent))])
        else:
            sys.stderr.write("usage: python -m appliance.platform.cluster prepare|run\n")
            return 2
    except (MillraceError, OSError) as error:
        log.error("%s: %s", " ".join(arguments), error)
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))

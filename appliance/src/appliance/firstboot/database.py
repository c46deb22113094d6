"""The web half's role and database. Run as the database's own user, over its socket."""

from __future__ import annotations

from appliance.firstboot.layout import WEB_USER
from appliance.programs import Programs, must

DATABASE = "millrace"
_SOCKETS = "/run/postgresql"


def prepare_database(programs: Programs) -> list[str]:
    """Make what is missing; returns the statements that were run. Raises ProgramFailed.

    There is no password: PostgreSQL learns from the kernel who connects (peer authentication), and has no
    port.
    """
    done = []
    for question, statement in (
        (f"SELECT 1 FROM pg_roles WHERE rolname = '{WEB_USER}'", f'CREATE ROLE "{WEB_USER}" LOGIN'),
        (
            f"SELECT 1 FROM pg_database WHERE datname = '{DATABASE}'",
            f"CREATE DATABASE {DATABASE} OWNER \"{WEB_USER}\" ENCODING 'UTF8' TEMPLATE template0",
        ),
    ):
        if _psql(programs, question).strip() != "1":
            _psql(programs, statement)
            done.append(statement)
    return done


def _psql(programs: Programs, statement: str) -> str:
    argv = ["psql", "-X", "-h", _SOCKETS, "-d", "postgres", "-tA", "-v", "ON_ERROR_STOP=1", "-c", statement]
    return must(programs, argv, timeout_s=600)

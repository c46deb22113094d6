"""The web half's role and database, and the guard over its audit log. Run as the database's own user, over
its socket.

The web half changes its tables itself when a release comes, so it owns them, but neither the database nor,
while it serves, its audit log: what took over the web half could otherwise remove the triggers that make the
log append-only, or drop the table. The log's owner is a role that nobody can sign in as.
"""

from __future__ import annotations

from dataclasses import dataclass

from appliance.errors import MillraceError
from appliance.firstboot.layout import WEB_USER
from appliance.programs import Programs, must

DATABASE = "millrace"
AUDIT_ROLE = "millrace-audit"
"""Owner of the database and of the audit log. It cannot sign in."""
LATEST_KEPT = 500
"""The latest entries, which nobody deletes within a month: the retention's bounds begin above."""
_TABLE, _FUNCTION = "public.accounts_auditentry", "public.audit_append_only()"
# What an entry says is given; its number and time are the database's own.
_GIVEN = "time, username, address, via, action, target, changes, result, detail"
_GUARD = f"""
ALTER TABLE {_TABLE} OWNER TO "{AUDIT_ROLE}";
ALTER FUNCTION {_FUNCTION} OWNER TO "{AUDIT_ROLE}";
REVOKE ALL ON {_TABLE} FROM PUBLIC, "{WEB_USER}";
GRANT SELECT, DELETE, INSERT ({_GIVEN}) ON {_TABLE} TO "{WEB_USER}";
CREATE OR REPLACE FUNCTION public.audit_guard() RETURNS trigger LANGUAGE plpgsql
SECURITY DEFINER SET search_path = pg_catalog, pg_temp AS $$
BEGIN
  IF TG_OP = 'INSERT' THEN
    NEW."time" := clock_timestamp();
    RETURN NEW;
  END IF;
  IF TG_OP = 'DELETE' AND (OLD."time" < now() - interval '30 days'
      OR OLD.id <= (SELECT max(id) FROM {_TABLE}) - {LATEST_KEPT}) THEN
    RETURN OLD;
  END IF;
  RAISE EXCEPTION 'audit entries are append-only';
END $$;
ALTER FUNCTION public.audit_guard() OWNER TO "{AUDIT_ROLE}";
CREATE OR REPLACE TRIGGER audit_guard BEFORE INSERT OR UPDATE OR DELETE ON {_TABLE}
FOR EACH ROW EXECUTE FUNCTION public.audit_guard();
"""


@dataclass(frozen=True)
class Psql:
    """The server's administrator, over its socket."""

    programs: Programs
    sockets: str = "/run/postgresql"
    database: str = DATABASE

    def ask(self, statement: str, database: str = "postgres") -> str:
        """The answer to one statement, or to several in one transaction. Raises ProgramFailed."""
        argv = ["psql", "-X", "-q", "-h", self.sockets, "-U", "postgres", "-d", database]
        argv += ["-tA", "-v", "ON_ERROR_STOP=1", "-c"]
        return must(self.programs, [*argv, statement], timeout_s=600).strip()

    def ask_own(self, statement: str) -> str:
        """The same in the web half's database."""
        return self.ask(statement, self.database)


def prepare_database(psql: Psql) -> list[str]:
    """Make what is missing, and let the web half bring its tables up to this release.

    Returns the statements that made something. Raises ProgramFailed.

    There is no password: PostgreSQL learns from the kernel who connects (peer authentication), and has no
    port.
    """
    done = []
    for question, statement in (
        (f"SELECT 1 FROM pg_roles WHERE rolname = '{WEB_USER}'", f'CREATE ROLE "{WEB_USER}" LOGIN'),
        (f"SELECT 1 FROM pg_roles WHERE rolname = '{AUDIT_ROLE}'", f'CREATE ROLE "{AUDIT_ROLE}" NOLOGIN'),
        (
            f"SELECT 1 FROM pg_database WHERE datname = '{psql.database}'",
            f"CREATE DATABASE {psql.database} OWNER \"{AUDIT_ROLE}\" ENCODING 'UTF8' TEMPLATE template0",
        ),
    ):
        if psql.ask(question) != "1":
            psql.ask(statement)
            done.append(statement)
    # Whoever owns the database owns its schema, and could drop every table in it.
    psql.ask(f'ALTER DATABASE {psql.database} OWNER TO "{AUDIT_ROLE}"')
    psql.ask_own(f'GRANT CREATE, USAGE ON SCHEMA public TO "{WEB_USER}"')
    if _has_audit_log(psql):
        psql.ask_own(
            f'ALTER TABLE {_TABLE} OWNER TO "{WEB_USER}"; ALTER FUNCTION {_FUNCTION} OWNER TO "{WEB_USER}"'
        )
    return done


def guard_audit_log(psql: Psql) -> None:
    """Take the audit log from the web half, which may read it, append, and remove what is old.

    Raises ProgramFailed, and MillraceError where there is no audit log yet.
    """
    if not _has_audit_log(psql):
        raise MillraceError("the database has no audit log to guard: the web half has not made its tables")
    psql.ask_own(_GUARD)


def _has_audit_log(psql: Psql) -> bool:
    return psql.ask_own(f"SELECT to_regclass('{_TABLE}') IS NOT NULL") == "t"

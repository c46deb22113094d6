"""The audit log on a real PostgreSQL: what took over the web half's role changes nothing in it."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import psycopg
import pytest

from appliance.errors import MillraceError
from appliance.firstboot.database import LATEST_KEPT, Psql, guard_audit_log, prepare_database
from appliance.programs import HostPrograms
from tests import services

DATABASE = "audit_guard"
APPEND = (
    "INSERT INTO accounts_auditentry (time, username, address, via, action, target, changes, result, detail) "
    "SELECT now() - make_interval(days => %s), 'eve', '', '', 'x', '', '[]', 'done', '' "
    "FROM generate_series(1, %s) RETURNING id"
)


@pytest.fixture(scope="module")
def psql(postgres_url: str) -> Iterator[Psql]:
    of_the_server = Psql(HostPrograms(), str(services.addresses().directory), DATABASE)
    yield of_the_server
    with psycopg.connect(postgres_url, autocommit=True) as server:
        server.execute(f"DROP DATABASE {DATABASE} WITH (FORCE)")
        for role in ("millrace-web", "millrace-audit"):
            server.execute(f'DROP ROLE "{role}"')


@pytest.fixture(scope="module")
def web_url(postgres_url: str) -> str:
    return postgres_url.replace("//postgres@", "//millrace-web@").rsplit("/", 1)[0] + f"/{DATABASE}"


def _web_prepare(url: str, state: Path) -> None:
    """What millrace-web-prepare.service runs."""
    environment = {**os.environ, "DATABASE_URL": url, "MILLRACE_STATE_DIR": str(state)}
    argv = [sys.executable, "-m", "webui", "prepare"]
    done = subprocess.run(argv, env=environment, capture_output=True, text=True, check=False, timeout=250)
    assert done.returncode == 0, done.stderr


@pytest.fixture(scope="module")
def guarded(psql: Psql, web_url: str, tmp_path_factory: pytest.TempPathFactory) -> str:
    assert [statement.split()[1] for statement in prepare_database(psql)] == ["ROLE", "ROLE", "DATABASE"]
    with pytest.raises(MillraceError, match="no audit log to guard"):
        guard_audit_log(psql)
    _web_prepare(web_url, tmp_path_factory.mktemp("web"))
    for _ in range(2):  # every boot does the same
        guard_audit_log(psql)
    return web_url


@pytest.fixture
def web(guarded: str) -> Iterator[psycopg.Connection]:
    with psycopg.connect(guarded, autocommit=True) as connection:
        yield connection


@pytest.mark.parametrize(
    "attack",
    [
        "UPDATE accounts_auditentry SET username = 'nobody'",
        "DELETE FROM accounts_auditentry",
        "TRUNCATE accounts_auditentry",
        "DROP TABLE accounts_auditentry CASCADE",
        "ALTER TABLE accounts_auditentry DISABLE TRIGGER ALL",
        "ALTER TABLE accounts_auditentry RENAME TO gone",
        "DROP TRIGGER audit_guard ON accounts_auditentry",
        "CREATE RULE none AS ON INSERT TO accounts_auditentry DO INSTEAD NOTHING",
        "CREATE TRIGGER mine BEFORE INSERT ON accounts_auditentry "
        "FOR EACH ROW EXECUTE FUNCTION suppress_redundant_updates_trigger()",
        "CREATE OR REPLACE FUNCTION audit_append_only() RETURNS trigger LANGUAGE plpgsql "
        "AS $$ BEGIN RETURN OLD; END $$",
        "CREATE OR REPLACE FUNCTION audit_guard() RETURNS trigger LANGUAGE plpgsql "
        "AS $$ BEGIN RETURN NULL; END $$",
        "DROP FUNCTION audit_guard() CASCADE",
        "DROP SCHEMA public CASCADE",
        "ALTER SCHEMA public RENAME TO elsewhere",
        "ALTER SEQUENCE accounts_auditentry_id_seq RESTART WITH 100000",
        'SET ROLE "millrace-audit"',
        "SET session_replication_role = replica",
        f"ALTER DATABASE {DATABASE} SET session_replication_role = replica",
        "INSERT INTO accounts_auditentry "
        "(id, time, username, address, via, action, target, changes, result, detail) "
        "VALUES (1000000000, now(), 'eve', '', '', 'x', '', '[]', 'done', '')",
    ],
)
def test_the_web_half_s_role_cannot(attack: str, web: psycopg.Connection) -> None:
    before = web.execute(APPEND, (0, 3)).fetchall()
    with pytest.raises(psycopg.Error):
        # The mark that lets the retention delete is the web half's own.
        web.execute(
            "INSERT INTO accounts_audithorizon (id, up_to) VALUES (1, 1000000000) "
            "ON CONFLICT (id) DO UPDATE SET up_to = 1000000000"
        )
        web.execute(attack)
    kept = web.execute(
        "SELECT count(*) FROM accounts_auditentry WHERE id = ANY(%s) AND username = 'eve'",
        ([key for (key,) in before],),
    ).fetchone()
    assert kept == (3,)


def test_entries_have_the_time_at_which_they_were_made(web: psycopg.Connection) -> None:
    ((key,),) = web.execute(APPEND, (400, 1)).fetchall()
    age = web.execute("SELECT now() - time < '1 min' FROM accounts_auditentry WHERE id = %s", (key,))
    assert age.fetchone() == (True,)


def test_the_retention_removes_what_is_old(web: psycopg.Connection) -> None:
    keys = [key for (key,) in web.execute(APPEND, (0, LATEST_KEPT + 10)).fetchall()]
    web.execute("DELETE FROM accounts_auditentry WHERE id = ANY(%s)", (keys[:10],))
    with pytest.raises(psycopg.Error, match="append-only"):
        web.execute("DELETE FROM accounts_auditentry WHERE id = %s", (keys[11],))


def test_the_next_release_changes_the_table_before_the_guard_is_back(
    psql: Psql, guarded: str, tmp_path: Path
) -> None:
    assert prepare_database(psql) == []
    with psycopg.connect(guarded, autocommit=True) as web:
        web.execute("ALTER TABLE accounts_auditentry ADD COLUMN more text NOT NULL DEFAULT ''")
        web.execute("ALTER TABLE accounts_auditentry DROP COLUMN more")
        _web_prepare(guarded, tmp_path)
        guard_audit_log(psql)
        with pytest.raises(psycopg.Error, match="must be owner"):
            web.execute("ALTER TABLE accounts_auditentry ADD COLUMN more text")

"""``python -m appliance.firstboot [WORK]``: see its help."""

from __future__ import annotations

import argparse
import logging
from collections.abc import Callable

from appliance.agent import logfmt
from appliance.errors import MillraceError
from appliance.firstboot.layout import Layout
from appliance.programs import HostPrograms

log = logging.getLogger("appliance.firstboot")

# Each imports its modules when it runs: at every boot something waits for the first of them.


def _database() -> None:
    from appliance.firstboot.database import Psql, prepare_database

    prepare_database(Psql(HostPrograms()))


def _audit_guard() -> None:
    from appliance.firstboot.database import Psql, guard_audit_log

    guard_audit_log(Psql(HostPrograms()))


def _first_document() -> None:
    from appliance.firstboot.first_document import commit_first_document

    logging.getLogger("httpx").setLevel(logging.WARNING)
    commit_first_document(Layout())


def _resolvers() -> None:
    from appliance.firstboot.resolvers import write_resolvers

    write_resolvers(Layout(), HostPrograms())


def _keep_password() -> None:
    from appliance.firstboot.passwords import keep_changed_password

    keep_changed_password(Layout())


def _factory_reset() -> None:
    from appliance.firstboot.reset import factory_reset

    factory_reset(Layout(), HostPrograms())


def _boot() -> None:
    from appliance.firstboot.boot import Boot

    report = Boot(Layout(), HostPrograms()).run()
    # The unit's standard output is the console: a problem must be seen where there is no network.
    for problem in report.problems:
        print(f"millrace: {problem}")


WORK: dict[str, tuple[Callable[[], None], str]] = {
    "boot": (_boot, "read the hypervisor's seed once, make this instance's keys, write the host's files"),
    "database": (_database, "make the web half's role and database, as the database's own user"),
    "audit-guard": (_audit_guard, "take the audit log from the web half, as the database's own user"),
    "first-document": (_first_document, "commit the seed's configuration document, once"),
    "resolvers": (_resolvers, "write resolv.conf and the time servers from what DHCP said"),
    "factory-reset": (_factory_reset, "remove everything but the software, and restart"),
    "keep-password": (_keep_password, "keep a password that was changed with passwd over the next boot"),
}


def main(arguments: list[str] | None = None) -> int:
    """Do one work; 1 when it failed, which is logged."""
    parser = argparse.ArgumentParser(
        prog="python -m appliance.firstboot",
        formatter_class=argparse.RawDescriptionHelpFormatter,
        epilog="\n".join(f"{name:<16}{about}" for name, (_, about) in WORK.items()),
    )
    parser.add_argument("work", nargs="?", default="boot", choices=WORK)
    work, _ = WORK[parser.parse_args(arguments).work]
    logfmt.configure()
    try:
        work()
    except (MillraceError, OSError) as error:
        log.error("%s", error)
        return 1
    return 0


if __name__ == "__main__":
    raise SystemExit(main())

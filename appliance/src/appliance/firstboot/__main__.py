"""``python -m appliance.firstboot``: see the commands' help."""

from __future__ import annotations

import logging
from collections.abc import Callable

import typer

from appliance.agent import logfmt
from appliance.errors import MillraceError
from appliance.firstboot.boot import Boot
from appliance.firstboot.layout import Layout
from appliance.firstboot.programs import HostPrograms

log = logging.getLogger("appliance.firstboot")
app = typer.Typer(add_completion=False, no_args_is_help=False)


@app.callback(invoke_without_command=True)
def boot(context: typer.Context) -> None:
    """Read the hypervisor's seed once, make this instance's secrets, and write the host's files."""
    if context.invoked_subcommand is None:
        _run(_boot)


@app.command()
def database() -> None:
    """Make the web half's role and database, as the database's own user."""
    from appliance.firstboot.database import prepare_database

    _run(lambda: prepare_database(HostPrograms()))


@app.command("first-document")
def first_document() -> None:
    """Commit the seed's configuration document, once."""
    # Imported here: the boot itself should not wait for an HTTP client to load.
    from appliance.firstboot.first_document import commit_first_document

    _run(lambda: commit_first_document(Layout()))


@app.command()
def resolvers() -> None:
    """Write resolv.conf and the time servers from what DHCP said."""
    from appliance.firstboot.resolvers import write_resolvers

    _run(lambda: write_resolvers(Layout(), HostPrograms()))


@app.command("keep-password")
def keep_password() -> None:
    """Keep a password that was changed with passwd over the next boot."""
    from appliance.firstboot.passwords import keep_changed_password

    _run(lambda: keep_changed_password(Layout()))


def _boot() -> None:
    report = Boot(Layout(), HostPrograms()).run()
    # The unit's standard output is the console: a problem must be seen where there is no network.
    for problem in report.problems:
        print(f"millrace: {problem}")


def _run(work: Callable[[], object]) -> None:
    logfmt.configure()
    try:
        work()
    except (MillraceError, OSError) as error:
        log.error("%s", error)
        raise typer.Exit(1) from None


if __name__ == "__main__":
    app()

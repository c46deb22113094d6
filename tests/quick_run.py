"""``make test QUICK=1``: what a contributor runs before a commit, within some minutes and without root.

These are the units, goldens and properties, and the REST API on the embedded database. No test of it starts a
lab, a server of a database or a network namespace, or needs VPP. `make test` holds what it leaves out.
"""

from __future__ import annotations

import pytest

FOLDERS = ("unit", "golden", "property", "api")
"""Folders of tests/ that it runs."""
LEFT_OUT = {
    "tests/unit/test_features_taken_out.py": "builds the product five times",
    "tests/unit/feeder/test_rust.py": "builds a program",
    "tests/unit/bgp_index/test_rust.py": "builds a program",
    "tests/api/test_schemathesis.py": "sends some thousand requests",
    "tests/api/test_stopped_services.py": "starts servers of its own, to stop them",
    "tests/api/test_database_outage.py": "starts servers of its own, to stop them",
}
"""Files whose tests are many times dearer than those of others, or need a server; and why."""
SERVERS = {"broker_url", "redis_url", "postgres_url"}
"""Fixtures that start a server."""


def add_option(parser: pytest.Parser) -> None:
    """``--quick``."""
    parser.addoption("--quick", action="store_true", help="only what needs neither root nor a server")


def is_quick(config: pytest.Config) -> bool:
    """Whether this run was asked to be quick."""
    return bool(config.getoption("--quick"))


def deselect(config: pytest.Config, items: list[pytest.Item]) -> None:
    """Keep in ``items`` the tests of a quick run; all of them without a request for one."""
    if not is_quick(config):
        return
    kept = [item for item in items if is_kept(item)]
    chosen = set(kept)
    config.hook.pytest_deselected(items=[item for item in items if item not in chosen])
    items[:] = kept


def is_kept(item: pytest.Item) -> bool:
    """Whether a quick run has the test."""
    path = item.nodeid.partition("::")[0]
    needs = SERVERS & set(getattr(item, "fixturenames", ())) or {
        mark.name for mark in item.iter_markers() if mark.name in ("root", "vpp")
    }
    return (
        path.startswith(tuple(f"tests/{folder}/" for folder in FOLDERS))
        and not needs
        and path not in LEFT_OUT
    )

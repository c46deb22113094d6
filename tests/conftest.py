"""Common to all tests: markers by folder, order, skips, Django on the tests' own PostgreSQL."""

import importlib.util
import os
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from tests import feature_selection, quick_run, requirements, services, time_table, worker_groups
from tests.services import broker_url, postgres_url, redis_url

__all__ = ["broker_url", "postgres_url", "redis_url"]

# Cheap and informative tests first: a failure in tests/unit need not wait for a browser.
_FOLDERS = ("unit", "golden", "property", "api", "integration", "browser", "bench", "soak", "image")
_HERE = Path(__file__).resolve().parent


def pytest_addoption(parser: pytest.Parser) -> None:
    """What `make test` sets: ``--feature``, ``--quick`` and ``--time-table``."""
    for part in (feature_selection, quick_run, time_table):
        part.add_option(parser)


def pytest_configure(config: pytest.Config) -> None:
    """Let Django's settings name the tests' PostgreSQL, which starts only when a test uses the database.

    A quick run has the embedded database.
    """
    time_table.register(config)
    if importlib.util.find_spec("webui.settings") is None or worker_groups.shares_out(config):
        return
    os.environ.setdefault("DJANGO_SETTINGS_MODULE", "webui.settings")
    with pytest.MonkeyPatch.context() as environment:
        # Not for longer than the settings need it: a lab that a test starts has a database of its own.
        if quick_run.is_quick(config):
            environment.delenv("DATABASE_URL", raising=False)
        else:
            environment.setenv("DATABASE_URL", services.addresses().postgres_url)
        for name in ("MILLRACE_STATE_DIR", "REDIS_URL", "CELERY_BROKER_URL"):
            environment.delenv(name, raising=False)
        from django.conf import settings

        assert settings.DATABASES  # read now, so that pytest-django finds the settings loaded


def pytest_unconfigure(config: pytest.Config) -> None:
    """Remove the servers' directory."""
    services.remove_directory()


def _folder(item: pytest.Item) -> str:
    parts = item.path.relative_to(_HERE).parts if item.path.is_relative_to(_HERE) else ()
    return parts[0] if parts and parts[0] in _FOLDERS else ""


@pytest.hookimpl(wrapper=True, tryfirst=True)
def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> Iterator[None]:
    """Mark every test by its folder under tests/ (before -m selects), and run the folders in order."""
    feature_selection.deselect(config, items)
    quick_run.deselect(config, items)
    for item in items:
        if folder := _folder(item):
            item.add_marker(folder)
    items.sort(key=lambda item: _FOLDERS.index(_folder(item)) if _folder(item) else 0)
    yield
    worker_groups.tell_apart(items)
    worker_groups.labs_first(items)


@pytest.hookimpl(optionalhook=True)
def pytest_xdist_make_scheduler(config: pytest.Config, log: Any) -> Any:
    """Distribute the tests by their labs and files."""
    from tests import worker_scheduler

    return worker_scheduler.scheduler(config, log)


@pytest.hookimpl(tryfirst=True)
def pytest_runtest_setup(item: pytest.Item) -> None:
    """Skip the tests that this machine cannot run; give the processor first to labs that run next to it."""
    worker_groups.give_way(item)
    requirements.skip_unmet(item)


@pytest.fixture(scope="session")
def django_db_modify_db_settings(request: pytest.FixtureRequest) -> None:
    """pytest-django's own seam: called before it makes the test database. Starts its server, if any."""
    if not quick_run.is_quick(request.config):
        request.getfixturevalue("postgres_url")

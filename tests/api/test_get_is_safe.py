"""No GET changes anything: every address of the site is walked, and the database and the router compared."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pytest
from django.db import connection
from django.test import Client
from django.urls import URLPattern, URLResolver, get_resolver

from tests.api.conftest import MakeClient
from tests.api.router_in_memory import RouterInMemory

# These record a visit, or mirror the agent's data; they hold no data of users.
NOTES = {"django_session", "changes_revisionmirror", "django_migrations"}
STREAMS = ("api/v1/counters/stream",)
FILL: dict[str, Any] = {
    "int": "1",
    "str": "lan0",
    "slug": "lan0",
    "path": "interfaces/lan0",
    "uuid": "0" * 8 + "-0000" * 3 + "-" + "0" * 12,
}


def _addresses(resolver: URLResolver, prefix: str = "") -> Iterator[str]:
    for entry in resolver.url_patterns:
        pattern = entry.pattern
        route = str(getattr(pattern, "_route", ""))
        for name, converter in pattern.converters.items():
            kind = type(converter).__name__.removesuffix("Converter").lower().replace("string", "str")
            for written in (f"<{kind}:{name}>", f"<{name}>"):
                route = route.replace(
                    written, "1" if name in ("number", "other", "pk", "revision") else FILL.get(kind, "x")
                )
        if isinstance(entry, URLPattern):
            yield prefix + route
        else:
            yield from _addresses(entry, prefix + route)


def _selects() -> dict[str, str]:
    """A query for each table of users' data, which reads all of it."""
    found = {}
    with connection.cursor() as cursor:
        for table in sorted(set(connection.introspection.table_names()) - NOTES):
            columns = [
                f'"{c.name}"'
                for c in connection.introspection.get_table_description(cursor, table)
                if c.name not in ("last_used_at", "last_login")
            ]
            found[table] = f'SELECT {", ".join(columns)} FROM "{table}"'
    return found


def _database(selects: dict[str, str]) -> dict[str, list[Any]]:
    found = {}
    with connection.cursor() as cursor:
        for table, select in selects.items():
            cursor.execute(select)
            found[table] = sorted(map(repr, cursor.fetchall()))
    return found


@pytest.mark.parametrize("method", ["GET", "HEAD"])
def test_no_get_writes(method: str, client_of: MakeClient, router: RouterInMemory) -> None:
    from webui.accounts.models import User

    engineer = client_of("admin")
    change = engineer.post("changes", {"title": "x"}).body["id"]
    engineer.put(f"config/system/hostname?change={change}", "other")
    engineer.put("config/system/hostname", "running")
    browser = Client(raise_request_exception=False)
    browser.force_login(User.objects.get(username="admin"), "django.contrib.auth.backends.ModelBackend")
    selects = _selects()
    before, runs = _database(selects), router.client.config()
    walked = 0
    for address in sorted(set(_addresses(get_resolver()))):
        address = address.replace("/1", f"/{change}") if "changes/1" in address else address
        if address in STREAMS or "(" in address:
            continue
        response = browser.generic(method, f"/{address}", secure=True)
        response.close() if response.streaming else None
        walked += 1
        assert _database(selects) == before, address
        assert router.client.config() == runs, address
        assert router.client.status().pending_confirm is None, address
    assert walked > 40

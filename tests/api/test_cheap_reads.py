"""The counted cost of a read: queries, how many of them Django compiles, and questions to the agent."""

from __future__ import annotations

from typing import Any

import pytest
from django.db import connection
from django.db.models.sql.compiler import SQLCompiler
from django.test.utils import CaptureQueriesContext

from appliance.client import AgentClient
from tests.api.conftest import ApiClient, MakeClient
from tests.api.router_in_memory import RouterInMemory

# Path -> queries of the database, the token's included.
QUERIES = {
    "me": 1,
    "status": 1,
    "state/interfaces": 1,
    "state/bgp": 1,
    "counters": 1,
    # The newest that is mirrored, the page, and how many there are.
    "revisions?limit=20": 4,
}


@pytest.mark.parametrize("path", QUERIES)
def test_a_read_asks_the_database_no_more_than_it_has_to(
    path: str, viewer: ApiClient, router: RouterInMemory
) -> None:
    router.wait_sampled()
    assert viewer.get(path).status == 200  # the token's last use is noted, the history mirrored
    with CaptureQueriesContext(
        connection,
    ) as asked:
        assert viewer.get(path).status == 200
    assert len(asked) == QUERIES[path], [one["sql"][:200] for one in asked]


def test_a_token_is_looked_up_without_a_query_being_compiled(
    viewer: ApiClient, monkeypatch: pytest.MonkeyPatch
) -> None:
    assert viewer.get("me").status == 200
    compiled: list[str] = []
    as_sql = SQLCompiler.as_sql

    def counted(compiler: Any, *arguments: Any, **options: Any) -> Any:
        compiled.append(str(compiler.query.model))
        return as_sql(compiler, *arguments, **options)

    monkeypatch.setattr(SQLCompiler, "as_sql", counted)
    assert viewer.get("me").status == 200
    assert compiled == []


def test_the_first_page_of_the_history_asks_the_agent_once(
    engineer: ApiClient, router: RouterInMemory, monkeypatch: pytest.MonkeyPatch
) -> None:
    for name in ("one", "two", "three"):
        assert engineer.put("config/system/hostname", name).status == 200
    first = engineer.get("revisions?limit=2").body
    asked: list[int] = []
    revisions = AgentClient.revisions

    def counted(client: AgentClient, *arguments: Any, **options: Any) -> Any:
        asked.append(options.get("limit", 0))
        return revisions(client, *arguments, **options)

    monkeypatch.setattr(AgentClient, "revisions", counted)
    assert engineer.get("revisions?limit=2").body == first
    assert asked == [2]
    # A later page is not among the newest: the agent has to be asked for it.
    assert [one["number"] for one in engineer.get("revisions?limit=2&offset=2").body["items"]] == [2, 1]
    assert asked == [2, 1, 2]


def test_a_ready_lookup_finds_what_django_would(client_of: MakeClient) -> None:
    from webui.accounts import tokens
    from webui.accounts.models import ApiToken

    client = client_of("operator", write=False)
    assert client.get("me").status == 200
    assert client.token is not None
    found = tokens._by_digest.find(tokens.digest(client.token))
    meant = ApiToken.objects.select_related("user").get(digest=tokens.digest(client.token))
    assert found is not None and found == meant and found.user == meant.user
    for one, other in ((found, meant), (found.user, meant.user)):
        for field in type(one)._meta.concrete_fields:
            value = getattr(one, field.attname)
            assert value == getattr(other, field.attname), field.name
            assert type(value) is type(getattr(other, field.attname)), field.name
    with CaptureQueriesContext(connection) as asked:
        assert found.user.username == "operator" and found.user.role == "operator"
    assert len(asked) == 0
    assert tokens._by_digest.find("") is None and tokens._by_digest.find("' OR 1=1 --") is None

"""No operation ignores a query parameter that it does not take, and each takes those that OpenAPI lists."""

from __future__ import annotations

import html
import re
from collections.abc import Iterator
from typing import Any, get_args
from urllib.parse import urlencode

import pytest
from django.http import QueryDict
from ninja.operation import Operation
from pydantic import BaseModel

from tests.api.conftest import ApiClient, MakeClient
from tests.api.router_in_memory import RouterInMemory
from tests.api.test_pages import PAGES, browser_of, get
from webui.api.query_names import QueryNames, names_of

FILL = {"address": "192.0.2.1", "pointer": "system", "direction": "received"}
"""Values of path parameters; 1 for all others."""


def _operations() -> Iterator[tuple[str, Operation]]:
    from webui.api.api import api

    for bound in api._get_bound_routers():
        for path, view in bound.path_operations.items():
            for operation in view.operations:
                filled = re.sub(r"{(?:path:)?(\w+)}", lambda name: FILL.get(name[1], "1"), path)
                yield filled.lstrip("/"), operation


OPERATIONS = list(_operations())
NAMES = [str(operation.operation_id) for _, operation in OPERATIONS]


def _described() -> dict[str, list[dict[str, Any]]]:
    """Parameters in the query string, by operation."""
    from webui.api.api import api

    return {
        operation["operationId"]: [one for one in operation.get("parameters", ()) if one["in"] == "query"]
        for operations in api.get_openapi_schema()["paths"].values()
        for operation in operations.values()
    }


DESCRIBED = _described()


def _refusals(problem: Any) -> list[dict[str, str]]:
    """What a response says about parameter names in its query string."""
    said = ("is not a parameter here", "is given more than once")
    errors = problem.get("errors", ()) if isinstance(problem, dict) else ()
    return [one for one in errors if one["detail"].startswith(said)]


def test_an_unknown_parameter_is_refused_by_every_operation(admin: ApiClient, router: RouterInMemory) -> None:
    before = router.client.config()
    ignored = {}
    for path, operation in OPERATIONS:
        for method in operation.methods:
            answer = admin(method, path + "?no_such_thing=1", {})
            if answer.status != 422 or _refusals(answer.body) != [
                {"pointer": "/no_such_thing", "in": "query", "detail": answer.body["errors"][0]["detail"]}
            ]:
                ignored[method, path] = answer
    assert ignored == {} and len(OPERATIONS) > 80
    assert router.client.config() == before


def test_a_parameter_that_is_listed_is_taken(admin: ApiClient) -> None:
    refused, tried = {}, 0
    for path, operation in OPERATIONS:
        if operation.methods != ["GET"] or operation.operation_id == "stream_counters":
            continue
        for parameter in DESCRIBED[str(operation.operation_id)]:
            tried += 1
            answer = admin.get(f"{path}?{urlencode({parameter['name']: 'x'})}")
            if _refusals(answer.body):
                refused[path, parameter["name"]] = answer.body
    assert refused == {} and tried > 80


@pytest.mark.parametrize(("path", "operation"), OPERATIONS, ids=NAMES)
def test_openapi_lists_what_is_taken(path: str, operation: Operation) -> None:
    names = names_of(operation)
    described = DESCRIBED.get(str(operation.operation_id))
    if described is None:  # a path of the configuration, which OpenAPI has for each section by itself
        assert path == "config/system"
        described = DESCRIBED[f"{operation.methods[0].lower()}_config_system"]
    assert {one["name"] for one in described} == names.once | names.lists


@pytest.mark.parametrize(
    ("path", "pointer", "detail"),
    [
        ("state/bgp/search?origin_as=65001", "/origin_as", "did you mean origin_asn?"),
        ("config?Format=set", "/Format", "did you mean format?"),
        ("compare?form=1&to=running", "/form", "did you mean from?"),
        ("counters/history?rnage=5m", "/rnage", "did you mean range?"),
        ("tokens?everyone=1", "/everyone", "there are all, limit, offset"),
        ("status?_=1700000000", "/_", "this operation takes none"),
        ("status?a/b~c=", "/a~1b~0c", "this operation takes none"),
        ("status?name[]=x", "/name[]", "this operation takes none"),
        (f"status?{'a' * 500}=1", f"/{'a' * 64}…", "this operation takes none"),
    ],
)
def test_the_answer_names_the_parameter_and_what_was_meant(
    admin: ApiClient, path: str, pointer: str, detail: str
) -> None:
    answer = admin.get(path)
    assert answer.status == 422 and answer.body["type"] == "urn:millrace:validation"
    assert answer.body["errors"] == [
        {"pointer": pointer, "in": "query", "detail": f"is not a parameter here; {detail}"}
    ]


def test_a_dry_run_that_is_misspelt_is_no_commit(engineer: ApiClient, router: RouterInMemory) -> None:
    revision = router.client.status().revision
    for method, body in (("PUT", "other"), ("PATCH", "other"), ("DELETE", None)):
        kind = "application/merge-patch+json" if method == "PATCH" else "application/json"
        answer = engineer(method, "config/system/hostname?dryrun=true", body, content_type=kind)
        assert answer.status == 422 and "did you mean dry_run?" in answer.body["errors"][0]["detail"]
    assert router.client.status().revision == revision


def test_a_parameter_given_twice_is_refused(engineer: ApiClient, router: RouterInMemory) -> None:
    revision = router.client.status().revision
    answer = engineer.put("config/system/hostname?dry_run=true&dry_run=false", "other")
    assert answer.status == 422 and router.client.status().revision == revision
    assert answer.body["errors"] == [
        {"pointer": "/dry_run", "in": "query", "detail": "is given more than once"}
    ]


def test_names_are_told_only_to_who_may_call(db: None, client_of: MakeClient) -> None:
    assert ApiClient().get("status?x=1").status == 401
    assert client_of("viewer").get("users?x=1").status == 403
    assert client_of("admin", write=False).post("changes?x=1").status == 403


def test_the_stream_is_refused_before_it_begins(viewer: ApiClient) -> None:
    assert viewer.get("counters/stream?interface=lan0").body["errors"][0]["pointer"] == "/interface"


def test_many_names_are_told_in_part(viewer: ApiClient) -> None:
    answer = viewer.get("status?" + urlencode({f"name{number}": 1 for number in range(500)}))
    assert answer.status == 422 and len(answer.body["errors"]) == 20


def test_a_list_may_be_given_several_times() -> None:
    names = QueryNames(frozenset(("limit",)), frozenset(("part",)))
    assert list(names.problems(QueryDict("part=a&part=b&limit=1"))) == []
    assert [one.pointer for one in names.problems(QueryDict("limit=1&limit=1&parts=a"))] == [
        "/limit",
        "/parts",
    ]


def test_calls_that_pages_show_are_taken(admin: ApiClient, client_of: MakeClient) -> None:
    browser = browser_of("admin", client_of)
    pages = {*PAGES, "/interfaces/lan0", "/bgp/neighbors/192.0.2.1", "/bgp/routes/received/192.0.2.1"}
    pages |= {"/acls/edge-in", "/routes", "/logs", "/logs?part=agent&severity=error", "/changes", "/captures"}
    lines = {
        html.unescape(line)
        for page in pages
        for line in re.findall(r"<pre [^>]*>(curl.*)</pre>", get(browser, page))
    }
    reads = {line.partition("$BASE_URL")[2].rstrip('"') for line in lines if " -X " not in line}
    assert len(reads) > 30 and any("?" in path for path in reads)
    assert {path: answer.body for path in reads if _refusals((answer := admin.get(path)).body)} == {}


def _models(annotation: Any) -> Iterator[type[BaseModel]]:
    """Every model in a type. No model of the API contains itself."""
    if isinstance(annotation, type) and issubclass(annotation, BaseModel):
        yield annotation
        for field in annotation.model_fields.values():
            yield from _models(field.annotation)
    for inner in get_args(annotation):
        yield from _models(inner)


def test_no_body_takes_a_field_that_it_does_not_name() -> None:
    bodies = [
        (operation.operation_id, model)
        for _, operation in OPERATIONS
        for source in operation.models
        if source.__ninja_param_source__ == "body"
        for field in source.model_fields.values()
        for model in _models(field.annotation)
    ]
    assert len(bodies) > 15
    assert [one for one in bodies if one[1].model_config.get("extra") != "forbid"] == []

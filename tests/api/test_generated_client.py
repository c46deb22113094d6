"""A client generated from the OpenAPI document has every operation, and its calls work."""

from __future__ import annotations

import importlib
import json
import re
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import httpx
import pytest
from django.test import Client

from tests.api.conftest import MakeClient

PACKAGE = "millrace_client"
_METHODS = ("get", "put", "post", "patch", "delete")
_MADE_S = 600


def _document() -> dict[str, Any]:
    from webui.api.api import api

    document: dict[str, Any] = json.loads(json.dumps(api.get_openapi_schema()))
    return document


def _operation_ids() -> list[str]:
    return [
        operations[method]["operationId"]
        for operations in _document()["paths"].values()
        for method in _METHODS
        if method in operations
    ]


@pytest.fixture(scope="module")
def generated(tmp_path_factory: pytest.TempPathFactory) -> Iterator[tuple[Path, str]]:
    """The folder of the client, and what its generator said; no network is used."""
    folder = tmp_path_factory.mktemp("client")
    (folder / "openapi.json").write_text(json.dumps(_document()))
    (folder / "config.yml").write_text("post_hooks: []\n")
    generator = Path(sys.executable).with_name("openapi-python-client")
    argv = [str(generator), "generate", "--path", str(folder / "openapi.json"), "--meta", "none"]
    argv += ["--output-path", str(folder / PACKAGE), "--config", str(folder / "config.yml")]
    argv += ["--fail-on-warning"]
    done = subprocess.run(
        argv, check=False, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, timeout=_MADE_S
    )
    sys.path.insert(0, str(folder))
    yield folder / PACKAGE, done.stdout if done.returncode == 0 else f"exit {done.returncode}: {done.stdout}"
    sys.path.remove(str(folder))
    for name in [name for name in sys.modules if name.partition(".")[0] == PACKAGE]:
        del sys.modules[name]


def test_the_generator_warns_of_nothing_and_leaves_nothing_out(generated: tuple[Path, str]) -> None:
    folder, said = generated
    assert "WARNING" not in said and "Unable" not in said and not said.startswith("exit"), said
    made = sorted(path.stem for path in (folder / "api").glob("*/*.py") if path.stem != "__init__")
    assert made == sorted(_operation_ids())


def _answered(request: httpx.Request) -> httpx.Response:
    """The API's answer, from this process."""
    headers = {name: value for name, value in request.headers.items() if name != "content-type"}
    answer = Client().generic(
        request.method,
        request.url.raw_path.decode(),
        request.read(),
        content_type=request.headers.get("content-type", ""),
        secure=True,
        headers=headers,
    )
    return httpx.Response(answer.status_code, headers=dict(answer.headers), content=answer.content)


@pytest.fixture
def call(generated: tuple[Path, str], client_of: MakeClient) -> Any:
    """Calls an operation by its id in the generated client; returns the status and what it parsed."""
    folder, said = generated
    assert not said.startswith("exit"), said
    modules = {
        path.stem: f"{PACKAGE}.api.{path.parent.name}.{path.stem}" for path in (folder / "api").glob("*/*.py")
    }
    client = importlib.import_module(PACKAGE).AuthenticatedClient(
        base_url="https://testserver",
        token=client_of("admin").token,
        httpx_args={"transport": httpx.MockTransport(_answered)},
    )

    def made(operation: str, *args: Any, **named: Any) -> tuple[int, Any]:
        answer = importlib.import_module(modules[operation]).sync_detailed(*args, client=client, **named)
        text = json.loads(answer.content) if answer.content else None
        return int(answer.status_code), text if answer.parsed is None else answer.parsed

    return made


def test_twenty_operations_work_through_it(call: Any) -> None:
    models = importlib.import_module(f"{PACKAGE}.models")
    route = models.StaticRoute.from_dict({"next_hops": [{"address": "10.10.0.3"}]})
    place = "203.0.113.0~124"
    for operation, *args in (
        ("get_status",),
        ("get_config",),
        ("get_config_routing_static",),
        ("get_system_state",),
        ("get_dataplane_state",),
        ("get_feeder_state",),
        ("get_interfaces_state",),
        ("list_revisions",),
        ("get_revision", 1),
        ("list_changes",),
        ("list_commits",),
        ("list_users",),
        ("get_watch_rules",),
        # Collections that nobody put anything into, in sections that are not set.
        ("get_config_acls",),
        ("get_config_nat_pools",),
        ("get_config_routing_policy_route_maps",),
    ):
        status, parsed = call(operation, *args)
        assert status == 200 and parsed is not None, operation
    assert call("get_config_nat_pools")[1] in ({}, None)

    status, change = call("create_change", body=models.NewChange(title="generated"))
    assert status == 201 and change.title == "generated"
    status, _ = call("put_config_routing_static_prefix", place, body=route, change=change.id)
    assert status == 200
    status, plan = call("plan_change", change.id)
    assert status == 200 and len(plan.steps) == 1 and plan.problems == []
    status, done = call("commit_change", change.id, body=models.CommitIn(comment="by a client"))
    assert status == 200 and done.revision == 2
    status, _ = call("delete_config_routing_static_prefix", place)
    assert status == 200
    status, taken = call("take_up_revision", 2)
    assert status == 200 and taken.added and taken.conflicts == []


def test_titles_of_models_are_unique_and_references_have_no_default() -> None:
    document = _document()
    schemas = document["components"]["schemas"]
    assert not [name for name in schemas if "__" in name], "two models with one name"
    titles = [schema.get("title", name) for name, schema in schemas.items()]
    assert sorted(set(titles)) == sorted(titles)
    assert not re.findall(r"'allOf': \[\{'\$ref': '[^']+'\}\]", str(document))

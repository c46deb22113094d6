"""The OpenAPI document matches the models of the configuration and the behavior of the API."""

from __future__ import annotations

import re
from typing import Any

import pytest

from appliance.config import schema as config_schema
from appliance.config.document import RouterConfig
from tests.api.conftest import ApiClient

REF = "#/components/schemas/{model}"


@pytest.fixture
def document(viewer: ApiClient) -> dict[str, Any]:
    answer = viewer.get("openapi.json")
    assert answer.status == 200
    return dict(answer.body)


def test_it_is_openapi_3_1_and_says_how_to_authenticate(document: dict[str, Any]) -> None:
    assert document["openapi"].startswith("3.1.")
    assert set(document["components"]["securitySchemes"]) == {"BearerToken", "SessionCookie"}
    for path, operations in document["paths"].items():
        for method, operation in operations.items():
            assert operation["security"], (method, path)
            assert operation["responses"]["default"] == {"$ref": "#/components/responses/Problem"}


def test_operation_ids_are_unique(document: dict[str, Any]) -> None:
    ids = [one["operationId"] for operations in document["paths"].values() for one in operations.values()]
    assert len(ids) == len(set(ids))


def test_every_reference_leads_somewhere(document: dict[str, Any]) -> None:
    for reference in set(re.findall(r"'\$ref': '([^']+)'", str(document))):
        node: Any = document
        for token in reference.removeprefix("#/").split("/"):
            node = node[token]


def test_components_are_the_models_own_schemas(document: dict[str, Any]) -> None:
    whole = RouterConfig.model_json_schema(ref_template=REF)
    expected = {**whole.pop("$defs"), "RouterConfig": whole}
    assert {name: document["components"]["schemas"][name] for name in expected} == expected


def test_typed_paths_have_the_schema_of_their_place(document: dict[str, Any]) -> None:
    keys = {"prefix": "198.51.100.0~124", "address": "192.0.2.1", "area": "0.0.0.0", "sequence": "10"}
    for path, operations in document["paths"].items():
        if not path.startswith("/api/v1/config/") or path.endswith("{pointer}"):
            continue
        below = path.removeprefix("/api/v1/config")
        pointer = re.sub(r"\{(\w+)\}", lambda match: keys.get(match[1], "name"), below)
        expected = config_schema.at(pointer)
        told = operations["put"]["requestBody"]["content"]["application/json"]["schema"]
        while "$ref" in told:
            told = document["components"]["schemas"][told["$ref"].rsplit("/", 1)[-1]]
        if "discriminator" in told:
            assert set(told["discriminator"]["mapping"]) == set(expected["properties"]["type"]["enum"])
        else:
            assert _names(told) == _names(expected), path


def _names(schema: dict[str, Any]) -> tuple[Any, ...]:
    entries = schema.get("patternProperties") or schema.get("additionalProperties")
    return (
        schema.get("type"),
        sorted(schema.get("properties", ())),
        sorted(schema.get("required", ())),
        bool(entries),
    )


def test_every_collection_of_the_configuration_has_its_path(document: dict[str, Any]) -> None:
    paths = {path.removeprefix("/api/v1/config") for path in document["paths"]}

    def walk(schema: dict[str, Any], path: str) -> None:
        schema = config_schema.resolved(schema)
        for name, inner in schema.get("properties", {}).items():
            inner = config_schema.resolved(inner)
            entry = config_schema.entry_of(inner)
            below = f"{path}/{name}"
            if entry is not None and ("properties" in entry or "discriminator" in entry):
                assert below in paths, below
                entries = [one for one in paths if re.fullmatch(re.escape(below) + r"/\{\w+\}", one)]
                assert len(entries) == 1, below
                walk(entry, entries[0])
            else:
                walk(inner, below)

    walk(config_schema.json_schema(), "")


def test_the_page_needs_no_other_host(viewer: ApiClient) -> None:
    answer = viewer.get("docs")
    page = answer.body.decode()
    assert answer.status == 200 and "swagger-ui" in page
    assert not re.search(
        r"https?://", re.sub(r'<script type="application/json".*?</script>', "", page, flags=re.DOTALL)
    )
    assert not re.search(r"<script(?![^>]*(?:src=|application/json))", page)
    assert ApiClient().get("openapi.json").status == 401

"""No request that schemathesis generates causes a server error, on the web half as deployed."""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import Any

import pytest
import requests
import schemathesis
from hypothesis import HealthCheck, Phase, settings
from schemathesis import Case
from schemathesis.checks import not_a_server_error
from schemathesis.specs.openapi.checks import content_type_conformance, response_schema_conformance

from tests.api.served import Served, served

# These would end the token or the user that the calls are made with; and a stream does not end.
LEFT_OUT = {"revoke_token", "update_user", "delete_user", "stream_counters"}
EXAMPLES = 3


def _schema() -> schemathesis.schemas.BaseSchema:
    from webui.api.api import api

    document = json.loads(json.dumps(api.get_openapi_schema()))
    found = schemathesis.openapi.from_dict(document)
    found.config.phases.coverage.enabled = False
    found.config.generation.update(modes=list(schemathesis.GenerationMode))
    return found.exclude(func=lambda context: context.operation.definition.raw["operationId"] in LEFT_OUT)


schema = _schema()


@pytest.fixture(scope="module")
def web() -> Iterator[Served]:
    with served() as running:
        yield running


@pytest.fixture(scope="module")
def session(web: Served) -> Iterator[requests.Session]:
    """One connection for all calls."""
    with requests.Session() as one:
        one.verify = str(web.ca_file)
        one.headers["Authorization"] = f"Bearer {web.token}"
        yield one


@schema.parametrize()
@settings(
    max_examples=EXAMPLES,
    deadline=None,
    database=None,
    derandomize=True,
    phases=[Phase.explicit, Phase.generate],
    suppress_health_check=list(HealthCheck),
)
def test_no_input_is_a_server_error(case: Case[Any], web: Served, session: requests.Session) -> None:
    response = case.call(base_url=web.base_url, session=session, verify=str(web.ca_file), timeout=30)
    checks = [not_a_server_error, content_type_conformance, response_schema_conformance]
    case.validate_response(response, checks=checks)
    if response.status_code >= 400:
        assert response.json()["status"] == response.status_code


def test_the_router_is_still_whole(web: Served) -> None:
    with web.http(web.token) as http:
        assert http.get("/api/v1/status").json()["drift"] == []
        document = http.get("/api/v1/config").json()
        assert http.put("/api/v1/config?dry_run=true", json=document).status_code == 200

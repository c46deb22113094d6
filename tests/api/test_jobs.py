"""Ping and traceroute: 202 with a job, progress, result, cancelling."""

from __future__ import annotations

import threading
import time
from typing import Any

import pytest

from appliance.agent.requests import PingBody
from tests.api.conftest import ApiClient, MakeClient
from tests.api.router_in_memory import RouterInMemory
from tests.api.test_pages import browser_of

pytestmark = pytest.mark.django_db(transaction=True)


class _Tools:
    """The agent's client with tools that need no network."""

    def __init__(self, client: Any) -> None:
        self._client = client
        self.go = threading.Event()
        self.go.set()

    def __getattr__(self, name: str) -> Any:
        return getattr(self._client, name)

    def ping(
        self, destination: str, count: int = 5, source: Any = None, size: Any = None, vrf: Any = None
    ) -> dict[str, Any]:
        assert self.go.wait(10)
        PingBody.model_validate({"destination": destination, "count": count, "source": source, "size": size})
        is_timed = size is None or size >= 16
        return {
            "output": f"64 bytes from {destination}",
            "result": {
                "destination": destination,
                "sent": 1,
                "received": 1,
                "avg_ms": 2.0 if is_timed else None,
            },
        }

    def traceroute(self, destination: str, source: Any = None, vrf: Any = None) -> dict[str, Any]:
        raise RuntimeError("no route")


@pytest.fixture
def tools(transactional_db: None, router: RouterInMemory) -> Any:
    from webui.agent import replace_agent

    fake: Any = _Tools(router.client)
    replace_agent(fake)
    return fake


def _over(client: ApiClient, job: str) -> dict[str, Any]:
    deadline = time.monotonic() + 10
    while (body := client.get(f"jobs/{job}").body)["state"] in ("queued", "running"):
        assert time.monotonic() < deadline
        time.sleep(0.05)
    return dict(body)


def test_a_ping_is_a_job(tools: Any, client_of: MakeClient) -> None:
    operator = client_of("operator")
    started = operator.post("tools/ping", {"destination": "10.10.0.2", "count": 3})
    assert started.status == 202 and started.headers["Location"] == f"/api/v1/jobs/{started.body['id']}"
    job = _over(operator, started.body["id"])
    assert (job["state"], job["progress"], job["owner"]) == ("done", 100, "operator")
    assert job["result"]["received"] == 3 and job["result"]["loss_percent"] == 0
    assert job["log"].splitlines() == [f"{n}: answer from 10.10.0.2 in 2.0 ms" for n in (1, 2, 3)]
    assert operator.get("jobs").body["total"] == 1


def test_a_ping_without_payload_is_answered_without_a_time(tools: Any, client_of: MakeClient) -> None:
    operator = client_of("operator")
    job = _over(
        operator,
        operator.post("tools/ping", {"destination": "10.10.0.2", "count": 1, "size": 0}).body["id"],
    )
    assert (job["state"], job["error"], job["result"]["received"]) == ("done", "", 1)
    assert job["log"].splitlines() == ["1: answer from 10.10.0.2"]


def test_a_job_can_be_cancelled_by_its_owner(tools: Any, client_of: MakeClient) -> None:
    operator, other = client_of("operator"), client_of("operator", "other")
    tools.go.clear()
    job = operator.post("tools/ping", {"destination": "10.10.0.2", "count": 50}).body["id"]
    assert other.post(f"jobs/{job}/cancel").status == 403
    assert operator.post(f"jobs/{job}/cancel").status == 200
    tools.go.set()
    assert _over(operator, job)["state"] == "cancelled"


def test_a_job_that_fails_says_why(tools: Any, client_of: MakeClient) -> None:
    operator = client_of("operator")
    job = operator.post("tools/traceroute", {"destination": "10.10.0.2"}).body["id"]
    over = _over(operator, job)
    assert (over["state"], over["error"]) == ("failed", "no route")


def test_arguments_are_checked(tools: Any, client_of: MakeClient) -> None:
    operator = client_of("operator")
    for body, pointer in (
        ({"destination": "-f"}, "/destination"),
        ({"destination": "example.net"}, "/destination"),
        ({"destination": "10.0.0.1; id"}, "/destination"),
        ({"destination": "fe80::1%eth0"}, "/destination"),
        ({"destination": "10.0.0.1", "source": "::1"}, "/source"),
        ({"destination": "10.0.0.1", "count": 0}, "/count"),
        ({"destination": "10.0.0.1", "size": 70000}, "/size"),
    ):
        answer = operator.post("tools/ping", body)
        assert answer.status == 422 and answer.body["errors"][0]["pointer"] == pointer, (body, answer)


def test_only_what_changes_is_exchanged_while_it_runs(tools: Any, client_of: MakeClient) -> None:
    tools.go.clear()
    operator = client_of("operator")
    job = operator.post("tools/ping", {"destination": "10.10.0.2", "count": 50}).body["id"]
    browser = browser_of("operator", client_of)
    panel = browser.get(f"/tools/job/{job}", secure=True)
    text = panel.content.decode()
    assert "<button" in text and f'hx-get="/tools/job/{job}?shown=1"' in text and "every 700ms" in text
    again = browser.get(f"/tools/job/{job}?shown=1", secure=True)
    shown = again.content.decode()
    assert again["HX-Reswap"] == "none" and "<button" not in shown
    for part in ("progress", "output"):
        assert f'id="job-{part}-{job}"' in text
        assert f'id="job-{part}-{job}"' in shown
    assert shown.count('hx-swap-oob="true"') == 2
    browser.post(f"/tools/job/{job}/cancel", secure=True)
    tools.go.set()
    _over(operator, job)
    over = browser.get(f"/tools/job/{job}?shown=1", secure=True)
    # Cancelled, it is shown completely, and no longer polls.
    assert "HX-Reswap" not in over and "hx-get" not in over.content.decode()

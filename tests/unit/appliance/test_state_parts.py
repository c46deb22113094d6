"""A part of the live state is registered once, for agent, client, REST and command line."""

from __future__ import annotations

import asyncio
import json
from typing import Any

import pytest
from aiohttp.test_utils import make_mocked_request
from pydantic import Field, ValidationError

from appliance.agent.state_api import StateApi
from appliance.cli.operational import SHOWS, show_part
from appliance.client import calls
from appliance.errors import NotFound, RouterUnavailable
from appliance.state import PARTS, Answer, Part, Question, Table


class Member(Answer):
    """A row."""

    name: str
    bundled: bool


class Members(Answer):
    """The answer."""

    members: tuple[Member, ...]


class OfBundle(Question):
    """Which of them."""

    bundle: str = Field(pattern="^[a-z]+[0-9]$")
    most: int = Field(10, ge=1)


def _read(_: object, question: OfBundle) -> Members:
    return Members(members=(Member(name=f"{question.bundle}-nic", bundled=True),) * question.most)


MEMBERS = Part(
    "members",
    "Members of a bundle.",
    OfBundle,
    Members,
    _read,
    path="bundles/{bundle}/members",
    table=Table(("name", "bundled"), lambda answer: answer.members),
)


@pytest.fixture
def views(monkeypatch: pytest.MonkeyPatch) -> StateApi:
    """The agent's views with one part more."""
    monkeypatch.setattr("appliance.agent.state_api.PARTS", (*PARTS, MEMBERS))
    router: Any = None
    return StateApi(router)


async def _get(views: StateApi, path: str, **in_path: str) -> Any:
    wanted = "/v1/state/bundles/{bundle}/members"
    handler: Any = next(route.handler for route in views.routes() if route.path == wanted)
    try:
        return json.loads((await handler(make_mocked_request("GET", path, match_info=in_path))).body)
    finally:
        views.close()


def test_the_client_asks_where_the_agent_answers(views: StateApi) -> None:
    call = calls.state(MEMBERS, OfBundle(bundle="bond0", most=2))
    assert (call.method, call.path, call.query) == ("GET", "/v1/state/bundles/bond0/members", {"most": "2"})
    answer = asyncio.run(_get(views, f"{call.path}?most=2", bundle="bond0"))
    assert call.read(answer) == _read(None, OfBundle(bundle="bond0", most=2))


def test_a_name_that_cannot_be_is_not_found_and_a_wrong_query_is_refused(views: StateApi) -> None:
    with pytest.raises(NotFound, match="bundle"):
        asyncio.run(_get(views, "/v1/state/bundles/x/members", bundle="x"))
    for query in ("most=0", "least=1"):
        with pytest.raises(ValidationError):
            asyncio.run(_get(views, f"/v1/state/bundles/bond0/members?{query}", bundle="bond0"))


def test_what_cannot_be_an_answer_is_the_routers_fault_not_the_askers(
    views: StateApi, monkeypatch: pytest.MonkeyPatch
) -> None:
    def wrong(*_: object) -> Members:
        return Members.model_validate({"members": [{"name": "a", "bundled": "sometimes"}]})

    monkeypatch.setattr("appliance.agent.state_api.PARTS", (Part(**{**vars(MEMBERS), "read": wrong}),))
    with pytest.raises(RouterUnavailable, match=r"members: .*members\.0\.bundled"):
        asyncio.run(_get(views, "/v1/state/bundles/bond0/members", bundle="bond0"))


def test_a_terminal_shows_a_part_by_its_declaration() -> None:
    class Agent:
        """Answers this one part."""

        def state(self, part: Any, asked: Any) -> Any:
            return part.read(None, asked)

    agent: Any = Agent()
    output = show_part(MEMBERS)(agent, ["bundle", "bond0", "most", "1"])
    assert output.data == [{"name": "bond0-nic", "bundled": True}]
    assert output.shown.splitlines()[-1].split() == ["bond0-nic", "yes"]


def test_names_are_one_of_a_kind_and_every_part_can_be_shown() -> None:
    assert len({part.name for part in PARTS}) == len({part.where for part in PARTS}) == len(PARTS)
    assert {part.command or part.name for part in PARTS if not part.in_path} <= SHOWS.keys()
    assert all(set(part.in_path) <= part.question.model_fields.keys() for part in PARTS)

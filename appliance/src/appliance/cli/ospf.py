"""``show ospf``: neighbors, interfaces and the link state database."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from appliance.cli import text
from appliance.cli.errors import CommandError
from appliance.cli.output import Output
from appliance.cli.questions import asked, fields, vrf_in
from appliance.client import AgentClient
from appliance.state.ospf import OSPF
from appliance.state.ospf_database import OSPF_DATABASE, LsaState, OspfDatabase

_USAGE = (
    "show ospf [vrf NAME] [neighbors|interfaces], or "
    "show ospf [vrf NAME] database [TYPE [ID]] [area ID] [advertising-router ID] [limit N] [offset N]"
)
_COLUMNS = (
    "area",
    "type",
    "lsa_id",
    "advertising_router",
    "age_s",
    "sequence",
    "checksum",
    "length_bytes",
    "about",
)


def show_ospf(agent: AgentClient, words: list[str]) -> Output:
    """OSPF neighbors and interfaces: ``ospf [vrf NAME] [neighbors|interfaces]``, or ``database ...``."""
    vrf, words = vrf_in(words)
    if words[:1] == ["database"]:
        return _database(agent, words[1:], vrf)
    if words not in ([], ["neighbors"], ["interfaces"]):
        raise CommandError(_USAGE)
    answer = agent.state(OSPF, asked(OSPF, vrf)).model_dump(mode="json")
    neighbors = text.table(answer["neighbors"], ("router_id", "address", "interface", "state", "priority"))
    rows = [{"interface": name, **row} for name, row in answer["interfaces"].items()]
    interfaces = text.table(rows, ("interface", "area", "state", "type", "cost", "neighbors_full"))
    both = {"neighbors": neighbors, "interfaces": interfaces}
    shown = both[words[0]] if words else f"{neighbors}\n\n{interfaces}"
    return Output(answer, shown)


def _database(agent: AgentClient, words: list[str], vrf: dict[str, str]) -> Output:
    query: dict[str, Any] = {**vrf}
    valued = {
        "area": "area",
        "advertising-router": "advertising_router",
        "limit": "limit",
        "offset": "offset",
    }
    if words and words[0] not in valued:
        query["type"], words = words[0], words[1:]
        if words and words[0] not in valued:
            query["lsa_id"], words = words[0], words[1:]
    question = asked(OSPF_DATABASE, {**query, **fields(words, {}, valued)})
    answer = agent.state(OSPF_DATABASE, question)
    return Output(answer.model_dump(mode="json"), "\n\n".join(_lines(answer, question.is_list)))


def _lines(answer: OspfDatabase, is_list: bool) -> Iterator[str]:
    if not is_list:
        yield from (_one(lsa) for lsa in answer.lsas)
        if not answer.lsas:
            yield "(none)"
        return
    if answer.lsas or not answer.note:
        yield text.table([lsa.model_dump(mode="json") for lsa in answer.lsas], _COLUMNS)
    if answer.note:
        yield text.table([count.model_dump(mode="json") for count in answer.counts], ("area", "type", "lsas"))
        yield answer.note
    elif answer.total > len(answer.lsas):
        yield f"{len(answer.lsas)} of {answer.total} LSAs; `limit N` and `offset N` show others"


def _one(lsa: LsaState) -> str:
    head = {name: getattr(lsa, name) for name in _COLUMNS if getattr(lsa, name) not in (None, "")}
    return text.tree({**head, "detail": lsa.detail})

"""Access lists: hits of their rules, and where they are bound."""

from __future__ import annotations

from typing import TYPE_CHECKING, Literal

from pydantic import Field

from appliance.state.part import Answer, Everything, Part

if TYPE_CHECKING:
    from appliance.agent.router import Router


class AclRuleState(Answer):
    """Hits of one rule over all interfaces its list is bound to."""

    sequence: int
    packets: int
    bytes: int


class AclBindingState(Answer):
    """An interface an access list is bound to."""

    interface: str
    direction: Literal["in", "out"]


class AclState(Answer):
    """An access list with its hits and where it is bound."""

    name: str
    rules: tuple[AclRuleState, ...] = ()
    bindings: tuple[AclBindingState, ...] = ()
    cleared_at: str | None = Field(
        None, description="By the router's clock, ISO 8601. Null: counted since each rule was made."
    )
    cleared_by: str | None = None


class Acls(Answer):
    """Every access list."""

    acls: tuple[AclState, ...]


def _read(router: Router, _: Everything) -> Acls:
    return Acls(acls=tuple(_since_cleared(router, one) for one in router.dataplane.acl_state()))


def _since_cleared(router: Router, state: AclState) -> AclState:
    from appliance.dataplane.base import RuleCounters

    hits = {rule.sequence: RuleCounters(rule.packets, rule.bytes) for rule in state.rules}
    cleared = router.cleared.of_list(state.name, hits)
    if cleared is None:
        return state
    none = {"packets": 0, "bytes": 0}
    rules = []
    for rule in state.rules:
        base = cleared["rules"].get(str(rule.sequence), none)
        packets, octets = (max(0, getattr(rule, unit) - base[unit]) for unit in ("packets", "bytes"))
        rules.append(AclRuleState(sequence=rule.sequence, packets=packets, bytes=octets))
    return state.model_copy(
        update={"rules": tuple(rules), "cleared_at": cleared["at"], "cleared_by": cleared["by"]}
    )


ACLS = Part(
    "acls",
    "Hit counters of access lists, since they were cleared.",
    Everything,
    Acls,
    _read,
    command="acl",
)

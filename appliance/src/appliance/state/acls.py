"""Access lists: hits of their rules, and where they are bound."""

from __future__ import annotations

from typing import Literal

from appliance.state.part import Answer, Everything, Part


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


class Acls(Answer):
    """Every access list."""

    acls: tuple[AclState, ...]


ACLS = Part(
    "acls",
    "Hit counters of access lists.",
    Everything,
    Acls,
    lambda router, _: Acls(acls=tuple(router.dataplane.acl_state())),
    command="acl",
)

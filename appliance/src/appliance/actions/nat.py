"""Clearing sessions of NAT."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, Self

from pydantic import Field, model_validator
from pydantic_core import PydanticCustomError

from appliance.actions.action import Action, Done
from appliance.errors import NotFound
from appliance.state.nat import NatSession, NatSessionsFilter, end_sessions

if TYPE_CHECKING:
    from appliance.agent.router import Router


class ClearNatSessions(NatSessionsFilter):
    """Which sessions are cleared: those that match all that is given, or all."""

    inside_port: int | None = Field(None, ge=0, le=65535, description="Only sessions with this inside port.")
    outside_port: int | None = Field(
        None, ge=0, le=65535, description="Only sessions with this outside port."
    )
    remote_port: int | None = Field(
        None, ge=0, le=65535, description="Only sessions with this port at the other end."
    )
    all: bool = Field(False, description="Every session; nothing else may be given then.")

    @model_validator(mode="after")
    def _all_or_some(self) -> Self:
        if self.all == bool(_given(self)):
            raise PydanticCustomError("some", "give either all, or what the sessions must match")
        return self

    def matches(self, one: NatSession) -> bool:
        """Whether the session is asked for."""
        return (
            super().matches(one)
            and self.inside_port in (None, one.inside_port)
            and self.outside_port in (None, one.outside_port)
            and self.remote_port in (None, one.remote_port)
        )


def _given(asked: ClearNatSessions) -> dict[str, Any]:
    return asked.model_dump(exclude={"all"}, exclude_none=True)


def _target(asked: ClearNatSessions) -> str:
    return " ".join(f"{name} {value}" for name, value in _given(asked).items()) or "all"


def _act(router: Router, asked: ClearNatSessions, _author: str) -> Done:
    if router.engine.running_config.nat is None:
        raise NotFound("NAT is not configured")
    ended = end_sessions(router.dataplane, asked)
    if not ended.sessions:
        nothing = "no session matches" if not asked.all else "no session is translated now"
        raise NotFound(f"{nothing}. {ended.left_out}".removesuffix(". "))
    number = "1 session" if ended.sessions == 1 else f"{ended.sessions:,} sessions"
    cleared = f"{number} of NAT cleared: traffic that goes on begins new sessions"
    return Done(done=(cleared, ended.left_out) if ended.left_out else (cleared,))


def _words(words: list[str]) -> Mapping[str, Any] | None:
    match words:
        case ["nat-sessions", "all"]:
            return {"all": True}
        case ["nat-sessions", _, *_] if len(words) % 2:
            names = [name.replace("-", "_") for name in words[1::2]]
            return dict(zip(names, words[2::2], strict=True)) if len({*names}) == len(names) else None
    return None


CLEAR_NAT_SESSIONS = Action(
    "clear-nat-sessions",
    "Forget sessions that NAT translates: one, those that match, or all.",
    ClearNatSessions,
    _act,
    _words,
    "nat-sessions all|inside ADDRESS|outside ADDRESS|remote ADDRESS|port PORT|protocol tcp|udp|icmp ...",
    _target,
)

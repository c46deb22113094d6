"""The feeder: who carries FRR's routes into VPP, and how far it is."""

from __future__ import annotations

from typing import TYPE_CHECKING, Literal

from pydantic import Field

from appliance.state.part import Answer, Everything, Number, Part, PartlyRead

if TYPE_CHECKING:
    from appliance.agent.router import Router

Carrier = Literal["feeder", "none", "kernel"]


class FedRoutes(Answer):
    """Routes of one family, as the feeder has them."""

    wanted: int = Field(0, description="FRR wants them in the FIB.")
    in_vpp: int = Field(0, description="VPP has them.")
    stale: int = Field(0, description="FRR has not sent them since it came back; VPP keeps them until then.")
    refused: int = Field(0, description="VPP refused them as they are now; tried again every 2 s.")
    waiting: int = Field(0, description="None of their next hops leads over an interface of VPP's.")
    held_back: int = Field(0, description="VPP has no room for them: packets go by a shorter prefix.")


class FeederLag(Answer):
    """How long changes took from FRR to VPP, as a histogram since the feeder was started."""

    bounds_ms: tuple[int, ...] = Field((), description="Upper bounds of all but the last bucket.")
    counts: tuple[int, ...] = Field((), description="Readings of FRR's stream in each bucket.")
    sum_ms: int = 0


IN_TABLE = " in table "
"""Between the prefix of a VRF's route and the number of its table."""


class ComparedRoutes(Answer):
    """Routes that VPP was asked for after it had taken them, to see whether it has them as they were given.

    All are compared in turn, up to 1,000 a second, while nothing is on its way. What differs is given again.
    """

    checked: int = Field(0, description="Routes compared since the last pass over all of them.")
    routes: int | None = Field(None, description="Routes of the last whole pass; null before its end.")
    took_s: Number = Field(0, description="How long that pass took.")
    ended_s: Number = Field(0, description="How long ago it ended.")
    told_again: int = Field(0, description="Times that a route differed and was given again.")
    differing: int = Field(0, description="Routes that still differ although they were given again.")
    named: tuple[str, ...] = Field((), description="The first of these; of a VRF, with its table.")


class FeederState(PartlyRead):
    """Who carries the routes; where it is the feeder, everything it knows of itself."""

    carrier: Carrier = Field(
        description="feeder; none, where VPP has no feeder and gets no routes;"
        " or kernel, where no VPP forwards."
    )
    frr_connected: bool = False
    frr_told_all: bool = Field(False, description="FRR has sent all its routes since it connected.")
    vpp_connected: bool = False
    vpp_error: str = Field("", description="Why VPP is not connected.")
    vpp_swept: bool = Field(False, description="VPP holds no routes that an earlier feeder left.")
    pending: int = Field(0, description="Changes that VPP does not have yet.")
    behind_ms: int = Field(0, description="Age of the oldest of them.")
    most_routes: int | None = Field(
        None, description="Routes of both families that VPP has room for; null while that is not known."
    )
    ipv4: FedRoutes = FedRoutes()
    ipv6: FedRoutes = FedRoutes()
    given: int = Field(0, description="Routes that VPP took since the feeder was started.")
    withdrawn: int = Field(0, description="Routes that VPP took out again.")
    refusals: dict[str, int] = Field({}, description="Messages that VPP refused, by its reason.")
    unsupported: dict[str, int] = Field(
        {}, description="What FRR sent that VPP would need and the feeder cannot give it, by kind."
    )
    last_burst_routes: int = Field(0, description="Changes in the last time that VPP was behind.")
    last_burst_ms: int = Field(0, description="How long it took until VPP had them all.")
    lag: FeederLag = FeederLag()
    compared: ComparedRoutes = ComparedRoutes()
    memory_bytes: int = 0
    uptime_s: int = 0

    @property
    def in_vpp(self) -> int:
        """Routes of both families that VPP has."""
        return self.ipv4.in_vpp + self.ipv6.in_vpp

    @property
    def share(self) -> float | None:
        """Of the routes that VPP has room for; None while that is not known."""
        return None if not self.most_routes else min(self.in_vpp / self.most_routes, 1.0)


def _read(router: Router, _: Everything) -> FeederState:
    if router.feeder is not None:
        return router.feeder.state()
    carrier: Carrier = "kernel" if router.dataplane.kernel_forwards else "none"
    return FeederState(carrier=carrier, untold=dict.fromkeys(_OF_THE_FEEDER, _NO_FEEDER[carrier]))


_OF_THE_FEEDER = tuple(name for name in FeederState.model_fields if name not in ("carrier", "untold"))
_NO_FEEDER: dict[Carrier, str] = {
    "kernel": "the kernel forwards here by its own table: nothing carries routes",
    "none": "VPP has no feeder: nothing carries routes to it",
}


FEEDER = Part(
    "feeder",
    "Who carries FRR's routes into VPP, how many there are, and how far it is behind.",
    Everything,
    FeederState,
    _read,
)

"""What one protocol adds to the objects of another: fields after their own, lines, meanings, reasons."""

from __future__ import annotations

from typing import Any

import pytest
from pydantic import ValidationError

from frr_config import V8_4, V10_3, RenderError, Routing, render
from frr_config.protocols import augments
from frr_config.protocols.bfd.augments import WatchedNextHop, profile_of
from frr_config.protocols.bgp.model import BGP_SESSION, Neighbor
from frr_config.protocols.bgp.session import why_down
from frr_config.protocols.ospf.model import OSPF_INTERFACE, OspfInterface
from frr_config.protocols.static.model import NEXT_HOP, NextHop
from frr_config.types import Model

PLACES = {BGP_SESSION, OSPF_INTERFACE, NEXT_HOP}
WATCHED: dict[str, Any] = {
    "bfd": {"profiles": {"fast": {}}},
    "static": {"203.0.113.0/24": {"next_hops": [{"address": "192.0.2.1", "bfd_profile": "fast"}]}},
    "bgp": {"asn": 65000, "neighbors": {"192.0.2.1": {"remote_asn": 65001, "bfd_profile": "fast"}}},
    "ospf": {"interfaces": {"wan0": {"area": "0", "bfd_profile": "fast"}}},
}


def test_each_augmentation_is_of_a_place_that_there_is() -> None:
    assert {one.place for one in augments.ALL} == PLACES
    assert len({(one.word, one.place) for one in augments.ALL}) == len(augments.ALL)


def test_no_field_of_the_objects_own_is_replaced() -> None:
    with pytest.raises(AssertionError, match="replaces a field"):

        @augments.augmented(NEXT_HOP)
        class _Twice(Model):
            bfd_profile: str = ""


def test_the_fields_follow_the_objects_own_and_are_described() -> None:
    assert [*NextHop.model_fields][-3:] == ["bfd_profile", "bfd_multihop", "bfd_source"]
    assert [*OspfInterface.model_fields][-1] == "bfd_profile"
    fields = [*Neighbor.model_fields]
    assert fields.index("passive") + 1 == fields.index("bfd_profile") == fields.index("ipv4_unicast") - 1
    assert (Neighbor.model_fields["bfd_profile"].description or "").startswith(
        "Monitor the path to the neighbor"
    )


def test_the_added_checks_see_the_objects_own_fields() -> None:
    assert issubclass(NextHop, WatchedNextHop)
    with pytest.raises(ValidationError, match="bfd_profile needs the next hop's address"):
        NextHop.model_validate({"interface": "wan0", "bfd_profile": "fast"})
    with pytest.raises(ValidationError, match="a next hop needs an address, an interface, or both"):
        NextHop.model_validate({"bfd_profile": "fast"})


def test_lines_are_said_where_their_object_says_its_own() -> None:
    lines = {(*line.context, line.text) for line in render(Routing.model_validate(WATCHED), V10_3).lines()}
    assert {
        ("ip route 203.0.113.0/24 192.0.2.1 bfd profile fast",),
        ("router bgp 65000", "neighbor 192.0.2.1 bfd"),
        ("router bgp 65000", "neighbor 192.0.2.1 bfd profile fast"),
        ("interface wan0", "ip ospf bfd"),
        ("interface wan0", "ip ospf bfd profile fast"),
    } <= lines


def test_what_a_release_lacks_is_said_before_and_refused_in_the_end() -> None:
    assert augments.lacking(V10_3) == {}
    (reason,) = augments.lacking(V8_4).values()
    assert augments.lacking(V8_4) == {f"bfd of {NEXT_HOP}": reason}
    with pytest.raises(RenderError, match="cannot watch a next hop with BFD"):
        render(Routing.model_validate(WATCHED), V8_4)
    without = {name: part for name, part in WATCHED.items() if name != "static"}
    assert [*render(Routing.model_validate(without), V8_4).lines()]


def test_a_reason_of_the_other_protocol_is_known() -> None:
    assert why_down("Idle", "BFD down", None).reason.startswith("BFD has lost the neighbor")


def test_only_watched_objects_have_a_profile() -> None:
    routing = Routing.model_validate(WATCHED)
    assert routing.bgp is not None
    assert profile_of(routing.bgp.neighbors["192.0.2.1"]) == "fast"
    assert profile_of(NextHop(address="192.0.2.1")) is None
    assert profile_of(routing.bgp) is None
    assert profile_of(None) is None

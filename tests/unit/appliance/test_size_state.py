"""What the live state says of VPP's size."""

from __future__ import annotations

from typing import Any

import pytest

from appliance.config.load import parse_document
from appliance.dataplane.machine import Machine
from appliance.dataplane.vpp.compile import route_room
from appliance.dataplane.vpp.size_state import size_state
from appliance.dataplane.vpp.sizing import settings
from appliance.features.dataplane.model import Dataplane

LARGE = Machine(8, 7950)


def _config(**dataplane: Any) -> Any:
    return parse_document({"schema_version": 1, "dataplane": dataplane})


def test_the_choice_its_reason_and_its_room_are_told() -> None:
    sized = settings(Dataplane(), LARGE)
    told = size_state(_config(), LARGE, sized)
    assert (told.route_scale, told.chosen_route_scale, told.memory_mb) == ("auto", "full_tables", 7950)
    assert "7,950 MB" in told.reason and not told.restart_due
    assert told.room_for_routes == route_room(_config(), sized).most
    assert told.room_for_routes is not None and told.room_for_routes > 1_000_000
    assert told.sized == told.started_with


@pytest.mark.parametrize("scale", ["standard", "full_tables"])
def test_what_the_document_sets_is_told_as_such(scale: str) -> None:
    sized = settings(Dataplane(), LARGE)
    told = size_state(_config(route_scale=scale), LARGE, sized)
    assert (told.route_scale, told.chosen_route_scale) == (scale, scale)
    assert told.reason == "The configuration sets route_scale."
    assert told.restart_due == (scale == "standard"), "VPP runs with what auto chose"


def test_nothing_is_claimed_of_a_startup_file_that_is_not_ours() -> None:
    told = size_state(_config(), LARGE, None)
    assert (told.chosen_route_scale, told.sized, told.room_for_routes) == (None, None, None)
    assert "does not know" in told.reason

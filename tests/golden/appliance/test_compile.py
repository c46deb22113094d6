"""What a document becomes on each data plane, compared with files.

``GOLDEN=write pytest tests/golden/appliance`` writes them anew; read the difference before committing it.
"""

from __future__ import annotations

import json
import os
from dataclasses import asdict
from pathlib import Path
from typing import Any

import pytest

from appliance.compile import CompileContext, Driver, compile_document
from appliance.config.capabilities import Capabilities
from appliance.config.load import parse_document
from appliance.config.validate import check
from appliance.dataplane.control_plane.compile import compile_control_plane
from appliance.dataplane.control_plane.rules import whole_table
from appliance.dataplane.nic import Nic

HERE = Path(__file__).parent
CONTEXT = CompileContext(
    (
        Nic("nic-lan", "02:4d:52:00:00:01", kind="veth"),
        Nic("nic-wan", "02:4d:52:00:00:02", kind="veth"),
        Nic("0000:00:05.0", "02:4d:52:00:00:03", "0000:00:05.0", pci_id="1af4:1000", attached=False),
    )
)


@pytest.mark.parametrize("driver", ["linux", "vpp"])
def test_the_router_document_compiles_as_recorded(driver: Driver) -> None:
    document = json.loads((HERE / "router.json").read_text())
    if driver == "linux":
        del document["dataplane"]
    config = parse_document(document)
    assert check(config, Capabilities(driver)) == []
    compiled = compile_document(config, driver, CONTEXT)
    assert list(compiled) == [driver, "frr", "host"]
    assert compiled["frr"].routing is config.routing
    _compare(f"router.{driver}.json", _shown(driver, compiled[driver]))
    _compare("router.host.json", {path: asdict(entry) for path, entry in compiled["host"].items()})


def test_the_table_of_the_control_plane_is_as_recorded() -> None:
    """Where another one is made of the same document, what runs is drift, and loses its counts."""
    wanted = compile_control_plane(parse_document(json.loads((HERE / "router.json").read_text())))
    path = HERE / "router.nft.jsonl"
    text = "".join(f"{json.dumps(command, sort_keys=True)}\n" for command in whole_table(wanted))
    if os.environ.get("GOLDEN") == "write":
        path.write_text(text)
    assert path.read_text() == text


def _shown(driver: Driver, state: Any) -> Any:
    if driver == "vpp":
        return {
            "objects": state.objects.to_json(),
            "startup": asdict(state.startup),
            "kernel": asdict(state.kernel),
            "control_plane": asdict(state.control_plane),
            "sequences": state.sequences,
        }
    return {key: {"kind": type(item).__name__, **asdict(item)} for key, item in sorted(state.items())}


def _compare(name: str, shown: Any) -> None:
    path = HERE / name
    text = json.dumps(shown, indent=1, sort_keys=True, default=str) + "\n"
    if os.environ.get("GOLDEN") == "write":
        path.write_text(text)
    assert path.read_text() == text

"""Documents, the frr.conf that each becomes, and the plans between them.

``GOLDEN=write pytest tests/golden/frr`` rewrites the files; read the difference before committing it.
"""

from __future__ import annotations

import json
import os
from pathlib import Path

import pytest

from frr_config import V8_4, V10_3, FrrConfig, FrrVersion, Routing, VrfRouting, parse, plan, render

_HERE = Path(__file__).parent
_SCENARIOS = sorted(path.stem for path in _HERE.glob("*.json"))
_OF_10 = "_of_10"
"""Ends the names of scenarios that release 8.4 cannot run."""


def _config(scenario: str, version: FrrVersion = V8_4) -> FrrConfig:
    if scenario.endswith(_OF_10):
        version = V10_3
    document = json.loads((_HERE / f"{scenario}.json").read_text())
    vrfs = {name: VrfRouting.model_validate(own) for name, own in document.pop("vrfs", {}).items()}
    vrf_of = document.pop("vrf_of", {})
    return render(Routing.model_validate(document), version, vrfs=vrfs, vrf_of=vrf_of)


def _matches(name: str, text: str) -> None:
    path = _HERE / name
    if os.environ.get("GOLDEN") == "write":
        path.write_text(text)
    assert text == path.read_text()


@pytest.mark.parametrize("scenario", _SCENARIOS)
def test_frr_conf(scenario: str) -> None:
    config = _config(scenario)
    _matches(f"{scenario}.frr.conf", config.text())
    assert parse(config.text(), config.version) == config


@pytest.mark.parametrize("scenario", [name for name in _SCENARIOS if not name.endswith(_OF_10)])
def test_releases_differ_in_daemons_and_not_in_lines(scenario: str) -> None:
    old, new = _config(scenario), _config(scenario, V10_3)
    assert old.text().replace("frr version 8.4", "frr version 10.3") == new.text()
    assert set(old.holders) == set(new.holders)


@pytest.mark.parametrize(
    ("before", "after"),
    [
        ("empty", "every_field"),
        ("every_field", "empty"),
        ("one_neighbor", "every_field"),
        ("every_field", "lab"),
        ("empty", "vrfs"),
        ("vrfs", "empty"),
        (f"watched_hops{_OF_10}", f"unwatched_hops{_OF_10}"),
    ],
)
def test_plan(before: str, after: str) -> None:
    lines = [f"{before} to {after}", ""]
    for step in plan(_config(after), _config(before)):
        lines += [f"{step.phase}: {step.summary}", f"  undo: {step.undo_summary}", f"  impact: {step.impact}"]
        lines += [f"  path: {step.path}"]
        lines += [
            f"  {','.join(command.daemons)} {'/'.join(command.context)}> {command.text}"
            for command in step.do
        ]
        lines += [
            f"  undo {','.join(command.daemons)} {'/'.join(command.context)}> {command.text}"
            for command in step.undo
        ]
    _matches(f"{before}-to-{after}.plan", "\n".join([*lines, ""]))


def test_every_field_is_in_a_scenario() -> None:
    """A new field of the models needs a line in ``every_field.json``, or that of VRFs or of release 10."""
    scenarios = ("every_field", "vrfs", f"watched_hops{_OF_10}")
    named = {key for name in scenarios for key in _keys(json.loads((_HERE / f"{name}.json").read_text()))}
    schema = Routing.model_json_schema()
    fields = {name for model in schema["$defs"].values() for name in model.get("properties", {})}
    assert fields - named == set()


def _keys(value: object) -> list[str]:
    if isinstance(value, dict):
        return [*value, *(key for below in value.values() for key in _keys(below))]
    return [key for below in value for key in _keys(below)] if isinstance(value, list) else []

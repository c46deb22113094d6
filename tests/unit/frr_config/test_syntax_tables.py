"""The syntax tables know every line that is rendered, and nothing else knows a protocol."""

from __future__ import annotations

import random
import re
from pathlib import Path

import pytest

import frr_config
from frr_config import V8_4, V10_3, FrrConfig, FrrVersion, Line, plan, render
from frr_config.bulk import SINGLE_STEPS
from frr_config.masking import has_secret
from frr_config.protocols import PROTOCOLS
from frr_config.routing import Routing
from frr_config.syntax import ANY
from frr_config.tables import FOREIGN, meaning_of, object_of, owners, required_daemons, setting_of
from tests.property.routing_documents import random_routing

INTERFACES = {"d0": ["10.9.0.1/24", "2001:db8:9::1/64"], "d1": ["10.9.1.1/24"]}
GENERIC = (
    "bulk", "configuring", "layout", "ordering", "planning", "syntax", "tables", "transition", "wording",
)  # fmt: skip
"""Modules that read the tables and know no protocol."""
_OF_A_PROTOCOL = re.compile(
    r"""["'](?:[^"'\n]* )?(?:router bgp|router ospf|neighbor|route-map|ip route|ip ospf|bgp|ospf)\b"""
)


def _lines(seed: int) -> tuple[Line, ...]:
    return tuple(render(random_routing(random.Random(seed), INTERFACES), V8_4).lines())


@pytest.mark.parametrize("seed", range(20))
def test_every_rendered_line_has_a_form_of_its_own(seed: int) -> None:
    for line in _lines(seed):
        meaning = meaning_of(line.context, line.text)
        assert meaning is not None and meaning.form is not ANY, line
        assert object_of(line).kind is not FOREIGN, line
        assert object_of(line).path.startswith("/routing/"), line


@pytest.mark.parametrize("version", [V8_4, V10_3], ids=str)
def test_every_rendered_line_has_daemons_that_run(version: FrrVersion) -> None:
    running = set(required_daemons(version))
    for line in _lines(1):
        held = owners(line.context, line.text, version)
        assert held and held <= running, line


def test_what_takes_a_line_back_belongs_to_the_same_object() -> None:
    for line in _lines(2):
        removal = setting_of(line).removal
        if removal.startswith("no "):
            assert object_of(Line(line.context, removal.removeprefix("no "))).kind is object_of(line).kind, (
                line
            )


def test_every_line_with_a_password_is_masked() -> None:
    secrets = [line for seed in range(20) for line in _lines(seed) if re.search(r"password|-key", line.text)]
    assert secrets
    assert all(has_secret(line.text) for line in secrets)


def test_kinds_and_places_are_declared_once() -> None:
    words = [kind.word for protocol in PROTOCOLS for kind in protocol.kinds]
    assert len(words) == len(set(words))
    places = [at for protocol in PROTOCOLS for at in protocol.places]
    assert len(places) == len(set(places))


@pytest.mark.parametrize("module", GENERIC)
def test_the_generic_half_names_no_protocol(module: str) -> None:
    text = (Path(frr_config.__file__).parent / f"{module}.py").read_text()
    code = re.sub(r'"""(?s:.)*?"""', "", text)
    assert not _OF_A_PROTOCOL.findall(code)


def test_many_rules_of_route_maps_go_together() -> None:
    count = 4 * SINGLE_STEPS
    maps = {f"m{at}": {"rules": {"10": {"action": "permit", "set": {"metric": at}}}} for at in range(count)}
    desired = render(Routing.model_validate({"policy": {"route_maps": maps}}), V8_4)
    (step,) = plan(desired, FrrConfig.empty(V8_4))
    assert step.summary == f"add {count} rules of route maps: m0, m1, m2, ..."
    assert step.path == "/routing/policy/route_maps"
    assert len(step.do) == 2 * count

"""Which worsenings a finding foretold: those of its object, and of no other with a name that is alike."""

from __future__ import annotations

import pytest

from appliance.config.load import parse_document
from appliance.impact.result import Finding, Result
from appliance.watching.judgement import Before, Judgement
from appliance.watching.measure import Measure, Reading, Worse
from appliance.watching.measures import Readings

NEIGHBORS = "/routing/bgp/neighbors"


def _told(worse: Worse, finding: Finding) -> tuple[str, tuple[str, ...]]:
    """How the worsening was foretold, and what of the foretold was not seen."""
    measure: Measure[Reading] = Measure(
        "sessions", "one that was up is down", lambda _: {}, lambda _: [worse], lambda _: "", lambda _: True
    )
    judgement = Judgement(
        [measure], Before({"sessions": {}}), parse_document({}), Result(findings=(finding,))
    )
    judgement.take(Readings({"sessions": {}}), 0.0)
    (standing,) = judgement.standing(0.0)
    return standing.foretold, judgement.not_seen()


def _session(address: str, vrf: str = "") -> Worse:
    name = f"{address} in VRF {vrf}" if vrf else address
    path = f"/vrfs/{vrf}{NEIGHBORS}/{address}" if vrf else f"{NEIGHBORS}/{address}"
    return Worse(name, "It is down.", path=path, kinds=("session",), words=(address,))


def _closes(text: str, path: str) -> Finding:
    return Finding(grade="certain", kind="session", path=path, text=text)


@pytest.mark.parametrize(
    ("address", "named"),
    [
        ("192.0.2.1", "192.0.2.1"),
        ("2001:db8::1", "2001:db8::1"),
        ("192.0.2.1", "192.0.2.1."),
        ("192.0.2.1", "192.0.2.1: its AS number changes."),
    ],
)
def test_a_finding_that_names_it_foretold_it(address: str, named: str) -> None:
    finding = _closes(f"It closes the session with {named}", "/interfaces/wan0")
    assert _told(_session(address), finding) == ("certain", ())


@pytest.mark.parametrize(
    ("address", "named"),
    [
        ("192.0.2.1", "192.0.2.10"),
        ("192.0.2.1", "192.0.2.1.5"),
        ("2.0.2.1", "192.0.2.1"),
        ("2001:db8::1", "2001:db8::1:2"),
        ("2001:db8::1", "2001:db8::1f"),
    ],
)
def test_a_finding_about_a_longer_address_did_not_foretell_it(address: str, named: str) -> None:
    finding = _closes(f"It closes the session with {named}.", f"{NEIGHBORS}/{named}")
    assert _told(_session(address), finding) == ("no", (finding.text,))


def test_a_finding_about_the_same_address_of_another_vrf_did_not_foretell_it() -> None:
    finding = _closes("VRF red: It closes the session with 10.0.0.1.", f"/vrfs/red{NEIGHBORS}/10.0.0.1")
    assert _told(_session("10.0.0.1", "red"), finding) == ("certain", ())
    assert _told(_session("10.0.0.1", "blue"), finding) == ("no", (finding.text,))
    assert _told(_session("10.0.0.1"), finding) == ("no", (finding.text,))


def test_a_finding_about_an_interface_is_not_about_its_vlans() -> None:
    vlan = _closes("Interface wan0.100 goes, and its adjacencies.", "/interfaces/wan0.100")
    adjacency = Worse("10.0.0.9 on wan0", "It is not full.", kinds=("session",), words=("wan0",))
    assert _told(adjacency, vlan)[0] == "no"

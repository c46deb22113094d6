"""Cleared counters: what is subtracted, and when that ends."""

from __future__ import annotations

from pathlib import Path

import pytest

from appliance.agent.cleared_counters import ClearedCounters
from appliance.agent.hits import Hits
from appliance.config.load import parse_document
from appliance.dataplane.base import RuleCounters
from appliance.errors import NotFound
from appliance.features.acl.rule_identity import DocumentRules
from appliance.state.counter_selection import INTERFACE_COUNTERS

RULES = {"edge": {10: "permit web", 20: "deny all"}}


class Setting:
    """Clearings in a folder of the test's, with rules and a clock that it sets."""

    def __init__(self, folder: Path) -> None:
        self.path = folder / "cleared.json"
        self.rules: dict[str, dict[int, str]] = {name: dict(rules) for name, rules in RULES.items()}
        self.now_s = 0.0
        self.cleared = self.started()

    def started(self) -> ClearedCounters:
        """As an agent finds them when it starts."""
        return ClearedCounters(self.path, lambda: self.rules, lambda: self.now_s)

    def base(self, name: str = "wan0") -> dict[str, int] | None:
        found = self.cleared.interfaces().get(name)
        return None if found is None else found["base"]


def counted(packets: int, drops: int = 0) -> dict[str, int]:
    return {**dict.fromkeys(INTERFACE_COUNTERS, 0), "rx_packets": packets, "rx_drops": drops}


def hits(*packets: int) -> dict[str, dict[int, RuleCounters]]:
    sequences = (10, 20, 30)
    return {
        "edge": {
            sequence: RuleCounters(one, one * 100) for sequence, one in zip(sequences, packets, strict=False)
        }
    }


@pytest.fixture
def setting(tmp_path: Path) -> Setting:
    return Setting(tmp_path)


def test_what_an_interface_showed_is_taken_off_until_it_starts_anew(setting: Setting) -> None:
    setting.cleared.clear_interfaces(["wan0"], {"wan0": counted(100, 7)}, {"wan0": "boot 3"}, "nina")
    one = setting.cleared.interfaces()["wan0"]
    assert one["by"] == "nina" and one["at"].endswith("+00:00")
    assert (one["base"]["rx_packets"], one["base"]["rx_drops"], one["base"]["tx_bytes"]) == (100, 7, 0)
    setting.cleared.follow_interfaces({"wan0": counted(5000, 7)}, {"wan0": "boot 3"})
    # An interface that is gone for a moment is not a new one.
    setting.cleared.follow_interfaces({}, {})
    assert setting.base() is not None
    # A recreated interface counts from zero: less than was seen last, though more than was cleared.
    setting.cleared.follow_interfaces({"wan0": counted(4000, 7)}, {"wan0": "boot 3"})
    assert setting.base() is None
    assert setting.started().interfaces() == {}


def test_a_counter_of_another_origin_counts_from_zero_however_much_it_counts(setting: Setting) -> None:
    setting.cleared.clear_interfaces(["wan0"], {"wan0": counted(100)}, {"wan0": "boot 3"}, "nina")
    setting.cleared.follow_interfaces({"wan0": counted(10**9)}, {"wan0": "boot 4"})
    assert setting.base() is None


def test_clearings_survive_the_agent_and_what_happened_meanwhile_is_seen(setting: Setting) -> None:
    setting.cleared.clear_interfaces(["wan0"], {"wan0": counted(100)}, {"wan0": "boot 3"}, "nina")
    setting.cleared.follow_interfaces({"wan0": counted(900)}, {"wan0": "boot 3"})
    setting.cleared.close()
    setting.cleared = setting.started()
    setting.cleared.follow_interfaces({"wan0": counted(950)}, {"wan0": "boot 3"})
    assert setting.base() == counted(100)
    setting.cleared.close()
    setting.cleared = setting.started()
    # VPP was restarted with the agent: above what was cleared, below what was seen last.
    setting.cleared.follow_interfaces({"wan0": counted(500)}, {"wan0": "boot 3"})
    assert setting.base() is None


def test_what_was_seen_last_is_written_now_and_then(setting: Setting) -> None:
    setting.cleared.clear_interfaces(["wan0"], {"wan0": counted(100)}, {}, "nina")
    setting.cleared.follow_interfaces({"wan0": counted(900)}, {})
    setting.cleared.keep()
    assert setting.started()._kept.interfaces["wan0"].last["rx_packets"] == (100,)
    setting.now_s += 301
    setting.cleared.keep()
    assert setting.started()._kept.interfaces["wan0"].last["rx_packets"] == (900,)


def test_a_file_that_is_damaged_costs_the_clearings_and_nothing_else(setting: Setting) -> None:
    setting.cleared.clear_interfaces(["wan0"], {"wan0": counted(100)}, {}, "nina")
    setting.path.write_bytes(b'{"interfaces": {"wan0": 7')
    setting.cleared = setting.started()
    assert setting.cleared.interfaces() == {}
    setting.cleared.clear_interfaces(["wan0"], {"wan0": counted(1)}, {}, "nina")
    assert setting.base() == counted(1)


def test_only_what_counts_can_be_cleared_and_what_is_gone_leaves_the_file(setting: Setting) -> None:
    setting.cleared.clear_interfaces(["wan0"], {"wan0": counted(1)}, {}, "nina")
    with pytest.raises(NotFound, match="interface nosuch0"):
        setting.cleared.clear_interfaces(["nosuch0"], {"wan0": counted(1)}, {}, "nina")
    setting.cleared.clear_interfaces(["lan0"], {"lan0": counted(1)}, {}, "nina")
    assert set(setting.cleared.interfaces()) == {"lan0"}
    setting.cleared.clear_lists(["edge"], hits(1, 2), "nina")
    with pytest.raises(NotFound, match="access list other"):
        setting.cleared.clear_lists(["other"], hits(1, 2), "nina")


def _shown(setting: Setting, *packets: int) -> dict[int, int]:
    now = hits(*packets)["edge"]
    found = setting.cleared.of_list("edge", now)
    bases = found["rules"] if found else {}
    return {
        sequence: one.packets - bases.get(str(sequence), {"packets": 0})["packets"]
        for sequence, one in now.items()
    }


def test_hits_are_taken_off_rule_by_rule_wherever_a_rule_moves(setting: Setting) -> None:
    setting.cleared.clear_lists(["edge"], hits(100, 50), "nina")
    assert _shown(setting, 130, 50) == {10: 30, 20: 0}
    # A rule is put before the others, which keep their totals.
    setting.rules["edge"] = {10: "permit mail", 20: "permit web", 30: "deny all"}
    setting.cleared.follow_lists(hits(7, 131, 51))
    assert _shown(setting, 7, 131, 51) == {10: 7, 20: 31, 30: 1}


def test_a_rule_that_started_anew_is_shown_whole_and_the_others_as_before(setting: Setting) -> None:
    setting.cleared.clear_lists(["edge"], hits(100, 50), "nina")
    setting.cleared.follow_lists(hits(3, 60))
    assert _shown(setting, 3, 60) == {10: 3, 20: 10}
    found = setting.cleared.of_list("edge", hits(3, 60)["edge"])
    assert found is not None and found["by"] == "nina"


def test_equal_rules_are_told_apart_by_their_order(setting: Setting) -> None:
    setting.rules["edge"] = {10: "deny all", 20: "deny all"}
    setting.cleared.clear_lists(["edge"], hits(100, 50), "nina")
    assert _shown(setting, 101, 52) == {10: 1, 20: 2}


def test_while_a_commit_is_under_way_nothing_is_judged(setting: Setting) -> None:
    setting.cleared.clear_lists(["edge"], hits(100, 50), "nina")
    # The data plane has the new list already, the document does not.
    setting.cleared.follow_lists(hits(0, 100, 50))
    setting.rules["edge"] = {10: "permit mail", 20: "permit web", 30: "deny all"}
    assert _shown(setting, 0, 101, 50) == {10: 0, 20: 1, 30: 0}


def test_a_list_that_is_gone_is_forgotten(setting: Setting) -> None:
    setting.cleared.clear_lists(["edge"], hits(100, 50), "nina")
    setting.rules.clear()
    setting.cleared.follow_lists({})
    assert not setting.cleared.follows_lists


def test_the_rules_of_a_document_are_found_out_once_and_without_their_descriptions() -> None:
    def document(description: str) -> object:
        rule = {"action": "deny", "description": description}
        return parse_document({"schema_version": 1, "acls": {"edge": {"rules": {"10": rule}}}})

    documents = [document("a"), document("b")]
    rules = DocumentRules(lambda: documents[0])  # type: ignore[arg-type, return-value]
    first = rules()
    assert rules() is first
    documents.reverse()
    assert rules() is not first and rules() == first


def test_readings_of_hits_say_what_was_cleared(setting: Setting) -> None:
    now = [hits(100, 50)]
    readings = Hits(lambda: now[0], lambda: setting.now_s, setting.cleared)
    setting.cleared.clear_lists(["edge"], readings.fresh(), "nina")
    now[0] = hits(130, 50)
    assert readings.fresh() == now[0]
    edge = readings.totals()["acls"]["edge"]
    assert (edge["packets"], edge["cleared"]["packets"], edge["cleared"]["bytes"]) == (180, 150, 15_000)
    of = readings.of("edge")
    assert of["rules"]["10"]["packets"] == 130
    assert of["cleared"]["rules"]["10"] == {"packets": 100, "bytes": 10_000}

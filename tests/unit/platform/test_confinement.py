"""docs/security.md says of each process what its unit says.

``python -m tests.unit.platform.confinement`` rewrites the page's table.
"""

from __future__ import annotations

from tests.unit.platform.confinement import BEGIN, END, PAGE, table, units


def test_the_table_of_the_page_is_that_of_the_units() -> None:
    text = PAGE.read_text()
    assert text.partition(BEGIN)[2].partition(END)[0] == table()


def test_what_reads_strangers_bytes_asks_nobody_of_root() -> None:
    """VPP, the feeder and the index: packets, what zebra says, what neighbors send."""
    found = units()
    assert found["vpp.service"].asks == ["VPP"]
    assert found["millrace-feeder.service"].asks == ["VPP"]
    assert found["millrace-bgp-index.service"].asks == []
    for name in ("millrace-feeder.service", "millrace-bgp-index.service"):
        assert found[name].user != "root" and found[name].capabilities == []


def test_who_is_root_and_must_not_command_the_agent_is_not_in_root_s_group() -> None:
    """And cannot become it: the agent takes uid 0 of group 0 for root."""
    vpp = units()["vpp.service"]
    assert vpp.user == "root" and vpp.groups == {"vpp"}
    assert not {"SETGID", "SETUID", "DAC_OVERRIDE"} & set(vpp.capabilities)

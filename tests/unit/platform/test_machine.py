"""Reading the machine, reserving its huge pages, and renaming what the kernel named otherwise."""

from __future__ import annotations

import random
from collections.abc import Sequence
from pathlib import Path

import pytest

from appliance.dataplane.base import NamespaceMissing
from appliance.dataplane.machine import Machine
from appliance.dataplane.nic_inventory import NicRecord
from appliance.dataplane.vpp import sizing
from appliance.platform import __main__, boot, hugepages, links
from appliance.platform.boot import BadRelease, Image, clear_of_management, image, vpp_settings
from appliance.platform.running_document import Wishes, read, wishes
from appliance.programs import Ran

POOL = "hugepages/hugepages-2048kB/nr_hugepages"


def sysfs(root: Path, nodes: int, pages: int = 0) -> Path:
    (root / "devices/system/cpu").mkdir(parents=True)
    (root / "devices/system/cpu/online").write_text("0-2,5\n")
    for place in [root / "kernel/mm", *(root / f"devices/system/node/node{node}" for node in range(nodes))]:
        (place / POOL).parent.mkdir(parents=True)
        (place / POOL).write_text(f"{pages}\n")
    return root


def test_the_machines_size(tmp_path: Path) -> None:
    proc = tmp_path / "proc"
    proc.mkdir()
    (proc / "meminfo").write_text("MemTotal:        2037760 kB\nMemFree:  1 kB\n")
    assert hugepages.machine(sysfs(tmp_path / "a", 2), proc) == Machine(4, 1990, 2)
    assert hugepages.machine(sysfs(tmp_path / "b", 0), proc) == Machine(4, 1990, 1)


@pytest.mark.parametrize("nodes", [0, 1, 2])
def test_huge_pages_are_spread_over_the_nodes(nodes: int, tmp_path: Path) -> None:
    root = sysfs(tmp_path, nodes)
    assert hugepages.reserve(19, root) == (20 if nodes == 2 else 19)
    assert hugepages.reserve(5, root) >= 19, "none is ever taken away"


@pytest.mark.parametrize("seed", range(50))
def test_renames_never_meet_a_name_that_is_taken(seed: int) -> None:
    rng = random.Random(seed)
    names = [f"eth{number}" for number in range(rng.randint(1, 8))]
    wanted = dict(zip(names, rng.sample([*names, "lan", "wan"], len(names)), strict=True))
    there = dict.fromkeys([*names, "ens3"], "")
    there = {name: name for name in there}
    for old, new in links.rename_order(wanted):
        assert new not in there
        there[new] = there.pop(old)
    assert there == {"ens3": "ens3", **{new: old for old, new in wanted.items()}}


def test_names_that_are_right_are_left_alone() -> None:
    assert links.rename_order({"eth0": "eth0", "eth1": "eth1"}) == []


def test_a_namespace_is_more_than_its_file(tmp_path: Path) -> None:
    (tmp_path / "dataplane").touch()
    for name in ("dataplane", "missing"):
        with pytest.raises(NamespaceMissing, match=name):
            links.require_namespace(name, tmp_path)


@pytest.mark.parametrize("dataplane", ["vpp", "linux"])
@pytest.mark.parametrize("has_dpdk", [False, True])
def test_what_the_image_is(dataplane: str, has_dpdk: bool, tmp_path: Path) -> None:
    release = tmp_path / "usr/lib/millrace/release.json"
    release.parent.mkdir(parents=True)
    release.write_text(f'{{"dataplane": "{dataplane}"}}')
    if has_dpdk:
        plugin = tmp_path / "usr/lib/x86_64-linux-gnu/vpp_plugins/dpdk_plugin.so"
        plugin.parent.mkdir(parents=True)
        plugin.touch()
    assert image(tmp_path) == Image(dataplane, has_dpdk)  # type: ignore[arg-type]  # one of the two


@pytest.mark.parametrize("text", [None, "{}", "[]", "no", '{"dataplane": "dpdk"}'])
def test_an_image_that_does_not_say_is_refused(text: str | None, tmp_path: Path) -> None:
    release = tmp_path / "usr/lib/millrace/release.json"
    release.parent.mkdir(parents=True)
    if text is not None:
        release.write_text(text)
    with pytest.raises(BadRelease, match=r"release\.json"):
        image(tmp_path)


def test_the_last_commit_is_read_and_a_bad_part_is_left_out(
    tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    assert read(tmp_path / "agent") == Wishes()
    found = wishes(
        {
            "dataplane": {"workers": "many"},
            "interfaces": {
                "lan": {"type": "ethernet", "match": {"mac": "52:54:00:00:00:02"}},
                "bad": {"type": "ethernet", "match": {}},
                "lo1": {"type": "loopback"},
            },
        }
    )
    assert [match.mac for match in found.matches] == ["52:54:00:00:00:02"]
    assert found.dataplane == Wishes().dataplane
    assert "interface bad" in caplog.text
    assert "data plane settings" in caplog.text


def test_a_revision_that_cannot_be_read_does_not_stop_the_boot(
    tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    (tmp_path / "revisions").mkdir()
    (tmp_path / "revisions/00000001.json").write_text("{")
    assert read(tmp_path) == Wishes()
    assert "cannot be read" in caplog.text


def test_a_commit_the_machine_is_now_too_small_for_still_starts_vpp(
    caplog: pytest.LogCaptureFixture,
) -> None:
    small = Machine(2, 1990)
    asked = wishes({"dataplane": {"main_heap_mb": 8192}})
    settings, heard = vpp_settings(asked, small)
    assert not heard
    assert vpp_settings(Wishes(), small) == (settings, True)
    assert "/dataplane/main_heap_mb" in caplog.text


def test_a_commit_with_more_workers_than_there_are_cpus_now_still_starts_vpp() -> None:
    """VPP exits at once where it finds no CPU for a worker, and then no commit can repair it."""
    asked = wishes({"dataplane": {"workers": 2}})
    assert vpp_settings(asked, Machine(4, 3920))[0].workers == 2
    assert vpp_settings(asked, Machine(3, 3920))[0].workers == 2
    assert vpp_settings(asked, Machine(2, 3920)) == (sizing.for_machine(Machine(2, 3920)), False)


def test_an_unknown_command_is_refused(capsys: pytest.CaptureFixture[str]) -> None:
    assert __main__.main(["frobnicate"]) == 2
    assert "usage" in capsys.readouterr().err
    assert __main__.main(["table"]) == 0
    assert "1af4:1000" in capsys.readouterr().out


def test_a_data_nic_never_takes_the_management_nics_name() -> None:
    # Management and a data NIC changed places: the data NIC is remembered by what management is called now.
    assert links.clear_of({"ens3": "ens4"}, {"ens4"}) == {"ens3": "ens3"}
    # Another data NIC is remembered as ens3, so that is not free either.
    wanted = {"ens3": "ens4", "ens5": "ens3", "eth0": "lan"}
    assert links.clear_of(wanted, {"ens4"}) == {"ens3": "eth1", "ens5": "ens3", "eth0": "lan"}
    assert links.clear_of({"ens5": "ens4"}, {"ens3"}) == {"ens5": "ens4"}


def test_a_name_that_management_has_now_is_neither_given_nor_recorded() -> None:
    """VPP looks for the recorded name: it must not find the management NIC there."""
    records = [
        NicRecord("ens4", "02:00:00:00:00:01", "0000:00:03.0", "0000:00:04.0", "15ad:07b0", "af_packet"),
        NicRecord("ens4", "02:00:00:00:00:09", None, "0000:00:05.0"),
        NicRecord("ens6", "02:00:00:00:00:02", "0000:00:06.0", "0000:00:06.0", "1af4:1000", "native"),
    ]
    moved, renames = clear_of_management(records, {"ens3": "ens4"}, {"ens4"})
    assert renames == {"ens3": "ens3"}
    assert [record.device for record in moved] == ["ens3", "ens4", "ens6"]


def test_a_virtio_nic_that_keeps_its_checksums_says_so() -> None:
    """Other NICs only check what is there."""

    class Fixed:
        def run(self, argv: Sequence[str], timeout_s: float = 30.0, text: str | None = None) -> Ran:
            return Ran(0, "rx-checksumming: on [fixed]\n" if argv[:2] == ["ethtool", "-k"] else "", "")

    modern = NicRecord(
        "ens6", "02:00:00:00:00:02", "0000:00:06.0", None, "1af4:1041", "af_packet", note="slow"
    )
    others = [
        NicRecord("ens4", "02:00:00:00:00:01", "0000:00:04.0", None, "8086:100e", "af_packet", note="slow"),
        NicRecord("ens7", "02:00:00:00:00:03", "0000:00:07.0", None, "1af4:1000", "native"),
    ]
    laid = boot.lay_open([modern, *others], ["ens6", "ens4"], Fixed())
    assert laid[1:] == others
    assert laid[0].note == f"slow; {boot.CHECKSUM_COST}"

"""Discs, guestinfo, fw_cfg and credentials, in a folder that stands for the machine."""

from __future__ import annotations

from pathlib import Path

import pytest

from appliance.firstboot.nics import inventory
from appliance.firstboot.seed import read
from appliance.firstboot.sources import find
from appliance.programs import Ran
from tests.unit.firstboot.conftest import TablePrograms
from tests.unit.firstboot.test_ovf import VSPHERE


@pytest.fixture
def machine(tmp_path: Path) -> Path:
    for name in ("sr0", "vda1", "vda3", "loop0"):
        (tmp_path / "sys/class/block" / name).mkdir(parents=True)
    return tmp_path


def disc(folder: Path, files: dict[str, str]) -> Path:
    for name, text in files.items():
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        (folder / name).write_text(text)
    return folder


def test_no_seed(machine: Path) -> None:
    programs = TablePrograms()
    assert find(programs, machine) == []
    assert [argv[-1] for argv in programs.ran] == ["/dev/sr0", "/dev/vda1", "/dev/vda3"]


def test_a_nocloud_disc(machine: Path) -> None:
    content = disc(
        machine / "disc", {"meta-data": "instance-id: i1\n", "user-data": "#cloud-config\nhostname: r1\n"}
    )
    programs = TablePrograms({"/dev/sr0": ({"TYPE": "iso9660", "LABEL": "cidata"}, content)})
    (found,) = find(programs, machine)
    assert found.source == "NoCloud (/dev/sr0)"
    assert read(found.values).hostname == "r1"
    mount, umount = programs.ran[1:3]
    assert mount[:4] == ["mount", "-t", "iso9660", "-o"] and "nosuid" in mount[4]
    assert umount[0] == "umount"


def test_discs_count_in_order_and_the_esp_is_left_alone(machine: Path) -> None:
    ovf = disc(machine / "ovf", {"ovf-env.xml": VSPHERE})
    drive = disc(machine / "drive", {"openstack/latest/meta_data.json": '{"uuid": "u1", "hostname": "r2"}'})
    programs = TablePrograms(
        {
            "/dev/sr0": ({"TYPE": "iso9660", "LABEL": "OVF ENV"}, ovf),
            "/dev/vda1": ({"TYPE": "vfat", "LABEL": "MR-ESP"}, machine),
            "/dev/vda3": ({"TYPE": "vfat", "LABEL": "CONFIG-2"}, drive),
        }
    )
    found = find(programs, machine)
    assert [entry.source for entry in found] == ["ConfigDrive (/dev/vda3)", "OVF environment (/dev/sr0)"]
    assert read(found[0].values).hostname == "r2"
    assert read(found[1].values).hostname == "r1"
    assert not any(argv[0] == "mount" and "/dev/vda1" in argv for argv in programs.ran)


def test_a_link_on_a_disc_leads_nowhere(machine: Path, tmp_path: Path) -> None:
    (tmp_path / "secret").write_text("hostname: stolen\n")
    content = disc(machine / "disc", {"meta-data": "instance-id: i1\n"})
    (content / "user-data").symlink_to(tmp_path / "secret")
    programs = TablePrograms({"/dev/sr0": ({"TYPE": "iso9660", "LABEL": "cidata"}, content)})
    (found,) = find(programs, machine)
    assert [problem.pointer for problem in found.problems] == ["/user-data"]


def test_a_disc_that_cannot_be_read_is_told(machine: Path) -> None:
    class Broken(TablePrograms):
        def run(self, argv, timeout_s=30.0, text=None):  # type: ignore[no-untyped-def]
            return Ran(32, "", "mount: bad medium") if argv[0] == "mount" else super().run(argv)

    (found,) = find(Broken({"/dev/sr0": ({"TYPE": "iso9660", "LABEL": "cidata"}, machine)}), machine)
    assert "bad medium" in found.problems[0].message


def test_guestinfo_is_asked_on_vmware_only(machine: Path) -> None:
    programs = TablePrograms(answers={"vmtoolsd": Ran(0, VSPHERE, "")})
    vendor = machine / "sys/class/dmi/id/sys_vendor"
    vendor.parent.mkdir(parents=True)
    vendor.write_text("QEMU\n")
    assert find(programs, machine) == []
    vendor.write_text("VMware, Inc.\n")
    (found,) = find(programs, machine)
    assert found.source == "OVF environment (guestinfo)"
    assert read(found.values).hostname == "r1"
    assert ["vmtoolsd", "--cmd", "info-get guestinfo.ovfEnv"] in programs.ran


def test_fw_cfg_and_credentials(machine: Path) -> None:
    folder = "sys/firmware/qemu_fw_cfg/by_name/opt/millrace"
    disc(
        machine,
        {
            f"{folder}/seed/raw": "millrace: {hostname: r1, dns_servers: [192.0.2.53]}\n",
            f"{folder}/hostname/raw": "r2\n",
            "run/credentials/@system/millrace.seed": '{"hostname": "r3", "instance_id": "c"}',
        },
    )
    fw_cfg, credential = find(TablePrograms(), machine)
    assert (read(fw_cfg.values).hostname, read(fw_cfg.values).dns_servers) == ("r2", ("192.0.2.53",))
    assert (read(credential.values).hostname, read(credential.values).instance_id) == ("r3", "c")


def test_nics_are_found_in_pci_order(tmp_path: Path) -> None:
    for name, mac, place in (
        ("ens4", "52:54:00:00:00:04", "pci0000:00/0000:00:04.0/virtio1"),
        ("ens3", "52:54:00:00:00:03", "pci0000:00/0000:00:03.0/virtio0"),
        ("enp11s0", "52:54:00:00:00:0B", "pci0000:00/0000:00:1c.0/0000:0b:00.0"),
    ):
        device = tmp_path / "devices" / place
        device.mkdir(parents=True)
        net = tmp_path / "class/net" / name
        net.mkdir(parents=True)
        (net / "device").symlink_to(device)
        (net / "type").write_text("1\n")
        (net / "address").write_text(f"{mac}\n")
    (tmp_path / "class/net/lo").mkdir()
    cards = inventory(tmp_path)
    assert [(card.device, card.pci) for card in cards] == [
        ("ens3", "0000:00:03.0"),
        ("ens4", "0000:00:04.0"),
        ("enp11s0", "0000:0b:00.0"),
    ]
    assert cards[2].mac == "52:54:00:00:00:0b"


@pytest.mark.parametrize(
    "user_data",
    [
        "#cloud-config\nntp: {servers: 5}\n",
        "#cloud-config\nchpasswd: {users: 5}\n",
        "#cloud-config\nmillrace: {hostname: !!bool x}\n",
        "#cloud-config\nmillrace: {management_mac: 525400123456}\n",
    ],
)
def test_a_seed_of_odd_parts_is_a_problem_and_no_crash(machine: Path, user_data: str) -> None:
    files = {"user-data": user_data, "network-config": "version: 2\nethernets: {a: {dhcp4: true}}\n"}
    about = {"TYPE": "iso9660", "LABEL": "cidata"}
    (found,) = find(TablePrograms({"/dev/sr0": (about, disc(machine / "seed", files))}), machine)
    assert found.problems and not found.values

"""The shell scripts of the build and of the initramfs, and GRUB's configuration."""

import re
import subprocess
from pathlib import Path

import pytest

PACKER = Path(__file__).resolve().parents[3] / "packer"
SCRIPTS = sorted(
    path.relative_to(PACKER)
    for path in PACKER.rglob("*")
    if path.is_file() and path.read_bytes().startswith(b"#!/bin/sh")
)


@pytest.mark.parametrize("script", SCRIPTS, ids=str)
def test_a_script_is_whole_and_can_be_run(script: Path) -> None:
    """An initramfs with half a script boots nothing; one that is not executable is silently left out."""
    assert (PACKER / script).stat().st_mode & 0o111 == 0o111
    done = subprocess.run(["sh", "-n", PACKER / script], capture_output=True, text=True, check=False)
    assert (done.returncode, done.stderr) == (0, "")


def test_the_scripts_are_the_ones_we_know() -> None:
    """So that the test above cannot pass by finding none."""
    names = {str(path) for path in SCRIPTS}
    assert {"chroot", "qemu", "hooks/accounts", "initramfs/scripts/local-bottom/millrace"} <= names


def _block_devices(folder: Path, partitions: dict[str, str]) -> Path:
    """As sysfs shows them: links into the devices, a partition below its disk."""
    block = folder / "class/block"
    block.mkdir(parents=True)
    for name, title in partitions.items():
        place = folder / "devices" / name.rstrip("0123456789") / name
        place.mkdir(parents=True)
        (place / "uevent").write_text(f"DEVTYPE=partition\nPARTNAME={title}\n")
        (block / name).symlink_to(place)
    return block


def _other_disks(block: Path, disk: str) -> list[str]:
    """What the initramfs's own function says."""
    text = (PACKER / "initramfs/scripts/local-bottom/millrace").read_text()
    (function,) = re.findall(r"^other_disks\(\) \{\n.*?^\}$", text, re.MULTILINE | re.DOTALL)
    script = f'{function}\nother_disks "$1" "$2"'
    done = subprocess.run(["sh", "-c", script, "sh", block, disk], capture_output=True, text=True, check=True)
    return done.stdout.split()


OURS = {"vda2": "mr-esp", "vda3": "mr-root-a", "vda4": "mr-root-b", "vda5": "mr-data"}


@pytest.mark.parametrize("title", ["mr-root-a", "mr-root-b", "mr-esp", "mr-data"])
def test_a_second_disk_with_a_name_of_ours_is_seen(tmp_path: Path, title: str) -> None:
    """Whichever of the two was mounted as the root."""
    block = _block_devices(tmp_path, OURS | {"vdb1": title})
    assert _other_disks(block, "vda") == ["vdb"]
    assert set(_other_disks(block, "vdb")) == {"vda"}


def test_other_disks_are_no_concern(tmp_path: Path) -> None:
    """Seeds and disks of other systems."""
    block = _block_devices(tmp_path, OURS | {"vdb1": "cidata", "sda1": "mr-data2", "sda2": "root"})
    assert _other_disks(block, "vda") == []


def test_nothing_of_the_disk_is_used_before_that() -> None:
    """Neither the data partition nor a program of the slot."""
    text = (PACKER / "initramfs/scripts/local-bottom/millrace").read_text()
    assert text.index("\nothers=$(other_disks") < text.index("e2fsck") < text.index("mount ")
    assert text.index("\nothers=$(other_disks") < text.index("chroot ")


def test_grub_forgets_the_trial_before_it_boots_it() -> None:
    """`try` is saved empty before any menu entry can run, or a slot that hangs would be tried for ever."""
    text = (PACKER / "grub/grub.cfg").read_text()
    assert text.index("if save_env") < text.index("set slot=$wanted") < text.index("function boot_slot")
    assert "millrace.try=1" in text


def test_grub_hands_over_the_agreed_command_line() -> None:
    """The root by its partition's name, the slot, and a restart instead of a halt after a panic."""
    text = re.sub(r"\\\n\s*", "", (PACKER / "grub/grub.cfg").read_text())
    (line,) = (line for line in text.splitlines() if line.strip().startswith("if linux "))
    for word in ("root=PARTLABEL=mr-root-$1", " ro ", "millrace.slot=$1", "panic=-1", "console=ttyS0,115200"):
        assert word in line


def test_fixed_account_numbers_are_distinct() -> None:
    """Two accounts with one number would own each other's files."""
    lines = re.findall(r"^(account|group) (\S+) (\d+)", (PACKER / "hooks/accounts").read_text(), re.MULTILINE)
    numbers = [number for _, _, number in lines]
    assert len(numbers) > 10
    assert len(set(numbers)) == len(numbers)

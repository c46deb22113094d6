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

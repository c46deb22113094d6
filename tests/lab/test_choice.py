"""Which data plane is taken, and what happens where VPP cannot be had."""

from pathlib import Path

import pytest

from lab.dataplane_choice import choose, ensure_vpp
from lab.errors import DataplaneUnavailable, LabError
from lab.namespaces import Namespaces


def test_vpp_is_the_default_where_it_is_installed(tmp_path: Path) -> None:
    binary = tmp_path / "vpp"
    assert choose("auto", binary).dataplane == "linux"
    assert "not installed" in choose("auto", binary).reason
    binary.touch()
    assert choose("auto", binary).dataplane == "vpp"
    assert choose("linux", binary).dataplane == "linux"


def test_vpp_that_cannot_be_installed_stops_the_lab(tmp_path: Path) -> None:
    installer = tmp_path / "vpp.sh"
    installer.write_text("#!/bin/sh\nexit 1\n")
    installer.chmod(0o755)
    with pytest.raises(DataplaneUnavailable):
        ensure_vpp(tmp_path / "vpp", installer)


def test_an_installed_vpp_needs_no_installer(tmp_path: Path) -> None:
    (tmp_path / "vpp").touch()
    ensure_vpp(tmp_path / "vpp", tmp_path / "no-such-installer")


def test_names_of_the_live_lab_are_those_of_the_appliance() -> None:
    vpp = Namespaces.named("mr", "vpp")
    assert (vpp.router, vpp.nic, vpp.lan) == ("dataplane", "mr-nic", "mr-lan")
    linux = Namespaces.named("mr", "linux")
    assert linux.nic == linux.router == "dataplane"
    assert "mr-nic" not in linux.all()


@pytest.mark.parametrize("prefix", ["", "1a", "has-dash", "toolongname", "../x"])
def test_a_prefix_that_is_no_name_is_refused(prefix: str) -> None:
    with pytest.raises(LabError):
        Namespaces.named(prefix, "linux")

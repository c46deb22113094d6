"""The table of NICs: one driver for each PCI id, and the fallback where it is not available."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from appliance.platform.nic_table import FAMILIES, Choice, Device, choose, fallback, family_of, table_markdown

ROOT = Path(__file__).resolve().parents[3]


def test_no_id_is_of_two_families_and_all_are_ids() -> None:
    ids = [pci_id for family in FAMILIES for pci_id in family.ids]
    assert len(ids) == len(set(ids))
    assert all(re.fullmatch(r"[0-9a-f]{4}:[0-9a-f]{4}", pci_id) for pci_id in ids)


@pytest.mark.parametrize(
    ("pci_id", "driver"),
    [
        ("1af4:1000", "native"),
        ("1af4:1041", "dpdk"),
        ("15ad:07b0", "dpdk"),
        ("8086:10fb", "dpdk"),
        ("8086:1572", "dpdk"),
        ("8086:159b", "dpdk"),
        ("15b3:101d", "dpdk"),
        ("8086:100e", "af_packet"),
        ("10ec:8168", "af_packet"),
    ],
)
def test_driver_of_a_nic_where_vpp_has_its_dpdk_plugin(pci_id: str, driver: str) -> None:
    assert choose(Device(pci_id, legacy_io=True), has_dpdk=True).driver == driver


@pytest.mark.parametrize("family", FAMILIES, ids=lambda family: family.name)
def test_without_the_plugin_only_transitional_virtio_is_given_away(family: object) -> None:
    for pci_id in family.ids:  # type: ignore[attr-defined]  # parametrize has no types
        choice = choose(Device(pci_id, legacy_io=True), has_dpdk=False)
        if pci_id == "1af4:1000":
            assert choice == Choice("native", "uio_pci_generic", "virtio, transitional")
        else:
            assert choice.driver == "af_packet"
            assert choice.bind_to is None
            assert choice.cost is not None
            assert "DPDK plugin" in choice.cost
            assert "packets a second" in choice.cost


def test_a_transitional_id_without_its_ports_never_meets_the_native_driver() -> None:
    assert choose(Device("1af4:1000", legacy_io=False), has_dpdk=True).driver == "dpdk"
    assert choose(Device("1af4:1000", legacy_io=False), has_dpdk=False).driver == "af_packet"


def test_modern_virtio_never_meets_the_native_driver() -> None:
    for legacy_io in (False, True):
        for has_dpdk in (False, True):
            assert choose(Device("1af4:1041", legacy_io), has_dpdk=has_dpdk).driver != "native"


def test_vfio_where_there_is_an_iommu() -> None:
    assert choose(Device("15ad:07b0", iommu=True), has_dpdk=True).bind_to == "vfio-pci"
    assert choose(Device("15ad:07b0"), has_dpdk=True).bind_to == "uio_pci_generic"


def test_a_virtual_function_has_no_interrupt_line_for_uio() -> None:
    without = choose(Device("8086:154c", intx=False), has_dpdk=True)
    assert (without.driver, without.bind_to) == ("af_packet", None)
    assert "no IOMMU" in (without.cost or "")
    assert choose(Device("8086:154c", intx=False, iommu=True), has_dpdk=True).bind_to == "vfio-pci"


def test_mlx5_stays_with_its_kernel_driver() -> None:
    assert choose(Device("15b3:1017", iommu=True), has_dpdk=True).bind_to is None
    assert choose(Device("15b3:1017", iommu=True), has_dpdk=True).driver == "dpdk"


def test_capital_letters_are_the_same_id() -> None:
    assert family_of("15AD:07B0") is family_of("15ad:07b0") is not None


def test_a_fallback_keeps_the_family_and_says_why() -> None:
    choice = fallback(choose(Device("15ad:07b0"), has_dpdk=True), "it cannot be bound: no")
    assert choice.driver == "af_packet"
    assert choice.family == "VMware vmxnet3"
    assert "it cannot be bound: no" in (choice.cost or "")


def test_the_docs_have_the_same_table() -> None:
    """``python -m appliance.platform table`` prints it."""
    assert table_markdown() in (ROOT / "docs/data-nics.md").read_text()

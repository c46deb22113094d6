"""The libvirt domain and the descriptors of an orchestrator."""

import io
import shutil
import subprocess
import tarfile
import xml.etree.ElementTree as ET
from pathlib import Path
from xml.etree.ElementTree import Element

import pytest
import yaml

from ova import __main__ as command
from ova import libvirt, vnf
from ova.errors import OvaError
from ova.sizes import SIZES, Size, size_named

DISK = Path("/images/millrace.qcow2")


def _domain(size: Size, host: libvirt.Host, seed: Path | None = None) -> Element:
    return ET.fromstring(libvirt.render(libvirt.Guest("r1", size, DISK, seed), host))


@pytest.mark.parametrize("size", SIZES, ids=lambda size: size.name)
def test_forwarding_cores_are_left_alone(size: Size) -> None:
    """Each virtual CPU has a core of its own; QEMU's threads run elsewhere; all memory is huge pages."""
    domain = _domain(size, libvirt.Host(range(4, 4 + size.cpus), (0, 1), hugepage_mib=2, numa_node=1))
    pinned = [pin.get("cpuset") for pin in domain.iterfind("cputune/vcpupin")]
    assert pinned == [str(cpu) for cpu in range(4, 4 + size.cpus)]
    apart = [domain.find(f"cputune/{name}") for name in ("emulatorpin", "iothreadpin")]
    assert [pin.get("cpuset") for pin in apart if pin is not None] == ["0,1", "0,1"]
    page = domain.find("memoryBacking/hugepages/page")
    assert page is not None
    assert page.attrib == {"size": "2", "unit": "MiB"}
    memory = domain.find("numatune/memory")
    assert memory is not None
    assert memory.get("nodeset") == "1"


@pytest.mark.skipif(shutil.which("virt-xml-validate") is None, reason="no virt-xml-validate")
@pytest.mark.parametrize("size", SIZES, ids=lambda size: size.name)
@pytest.mark.parametrize("seed", [None, Path("/images/seed.iso")], ids=["alone", "with a seed"])
def test_libvirt_takes_the_domain(size: Size, seed: Path | None, tmp_path: Path) -> None:
    """By libvirt's own schema."""
    host = libvirt.Host(range(4, 4 + size.cpus), (0, 1), hugepage_mib=2, numa_node=1)
    path = tmp_path / "r1.xml"
    path.write_bytes(libvirt.render(libvirt.Guest("r1", size, DISK, seed), host))
    done = subprocess.run(
        ["virt-xml-validate", str(path), "domain"], capture_output=True, text=True, timeout=60, check=False
    )
    assert done.returncode == 0, done.stdout + done.stderr


def test_nics_are_transitional_on_the_first_bus() -> None:
    """Behind a PCIe root port a virtio NIC is modern only, which VPP's own driver does not take."""
    domain = _domain(size_named("medium"), libvirt.Host((4, 5, 6, 7), (0,)))
    machine = domain.find("os/type")
    assert machine is not None
    assert machine.get("machine") == "pc"
    nics = domain.findall("devices/interface")
    models = [node.get("model") or node.get("type") for nic in nics for node in nic.findall("model")]
    assert models == ["virtio-transitional"] * 3
    slots = [node.attrib for nic in nics for node in nic.findall("address")]
    assert [slot["slot"] for slot in slots] == ["0x05", "0x06", "0x07"]
    assert {slot["bus"] for slot in slots} == {"0x00"}
    queues = [node.get("queues") for nic in nics for node in nic.findall("driver")]
    assert queues == ["3", "3"]


def test_mac_addresses_stay_and_differ() -> None:
    host = libvirt.Host((2, 3), (0,))
    first, again = (_domain(SIZES[0], host) for _ in range(2))
    macs = [node.get("address") for node in first.iterfind("devices/interface/mac")]
    assert macs == [node.get("address") for node in again.iterfind("devices/interface/mac")]
    assert len(set(macs)) == 3
    assert all(mac is not None and mac.startswith("52:54:00:") for mac in macs)


def test_without_a_name_each_host_draws_its_own_identity(tmp_path: Path) -> None:
    """The domain in dist/ is defined on many hosts of one network."""
    out = tmp_path / "r.xml"
    words = ["domain", "--disk", str(DISK), "--out", str(out)]
    assert command.main(words) == 0
    shipped = ET.fromstring(out.read_bytes())
    assert (shipped.findtext("name"), shipped.find("uuid")) == ("millrace", None)
    assert not shipped.findall("devices/interface/mac")
    assert command.main([*words, "--name", "r1"]) == 0
    named = ET.fromstring(out.read_bytes())
    assert (named.findtext("name"), len(named.findall("devices/interface/mac"))) == ("r1", 3)


def test_a_seed_is_a_cd() -> None:
    domain = _domain(SIZES[0], libvirt.Host((2, 3), (0,)), Path("/images/seed.iso"))
    sources = [node.get("file") for node in domain.iterfind("devices/disk/source")]
    assert sources == [str(DISK), "/images/seed.iso"]


@pytest.mark.parametrize(
    "host,said",
    [
        (libvirt.Host((2,), (0,)), "--cpus: 1 CPUs are given, small needs 2"),
        (libvirt.Host((2, 2), (0,)), "--cpus: a CPU is given twice"),
        (libvirt.Host((2, 3), ()), "--emulator-cpus: at least one"),
        (libvirt.Host((2, 3), (3,)), "--emulator-cpus: CPU 3 is one of --cpus"),
        (libvirt.Host((2, 3), (0,), bridges=("br0",)), "--bridge"),
        (libvirt.Host((2, 3), (0,), hugepage_mib=4), "--hugepage-mib"),
    ],
)
def test_hosts_that_do_not_fit(host: libvirt.Host, said: str) -> None:
    with pytest.raises(OvaError, match=said):
        _domain(SIZES[0], host)


def test_domain_command(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    out = tmp_path / "r.xml"
    words = ["domain", "--disk", str(DISK), "--size", "medium", "--cpus", "4,6-8", "--out", str(out)]
    assert command.main(words) == 0
    pins = ET.fromstring(out.read_bytes()).iterfind("cputune/vcpupin")
    assert [pin.get("cpuset") for pin in pins] == ["4", "6", "7", "8"]
    with pytest.raises(SystemExit):
        command.main([*words, "--cpus", "4-"])
    assert "no list of CPUs" in capsys.readouterr().err


def _read(package: Path) -> tuple[str, dict[str, object], dict[str, bytes]]:
    with tarfile.open(package) as archive:
        files = {}
        for member in archive:
            if member.isfile():
                stream = archive.extractfile(member)
                assert stream is not None
                files[member.name] = stream.read()
    name = next(found for found in files if found.endswith(".yaml"))
    return name, yaml.safe_load(io.BytesIO(files[name])), files


def test_descriptors_fit_each_other(tmp_path: Path) -> None:
    """The service connects each connection point that the function offers, and no other."""
    packages = vnf.write(tmp_path, "1.2.3", "millrace-1.2.3.qcow2", 1_700_000_000)
    (_, function, _), (_, service, _) = map(_read, packages)
    assert function == vnf.vnfd("1.2.3", "millrace-1.2.3.qcow2")
    assert service == vnf.nsd("1.2.3")
    vnfd, nsd = function["vnfd"], service["nsd"]
    assert isinstance(vnfd, dict)
    assert isinstance(nsd, dict)
    offered = [point["id"] for point in vnfd["ext-cpd"]]
    profile = nsd["nsd"][0]["df"][0]["vnf-profile"][0]
    links = profile["virtual-link-connectivity"]
    assert [link["constituent-cpd-id"][0]["constituent-cpd-id"] for link in links] == offered
    assert offered == ["mgmt-ext", "data1-ext", "data2-ext"]
    assert vnfd["mgmt-cp"] in offered
    inner = {point["id"] for point in vnfd["vdu"][0]["int-cpd"]}
    assert {point["int-cpd"]["cpd"] for point in vnfd["ext-cpd"]} == inner
    networks = {link["id"] for link in nsd["nsd"][0]["virtual-link-desc"]}
    assert {link["virtual-link-profile-id"] for link in links} == networks


def test_function_has_every_size() -> None:
    sizes = vnf.vnfd("1", "i")["vnfd"]["virtual-compute-desc"]
    assert [(size["id"], size["virtual-cpu"]["num-virtual-cpu"]) for size in sizes] == [
        ("small", 2),
        ("medium", 4),
        ("large", 8),
    ]


def test_packages_are_the_same_each_time(tmp_path: Path) -> None:
    for folder in ("a", "b"):
        assert command.main(
            ["descriptors", "--version", "1", "--image", "i", "--out", str(tmp_path / folder)]
        ) == (0)
    for name in ("millrace_vnf-1.tar.gz", "millrace_ns-1.tar.gz"):
        assert (tmp_path / "a" / name).read_bytes() == (tmp_path / "b" / name).read_bytes()


def test_descriptors_of_the_two_data_planes_lie_side_by_side(tmp_path: Path) -> None:
    vpp = vnf.write(tmp_path, "1", "millrace-1.qcow2", 0)
    linux = vnf.write(tmp_path, "1", "millrace-1-linux.qcow2", 0, "linux")
    assert [path.name for path in linux] == ["millrace_vnf-1-linux.tar.gz", "millrace_ns-1-linux.tar.gz"]
    assert len({*vpp, *linux}) == 4


def test_checksums_are_of_the_files(tmp_path: Path) -> None:
    import hashlib

    for package in vnf.write(tmp_path, "1", "i", 0):
        name, _, files = _read(package)
        folder = name.rpartition("/")[0]
        digest, listed = files[f"{folder}/checksums.txt"].decode().split()
        assert f"{folder}/{listed}" == name
        assert hashlib.md5(files[name], usedforsecurity=False).hexdigest() == digest

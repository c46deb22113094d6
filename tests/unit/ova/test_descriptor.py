"""The OVF descriptor: its content, and that the rules detect each kind of error."""

from collections.abc import Callable
from xml.etree.ElementTree import Element, SubElement

import pytest

from ova import descriptor, rules, safe_xml
from ova.descriptor import ETHERNET, VMW
from ova.errors import OvaError
from ova.properties import CATEGORIES
from ova.rules import ovf, rasd
from ova.sizes import SIZES

GIB = 1 << 30


@pytest.fixture
def envelope() -> Element:
    product = descriptor.Product("millrace", "1.2.3", "vpp")
    return safe_xml.parse(descriptor.render(product, descriptor.Disk("disk1.vmdk", 1000, 10 * GIB, 2000)))


def _items(envelope: Element) -> list[Element]:
    return list(envelope.iter(ovf("Item")))


def _item(envelope: Element, name: str) -> Element:
    return next(item for item in _items(envelope) if item.findtext(rasd("ElementName")) == name)


def test_no_rule_is_broken(envelope: Element) -> None:
    assert rules.problems(envelope) == []


def test_it_is_the_same_each_time() -> None:
    product, disk = descriptor.Product("millrace", "1", "linux"), descriptor.Disk("d.vmdk", 1, GIB, 1)
    assert descriptor.render(product, disk) == descriptor.render(product, disk)


def test_sizes_are_deployment_options(envelope: Element) -> None:
    """Each option has its own processors and memory; one is the default."""
    options = list(envelope.iter(ovf("Configuration")))
    assert [option.get(ovf("id")) for option in options] == ["small", "medium", "large"]
    assert [option.get(ovf("default")) for option in options] == ["true", None, None]
    for size in SIZES:
        chosen = [item for item in _items(envelope) if item.get(ovf("configuration")) == size.name]
        quantities = {
            item.findtext(rasd("ResourceType")): item.findtext(rasd("VirtualQuantity")) for item in chosen
        }
        assert quantities == {"3": str(size.cpus), "4": str(size.memory_mib)}


def test_nics_are_vmxnet3_management_first(envelope: Element) -> None:
    nics = [item for item in _items(envelope) if item.findtext(rasd("ResourceType")) == ETHERNET]
    assert [nic.findtext(rasd("Connection")) for nic in nics] == ["Management", "Data 1", "Data 2"]
    assert {nic.findtext(rasd("ResourceSubType")) for nic in nics} == {"VmxNet3"}
    places = [int(nic.findtext(rasd("AddressOnParent")) or 0) for nic in nics]
    assert places == sorted(places)


def test_hardware_of_esxi_67(envelope: Element) -> None:
    found = [node.text for node in envelope.iter() if node.tag.endswith("}VirtualSystemType")]
    assert found == ["vmx-13"]
    assert _item(envelope, "SCSI controller 0").findtext(rasd("ResourceSubType")) == "VirtualSCSI"


def test_properties_reach_the_guest_both_ways(envelope: Element) -> None:
    section = next(envelope.iter(ovf("VirtualHardwareSection")))
    assert section.get(ovf("transport")) == "com.vmware.guestInfo iso"
    keys = [node.get(ovf("key")) for node in envelope.iter(ovf("Property"))]
    assert keys == [entry.key for category in CATEGORIES for entry in category.properties]
    hidden = {
        node.get(ovf("key")) for node in envelope.iter(ovf("Property")) if node.get(ovf("password")) == "true"
    }
    assert hidden == {"admin_password", "admin_password_hash"}


def test_the_guest_is_kept_from_setting_guestinfo(envelope: Element) -> None:
    """It reads its seed there. Other platforms may leave the option out."""
    section = next(envelope.iter(ovf("VirtualHardwareSection")))
    (option,) = section.findall(f"{{{VMW}}}ExtraConfig")
    assert option.get(f"{{{VMW}}}key") == "isolation.tools.setinfo.disable"
    assert (option.get(f"{{{VMW}}}value"), option.get(ovf("required"))) == ("TRUE", "false")
    # The schema wants what is not its own after the hardware.
    assert list(section)[-1] is option


def test_nobody_has_to_accept_anything(envelope: Element) -> None:
    assert list(envelope.iter(ovf("EulaSection"))) == []


def _drop(path: str) -> Callable[[Element], None]:
    def change(envelope: Element) -> None:
        parent = next(node for node in envelope.iter() if node.find(ovf(path)) is not None)
        found = parent.find(ovf(path))
        assert found is not None
        parent.remove(found)

    return change


def _set(tag: str, attribute: str, value: str) -> Callable[[Element], None]:
    return lambda envelope: next(envelope.iter(ovf(tag))).set(ovf(attribute), value)


def _setting(item: str, name: str, value: str) -> Callable[[Element], None]:
    def change(envelope: Element) -> None:
        found = _item(envelope, item).find(rasd(name))
        assert found is not None
        found.text = value

    return change


def _remove_setting(item: str, name: str) -> Callable[[Element], None]:
    def change(envelope: Element) -> None:
        node = _item(envelope, item)
        found = node.find(rasd(name))
        assert found is not None
        node.remove(found)

    return change


def _append_setting(envelope: Element) -> None:
    SubElement(_item(envelope, "Hard disk 1"), rasd("Address")).text = "1"


def _second_system(envelope: Element) -> None:
    SubElement(envelope, ovf("VirtualSystem"))


def _section_after(envelope: Element) -> None:
    SubElement(SubElement(envelope, ovf("AnnotationSection")), ovf("Info"))


def _no_cd(envelope: Element) -> None:
    next(envelope.iter(ovf("VirtualHardwareSection"))).remove(_item(envelope, "CD/DVD drive 1"))


def _twice(tag: str) -> Callable[[Element], None]:
    def change(envelope: Element) -> None:
        parent = next(node for node in envelope.iter() if node.find(ovf(tag)) is not None)
        found = parent.find(ovf(tag))
        assert found is not None
        parent.append(found)

    return change


@pytest.mark.parametrize(
    "change,said",
    [
        (_drop("References"), "does not begin with References"),
        (_drop("VirtualHardwareSection"), "there is no VirtualHardwareSection"),
        (_second_system, "2 virtual systems"),
        (_section_after, "AnnotationSection follows the virtual system"),
        (_twice("NetworkSection"), "NetworkSection follows"),
        (_drop("Info"), "does not begin with Info"),
        (_set("File", "size", "big"), "no number of bytes"),
        (_set("Disk", "fileRef", "file9"), "fileRef 'file9' is no File"),
        (_set("Disk", "capacity", "ten"), "is not a size"),
        (_set("Disk", "format", ""), "format is missing"),
        (_twice("Network"), "2 Networks have the name Management"),
        (_set("Network", "name", "Other"), "Connection 'Management' is no Network"),
        (_twice("Configuration"), "2 Configurations have the id small"),
        (_set("Configuration", "id", "tiny"), "there is no configuration small"),
        (_set("Item", "configuration", "tiny"), "there is no configuration tiny"),
        (_setting("Hard disk 1", "InstanceID", "3"), "2 Items have the InstanceID 3"),
        (_setting("Hard disk 1", "Parent", "99"), "has the Parent 99, which is no Item"),
        (_setting("Hard disk 1", "HostResource", "ovf:/disk/other"), "is no Disk"),
        (_setting("2 virtual CPUs", "VirtualQuantity", "two"), "VirtualQuantity is no number"),
        (_remove_setting("SCSI controller 0", "ResourceType"), "ResourceType is missing"),
        (_append_setting, "not in alphabetical order"),
        (_no_cd, "the transport iso needs a CD drive"),
        (_twice("Property"), "2 properties have the key hostname"),
        (_set("Property", "key", "host name"), "characters that OVF does not allow"),
        (_set("Property", "type", "text"), "the type 'text' is unknown"),
        (_set("Property", "qualifiers", "MaxLength(3)"), "the qualifier 'MaxLength(3)' is unknown"),
        (_twice("Vendor"), "ProductSection: its elements are not in the schema's order"),
    ],
)
def test_what_is_wrong_is_named(envelope: Element, change: Callable[[Element], None], said: str) -> None:
    change(envelope)
    assert any(said in problem for problem in rules.problems(envelope)), rules.problems(envelope)


@pytest.mark.parametrize(
    "text,said",
    [
        (b'<!DOCTYPE x [<!ENTITY a "b">]><x>&a;</x>', "document type"),
        (b'<!DOCTYPE x SYSTEM "file:///etc/passwd"><x/>', "document type"),
        (b"<x>", "not XML"),
        (b"", "not XML"),
    ],
)
def test_hostile_xml(text: bytes, said: str) -> None:
    with pytest.raises(OvaError, match=said):
        safe_xml.parse(text)


def test_another_root_is_refused() -> None:
    assert rules.problems(safe_xml.parse(b"<Envelope/>"))

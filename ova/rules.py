"""The requirements of DSP0243 1.1 for a descriptor, as far as they can be checked without its schema
files.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from xml.etree.ElementTree import Element

from ova.descriptor import CD_ROM, CPU, DISK, ETHERNET, MEMORY, OVF, RASD, VSSD

_SECTIONS_OF_ENVELOPE = {
    "DiskSection",
    "NetworkSection",
    "DeploymentOptionSection",
    "ResourceAllocationSection",
    "AnnotationSection",
    "ProductSection",
    "EulaSection",
}
_PRODUCT_ORDER = (
    *("Info", "Product", "Vendor", "Version", "FullVersion", "ProductUrl", "VendorUrl", "AppUrl", "Icon"),
    "Category",
)
_TYPES = {
    *(f"{sign}int{bits}" for sign in "us" for bits in (8, 16, 32, 64)),
    *("string", "boolean", "real32", "real64", "ip"),
}
_QUALIFIER = re.compile(r"(MinLen|MaxLen|MinValue|MaxValue)\(\d+\)|ValueMap\{.*\}")
_KEY = re.compile(r"[A-Za-z0-9_-][A-Za-z0-9_.-]*")
_UNITS = {"byte": 1, **{f"byte * 2^{power}": 1 << power for power in (10, 20, 30, 40)}}


@dataclass(frozen=True)
class DiskReference:
    """A file that a descriptor names as a disk."""

    href: str
    capacity_bytes: int


@dataclass(frozen=True)
class Described:
    """The statements of a descriptor that must match the rest of the package."""

    sizes: Mapping[str, int | None]
    """Href of each referenced file, and the size it should have."""
    disks: tuple[DiskReference, ...]


def ovf(name: str) -> str:
    """``name`` in OVF's namespace."""
    return f"{{{OVF}}}{name}"


def rasd(name: str) -> str:
    """``name`` in the namespace of resource settings."""
    return f"{{{RASD}}}{name}"


def problems(envelope: Element) -> list[str]:
    """All problems; empty when there are none."""
    if envelope.tag != ovf("Envelope"):
        return [f"the root is {envelope.tag}, not Envelope in {OVF}"]
    rules: tuple[Callable[[Element], Iterator[str]], ...] = (
        _order,
        _info,
        _references,
        _deployment,
        _hardware,
        _product,
    )
    return [problem for rule in rules for problem in rule(envelope)]


def described(envelope: Element) -> Described:
    """Files and disks of a descriptor without problems."""
    files = {
        node.get(ovf("id"), ""): node for node in envelope.iterfind(f"{ovf('References')}/{ovf('File')}")
    }
    sizes = {
        node.get(ovf("href"), ""): int(size) if (size := node.get(ovf("size"))) else None
        for node in files.values()
    }
    disks = tuple(
        DiskReference(files[reference].get(ovf("href"), ""), _capacity(node) or 0)
        for node in envelope.iter(ovf("Disk"))
        if (reference := node.get(ovf("fileRef")))
    )
    return Described(sizes, disks)


def _local(node: Element) -> str:
    return node.tag.rpartition("}")[2]


def _order(envelope: Element) -> Iterator[str]:
    """References first, then sections, then the one virtual system or collection, then Strings."""
    names = [_local(node) for node in envelope if node.tag.startswith(f"{{{OVF}}}")]
    content = [name for name in names if name in ("VirtualSystem", "VirtualSystemCollection")]
    if names[:1] != ["References"]:
        yield "Envelope does not begin with References"
    if len(content) != 1:
        yield f"Envelope has {len(content)} virtual systems or collections, not one"
        return
    middle = names[1 : names.index(content[0])]
    for name in middle:
        if name not in _SECTIONS_OF_ENVELOPE:
            yield f"{name} does not belong into Envelope"
    for name, count in Counter(middle).items():
        if count > 1:
            yield f"Envelope has {count} of {name}"
    for name in names[names.index(content[0]) + 1 :]:
        if name != "Strings":
            yield f"{name} follows the virtual system"


def _info(envelope: Element) -> Iterator[str]:
    for node in envelope.iter():
        name = _local(node)
        if (name.endswith("Section") or name == "VirtualSystem") and (
            len(node) == 0 or node[0].tag != ovf("Info")
        ):
            yield f"{name} does not begin with Info"


def _references(envelope: Element) -> Iterator[str]:
    files = list(envelope.iterfind(f"{ovf('References')}/{ovf('File')}"))
    yield from _unique("File", "id", files)
    yield from _unique("File", "href", files)
    ids = {node.get(ovf("id")) for node in files}
    for node in files:
        if (size := node.get(ovf("size"))) is not None and not size.isdecimal():
            yield f"File {node.get(ovf('id'))}: size {size!r} is no number of bytes"
    disks = list(envelope.iter(ovf("Disk")))
    yield from _unique("Disk", "diskId", disks)
    for disk in disks:
        name = disk.get(ovf("diskId"))
        if disk.get(ovf("fileRef")) not in ids | {None}:
            yield f"Disk {name}: fileRef {disk.get(ovf('fileRef'))!r} is no File"
        if not disk.get(ovf("format")):
            yield f"Disk {name}: format is missing"
        if _capacity(disk) is None:
            yield f"Disk {name}: capacity or capacityAllocationUnits is not a size"
    yield from _unique("Network", "name", list(envelope.iter(ovf("Network"))))


def _unique(kind: str, attribute: str, nodes: list[Element]) -> Iterator[str]:
    for value, count in Counter(node.get(ovf(attribute)) for node in nodes).items():
        if not value:
            yield f"a {kind} has no {attribute}"
        elif count > 1:
            yield f"{count} {kind}s have the {attribute} {value}"


def _capacity(disk: Element) -> int | None:
    units = _UNITS.get(disk.get(ovf("capacityAllocationUnits"), "byte"))
    capacity = disk.get(ovf("capacity"), "")
    return int(capacity) * units if units and capacity.isdecimal() else None


def _configurations(envelope: Element) -> list[str]:
    return [node.get(ovf("id"), "") for node in envelope.iter(ovf("Configuration"))]


def _deployment(envelope: Element) -> Iterator[str]:
    nodes = list(envelope.iter(ovf("Configuration")))
    yield from _unique("Configuration", "id", nodes)
    defaults = [node for node in nodes if node.get(ovf("default")) == "true"]
    if len(defaults) > 1:
        yield f"{len(defaults)} Configurations are the default"
    for node in nodes:
        if [_local(child) for child in node] != ["Label", "Description"]:
            yield f"Configuration {node.get(ovf('id'))}: it has not Label and Description"


def _hardware(envelope: Element) -> Iterator[str]:
    sections = list(envelope.iter(ovf("VirtualHardwareSection")))
    if not sections:
        yield "there is no VirtualHardwareSection"
    known = _configurations(envelope)
    for section in sections:
        if section.find(f"{ovf('System')}/{{{VSSD}}}VirtualSystemType") is None:
            yield "VirtualHardwareSection: System has no VirtualSystemType"
        for item in section.iterfind(ovf("Item")):
            yield from _item(item, envelope, known)
        for chosen in known or [""]:
            used = [
                item
                for item in section.iterfind(ovf("Item"))
                if item.get(ovf("configuration")) is None
                or chosen in (item.get(ovf("configuration")) or "").split()
            ]
            yield from _machine(used, chosen or "the virtual machine")
            if "iso" in (section.get(ovf("transport")) or "").split() and not any(
                item.findtext(rasd("ResourceType")) == CD_ROM for item in used
            ):
                yield f"{chosen or 'the virtual machine'}: the transport iso needs a CD drive"


def _item(item: Element, envelope: Element, known: list[str]) -> Iterator[str]:
    name = f"Item {item.findtext(rasd('ElementName'))!r}"
    settings = [node.tag for node in item if node.tag.startswith(f"{{{RASD}}}")]
    if settings != sorted(settings):
        yield f"{name}: its settings are not in alphabetical order, as the schema has them"
    for needed in ("ElementName", "InstanceID", "ResourceType"):
        if not item.findtext(rasd(needed)):
            yield f"{name}: {needed} is missing"
    for configuration in (item.get(ovf("configuration")) or "").split():
        if configuration not in known:
            yield f"{name}: there is no configuration {configuration}"
    resource = item.findtext(rasd("ResourceType"))
    if resource in (CPU, MEMORY) and not (item.findtext(rasd("VirtualQuantity")) or "").isdecimal():
        yield f"{name}: VirtualQuantity is no number"
    if resource == ETHERNET:
        networks = {node.get(ovf("name")) for node in envelope.iter(ovf("Network"))}
        if item.findtext(rasd("Connection")) not in networks:
            yield f"{name}: Connection {item.findtext(rasd('Connection'))!r} is no Network"
    if resource == DISK:
        disks = {f"ovf:/disk/{node.get(ovf('diskId'))}" for node in envelope.iter(ovf("Disk"))}
        if item.findtext(rasd("HostResource")) not in disks:
            yield f"{name}: HostResource {item.findtext(rasd('HostResource'))!r} is no Disk"


def _machine(items: list[Element], name: str) -> Iterator[str]:
    """One configuration's hardware as a whole."""
    instances = [item.findtext(rasd("InstanceID")) for item in items]
    for instance, count in Counter(instances).items():
        if count > 1:
            yield f"{name}: {count} Items have the InstanceID {instance}"
    for item in items:
        parent = item.findtext(rasd("Parent"))
        if parent is not None and parent not in instances:
            element = item.findtext(rasd("ElementName"))
            yield f"{name}: Item {element!r} has the Parent {parent}, which is no Item"
    kinds = Counter(item.findtext(rasd("ResourceType")) for item in items)
    for kind, what in ((CPU, "processor"), (MEMORY, "memory")):
        if kinds[kind] != 1:
            yield f"{name}: there are {kinds[kind]} Items of ResourceType {kind} ({what}), not one"
    if kinds[DISK] < 1:
        yield f"{name}: there is no disk"


def _product(envelope: Element) -> Iterator[str]:
    keys: Counter[str] = Counter()
    for section in envelope.iter(ovf("ProductSection")):
        order = [name for node in section if (name := _local(node)) != "Property"]
        places = [_PRODUCT_ORDER.index(name) if name in _PRODUCT_ORDER else -1 for name in order]
        if -1 in places or places != sorted(places):
            yield "ProductSection: its elements are not in the schema's order"
        for node in section.iterfind(ovf("Property")):
            key = node.get(ovf("key"), "")
            full = ".".join(filter(None, (section.get(ovf("class")), key, section.get(ovf("instance")))))
            keys[full] += 1
            yield from _property(key, node)
    for key, count in keys.items():
        if count > 1:
            yield f"{count} properties have the key {key}"


def _property(key: str, node: Element) -> Iterator[str]:
    if not _KEY.fullmatch(key) or "." in key:
        yield f"Property {key!r}: its key has characters that OVF does not allow"
    if node.get(ovf("type")) not in _TYPES:
        yield f"Property {key}: the type {node.get(ovf('type'))!r} is unknown"
    for qualifier in (node.get(ovf("qualifiers")) or "").split():
        if not _QUALIFIER.fullmatch(qualifier):
            yield f"Property {key}: the qualifier {qualifier!r} is unknown"
    if not re.fullmatch("(Label )?(Description )?(Value )*", "".join(f"{_local(child)} " for child in node)):
        yield f"Property {key}: its elements are not Label, Description, Value in this order"

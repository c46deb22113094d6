"""Descriptors for an orchestrator: VNFD and NSD in ETSI's model (SOL006), as OSM accepts them.

Each becomes a package: a tar.gz with one folder, its descriptor and the checksums of its files.
"""

from __future__ import annotations

import gzip
import hashlib
import io
import tarfile
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import yaml

from ova.sizes import DATA_NICS, DEFAULT_SIZE, SIZES, Size

DISK_GB = 10
_INTERFACES = ("mgmt", *(f"data{number}" for number in range(1, DATA_NICS + 1)))


def vnfd(version: str, image: str) -> dict[str, Any]:
    """The router as a network function: one unit, a management and two data connection points."""
    return {
        "vnfd": {
            "id": "millrace-vnf",
            "product-name": "millrace-vnf",
            "provider": "Millrace",
            "version": version,
            "description": "Virtual router with management and data interfaces",
            "mgmt-cp": "mgmt-ext",
            "ext-cpd": [
                {"id": f"{name}-ext", "int-cpd": {"vdu-id": "router", "cpd": f"{name}-int"}}
                for name in _INTERFACES
            ],
            "sw-image-desc": [{"id": "millrace", "name": "millrace", "image": image, "version": version}],
            "virtual-compute-desc": [_compute(size) for size in SIZES],
            "virtual-storage-desc": [{"id": "disk", "size-of-storage": str(DISK_GB)}],
            "vdu": [
                {
                    "id": "router",
                    "name": "router",
                    "description": "The router",
                    "sw-image-desc": "millrace",
                    "virtual-compute-desc": DEFAULT_SIZE.name,
                    "virtual-storage-desc": ["disk"],
                    # Orchestrators pass it to the machine as cloud-init; the first boot reads it.
                    "cloud-init": "#cloud-config\n{}\n",
                    "int-cpd": [_connection(name, number) for number, name in enumerate(_INTERFACES)],
                }
            ],
            "df": [
                {
                    "id": "default",
                    "vdu-profile": [{"id": "router", "min-number-of-instances": 1}],
                    "instantiation-level": [
                        {"id": "one", "vdu-level": [{"vdu-id": "router", "number-of-instances": 1}]}
                    ],
                }
            ],
        }
    }


def _compute(size: Size) -> dict[str, Any]:
    return {
        "id": size.name,
        "virtual-cpu": {
            "num-virtual-cpu": size.cpus,
            "pinning": {"policy": "static", "thread-policy": "PREFER"},
        },
        "virtual-memory": {"size": str(size.memory_mib / 1024), "mempage-size": "LARGE"},
    }


def _connection(name: str, number: int) -> dict[str, Any]:
    kind = "PARAVIRT" if number == 0 else "VIRTIO"
    return {
        "id": f"{name}-int",
        "virtual-network-interface-requirement": [
            {"name": name, "position": number, "virtual-interface": {"type": kind}}
        ],
    }


def nsd(version: str) -> dict[str, Any]:
    """An example service: one router between two networks."""
    networks = [
        {"id": "mgmt-net", "mgmt-network": True},
        *({"id": f"{name}-net"} for name in _INTERFACES[1:]),
    ]
    return {
        "nsd": {
            "nsd": [
                {
                    "id": "millrace-ns",
                    "name": "millrace-ns",
                    "designer": "Millrace",
                    "version": version,
                    "description": "One router between two networks",
                    "vnfd-id": ["millrace-vnf"],
                    "virtual-link-desc": networks,
                    "df": [
                        {
                            "id": "default",
                            "vnf-profile": [
                                {
                                    "id": "router",
                                    "vnfd-id": "millrace-vnf",
                                    "virtual-link-connectivity": [
                                        {
                                            "virtual-link-profile-id": f"{name}-net",
                                            "constituent-cpd-id": [
                                                {
                                                    "constituent-base-element-id": "router",
                                                    "constituent-cpd-id": f"{name}-ext",
                                                }
                                            ],
                                        }
                                        for name in _INTERFACES
                                    ],
                                }
                            ],
                        }
                    ],
                }
            ]
        }
    }


def write(
    directory: Path, version: str, image: str, mtime_s: int, dataplane: str = "vpp"
) -> tuple[Path, ...]:
    """Write both packages and return their paths. Raises OSError."""
    suffix = "" if dataplane == "vpp" else f"-{dataplane}"
    directory.mkdir(parents=True, exist_ok=True)
    made = []
    for name, descriptor in (("millrace_vnf", vnfd(version, image)), ("millrace_ns", nsd(version))):
        kind = "vnfd" if "vnfd" in descriptor else "nsd"
        path = directory / f"{name}-{version}{suffix}.tar.gz"
        path.write_bytes(_package(name, f"{name}_{kind}.yaml", descriptor, mtime_s))
        made.append(path)
    return tuple(made)


def _package(folder: str, name: str, descriptor: Mapping[str, Any], mtime_s: int) -> bytes:
    content = yaml.safe_dump(descriptor, sort_keys=False).encode()
    # OSM reads MD5; it protects against accidents only.
    checksum = hashlib.md5(content, usedforsecurity=False).hexdigest()
    files = {name: content, "checksums.txt": f"{checksum}  {name}\n".encode()}
    packed = io.BytesIO()
    with tarfile.open(fileobj=packed, mode="w", format=tarfile.USTAR_FORMAT) as archive:
        top = tarfile.TarInfo(folder)
        top.type, top.mode, top.mtime = tarfile.DIRTYPE, 0o755, mtime_s
        archive.addfile(top)
        for member, data in files.items():
            entry = tarfile.TarInfo(f"{folder}/{member}")
            entry.size, entry.mode, entry.mtime = len(data), 0o644, mtime_s
            archive.addfile(entry, io.BytesIO(data))
    return gzip.compress(packed.getvalue(), mtime=mtime_s)

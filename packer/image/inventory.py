"""The content of the image: Debian packages and Python distributions, as a list and as a CycloneDX SBOM."""

import hashlib
import json
import uuid
from dataclasses import dataclass
from email.parser import HeaderParser
from pathlib import Path
from typing import Any
from urllib.parse import quote

from packer.image.command import run_in
from packer.image.file_system import NAMESPACE
from packer.image.python_code import PYTHON_VERSION, VENV

_FIELDS = "${Package}\\t${Version}\\t${Architecture}\\t${source:Package}\\t${Maintainer}\\n"


@dataclass(frozen=True, order=True)
class Component:
    """One package: `kind` is `deb` or `pypi`."""

    kind: str
    name: str
    version: str
    architecture: str = ""
    source: str = ""
    supplier: str = ""
    license: str = ""

    @property
    def package_url(self) -> str:
        """Its package URL (purl)."""
        if self.kind == "deb":
            namespace = "debian/" if "Debian" in self.supplier or "debian" in self.supplier else ""
            place = f"pkg:deb/{namespace}{quote(self.name)}@{quote(self.version, safe='.-~+')}"
            return f"{place}?arch={self.architecture}&distro=debian-13"
        return f"pkg:pypi/{self.name.lower().replace('_', '-')}@{self.version}"

    def as_cyclonedx(self) -> dict[str, Any]:
        """Its entry in a CycloneDX document."""
        entry: dict[str, Any] = {
            "type": "library",
            "bom-ref": self.package_url,
            "name": self.name,
            "version": self.version,
            "purl": self.package_url,
        }
        if self.supplier:
            entry["supplier"] = {"name": self.supplier}
        if self.license:
            entry["licenses"] = [{"license": {"name": self.license}}]
        if self.source and self.source != self.name:
            entry["properties"] = [{"name": "debian:source", "value": self.source}]
        return entry


def debian_components(listing: str) -> list[Component]:
    """The packages in the output of dpkg-query with the fields of this module."""
    rows = (line.split("\t") for line in listing.splitlines() if line)
    return [Component("deb", name, version, arch, source, who) for name, version, arch, source, who in rows]


def python_components(site_packages: Path) -> list[Component]:
    """The distributions installed in `site_packages`."""
    found = []
    for metadata in sorted(site_packages.glob("*.dist-info/METADATA")):
        fields = HeaderParser().parsestr(metadata.read_text(errors="replace"))
        terms = (fields["License-Expression"] or fields["License"] or "").strip().splitlines()
        found.append(
            Component("pypi", fields["Name"], fields["Version"], license=terms[0][:120] if terms else "")
        )
    return found


def components(root: Path) -> list[Component]:
    """Everything installed in the tree `root`, sorted."""
    listing = run_in(root, ["dpkg-query", "-W", "-f", _FIELDS])
    packages = root / VENV.lstrip("/") / f"lib/python{PYTHON_VERSION}/site-packages"
    return sorted(debian_components(listing) + python_components(packages))


def package_list(parts: list[Component]) -> str:
    """One line a package: kind, name, version."""
    return "".join(f"{part.kind} {part.name} {part.version}\n" for part in parts)


def cyclonedx(parts: list[Component], *, name: str, version: str, timestamp: str) -> str:
    """A CycloneDX 1.6 document; its serial number is derived from its content. `timestamp` is ISO 8601,
    UTC.
    """
    entries = [part.as_cyclonedx() for part in parts]
    digest = hashlib.sha256(json.dumps(entries, sort_keys=True).encode()).hexdigest()
    document = {
        "$schema": "http://cyclonedx.org/schema/bom-1.6.schema.json",
        "bomFormat": "CycloneDX",
        "specVersion": "1.6",
        "serialNumber": f"urn:uuid:{uuid.uuid5(NAMESPACE, digest)}",
        "version": 1,
        "metadata": {
            "timestamp": timestamp,
            "component": {"type": "operating-system", "bom-ref": name, "name": name, "version": version},
        },
        "components": entries,
    }
    return json.dumps(document, indent=1, sort_keys=True) + "\n"

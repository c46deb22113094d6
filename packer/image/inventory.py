"""The content of the image as a list and as a CycloneDX SBOM: Debian packages, the boot loader, Python
distributions with what is compiled into them, the pages' scripts and styles, and Millrace's own programs.
"""

import hashlib
import json
import uuid
from collections.abc import Iterator
from dataclasses import dataclass
from email.parser import HeaderParser
from pathlib import Path
from typing import Any
from urllib.parse import quote

from lab import rust_program
from packer.image import bench_generator, rust_programs
from packer.image.command import run, run_in
from packer.image.file_system import NAMESPACE
from packer.image.python_code import PYTHON_VERSION, VENV

_FIELDS = "${Package}\\t${Version}\\t${Architecture}\\t${source:Package}\\t${Maintainer}\\n"
BOOT_LOADER = ("grub-efi-amd64-bin", "grub-pc-bin")
"""Packages of the tools chroot from which GRUB's images on the disk are made."""
OWN = frozenset({"appliance", "frr-config", "vpp-config", "webui"})
"""Python distributions of this repository. On PyPI these names belong to others."""


@dataclass(frozen=True, order=True)
class Component:
    """One part: `kind` is `deb`, `pypi`, `npm`, `own` (of this repository), `file`, or as a wheel has it."""

    kind: str
    name: str
    version: str
    architecture: str = ""
    source: str = ""
    supplier: str = ""
    license: str = ""
    within: str = ""
    """The part that contains it."""
    url: str = ""
    """Its package URL where another SBOM gives it."""

    @property
    def package_url(self) -> str:
        """Its package URL (purl)."""
        if self.url:
            return self.url
        if self.kind == "npm":
            return f"pkg:npm/{quote(self.name)}@{self.version}"
        if self.kind in ("own", "file"):
            return (
                f"pkg:generic/{'millrace' if self.kind == 'own' else self.within}/{self.name}@{self.version}"
            )
        if self.kind == "deb":
            namespace = "debian/" if "Debian" in self.supplier or "debian" in self.supplier else ""
            place = f"pkg:deb/{namespace}{quote(self.name)}@{quote(self.version, safe='.-~+')}"
            return f"{place}?arch={self.architecture}&distro=debian-13"
        return f"pkg:pypi/{self.name.lower().replace('_', '-')}@{self.version}"

    def as_cyclonedx(self) -> dict[str, Any]:
        """Its entry in a CycloneDX document."""
        entry: dict[str, Any] = {
            "type": "file" if self.kind == "file" else "library",
            "bom-ref": self.package_url + (f"#{self.within}" if self.within else ""),
            "name": self.name,
            "version": self.version,
            "purl": self.package_url,
        }
        if self.supplier:
            entry["supplier"] = {"name": self.supplier}
        if self.license:
            entry["licenses"] = [{"license": {"name": self.license}}]
        said = [("debian:source", self.source if self.source != self.name else "")]
        said.append(("millrace:within", self.within))
        if properties := [{"name": name, "value": value} for name, value in said if value]:
            entry["properties"] = properties
        return entry


def debian_components(listing: str) -> list[Component]:
    """The packages in the output of dpkg-query with the fields of this module."""
    rows = (line.split("\t") for line in listing.splitlines() if line)
    return [Component("deb", name, version, arch, source, who) for name, version, arch, source, who in rows]


def python_components(site_packages: Path) -> list[Component]:
    """The distributions installed in `site_packages`, and what they brought of others."""
    found = []
    for metadata in sorted(site_packages.glob("*.dist-info/METADATA")):
        fields = HeaderParser().parsestr(metadata.read_text(errors="replace"))
        terms = (fields["License-Expression"] or fields["License"] or "").strip().splitlines()
        name, version = fields["Name"], fields["Version"]
        kind = "own" if name in OWN else "pypi"
        found.append(Component(kind, name, version, license=terms[0][:120] if terms else ""))
        found += _within_wheel(metadata.parent, name, version)
    return found


def _within_wheel(about: Path, name: str, version: str) -> Iterator[Component]:
    """Libraries compiled into it, by its own SBOMs (PEP 770), and shared libraries next to it."""
    seen = set()
    for sbom in sorted(about.glob("sboms/*.json")):
        for entry in json.loads(sbom.read_bytes()).get("components", ()):
            url = entry.get("purl", "").partition("?")[0]
            kind = url.removeprefix("pkg:").partition("/")[0]
            if url and url not in seen and kind != "pypi":
                seen.add(url)
                yield Component(kind, entry["name"], entry.get("version", ""), within=name, url=url)
    for library in sorted((about.parent / f"{name.replace('-', '_')}.libs").glob("*")):
        yield Component("file", library.name, version, within=name)


def web_components(lock: Path) -> list[Component]:
    """The packages of which the pages' scripts, styles and icons are, from package-lock.json."""
    packages = json.loads(lock.read_bytes())["packages"]
    return [
        Component(
            "npm", path.rpartition("node_modules/")[2], about["version"], license=about.get("license", "")
        )
        for path, about in packages.items()
        if path
    ]


def own_programs(root: Path, version: str, compiler: str) -> list[Component]:
    """The compiled programs in the tree `root`, and the Rust library in them, which is that of the compiler.

    `compiler` is what `rustc --version` prints.
    """
    rust = [name for name in rust_program.PROGRAMS if (root / rust_programs.FOLDER / name).exists()]
    found = [Component("own", name, version) for name in rust]
    if (root / bench_generator.PROGRAM).exists():
        found.append(Component("own", bench_generator.PROGRAM.name, version))
    if rust:
        release = compiler.split()[1]
        found.append(Component("rust", "rust-std", release, url=f"pkg:generic/rust-std@{release}"))
    return found


def components(root: Path, tools: Path, repository: Path, version: str) -> list[Component]:
    """Everything installed in the tree `root`, and the boot loader made with the chroot `tools`; sorted."""
    query = ["dpkg-query", "-W", "-f", _FIELDS]
    packages = root / VENV.lstrip("/") / f"lib/python{PYTHON_VERSION}/site-packages"
    rustc = rust_program.compiler()
    compiler = run([rustc, "--version"]) if rustc is not None else ""
    return sorted(
        [
            *debian_components(run_in(root, query)),
            *debian_components(run_in(tools, [*query, *BOOT_LOADER])),
            *python_components(packages),
            *web_components(repository / "package-lock.json"),
            *own_programs(root, version, compiler),
        ]
    )


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

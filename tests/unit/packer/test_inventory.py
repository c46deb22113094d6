"""The list of packages and the SBOM."""

import json
from pathlib import Path

from packer.image.inventory import Component, cyclonedx, debian_components, package_list, python_components

LISTING = (
    "frr\t10.3-1\tamd64\tfrr\tDebian <x@debian.org>\nlibc6\t2.41-12\tamd64\tglibc\tGNU <d@lists.debian.org>\n"
)


def test_debian_packages_have_package_urls() -> None:
    """With architecture and release, as scanners look them up."""
    parts = debian_components(LISTING)
    assert parts[0].package_url == "pkg:deb/debian/frr@10.3-1?arch=amd64&distro=debian-13"
    assert parts[1].as_cyclonedx()["properties"] == [{"name": "debian:source", "value": "glibc"}]


def test_python_distributions_are_read_from_their_metadata(tmp_path: Path) -> None:
    """Name, version, licence."""
    folder = tmp_path / "Django-5.2.dist-info"
    folder.mkdir()
    (folder / "METADATA").write_text(
        "Metadata-Version: 2.4\nName: Django\nVersion: 5.2\nLicense-Expression: BSD-3-Clause\n"
    )
    (part,) = python_components(tmp_path)
    assert part == Component("pypi", "Django", "5.2", license="BSD-3-Clause")
    assert part.package_url == "pkg:pypi/django@5.2"


def test_the_document_is_the_same_for_the_same_parts() -> None:
    """Its serial number follows from what is in it."""
    parts = debian_components(LISTING)
    texts = [
        cyclonedx(parts, name="millrace", version="1", timestamp="2026-01-01T00:00:00+00:00") for _ in (1, 2)
    ]
    other = cyclonedx(parts[:1], name="millrace", version="1", timestamp="2026-01-01T00:00:00+00:00")
    assert texts[0] == texts[1]
    document = json.loads(texts[0])
    assert document["bomFormat"] == "CycloneDX"
    assert [entry["name"] for entry in document["components"]] == ["frr", "libc6"]
    assert document["serialNumber"] != json.loads(other)["serialNumber"]


def test_one_line_a_package() -> None:
    """As a person reads it, or diff."""
    assert package_list(debian_components(LISTING)) == "deb frr 10.3-1\ndeb libc6 2.41-12\n"

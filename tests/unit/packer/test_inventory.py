"""The list of packages and the SBOM."""

import json
import tomllib
from pathlib import Path

from lab.rust_program import PROGRAMS
from packer.image.inventory import (
    OWN,
    Component,
    cyclonedx,
    debian_components,
    own_programs,
    package_list,
    python_components,
    web_components,
)
from packer.image.python_code import MEMBERS
from packer.image.settings import REPOSITORY
from setup.assets import FILES

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


def test_what_is_compiled_into_a_wheel_is_listed_with_it(tmp_path: Path) -> None:
    """OpenSSL in cryptography: its weaknesses are not found under the name of the wheel."""
    about = tmp_path / "cryptography-50.0.2.dist-info"
    (about / "sboms").mkdir(parents=True)
    (about / "METADATA").write_text("Metadata-Version: 2.4\nName: cryptography\nVersion: 50.0.2\n")
    openssl = {
        "name": "openssl",
        "version": "4.0.3",
        "purl": "pkg:generic/openssl@4.0.3?download_url=https://x",
    }
    itself = {"name": "cryptography", "version": "50.0.2", "purl": "pkg:pypi/cryptography@50.0.2"}
    (about / "sboms/sbom.json").write_text(json.dumps({"components": [openssl, itself, {"name": "x"}]}))
    (tmp_path / "cryptography.libs").mkdir()
    (tmp_path / "cryptography.libs/libssl-6a9b.so.3").touch()
    whole, library, file = python_components(tmp_path)
    assert (whole.kind, whole.name) == ("pypi", "cryptography")
    assert (library.package_url, library.within) == ("pkg:generic/openssl@4.0.3", "cryptography")
    assert library.as_cyclonedx()["properties"] == [{"name": "millrace:within", "value": "cryptography"}]
    assert (file.as_cyclonedx()["type"], file.name) == ("file", "libssl-6a9b.so.3")
    references = [part.as_cyclonedx()["bom-ref"] for part in (whole, library, file)]
    assert len(set(references)) == 3


def test_our_own_distributions_are_not_taken_for_others_on_pypi(tmp_path: Path) -> None:
    """A scanner would look up what somebody else publishes as webui."""
    names = {
        tomllib.loads((REPOSITORY / member / "pyproject.toml").read_text())["project"]["name"]
        for member in MEMBERS
    }
    assert names == OWN
    (tmp_path / "webui-0.1.0.dist-info").mkdir()
    (tmp_path / "webui-0.1.0.dist-info/METADATA").write_text(
        "Metadata-Version: 2.4\nName: webui\nVersion: 0.1.0\n"
    )
    (part,) = python_components(tmp_path)
    assert part.package_url == "pkg:generic/millrace/webui@0.1.0"


def test_scripts_and_styles_of_the_pages_are_listed() -> None:
    """Every package of which setup/assets.py takes a file, and what is bundled in those files."""
    parts = web_components(REPOSITORY / "package-lock.json")
    taken = {"/".join(path.split("/")[: 2 if path.startswith("@") else 1]) for path in FILES.values()}
    assert taken | {"@popperjs/core"} <= {part.name for part in parts}
    assert "pkg:npm/%40tabler/core@" in " ".join(part.package_url for part in parts)


def test_compiled_programs_are_listed_with_the_library_in_them(tmp_path: Path) -> None:
    """As far as they are in the image."""
    compiler = "rustc 1.85.0 (4d91de4e4 2025-02-17) (built from a source tarball)"
    assert own_programs(tmp_path, "1", compiler) == []
    folder = tmp_path / "usr/lib/millrace"
    folder.mkdir(parents=True)
    for name in (*PROGRAMS, "bench-generator"):
        (folder / name).touch()
    found = own_programs(tmp_path, "1", compiler)
    assert [(part.name, part.version) for part in found] == [
        *((name, "1") for name in PROGRAMS),
        ("bench-generator", "1"),
        ("rust-std", "1.85.0"),
    ]


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

"""The build's settings come from the environment; a wrong one is named."""

import hashlib
import os
import tomllib
from pathlib import Path

import pytest

from packer.image import vpp_packages
from packer.image.errors import BadSetting, BuildError, CommandFailed, SourceUnavailable
from packer.image.settings import VppSource, holds_trees, parse_vpp_source, read_settings
from packer.image.stages import check_own, signing_files
from packer.image.vpp_packages import (
    check_key,
    check_packages,
    packages_in,
    remember_key,
    say_whose_word,
    with_sha1,
)


def test_the_three_sources_of_vpp(tmp_path: Path) -> None:
    """Only without VPP is the image a linux one, and its name says so."""
    assert parse_vpp_source("fdio") == VppSource("fdio")
    assert parse_vpp_source(f"dir:{tmp_path}") == VppSource("dir", tmp_path)
    assert parse_vpp_source("none").dataplane == "linux"
    assert parse_vpp_source("fdio").dataplane == "vpp"


@pytest.mark.parametrize("text", ["", "apt", "dir:", "dir:/there/is/no/such/folder", "FDIO"])
def test_a_wrong_source_names_the_setting(text: str) -> None:
    """It never falls back to another source."""
    with pytest.raises(BadSetting, match="VPP_SOURCE"):
        parse_vpp_source(text)


def test_the_name_says_version_and_data_plane(tmp_path: Path) -> None:
    """As the artefacts are called."""
    given = {
        "VPP_SOURCE": "none",
        "MILLRACE_VERSION": "1.2.3",
        "SOURCE_DATE_EPOCH": "1700000000",
        "MILLRACE_IMAGE_WORK": str(tmp_path),
        "MILLRACE_DIST": str(tmp_path / "dist"),
    }
    settings = read_settings(given)
    assert settings.name == "millrace-1.2.3-linux"
    assert settings.source_date_epoch_s == 1_700_000_000
    assert settings.work == tmp_path / "millrace-image"  # emptied by the build, so never the folder itself


def test_a_wrong_epoch_is_named() -> None:
    """A date is not seconds."""
    with pytest.raises(BadSetting, match="SOURCE_DATE_EPOCH"):
        read_settings({"SOURCE_DATE_EPOCH": "2026-11-21", "VPP_SOURCE": "none"})


def test_a_folder_must_hold_vpp(tmp_path: Path) -> None:
    """What is missing is named."""
    (tmp_path / "vpp_26.06_amd64.deb").touch()
    with pytest.raises(SourceUnavailable, match="libvppinfra, vpp-plugin-core"):
        packages_in(tmp_path)


def test_two_versions_in_one_folder_are_refused(tmp_path: Path) -> None:
    """The build does not guess which is meant."""
    for name in ("libvppinfra_1", "vpp_1", "vpp_2", "vpp-plugin-core_1"):
        (tmp_path / f"{name}_amd64.deb").touch()
    with pytest.raises(SourceUnavailable, match="more than one version of vpp"):
        packages_in(tmp_path)


def test_another_key_of_fdio_is_refused(tmp_path: Path) -> None:
    """Before it is trusted for a single package."""
    digest = hashlib.sha256(b"key").hexdigest()
    check_key(b"key", digest.upper(), tmp_path / "known")
    with pytest.raises(SourceUnavailable, match="FDIO_KEY_SHA256"):
        check_key(b"another", digest, tmp_path / "known")
    assert not (tmp_path / "known").exists()


def test_the_key_of_the_first_build_is_the_key_of_all(tmp_path: Path) -> None:
    """Until the builder says another one."""
    known = tmp_path / "keys/fdio.sha256"
    check_key(b"key", "", known)
    remember_key(b"key", known)
    check_key(b"key", "", known)
    with pytest.raises(SourceUnavailable, match=r"fdio\.sha256"):
        check_key(b"another", "", known)
    check_key(b"another", hashlib.sha256(b"another").hexdigest(), known)
    remember_key(b"another", known)
    check_key(b"key", "", known)


def test_a_repository_that_cannot_be_reached_is_no_image_without_vpp(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    """The build stops, and says which setting has other sources."""

    def refused(*_: object, **__: object) -> str:
        raise CommandFailed(["curl"], 7, "curl: (7) Failed to connect")

    monkeypatch.setattr(vpp_packages, "run", refused)
    with pytest.raises(SourceUnavailable, match=r"VPP_SOURCE: .*dir:PATH.*Failed to connect"):
        vpp_packages.fetch_fdio_key(VppSource("fdio"), tmp_path / "known")
    assert not (tmp_path / "known").exists()


def test_development_packages_stay_out(tmp_path: Path) -> None:
    """The DPDK plugin is taken where there is one."""
    for name in ("libvppinfra", "libvppinfra-dev", "vpp", "vpp-dbg", "vpp-plugin-core", "vpp-plugin-dpdk"):
        (tmp_path / f"{name}_26.06_amd64.deb").touch()
    names = [path.name.partition("_")[0] for path in packages_in(tmp_path)]
    assert names == ["libvppinfra", "vpp", "vpp-plugin-core", "vpp-plugin-dpdk"]


@pytest.mark.parametrize(
    "gib,flags,fits", [(12, 0, True), (1 / 16, 0, False), (12, os.ST_NOEXEC, False)], ids=str
)
def test_memory_that_holds_no_trees_is_not_taken(gib: float, flags: int, fits: bool) -> None:
    """A container's /dev/shm has 64 MB, and no program may run there."""
    blocks = int(gib * 2**30) // 4096
    assert holds_trees(os.statvfs_result((4096, 4096, blocks, blocks, blocks, 0, 0, 0, flags, 255))) is fits


def test_half_of_a_signature_is_refused(tmp_path: Path) -> None:
    """An OVA is never left unsigned because one of two settings was mistyped."""
    key = tmp_path / "key.pem"
    key.touch()
    assert signing_files({}) is None
    assert signing_files({"OVA_SIGN_KEY": str(key), "OVA_SIGN_CERTIFICATE": str(key)}) == (str(key), str(key))
    for given in ({"OVA_SIGN_KEY": str(key)}, {"OVA_SIGN_CERTIFICATE": str(key)}):
        with pytest.raises(BadSetting, match="go together"):
            signing_files(given)


def test_a_work_folder_of_somebody_else_is_refused(tmp_path: Path) -> None:
    check_own(tmp_path)
    (tmp_path / "link").symlink_to(tmp_path)
    with pytest.raises(BuildError, match="not this user's own"):
        check_own(tmp_path / "link")


@pytest.mark.parametrize(
    "policy",
    [
        "# apt's\n[asymmetric_algorithms]\nrsa2048 = 2030-02-01\n\n[hash_algorithms]\n"
        "sha1.second_preimage_resistance = 2026-02-01    # Extend\nsha224 = 2026-02-01\n\n[packets]\n",
        "[asymmetric_algorithms]\nrsa2048 = 2030-02-01\n",
        "",
    ],
)
def test_sha1_is_taken_and_the_rest_of_apts_policy_stays(policy: str) -> None:
    """Of a key with a long name apt wants the second property, of others the first."""
    before, after = tomllib.loads(policy), tomllib.loads(with_sha1(policy))
    sha1 = after["hash_algorithms"].pop("sha1")
    assert {name: day.year for name, day in sha1.items()} == {
        "second_preimage_resistance": 2100,
        "collision_resistance": 2100,
    }
    before.setdefault("hash_algorithms", {}).pop("sha1", None)
    assert after == before


def test_packages_are_compared_with_the_digests_of_the_repository(tmp_path: Path) -> None:
    package, digests = tmp_path / "vpp_26.06-release_amd64.deb", tmp_path / "vpp.sha256"
    package.write_bytes(b"vpp")
    assert check_packages([package], digests) is False
    digests.write_text(f"{hashlib.sha256(b'vpp').hexdigest()}  {package.name}\n")
    assert check_packages([package], digests) is True
    package.write_bytes(b"another")
    with pytest.raises(SourceUnavailable, match="it is not the package that this release was made with"):
        check_packages([package], digests)
    digests.write_text(f"{hashlib.sha256(b'another').hexdigest()}  vpp-plugin-core.deb\n")
    with pytest.raises(SourceUnavailable, match="has no digest"):
        check_packages([package], digests)


def test_a_build_whose_packages_are_not_pinned_says_by_whose_word_they_are_vpps(
    capsys: pytest.CaptureFixture[str],
) -> None:
    say_whose_word(pinned=False, word="they are those of /folder")
    told = capsys.readouterr()
    assert "NOTE: VPP's packages are not pinned by digest" in told.out + told.err
    assert "they are those of /folder" in told.out + told.err
    say_whose_word(pinned=True, word="")
    told = capsys.readouterr()
    assert "NOTE" not in told.out + told.err

"""The image's packages come from the mirror that the builder's own apt uses."""

import pytest

from packer.image.builder_apt import forwarded_options, parse_index_targets, source_lines
from packer.image.errors import SourceUnavailable

TARGETS = """\
http://mirror.example/other|stable|Other
http://mirror.example/debian/|bookworm|Debian
http://mirror.example/debian/|bookworm-updates|Debian
http://mirror.example/security/|bookworm-security|Debian-Security
"""


def test_debian_and_security_are_told_apart() -> None:
    """By the archive's own label, not by what its address looks like."""
    assert parse_index_targets(TARGETS) == (
        "http://mirror.example/debian/",
        "http://mirror.example/security/",
    )


def test_a_builder_without_debian_is_told_what_to_do() -> None:
    """An error that can be acted on."""
    with pytest.raises(SourceUnavailable, match="DEBIAN_MIRROR"):
        parse_index_targets("http://mirror.example/other|stable|Other\n")


def test_an_old_snapshot_is_taken_and_an_old_mirror_is_not() -> None:
    """Lists of a snapshot have expired; those of a mirror must not have."""
    dated = "https://snapshot.example/archive/debian/20260102T030405Z/"
    assert source_lines(dated, "") == (
        f"deb [check-valid-until=no] {dated} trixie main",
        f"deb [check-valid-until=no] {dated} trixie-updates main",
    )
    assert source_lines("http://mirror.example/debian/", "http://mirror.example/security/") == (
        "deb http://mirror.example/debian/ trixie main",
        "deb http://mirror.example/debian/ trixie-updates main",
        "deb http://mirror.example/security/ trixie-security main",
    )


def test_only_how_a_mirror_is_reached_is_forwarded() -> None:
    """Proxies and validity, not the builder's hooks or pins."""
    dump = (
        'Acquire::http::Proxy "http://proxy.example:3128";\n'
        'Acquire::Check-Valid-Until "false";\n'
        'Acquire::http "";\n'
        'APT::Install-Recommends "1";\n'
        'DPkg::Post-Invoke:: "rm -f /somewhere";\n'
    )
    assert forwarded_options(dump) == (
        'Acquire::http::Proxy "http://proxy.example:3128";',
        'Acquire::Check-Valid-Until "false";',
    )

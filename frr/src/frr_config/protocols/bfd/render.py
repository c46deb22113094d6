"""BFD profiles as lines."""

from __future__ import annotations

from collections.abc import Iterator

from frr_config.line import Line
from frr_config.protocols.bfd.model import Bfd, BfdProfile

_OPENER = "bfd"
_DEFAULT = BfdProfile()  # bfdd does not print what equals its own defaults


def bfd_lines(bfd: Bfd) -> Iterator[Line]:
    """``bfd`` and the profiles in it."""
    for name, profile in bfd.profiles.items():
        opener = f"profile {name}"
        yield Line((_OPENER,), opener)
        for text in _profile(profile):
            yield Line((_OPENER, opener), text)


def _profile(profile: BfdProfile) -> Iterator[str]:
    if profile.detect_multiplier != _DEFAULT.detect_multiplier:
        yield f"detect-multiplier {profile.detect_multiplier}"
    if profile.transmit_interval_ms != _DEFAULT.transmit_interval_ms:
        yield f"transmit-interval {profile.transmit_interval_ms}"
    if profile.receive_interval_ms != _DEFAULT.receive_interval_ms:
        yield f"receive-interval {profile.receive_interval_ms}"
    if profile.passive:
        yield "passive-mode"
    if profile.echo:
        yield "echo-mode"
    if profile.echo_transmit_interval_ms != _DEFAULT.echo_transmit_interval_ms:
        yield f"echo transmit-interval {profile.echo_transmit_interval_ms}"
    if profile.echo_receive_interval_ms != _DEFAULT.echo_receive_interval_ms:
        yield f"echo receive-interval {profile.echo_receive_interval_ms or 'disabled'}"
    if profile.minimum_ttl != _DEFAULT.minimum_ttl:
        yield f"minimum-ttl {profile.minimum_ttl}"

"""What the lines of BFD mean. Impacts and removals are as seen in bfdd (tests/integration/frr)."""

from __future__ import annotations

from frr_config.line import Daemons
from frr_config.protocols.bfd.model import BfdProfile
from frr_config.protocols.bfd.render import bfd_lines
from frr_config.syntax import ANY, Form, Kind, Opener, Protocol, Section, Setting, by_name, escape, in_order
from frr_config.version import FrrVersion


def _bfdd(_version: FrrVersion) -> Daemons:
    return frozenset({"bfdd"})


PROFILE = Kind(
    "bfd_profile",
    title=lambda name: f"BFD profile {name}",
    path=lambda name: f"/routing/bfd/profiles/{escape(name)}",
    forget="no profile {name}",
)


def _back_to(words: str, default: int) -> Form:
    """bfdd takes no interval back: it is given the value that it has where none was given."""
    return Form(words, setting=lambda match, _text: Setting(match[0], f"{match[0]} {default}"))


_DEFAULT = BfdProfile()
_PROFILE = (
    *in_order(
        _back_to("detect-multiplier", _DEFAULT.detect_multiplier),
        _back_to("transmit-interval", _DEFAULT.transmit_interval_ms),
        _back_to("receive-interval", _DEFAULT.receive_interval_ms),
        Form("passive-mode"),
        Form("echo-mode"),
        _back_to("echo transmit-interval", _DEFAULT.echo_transmit_interval_ms),
        _back_to("echo receive-interval", _DEFAULT.echo_receive_interval_ms),
        Form("minimum-ttl", setting=by_name),
    ),
    ANY,
)

PROTOCOL = Protocol(
    "bfd",
    kinds=(PROFILE,),
    sections=(
        Section("bfd", (Form(r"profile (?P<name>\S+)$", PROFILE),), _bfdd),
        Section(r"bfd / profile (?P<name>\S+)", _PROFILE, _bfdd, PROFILE),
        Section("bfd.*", (ANY,), _bfdd),
    ),
    places={5: ("bfd",)},
    openers=(Opener("bfd", empty=True), Opener("profile ", inside="bfd")),
    lines=lambda wanted: bfd_lines(wanted.routing.bfd),
    daemons=("bfdd",),
    named_by_others=True,
)

"""What an interrupted apply leaves in VPP: things made but not yet, or no longer, known by name."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar, Literal

from pydantic import ConfigDict

Reason = Literal["untagged", "duplicate"]


@dataclass(frozen=True)
class Leftover:
    """An interface, or another tagged thing, that is in the way.

    ``untagged``: an interface without our tag, either between its creation and its tagging or someone else's.
    Only a plan that needs its device, instance or VLAN removes it. ``duplicate``: a second thing under a tag
    of ours; any plan removes it. ``blocks`` is what it occupies, in the form of the objects' ``occupies``:
    ``af_packet/<host interface>``, ``loopback/<instance>``, …, or ``tag/<name>`` of an interface that
    occupies nothing else. ``index`` is VPP's index of it.
    """

    __pydantic_config__: ClassVar[ConfigDict] = ConfigDict(extra="forbid")
    mirrored: ClassVar[bool] = False

    reason: Reason
    blocks: str
    index: int
    vpp_name: str = ""
    what: str = "interface"
    """The sort of thing, in a sentence."""

    @property
    def key(self) -> str:
        """``leftover/<what it occupies>/<index>``."""
        return f"leftover/{self.blocks}/{self.index}"

    @property
    def sort(self) -> str:
        """The part before the first slash of what it occupies: the kind that clears it uses that name."""
        return self.blocks.partition("/")[0]

    def label(self) -> str:
        """``half-made interface host-eth0``."""
        return f"half-made {self.what} {self.vpp_name}"

    def host_mac(self) -> None:
        """Nobody made it, and it gives nothing a MAC address."""

"""Which VRF a page is asked about, ``?vrf=``, and the others that can be chosen on it."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from urllib.parse import urlencode

from django.http import HttpRequest

from appliance.config.vrf_view import DEFAULT_VRF
from appliance.errors import NotFound
from webui.ui.candidate import Candidate

Holds = Callable[[str], bool]
"""Whether a VRF, empty for the default one, has what the page is about."""
_PLACES = ("page", "offset")
"""Parameters that say where in a list one is: they mean nothing in another VRF's."""


@dataclass(frozen=True)
class Choice:
    """A VRF that can be chosen."""

    name: str
    """Empty for the default one."""
    url: str
    here: bool

    @property
    def title(self) -> str:
        """What it is called."""
        return self.name or DEFAULT_VRF


@dataclass(frozen=True)
class ChosenVrf:
    """The VRF that a page is about."""

    name: str = ""
    """Empty for the default one."""
    choices: tuple[Choice, ...] = ()
    """Where there are VRFs: the default one, then the others by name."""
    runs: bool = True
    """Whether the router has it: one that is not committed yet has no state."""

    @property
    def title(self) -> str:
        """What it is called."""
        return self.name or DEFAULT_VRF

    @property
    def end(self) -> str:
        """The end of an address that has no other parameters."""
        return query_of(self.name)

    @property
    def also(self) -> str:
        """The end of an address that has others."""
        return self.end.replace("?", "&", 1)

    @property
    def question(self) -> dict[str, str]:
        """What a question about it has beside its other fields."""
        return {"vrf": self.name} if self.name else {}


def query_of(vrf: str) -> str:
    """``?vrf=blue``, or nothing for the default one."""
    return "?" + urlencode({"vrf": vrf}) if vrf else ""


def chosen_vrf(request: HttpRequest, candidate: Candidate, holds: Holds = lambda _: True) -> ChosenVrf:
    """The VRF that the address names. Raises NotFound for one that neither runs nor is in the change set.

    Those where ``holds`` is false are not offered. Any will do while the router does not answer.
    """
    named = request.GET.get("vrf", "").strip()
    name = "" if named == DEFAULT_VRF else named
    known = candidate.both("/vrfs")
    asked = bool(candidate.running)
    if name and name not in known and asked:
        raise NotFound(f"There is no VRF {name}.")
    offered = [vrf for vrf in ("", *sorted(known)) if vrf == name or holds(vrf)] if known else []
    choices = tuple(Choice(vrf, _address(request, vrf), vrf == name) for vrf in offered)
    runs = not (name and asked) or name in (candidate.running.get("vrfs") or {})
    return ChosenVrf(name, choices, runs)


def _address(request: HttpRequest, vrf: str) -> str:
    """This page with the same question about another VRF."""
    query = request.GET.copy()
    for name in ("vrf", *_PLACES):
        query.pop(name, None)
    if vrf:
        query["vrf"] = vrf
    return f"{request.path}{'?' * bool(query)}{query.urlencode()}"

"""The VRF that a page shows, ``?vrf=``, and the other VRFs that can be chosen on it."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from urllib.parse import urlencode

from django.http import HttpRequest

from appliance.config.vrf_view import DEFAULT_VRF
from appliance.errors import NotFound
from webui.ui.candidate import Candidate

Holds = Callable[[str], bool]
"""Whether a VRF, empty for the default one, has the page's subject."""
_PLACES = ("page", "offset")
"""Parameters for a position in a list, which have no meaning in another VRF's."""


@dataclass(frozen=True)
class Choice:
    """A VRF that can be chosen."""

    name: str
    """Empty for the default one."""
    url: str
    here: bool

    @property
    def title(self) -> str:
        """Its title."""
        return self.name or DEFAULT_VRF


@dataclass(frozen=True)
class ChosenVrf:
    """The VRF that a page is about."""

    name: str = ""
    """Empty for the default one."""
    choices: tuple[Choice, ...] = ()
    """If there are VRFs: the default one, then the others by name."""
    runs: bool = True
    """Whether the router has it: a VRF that is not committed yet has no state."""

    @property
    def title(self) -> str:
        """Its title."""
        return self.name or DEFAULT_VRF

    @property
    def end(self) -> str:
        """The query part of an address without other parameters."""
        return query_of(self.name)

    @property
    def also(self) -> str:
        """The query part of an address with other parameters."""
        return self.end.replace("?", "&", 1)

    @property
    def question(self) -> dict[str, str]:
        """The VRF's fields of a question, in addition to its other fields."""
        return {"vrf": self.name} if self.name else {}


def query_of(vrf: str) -> str:
    """``?vrf=blue``, or nothing for the default one."""
    return "?" + urlencode({"vrf": vrf}) if vrf else ""


def chosen_vrf(request: HttpRequest, candidate: Candidate, holds: Holds = lambda _: True) -> ChosenVrf:
    """The VRF that the address names. Raises NotFound for one that is neither running nor in the change set.

    VRFs where ``holds`` is false are not offered. Any name is accepted while the router does not answer.
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

"""Routing policy: prefix lists, AS path lists, community lists and route maps."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from django.http import Http404, HttpRequest, HttpResponse
from django.views.decorators.http import require_GET

from webui.accounts.decorators import role_required
from webui.accounts.roles import Role
from webui.ui.api_call import calls_for, reads
from webui.ui.candidate import Candidate
from webui.ui.page import look_at_candidate, show
from webui.ui.pointers import MISSING, get, join

_POLICY = "/routing/policy"
KINDS = {
    "prefix_lists": "Prefix lists",
    "route_maps": "Route maps",
    "community_lists": "Community lists",
    "as_path_lists": "AS path lists",
}


@dataclass(frozen=True)
class Listed:
    """A policy object in its list."""

    name: str
    settings: dict[str, Any]
    mark: str
    used_by: list[str]

    @property
    def rules(self) -> list[tuple[str, dict[str, Any], str]]:
        """Rules in order: sequence, rule, and the rule in a line."""
        return [
            (sequence, rule, rule_line(rule)) for sequence, rule in ordered(self.settings.get("rules", {}))
        ]


def ordered(rules: dict[str, Any]) -> list[tuple[str, dict[str, Any]]]:
    """Rules by sequence."""
    return sorted(rules.items(), key=lambda rule: int(rule[0]))


def rule_line(rule: dict[str, Any]) -> str:
    """What a rule of a prefix, community or AS path list matches, in one line."""
    parts = [str(rule.get("prefix") or rule.get("regex") or " ".join(rule.get("communities", ())))]
    parts += [f"{bound} {rule[bound]}" for bound in ("ge", "le") if rule.get(bound) is not None]
    return " ".join(part for part in parts if part)


def phrases(settings: dict[str, Any] | None) -> list[str]:
    """Match conditions or set actions, each as ``field value``."""
    found = []
    for field, value in (settings or {}).items():
        text = (
            " ".join(str(one) for one in value)
            if isinstance(value, list)
            else ""
            if value is True
            else str(value)
        )
        found.append(f"{field.replace('_', ' ')} {text}".strip())
    return found


def used_by(document: dict[str, Any], name: str, fields: tuple[str, ...]) -> list[str]:
    """Pointers of the objects that name a policy object in one of the fields."""
    found: list[str] = []

    def walk(node: Any, pointer: str) -> None:
        if isinstance(node, dict):
            for key, value in node.items():
                if key in fields and value == name:
                    found.append(pointer)
                walk(value, pointer + join(key))
        elif isinstance(node, list):
            for index, value in enumerate(node):
                walk(value, f"{pointer}/{index}")

    walk(document.get("routing", {}), "/routing")
    return sorted(set(found))


_NAMED_BY = {
    "prefix_lists": ("prefix_list", "ipv6_prefix_list", "prefix_list_in", "prefix_list_out"),
    "route_maps": ("route_map", "route_map_in", "route_map_out", "call"),
    "community_lists": ("community_list",),
    "as_path_lists": ("as_path_list",),
}


def _listed(candidate: Candidate, kind: str) -> list[Listed]:
    pointer = f"{_POLICY}/{kind}"
    return [
        Listed(
            name,
            settings,
            candidate.mark(pointer + join(name)),
            used_by(candidate.document, name, _NAMED_BY[kind]),
        )
        for name, settings in candidate.both(pointer).items()
    ]


@require_GET
@role_required(Role.VIEWER)
def policies(request: HttpRequest) -> HttpResponse:
    """One kind of policy object, ``?kind=``, with counts of the others."""
    candidate, away = look_at_candidate(request)
    kind = request.GET.get("kind", "prefix_lists")
    if kind not in KINDS:
        raise Http404("There is no such kind of policy.")
    counts = {name: len(candidate.both(f"{_POLICY}/{name}")) for name in KINDS}
    return show(
        request,
        "ui/policies.html",
        "policies",
        {
            "kind": kind,
            "tabs": [(name, title, counts[name]) for name, title in KINDS.items()],
            "title": KINDS[kind],
            "noun": KINDS[kind].removesuffix("s"),
            "mapping": f"{_POLICY}/{kind}",
            "listed": _listed(candidate, kind),
            "away": away,
            "api_calls": reads(("Read them", f"/config{_POLICY}/{kind}")),
        },
    )


@require_GET
@role_required(Role.VIEWER)
def route_map(request: HttpRequest, name: str) -> HttpResponse:
    """One route map, rule by rule."""
    candidate, away = look_at_candidate(request)
    pointer = f"{_POLICY}/route_maps" + join(name)
    settings = get(candidate.document, pointer)
    if settings is MISSING:
        settings = get(candidate.running, pointer)
    if settings is MISSING:
        raise Http404(f"There is no route map {name}.")
    rules = [
        {
            "sequence": sequence,
            "rule": rule,
            "match": phrases(rule.get("match")),
            "set": phrases(rule.get("set")),
            "mark": candidate.mark(f"{pointer}/rules{join(sequence)}"),
        }
        for sequence, rule in ordered(candidate.both(f"{pointer}/rules"))
    ]
    return show(
        request,
        "ui/route_map.html",
        "policies",
        {
            "name": name,
            "pointer": pointer,
            "rules": rules,
            "mark": candidate.mark(pointer),
            "used_by": used_by(candidate.document, name, _NAMED_BY["route_maps"]),
            "away": away,
            "api_calls": calls_for(pointer, settings),
        },
    )

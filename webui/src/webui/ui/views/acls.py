"""One access list with its rules, hit counters and bindings."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from django.http import Http404, HttpRequest, HttpResponse
from django.shortcuts import redirect
from django.urls import reverse
from django.utils.http import content_disposition_header
from django.views.decorators.http import require_GET, require_POST

from appliance.errors import ValidationFailed
from webui.accounts.actor import actor_of
from webui.accounts.decorators import role_required
from webui.accounts.roles import Role
from webui.agent import agent
from webui.changes import services as changes
from webui.ui.api_call import call, calls_for, reads
from webui.ui.candidate import Candidate
from webui.ui.page import candidate_of, look, look_at_candidate, missing, open_change, show, tell
from webui.ui.pager import Pager, pager
from webui.ui.pages.acls import CLEAR, since_cleared
from webui.ui.pointers import MISSING, get, join
from webui.ui.problem_words import said_with_place
from webui.ui.rule_text import format_rule, parse
from webui.ui.tables.declaration import Table
from webui.ui.tables.listing import buttons_of
from webui.ui.tables.row import Row

_BUTTONS = Table("acl", "access list", "Access lists", (), actions=(CLEAR,))
_SHOWN_PROBLEMS = 12
_RULES, _INTERFACES = 200, 100
"""The most on one page."""
_PASTE_EXAMPLE = """\
10 deny icmp 10.10.0.2 any type 8 # no ping from this host
permit tcp any 192.0.2.0/24 port 443
permit ipv4 any any # IPv4 and
permit ipv6 any any # IPv6 are permitted apart"""


@dataclass(frozen=True)
class RuleRow:
    """A rule with its hits and the change set's effect on it."""

    sequence: str
    rule: dict[str, Any]
    hits: dict[str, Any]
    mark: str
    first: bool
    last: bool

    @property
    def match(self) -> str:
        """Flags, ICMP type and code in words."""
        parts = []
        if self.rule.get("icmp_type") is not None:
            parts.append(f"type {self.rule['icmp_type']}")
        if self.rule.get("icmp_code") is not None:
            parts.append(f"code {self.rule['icmp_code']}")
        flags = self.rule.get("tcp_flags") or {}
        parts += [f"+{one}" for one in flags.get("set", ())] + [f"-{one}" for one in flags.get("unset", ())]
        return " ".join(parts)


def bindings(candidate: Candidate, name: str) -> list[tuple[str, bool, bool]]:
    """Every interface with whether the list is bound to it in and out."""
    found = []
    for interface, settings in get(candidate.document, "/interfaces", {}).items():
        found.append((interface, name in settings.get("acl_in", ()), name in settings.get("acl_out", ())))
    return found


def _ordered(rules: dict[str, Any]) -> list[tuple[str, dict[str, Any]]]:
    return sorted(rules.items(), key=lambda rule: int(rule[0]))


def _hits(name: str) -> dict[str, Any]:
    """``rules`` by sequence, and ``cleared``. A list that is not committed yet has none."""
    hits: dict[str, Any] = look(lambda: agent().acl_hits(name), {}).value
    bases = (hits.get("cleared") or {}).get("rules", {})
    rules = {
        sequence: since_cleared(rule, bases.get(sequence)) for sequence, rule in hits.get("rules", {}).items()
    }
    return {"rules": rules, "cleared": hits.get("cleared")}


@require_GET
@role_required(Role.VIEWER)
def acl(request: HttpRequest, name: str) -> HttpResponse:
    """One access list; ``?q=`` searches its rules, ``?rule=`` is the sequence of one to show."""
    return _page(request, name)


@require_GET
@role_required(Role.VIEWER)
def rules_text(request: HttpRequest, name: str) -> HttpResponse:
    """All rules of the candidate, as a file."""
    text = "".join(f"{format_rule(*one)}\n" for one in _ordered(_rules_of(request, name)))
    response = HttpResponse(text, content_type="text/plain; charset=utf-8")
    response["Content-Disposition"] = content_disposition_header(True, f"{name}.txt") or "attachment"
    return response


def _shown(
    request: HttpRequest, rules: list[tuple[str, dict[str, Any]]], page: str
) -> Pager[tuple[str, dict[str, Any]]]:
    """The rules of this page, from those that contain every word of ``?q=``."""
    words = request.GET.get("q", "").lower().split()
    if words:
        texts = ((one, format_rule(*one).lower()) for one in rules)
        rules = [one for one, text in texts if all(word in text for word in words)]
    at = next((at for at, (one, _) in enumerate(rules) if one == request.GET.get("rule")), None)
    if at is None or "rules" in request.GET:
        return pager(request, "rules", rules, _RULES, page)
    return pager(request, "rules", rules, _RULES, page, at // _RULES + 1)


def _page(
    request: HttpRequest, name: str, extra: dict[str, Any] | None = None, status: int = 200
) -> HttpResponse:
    candidate, away = look_at_candidate(request)
    pointer = "/acls" + join(name)
    settings = get(candidate.document, pointer)
    if settings is MISSING:
        settings = get(candidate.running, pointer)
    if settings is MISSING:
        raise missing(candidate, f"There is no access list {name}.")
    hits = _hits(name)
    here = reverse("ui:acl", args=[name])
    rules = _ordered(candidate.both(f"{pointer}/rules"))
    shown = _shown(request, rules, here)
    live = [sequence for sequence, _ in _ordered(settings.get("rules", {}))]
    rows = [
        RuleRow(
            sequence,
            rule,
            hits["rules"].get(sequence) or {},
            candidate.mark(f"{pointer}/rules{join(sequence)}"),
            first=bool(live) and sequence == live[0],
            last=bool(live) and sequence == live[-1],
        )
        for sequence, rule in shown.items
    ]
    example = {"action": "deny", "protocol": "icmp"}
    context = {
        "name": name,
        "settings": settings,
        "pointer": pointer,
        "rules_pointer": f"{pointer}/rules",
        "rows": rows,
        "shown": shown,
        "rule_count": len(rules),
        "q": request.GET.get("q", ""),
        "hits_of": _hits_of(candidate, name, rows),
        "cleared": hits["cleared"],
        "buttons": tuple(
            buttons_of(_BUTTONS, Row(name, pointer, settings, hits if hits["rules"] else None, candidate))
        ),
        "mark": candidate.mark(pointer),
        "bindings": pager(request, "bindings", bindings(candidate, name), _INTERFACES, here),
        "rules_text": "\n".join(format_rule(row.sequence, row.rule) for row in rows if row.mark != "removed"),
        "away": away,
        "paste_example": _PASTE_EXAMPLE,
        "api_calls": (
            *calls_for(pointer, settings),
            call("Add a rule", "PUT", f"/config{pointer}/rules/10", example),
            *reads(("Hit counters", f"/counters/acls{join(name)}")),
            call("Clear the hits", "POST", "/actions/clear-counters", {"acl": name}),
        ),
    }
    return show(request, "ui/acl.html", "acls", {**context, **(extra or {})}, status=status)


def _hits_of(candidate: Candidate, name: str, rows: list[RuleRow]) -> str:
    """Where the page asks for live hits of its rules; empty for a list that is not committed: it has none."""
    if get(candidate.running, "/acls" + join(name)) is MISSING:
        return ""
    shown = f"?first={rows[0].sequence}&last={rows[-1].sequence}" if rows else ""
    return f"/api/v1/counters/acls{join(name)}{shown}"


def _rules_of(request: HttpRequest, name: str) -> dict[str, Any]:
    """Raises Http404 where there is no such list; it may have been removed since the page was made."""
    settings = get(candidate_of(request).document, "/acls" + join(name), None)
    if settings is None:
        raise Http404(f"There is no access list {name}.")
    return dict(settings.get("rules", {}))


@require_POST
@role_required(Role.ENGINEER)
def move_rule(request: HttpRequest, name: str) -> HttpResponse:
    """Swaps a rule with the previous or the next one; the sequences keep their places."""
    rules = _rules_of(request, name)
    order = [sequence for sequence, _ in _ordered(rules)]
    sequence = request.POST.get("sequence", "")
    if sequence not in order:
        raise Http404("There is no such rule.")
    here = order.index(sequence)
    there = here + (-1 if request.POST.get("direction") == "up" else 1)
    page = reverse("ui:acl", args=[name])
    if not 0 <= there < len(order):
        return redirect(page)
    rules[order[here]], rules[order[there]] = rules[order[there]], rules[order[here]]
    actor = actor_of(request)
    changes.edit(actor, open_change(request), f"/acls{join(name)}/rules", rules)
    return redirect(f"{page}?rule={order[there]}#rule-{order[there]}")


@require_POST
@role_required(Role.ENGINEER)
def paste_rules(request: HttpRequest, name: str) -> HttpResponse:
    """Adds rules given as text or JSON, or replaces all rules by them; all or none."""
    text = request.POST.get("rules", "")
    replace = request.POST.get("how") == "replace"
    there = _rules_of(request, name)
    present = {} if replace else there
    pasted = parse(text, after=max((int(sequence) for sequence in present), default=0))
    problems = [f"Line {bad.line}: {bad.reason}" for bad in pasted.bad]
    problems += [f"Rule {key} exists already" for key in pasted.rules if key in present]
    if not pasted.rules and not problems:
        problems.append("There is no rule in the text.")
    if not problems:
        actor = actor_of(request)
        try:
            changes.edit(actor, open_change(request), f"/acls{join(name)}/rules", {**present, **pasted.rules})
        except ValidationFailed as error:
            problems = [said_with_place(one) for one in error.problems]
    if problems:
        extra = {
            "paste_text": text,
            "paste_how": "replace" if replace else "add",
            "paste_problems": problems[:_SHOWN_PROBLEMS],
        }
        return _page(request, name, extra, status=422)
    count = len(pasted.rules)
    tell(request, f"{count} rule{'' if count == 1 else 's'} in your changes.")
    return redirect("ui:acl", name=name)


@require_POST
@role_required(Role.ENGINEER)
def bind(request: HttpRequest, name: str) -> HttpResponse:
    """Binds the list to the ticked interfaces, among those that the form showed."""
    document = candidate_of(request).document
    if get(document, "/acls" + join(name)) is MISSING:
        raise Http404(f"There is no access list {name}.")
    interfaces = dict(get(document, "/interfaces", {}))
    ticked = {field: set(request.POST.getlist(field)) for field in ("acl_in", "acl_out")}
    for interface in request.POST.getlist("interface"):
        if interface not in interfaces:
            raise Http404(f"There is no interface {interface:.63}.")
        interfaces[interface] = wanted = dict(interfaces[interface])
        for field, chosen in ticked.items():
            before = list(wanted.get(field, ()))
            bound = [one for one in before if one != name]
            if interface in chosen:
                bound = before if name in before else [*bound, name]
            if bound:
                wanted[field] = bound
            else:
                wanted.pop(field, None)
    changes.edit(actor_of(request), open_change(request), "/interfaces", interfaces)
    tell(request, f"Bindings of {name} are in your changes.")
    return redirect("ui:acl", name=name)

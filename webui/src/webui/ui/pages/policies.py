"""Routing policy: prefix lists, route maps, community lists and AS path lists."""

from collections.abc import Callable, Iterator
from typing import Any

from webui.ui.tables.declaration import Column, Look, Page, Table
from webui.ui.tables.row import Row
from webui.ui.tables.used_by import USED_BY

_RULES = 8


def ordered(rules: dict[str, Any]) -> list[tuple[str, dict[str, Any]]]:
    """Rules by sequence."""
    return sorted(rules.items(), key=lambda rule: int(rule[0]))


def rule_line(rule: dict[str, Any]) -> str:
    """The conditions of a rule of a prefix, community or AS path list, in one line."""
    parts = [str(rule.get("prefix") or rule.get("regex") or " ".join(rule.get("communities", ())))]
    parts += [f"{bound} {rule[bound]}" for bound in ("ge", "le") if rule.get(bound) is not None]
    return " ".join(part for part in parts if part)


def match_line(rule: dict[str, Any]) -> str:
    """The conditions of a rule of a route map, in one line."""
    return ", ".join(phrases(rule.get("match"))) or "everything"


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


def _rules(line: Callable[[dict[str, Any]], str]) -> Callable[[Row], Iterator[Any]]:
    def rules(row: Row) -> Iterator[Any]:
        listed = ordered(row.said("rules", {}))
        for sequence, rule in listed[:_RULES]:
            yield (sequence, rule.get("action", ""), line(rule))
        if not listed:
            yield ("", "", "no rule: denies everything")
        if len(listed) > _RULES:
            yield ("", "", f"and {len(listed) - _RULES} more")

    return rules


def _table(
    name: str, noun: str, plural: str, line: Callable[[dict[str, Any]], str], own_page: str = ""
) -> Table:
    return Table(
        name=name,
        noun=noun,
        plural=plural,
        mapping=f"/routing/policy/{name}",
        own_page=own_page,
        columns=(
            Column(title="Rules", look=Look.RULES, value=_rules(line)),
            USED_BY,
        ),
        empty=f"No {noun} is configured.",
    )


PAGE = Page(
    name="policies",
    path="policies",
    title="Policies",
    icon="filter",
    group="Routing",
    order=40,
    key="p",
    tabs=True,
    tables=(
        _table("prefix_lists", "prefix list", "Prefix lists", rule_line),
        _table("route_maps", "route map", "Route maps", match_line, own_page="ui:route_map"),
        _table("community_lists", "community list", "Community lists", rule_line),
        _table("as_path_lists", "AS path list", "AS path lists", rule_line),
    ),
)

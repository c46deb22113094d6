"""Entries of the maps that grow large (static routes, access lists and their rules): unchanged ones are not
read again.

Models check nothing across such entries (``check`` does that on the whole document), so an entry with the
same text as the running one is the running one.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

from appliance.config.document import RouterConfig
from appliance.config.dump import natural

Path = tuple[str, ...]
Kept = Mapping[Path, frozenset[str]]
"""The keys of the unchanged entries, by the path of their map."""

_STATIC: Path = ("routing", "static")
_ACLS: Path = ("acls",)
_MOST = 60_000
"""Below every limit that a model sets on the size of these maps, so that no limit is exceeded unnoticed."""


def kept(document: Mapping[str, Any], running: Mapping[str, Any]) -> dict[Path, frozenset[str]]:
    """The entries of a plain document that are those of the running one, which is canonical."""
    found: dict[Path, frozenset[str]] = {}
    for path in (_STATIC, _ACLS):
        _keep(found, path, document, running)
    for name in (_at(document, _ACLS) or {}).keys() - found.get(_ACLS, frozenset()):
        _keep(found, (*_ACLS, name, "rules"), document, running)
    return found


def _keep(
    found: dict[Path, frozenset[str]], path: Path, document: Mapping[str, Any], running: Mapping[str, Any]
) -> None:
    entries, known = _at(document, path), _at(running, path)
    if entries is None or known is None or len(entries) > _MOST:
        return
    same = known.get
    keys = frozenset(
        [key for key, value in entries.items() if value is same(key) or _identical(value, same(key))]
    )
    if keys:
        found[path] = keys


def without(document: Mapping[str, Any], gone: Kept) -> dict[str, Any]:
    """``document`` without these entries; their maps stay."""
    result = dict(document)
    own: dict[Path, dict[str, Any]] = {(): result}
    for path, keys in gone.items():
        for depth in range(1, len(path)):
            if path[:depth] not in own:
                above = own[path[: depth - 1]]
                own[path[:depth]] = above[path[depth - 1]] = dict(above[path[depth - 1]])
        holder = own[path[:-1]]
        holder[path[-1]] = {key: value for key, value in holder[path[-1]].items() if key not in keys}
    return result


def merge_config(changed: RouterConfig, running: RouterConfig, again: Kept) -> RouterConfig | None:
    """``changed`` with entries of ``running``. None when both have the same entry, written differently."""
    update: dict[str, Any] = {}
    acls = dict(changed.acls)
    for path, keys in again.items():
        if path == _STATIC:
            static, known = changed.routing.static, running.routing.static
            if not keys.isdisjoint(static):
                return None
            routes = {**{key: known[key] for key in keys}, **static}
            update["routing"] = changed.routing.model_copy(update={"static": routes})
        elif path == _ACLS:
            if not keys.isdisjoint(acls):
                return None
            acls |= {key: running.acls[key] for key in keys}
            update["acls"] = acls
        else:
            acl, rules = acls[path[1]], running.acls[path[1]].rules
            if any(str(number) in keys for number in acl.rules):
                return None
            if _is_all(keys, acl.rules, rules):
                merged = {**rules, **acl.rules}
            else:
                merged = {**{number: rules[number] for number in map(int, keys)}, **acl.rules}
            acls[path[1]] = acl.model_copy(update={"rules": merged})
            update["acls"] = acls
    return changed.model_copy(update=update) if update else changed


def merge_plain(changed: dict[str, Any], running: Mapping[str, Any], again: Kept) -> None:
    """The same for canonical documents: ``changed`` gets entries of ``running``, in canonical order."""
    for path, keys in again.items():
        holder = changed
        for token in path[:-1]:
            holder = holder.setdefault(token, {})
        known, own = _at(running, path) or {}, holder.get(path[-1], {})
        if _is_all(keys, own, known):
            # These are in order.
            holder[path[-1]] = {**known, **own}
            continue
        entries = {**own, **{key: known[key] for key in keys}}
        holder[path[-1]] = {key: entries[key] for key in sorted(entries, key=natural)}


def _is_all(keys: frozenset[str], own: Mapping[Any, Any], known: Mapping[Any, Any]) -> bool:
    """Whether the kept entries and the ``own`` ones, none of which is kept, are together the known ones."""
    return len(keys) + len(own) == len(known) and own.keys() <= known.keys()


def _at(document: Mapping[str, Any], path: Path) -> Mapping[str, Any] | None:
    node: Any = document
    for token in path:
        node = node.get(token) if isinstance(node, Mapping) else None
    return node if isinstance(node, Mapping) else None


def _identical(one: Any, other: Any) -> bool:
    """Equal, regardless of the order of keys; ``1`` is not ``true``."""
    # Nearly every entry is, and mostly written alike: then no value is compared further.
    return one == other and (repr(one) == repr(other) or _alike(one, other))


def _alike(one: Any, other: Any) -> bool:
    """Whether equal values have the same types at every level."""
    if type(one) is not type(other):
        return False
    if isinstance(one, dict):
        pairs: Iterable[tuple[Any, Any]] = ((value, other[key]) for key, value in one.items())
    elif isinstance(one, list):
        pairs = zip(one, other, strict=True)
    else:
        return True
    for value, there in pairs:
        if type(value) is not type(there):
            return False
        if isinstance(value, (dict, list)) and not _alike(value, there):
            return False
    return True

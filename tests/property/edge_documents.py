"""Documents with edge values in every field of routing that the validation lets pass.

A random valid document is changed at random places of its JSON schema: the least and the largest number, one
less and more, the longest text, names that are words of FRR or beginnings of them, addresses at the ends of
their networks, entries added, renamed and removed. A change after which the document is refused is taken
back, so what is left is what a dry run shows nothing against. The same for the same seed.
"""

from __future__ import annotations

import copy
import random
from collections.abc import Iterator, Sequence
from typing import Any

from appliance.config.capabilities import Capabilities
from appliance.config.document import RouterConfig
from appliance.config.dump import dump
from appliance.config.load import parse_document
from appliance.config.validate import check
from appliance.errors import ValidationFailed
from frr_config import Routing, VrfRouting
from tests.property.meant_clauses import only_meant
from tests.property.routing_documents import random_routing

Json = dict[str, Any]

LINKS = {f"d{at}": [f"10.9.{at}.1/24", f"2001:db8:9:{at}::1/64"] for at in range(4)}
"""Interfaces of every document."""
ODD_LINKS = ("any", "bfd0", "l", "r", "re", "ta", "v", "x.y-z_0")
"""More of them, without addresses: words of FRR's commands and beginnings of them."""
VRFS = ("blue", "rou", "vr")


def _words(text: str) -> list[str]:
    return text.split()


_ODD_NAMES = _words("""
    1 99 100 500 65535 4294967295 10.9.0 1.5 fe80 any all in out no seq permit deny d p route-map r vrf i n s
    x.-_ peer-group prefix-list description exact-match standard internal external LINE WORD interface
""")
_TEXTS = [
    "",
    "x",
    "9" * 80,
    "no",
    "description x",
    "#1 * + = @",
    "a  b",
    "Gäste-WLAN",
    "ü" * 80,
    "東京 5",
    "(-",
]
_SECRETS = ["!", "#x", '"', "'", "\\", "|", "?", "0", "7", "x" * 80, "x" * 16, "x" * 8, "no", "a|b?c"]
_ADDRESSES = _words("""
    0.0.0.0 0.0.0.1 10.9.0.0 10.9.0.1 10.9.0.2 10.9.0.255 10.9.1.9 127.0.0.1 169.254.0.1 224.0.0.5 240.0.0.1
    223.255.255.255 255.255.255.255 :: ::1 ::ffff:10.9.0.2 fe80::1 ff02::5 2001:db8:9::1 2001:db8:9::2
    2001:db8:9:1:: 2001:db8:9:2::ffff
""")
_PREFIXES = _words("""
    0.0.0.0/0 0.0.0.0/1 0.0.0.0/32 10.9.0.0/24 10.9.0.1/32 128.0.0.0/1 169.254.0.0/16 255.255.255.255/32
    224.0.0.0/4 127.0.0.0/8 240.0.0.0/4 198.51.100.0/31 198.51.100.7/32 ::/0 ::/1 ::/128 2001:db8:9::1/128
    fe80::/10 ff00::/8 ::ffff:0:0/96 2001:db8::/127
""")
_REGEXES = [
    *_words(
        "[]1] 1) 1** () 1||2 _65001(_65001)*$ (|) [--9] $1^ | . ^ $ _ - ] [[.9] [_9] * (_*)*_? [^_] [9-1]"
    ),
    *("(" * 20 + "1" + ")" * 20, "_" * 120, "_" * 32, "_1" * 60, "[.9.]", "[[.9.]]"),
]
_COMMUNITIES = _words("""
    0:1 65535:65535 65535:65281 no-export 65535:0 graceful-shutdown 00:07 0:65535 local-AS 65535:666 blackhole
""")
_LARGE = ["0:0:0", "4294967295:4294967295:4294967295", "1:2:3", "01:2:3"]
_NUMBERS = (0, 1, 2, 255, 256, 65535, 65536, 4294967295)
_POOL = (*_ODD_NAMES, *_TEXTS, *_SECRETS, *_ADDRESSES, *_PREFIXES, *_REGEXES, *_COMMUNITIES, *_LARGE)
_BY_WORD: dict[str, Sequence[str]] = {
    "regex": _REGEXES,
    "communities": _COMMUNITIES,
    "large_communities": _LARGE,
    "description": _TEXTS,
    "password": _SECRETS,
    "key": _SECRETS,
    "prefix": _PREFIXES,
    "networks": _PREFIXES,
    "static": _PREFIXES,
    "next_hop": _ADDRESSES,
    "ipv6_next_hop": _ADDRESSES,
    "address": _ADDRESSES,
    "neighbors": _ADDRESSES,
    "router_id": _ADDRESSES,
    "update_source": (*_ADDRESSES, *LINKS, *ODD_LINKS),
}
_MOST_DEPTH = 4
_SOME = 0.5


def edge_documents(rng: random.Random, can: Capabilities) -> Iterator[tuple[RouterConfig, list[str]]]:
    """Documents without end, each with the changes that made it, in words."""
    interfaces: Json = {name: _link(name, found) for name, found in LINKS.items()}
    interfaces |= {name: _link(name, []) for name in ODD_LINKS}
    while True:
        routing = random_routing(rng, LINKS, static_bfd="bfd of next hop" not in can.lacking)
        document: Json = {
            "interfaces": interfaces,
            "routing": routing.model_dump(mode="json", exclude_defaults=True, context={"secrets": "reveal"}),
            "vrfs": {name: {"routing": {}} for name in VRFS},
        }
        document = dump(only_meant(parse_document(document), can), "reveal")
        config = _valid(document, can)
        assert config is not None, "the generator and the validation disagree"
        done: list[str] = []
        wanted = rng.randint(2, 30)
        for _ in range(wanted * 4):
            if len(done) == wanted:
                break
            draw = _Draw(rng, copy.deepcopy(document))
            told = draw.change()
            if told and (after := _valid(draw.document, can)) is not None:
                document, config = dump(after, "reveal"), after
                done.append(told)
        yield config, done


def _link(name: str, addresses: list[str]) -> Json:
    return {"type": "ethernet", "match": {"device": name}, "addresses": addresses}


def _valid(document: Json, can: Capabilities) -> RouterConfig | None:
    try:
        config = parse_document(document)
    except ValidationFailed:
        return None
    return None if check(config, can) else config


_OF_ROUTING, _OF_VRF = Routing.model_json_schema(), VrfRouting.model_json_schema()


def _entries(schema: Json) -> Json:
    """The schema of a mapping's values."""
    by_pattern: Json = schema.get("patternProperties", {})
    found: Json = next(iter(by_pattern.values()), {}) or schema["additionalProperties"]
    return found


class _Draw:
    """One change at a random place."""

    def __init__(self, rng: random.Random, document: Json) -> None:
        self.rng, self.document = rng, document
        self._definitions: Json = {}

    def change(self) -> str:
        """What was changed, in words; empty where nothing was."""
        vrf = self.rng.choice(("", "", "", *VRFS))
        schema = _OF_VRF if vrf else _OF_ROUTING
        self._definitions = schema["$defs"]
        at = self.document["vrfs"].setdefault(vrf, {}) if vrf else self.document
        path = [f"/vrfs/{vrf}/routing" if vrf else "/routing"]
        value = at.setdefault("routing", {})
        found = self._within(schema, value, path, 0)
        return f"{'/'.join(path)}: {found}"[:200] if found else ""

    def _within(self, schema: Json, value: Json, path: list[str], depth: int) -> str:
        """Go down to an object or a list, and change something in it."""
        schema = self._plain(schema)
        fields = schema.get("properties")
        if fields is None:
            return self._entry(schema, value, path, depth)
        name = self.rng.choice(sorted(fields))
        path.append(name)
        inner = self._plain(fields[name])
        if isinstance(value.get(name), dict) and self.rng.random() < 0.97:
            return self._within(fields[name], value[name], path, depth + 1)
        if isinstance(value.get(name), list) and value[name] and self.rng.random() < _SOME:
            return self._element(inner, value[name], path, depth + 1)
        if name in value and self.rng.random() < 0.1:
            del value[name]
            return "left out"
        value[name] = self._drawn(fields[name], name, depth + 1)
        return repr(value[name])

    def _entry(self, schema: Json, value: Json, path: list[str], depth: int) -> str:
        """A mapping: into an entry, or one is added, renamed or removed."""
        way = self.rng.random()
        keys = sorted(value)
        if keys and way < 0.65:
            key = self.rng.choice(keys)
            path.append(key)
            if isinstance(value[key], dict):
                return self._within(_entries(schema), value[key], path, depth + 1)
            return ""
        if keys and way < 0.75:
            key = self.rng.choice(keys)
            del value[key]
            return f"without {key}"
        new = str(self._key(schema, path[-1]))
        if keys and way < 0.85:
            key = self.rng.choice(keys)
            value[new] = value.pop(key)
            return f"{key} is called {new}"
        value[new] = self._drawn(_entries(schema), path[-1], depth + 1)
        return f"with {new}: {value[new]!r}"

    def _element(self, schema: Json, values: list[Any], path: list[str], depth: int) -> str:
        at = self.rng.randrange(len(values))
        path.append(str(at))
        if isinstance(values[at], dict) and self.rng.random() < 0.8:
            return self._within(schema["items"], values[at], path, depth + 1)
        if self.rng.random() < 0.3:
            del values[at]
            return "left out"
        new = self._drawn(schema["items"], path[-2], depth + 1)
        values.insert(at, new)
        return f"added {new!r}"

    def _key(self, schema: Json, word: str) -> Any:
        named = "patternProperties" in schema
        if word == "rules":
            return self.rng.choice((1, 2, 10, 65534, 65535, 65536, 0))
        if word == "interfaces":
            return self.rng.choice((*LINKS, *ODD_LINKS))
        if word == "areas":
            return self.rng.choice(_ADDRESSES)
        return self.rng.choice(_BY_WORD.get(word) or (_ODD_NAMES if named else _POOL))

    def _plain(self, schema: Json) -> Json:
        """Without references, and of a choice one."""
        while True:
            if "$ref" in schema:
                schema = self._definitions[schema["$ref"].rpartition("/")[2]]
            elif "anyOf" in schema:
                schema = self.rng.choice([one for one in schema["anyOf"] if one.get("type") != "null"])
            elif "allOf" in schema:
                schema = schema["allOf"][0]
            else:
                return schema

    def _drawn(self, schema: Json, word: str, depth: int) -> Any:
        """A value of a schema."""
        schema = self._plain(schema)
        if "enum" in schema or "const" in schema:
            return self.rng.choice(schema.get("enum") or [schema.get("const")])
        kind = schema.get("type")
        if kind == "boolean":
            return self.rng.random() < 0.7
        if kind in ("integer", "number"):
            return self._number(schema)
        if kind == "array":
            count = self.rng.choice((0, 1, 1, 2, 3, min(schema.get("maxItems", 4), 16)))
            return [self._drawn(schema["items"], word, depth + 1) for _ in range(count)]
        if kind == "object":
            return self._object(schema, word, depth)
        return self._text(schema, word)

    def _number(self, schema: Json) -> int:
        least, most = schema.get("minimum", 0), schema.get("maximum", 4294967295)
        edges = (least, most, least + 1, most - 1, (least + most) // 2, *_NUMBERS)
        return int(self.rng.choice([edge for edge in edges if least <= edge <= most]))

    def _object(self, schema: Json, word: str, depth: int) -> Json:
        if "properties" not in schema:
            if depth > _MOST_DEPTH or self.rng.random() < 0.3:
                return {}
            return {str(self._key(schema, word)): self._drawn(_entries(schema), word, depth + 1)}
        needed = schema.get("required", ())
        return {
            name: self._drawn(field, name, depth + 1)
            for name, field in schema["properties"].items()
            if name in needed or (depth <= _MOST_DEPTH and self.rng.random() < 0.25)
        }

    def _text(self, schema: Json, word: str) -> str:
        if (target := schema.get("x-refers-to")) is not None:
            names = self._names(target)
            if names and self.rng.random() < 0.95:
                return self.rng.choice(names)
        texts: tuple[str, ...] = (*_BY_WORD.get(word, _POOL), *schema.get("examples", ()))
        return self.rng.choice(texts)

    def _names(self, target: str) -> list[str]:
        found: Any = self.document
        for token in target.strip("/").split("/"):
            found = found.get(token, {}) if isinstance(found, dict) else {}
        return [*sorted(found), *(("default",) if target == "/vrfs" else ())]

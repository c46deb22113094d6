"""Access list rules as text, one a line, for pasting and copying.

    [sequence] permit|deny|permit_reflect [ipv4|ipv6] [protocol] SOURCE [port P] DESTINATION [port P]
               [type N [code N]] [flags +syn,-ack] [# description]

SOURCE and DESTINATION are a prefix, an address or ``any``; P is a port or a range. An access list as JSON,
``{"10": {...}}`` or ``[{...}]``, is read as well.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from ipaddress import ip_network
from typing import Any

from appliance.config.ip_protocols import PROTOCOLS
from appliance.config.load import parse_json
from appliance.errors import ValidationFailed
from webui.ui.whole_number import whole

STEPS = (10, 5, 2, 1)
"""Distances between generated sequences: the first by which all rules fit below the highest one."""
HIGHEST = 65_535
_ACTIONS = ("permit", "deny", "permit_reflect")
_FAMILY_OF = {"icmp": "ipv4", "icmpv6": "ipv6"}
"""Protocols that belong to one family."""
_NAMES = {"ipv4": "IPv4", "ipv6": "IPv6"}
_MAX_LINES = 20_000
_MAX_VALUES = 20 * _MAX_LINES


@dataclass(frozen=True)
class BadLine:
    """A line that is not a rule; lines count from one."""

    line: int
    text: str
    reason: str


@dataclass
class Pasted:
    """Rules by sequence, as JSON, and the invalid lines."""

    rules: dict[str, dict[str, Any]] = field(default_factory=dict)
    bad: list[BadLine] = field(default_factory=list)


class _NotARule(ValueError):
    """The words of a line are not a rule."""


def parse(text: str, *, after: int = 0) -> Pasted:
    """The rules of a pasted text. Rules without a sequence follow the previous one; the first follows
    `after`.
    """
    if text.lstrip().startswith(("{", "[")):
        return _parse_json(text, after)
    pasted = Pasted()
    lines = text.splitlines()
    if len(lines) > _MAX_LINES:
        reason = f"at most {_MAX_LINES:,} lines are read at once: paste the rest afterwards"
        return Pasted(bad=[BadLine(_MAX_LINES + 1, "", reason)])
    read: list[tuple[int, int | None, dict[str, Any]]] = []
    for number, line in enumerate(lines, start=1):
        if not line.strip() or line.lstrip().startswith("#"):
            continue
        try:
            read.append((number, *_parse_line(line)))
        except _NotARule as error:
            pasted.bad.append(BadLine(number, line.strip()[:120], str(error)))
    sequences = _numbered([given for _, given, _ in read], after)
    if sequences is None:
        first = next(number for number, given, _ in read if given is None)
        without = sum(given is None for _, given, _ in read)
        pasted.bad.append(BadLine(first, lines[first - 1].strip()[:120], _no_room(without, after)))
        return pasted
    for (number, _, rule), sequence in zip(read, sequences, strict=True):
        if str(sequence) in pasted.rules:
            text = lines[number - 1].strip()[:120]
            pasted.bad.append(BadLine(number, text, f"sequence {sequence} is used twice"))
            continue
        pasted.rules[str(sequence)] = rule
    return pasted


def _numbered(given: list[int | None], after: int) -> list[int] | None:
    """A sequence for each rule, those without one behind the previous rule; None where they do not fit."""
    for step in STEPS:
        last, found, fits = after, [], True
        for one in given:
            last = (last // step + 1) * step if one is None else one
            fits = fits and (one is not None or last <= HIGHEST)
            found.append(last)
        if fits:
            return found
    return None


def _no_room(rules: int, after: int) -> str:
    behind = f"from the one behind rule {after:,} " if after else ""
    return (
        f"the {rules:,} rules without a number do not all fit: numbers go {behind}up to {HIGHEST:,}. Give "
        "them numbers that fit, replace the list, or split it into several"
    )


def format_rule(sequence: int | str, rule: dict[str, Any]) -> str:
    """The rule as a line that `parse` reads back."""
    words = [str(sequence), rule.get("action", "")]
    if (family := _unsaid_family(rule)) is not None:
        words.append(family)
    words.append(rule.get("protocol", "any"))
    for side in ("source", "destination"):
        words.append(rule.get(side) or "any")
        if rule.get(f"{side}_ports"):
            words += ["port", str(rule[f"{side}_ports"])]
    for name, word in (("icmp_type", "type"), ("icmp_code", "code")):
        if rule.get(name) is not None:
            words += [word, str(rule[name])]
    flags = rule.get("tcp_flags")
    if flags:
        words += [
            "flags",
            ",".join(
                [f"+{one}" for one in flags.get("set", ())] + [f"-{one}" for one in flags.get("unset", ())]
            ),
        ]
    if rule.get("description"):
        words += ["#", rule["description"]]
    return " ".join(words)


def _unsaid_family(rule: dict[str, Any]) -> str | None:
    """The family where the rest does not imply it: ``any any`` fits both. Omitted where protocol or
    prefixes imply it.
    """
    if rule.get("family") == "ipv6":
        return "ipv6"
    says = rule.get("protocol") == "icmp" or rule.get("source") or rule.get("destination")
    return None if says else "ipv4"


def _parse_json(text: str, after: int) -> Pasted:
    try:
        data = parse_json(text, most_values=_MAX_VALUES)
    except ValidationFailed as error:
        return Pasted(bad=[BadLine(1, "", error.problems[0].message)])
    if isinstance(data, dict) and isinstance(data.get("rules"), dict):
        data = data["rules"]
    if isinstance(data, dict):
        return Pasted(rules={str(key): value for key, value in data.items()})
    sequences = _numbered([None] * len(data), after)
    if sequences is None:
        return Pasted(bad=[BadLine(1, "", _no_room(len(data), after))])
    return Pasted(rules={str(sequence): rule for sequence, rule in zip(sequences, data, strict=True)})


def _parse_line(line: str) -> tuple[int | None, dict[str, Any]]:
    text, _, description = line.partition("#")
    words = iter(text.lower().replace("permit+reflect", "permit_reflect").split())
    word = _next(words, "an action")
    sequence = whole(word)
    if sequence is not None:
        word = _next(words, "an action")
    if word not in _ACTIONS:
        raise _NotARule(f"begins with {word!r}, not with {', '.join(_ACTIONS)}")
    rule: dict[str, Any] = {"action": word}
    word = _next(words, "a protocol")
    family = word if word in ("ipv4", "ipv6") else None
    if family:
        word = _next(words, "a protocol")
    if _is_end(word) and word != "any":
        rest: list[str] = [word, *words]
    else:
        if word not in ("any", "ip"):
            if word not in PROTOCOLS and not word.isdecimal():
                raise _NotARule(f"{word!r} is no protocol")
            rule["protocol"] = word
        rest = list(words)
    _read_ends(rule, rest)
    if _family(family, rule) == "ipv6":
        rule["family"] = "ipv6"
    if description.strip():
        rule["description"] = description.strip()
    return sequence, rule


def _family(said: str | None, rule: dict[str, Any]) -> str:
    """The family of the line. Raises _NotARule where its words imply different ones."""
    signs = {said: said} if said else {}
    if (protocol := rule.get("protocol")) in _FAMILY_OF:
        signs[protocol] = _FAMILY_OF[protocol]
    for side in ("source", "destination"):
        if end := rule.get(side):
            signs[end] = "ipv6" if ":" in end else "ipv4"
    if len(set(signs.values())) > 1:
        first, *others = signs
        odd = next(word for word in others if signs[word] != signs[first])
        names = [word if word in _NAMES else f"{word} ({_NAMES[signs[word]]})" for word in (first, odd)]
        raise _NotARule(f"a rule is for one family: {names[0]} and {names[1]} are not of the same")
    return next(iter(signs.values()), "ipv4")


def _next(words: Iterator[str], wanted: str) -> str:
    word = next(words, None)
    if word is None:
        raise _NotARule(f"ends before {wanted}")
    return word


def _is_end(word: str) -> bool:
    if word == "any":
        return True
    try:
        ip_network(word, strict=False)
    except ValueError:
        return False
    return "." in word or ":" in word


def _read_ends(rule: dict[str, Any], words: list[str]) -> None:
    side = ""
    position = 0
    while position < len(words):
        word = words[position]
        if _is_end(word):
            if side == "destination":
                raise _NotARule(f"{word!r}: source and destination are given already")
            side = "destination" if side else "source"
            if word != "any":
                rule[side] = str(ip_network(word, strict=False)) if "/" not in word else word
            position += 1
            continue
        if position + 1 >= len(words):
            raise _NotARule(f"{word!r} needs a value")
        _read_option(rule, side, word, words[position + 1])
        position += 2


def _read_option(rule: dict[str, Any], side: str, word: str, value: str) -> None:
    match word:
        case "port" | "eq" | "ports" if side:
            rule[f"{side}_ports"] = value
        case "type" | "code" if (number := whole(value)) is not None:
            rule[f"icmp_{word}"] = number
        case "flags":
            flags: dict[str, list[str]] = {}
            for flag in value.split(","):
                flags.setdefault("unset" if flag.startswith("-") else "set", []).append(flag.lstrip("+-"))
            rule["tcp_flags"] = flags
        case _:
            raise _NotARule(f"does not understand {word!r}")

"""The search terms of BGP routes, as people write them and as the index expects them."""

from __future__ import annotations

import re
from ipaddress import IPv4Address, ip_address
from typing import Annotated

from pydantic import AfterValidator, BeforeValidator, StringConstraints
from pydantic_core import PydanticCustomError

OWN = "self"
"""Stands for this router in place of a neighbor's address."""
MOST_ASNS = 64
"""Most AS numbers in the sequence of a search."""
_LARGEST_ASN = 4294967295
_WELL_KNOWN = ("no-export", "no-advertise", "local-AS", "no-peer", "blackhole", "graceful-shutdown")
_TWO_OCTETS = 65535
_EXTENDED = re.compile(r"(?:0x)?([0-9a-f]{16})")
_SUBTYPES = {"rt": 0x02, "soo": 0x03}
"""Route target and route origin (RFC 4360)."""
_OF_TWO, _OF_ADDRESS, _OF_FOUR = 0x00, 0x01, 0x02
"""Types of extended communities, by the form of the administrator: a two-octet AS number, an address, a
four-octet AS number.
"""


def _number(text: str) -> int | None:
    """An AS number, plain or dotted (RFC 5396); None for any other text."""
    parts = text.split(".")
    if not all(re.fullmatch(r"[0-9]{1,10}", part) for part in parts):
        return None
    numbers = [int(part) for part in parts]
    if len(numbers) == 1 and numbers[0] <= _LARGEST_ASN:
        return numbers[0]
    if len(numbers) == 2 and max(numbers) <= _TWO_OCTETS:
        return numbers[0] << 16 | numbers[1]
    return None


def _asn(given: object) -> int:
    number = _number(str(given).strip())
    if number is None:
        raise PydanticCustomError("asn", "must be an AS number from 0 to 4294967295, such as 65001")
    return number


def _path(text: str) -> str:
    words = re.split(r"[\s_,]+", text.strip(" _,"))
    numbers = [_number(word) for word in words]
    if None in numbers or len(numbers) > MOST_ASNS:
        raise PydanticCustomError(
            "as_path",
            "must be AS numbers that follow each other, such as 65001 65010, at most {most}",
            {"most": MOST_ASNS},
        )
    return " ".join(map(str, numbers))


def _length(text: str) -> str:
    match = re.fullmatch(r"\s*([0-9]{1,4})\s*(?:-\s*([0-9]{1,4})\s*)?", text)
    if match is None or int(match[2] or match[1]) < int(match[1]):
        raise PydanticCustomError("path_length", "must be a number such as 3, or a range such as 3-5")
    return match[1] if match[2] is None else f"{match[1]}-{match[2]}"


def _neighbor(text: str) -> str:
    if text.strip().lower() == OWN:
        return OWN
    try:
        if "%" in text:
            raise ValueError
        return str(ip_address(text.strip()))
    except ValueError:
        raise PydanticCustomError(
            "neighbor", "must be the address of a neighbor, or self for this router's own routes"
        ) from None


def _community(text: str) -> str:
    key_of_community(text)
    return text.strip()


def key_of_community(text: str) -> tuple[str, str]:
    """The index's key for a community of any kind, and its value. Raises PydanticCustomError."""
    words = text.strip()
    known = {name.lower(): name for name in _WELL_KNOWN}
    if (name := known.get(words.lower())) is not None:
        return "community", name
    if (match := _EXTENDED.fullmatch(words.lower())) is not None:
        return "extended_community", match[1]
    kind, _, rest = words.lower().partition(":")
    if kind in _SUBTYPES and (octets := _extended(_SUBTYPES[kind], rest)) is not None:
        return "extended_community", octets
    parts = words.split(":")
    if all(re.fullmatch(r"[0-9]{1,10}", part) for part in parts):
        numbers = [int(part) for part in parts]
        if len(numbers) == 2 and max(numbers) <= _TWO_OCTETS:
            return "community", f"{numbers[0]}:{numbers[1]}"
        if len(numbers) == 3 and max(numbers) <= _LARGEST_ASN:
            return "large_community", ":".join(map(str, numbers))
    raise PydanticCustomError(
        "community",
        "must be a community such as 65001:100, 65001:1:2, no-export or rt:65001:100, or 16 hexadecimal "
        "digits",
    )


def _extended(subtype: int, text: str) -> str | None:
    """Hexadecimal of an extended community ``administrator:value``; None for any other text."""
    who, _, value = text.rpartition(":")
    if not re.fullmatch(r"[0-9]{1,10}", value):
        return None
    number = int(value)
    try:
        kind, named = _OF_ADDRESS, int(IPv4Address(who))
    except ValueError:
        found = _number(who)
        if found is None:
            return None
        kind, named = (_OF_TWO if found <= _TWO_OCTETS else _OF_FOUR), found
    if kind == _OF_TWO:
        return f"{kind:02x}{subtype:02x}{named:04x}{number:08x}" if number <= _LARGEST_ASN else None
    return f"{kind:02x}{subtype:02x}{named:08x}{number:04x}" if number <= _TWO_OCTETS else None


SearchedAsn = Annotated[int, BeforeValidator(_asn)]
"""An AS number as it may occur in a path, including 0."""
SearchedPath = Annotated[str, StringConstraints(max_length=800), AfterValidator(_path)]
"""Consecutive AS numbers, separated by spaces."""
PathLength = Annotated[str, StringConstraints(max_length=20), AfterValidator(_length)]
"""A number or a range of numbers."""
SearchedNeighbor = Annotated[str, StringConstraints(max_length=64), AfterValidator(_neighbor)]
"""An address, or ``OWN``."""
SearchedCommunity = Annotated[str, StringConstraints(max_length=64), AfterValidator(_community)]
"""A standard, large or extended community, or the name of a well-known one."""

"""Field types shared by the routing models and the router document.

Every type is narrow enough that a bad value cannot be written, and every text type has a closed
alphabet: a value can never end the line or the word it is rendered into.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from functools import lru_cache
from ipaddress import IPv4Address, IPv4Network, IPv6Address, IPv6Network, ip_address, ip_network
from socket import AF_INET, inet_pton
from typing import Annotated, Any, Literal
from unicodedata import category, normalize

from pydantic import (
    AfterValidator,
    BaseModel,
    BeforeValidator,
    ConfigDict,
    Field,
    GetJsonSchemaHandler,
    PlainSerializer,
    SecretStr,
    SerializationInfo,
    StringConstraints,
    ValidationInfo,
)
from pydantic.json_schema import JsonSchemaValue
from pydantic_core import CoreSchema

MASK = "********"
"""What a secret looks like wherever it is not revealed on purpose."""


class Model(BaseModel):
    """Base of every part of the document: frozen, and unknown keys are errors."""

    model_config = ConfigDict(
        frozen=True,
        extra="forbid",
        use_attribute_docstrings=True,
        ser_json_bytes="utf8",
        protected_namespaces=(),
        hide_input_in_errors=True,  # it may be a secret
    )


class _SecretSchema:
    """Shows a secret as a write-only string in JSON Schema."""

    @classmethod
    def __get_pydantic_json_schema__(
        cls, schema: CoreSchema, handler: GetJsonSchemaHandler
    ) -> JsonSchemaValue:
        return {"type": "string", "format": "password", "writeOnly": True, "maxLength": 512}


def _unseal(value: Any, info: ValidationInfo) -> Any:
    unseal: Callable[[str], str] | None = (info.context or {}).get("unseal")
    if unseal is not None and isinstance(value, str):
        return unseal(value)
    return value


_SECRET_TEXT = re.compile(r"[\x21-\x7e]+")
_SEALED_TEXT = re.compile(r"\$sealed\$[A-Za-z0-9_=-]+")


def _check_secret(value: SecretStr) -> SecretStr:
    text = value.get_secret_value()
    if text.startswith("$sealed$"):
        if not _SEALED_TEXT.fullmatch(text):
            raise ValueError("is not a sealed secret")
        return value
    if not _SECRET_TEXT.fullmatch(text):
        raise ValueError("must be printable ASCII characters without spaces")
    if len(text) > 80:
        raise ValueError("must be at most 80 characters")
    return value


def _dump_secret(value: SecretStr, info: SerializationInfo) -> str:
    context = info.context or {}
    secrets = context.get("secrets") if isinstance(context, dict) else None
    if secrets == "reveal":
        return value.get_secret_value()
    if callable(secrets):
        return str(secrets(value.get_secret_value()))
    return MASK


Secret = Annotated[
    SecretStr,
    BeforeValidator(_unseal),
    AfterValidator(_check_secret),
    PlainSerializer(_dump_secret, return_type=str),
    _SecretSchema,
]
"""A password or key. Dumps as ``********`` unless the serialisation context says
``{"secrets": "reveal"}`` or gives a function from plain to stored text; with a validation context
``{"unseal": fn}`` stored text is opened while reading."""


def _parse_asn(value: Any) -> Any:
    """Accept asdot (RFC 5396), ``1.10``, besides the plain decimal form."""
    if isinstance(value, str) and (match := re.fullmatch(r"(\d{1,5})\.(\d{1,5})", value)):
        high, low = int(match[1]), int(match[2])
        if high > 0xFFFF or low > 0xFFFF:
            raise ValueError("each half of a dotted AS number is at most 65535")
        return high * 65536 + low
    return value


Asn = Annotated[int, BeforeValidator(_parse_asn), Field(ge=1, le=4294967295, examples=[65001])]
"""Autonomous system number, 1 to 4294967295 (RFC 6793); plain or dotted (RFC 5396)."""

IpAddress = IPv4Address | IPv6Address
IpNetwork = IPv4Network | IPv6Network

InterfaceName = Annotated[str, StringConstraints(pattern=r"^[a-z][a-z0-9._-]{0,14}$")]
"""Name of an interface: at most 15 characters, Linux's own limit (IFNAMSIZ)."""

DEFAULT_VRF = "default"
"""FRR's name of the default VRF."""

VrfName = Annotated[str, StringConstraints(pattern=r"^[a-z][a-z0-9._-]{0,14}$")]
"""Name of a VRF, which is also that of its device: as an interface's."""

Name = Annotated[str, StringConstraints(pattern=r"^[A-Za-z0-9][A-Za-z0-9_.-]{0,62}$")]
"""Name of a policy object, a peer group or an access list."""

PlainText = Annotated[
    str, StringConstraints(pattern=r"^[A-Za-z0-9 ,.:;()/_+=@#*-]{0,80}$", strip_whitespace=True)
]
"""Text of one line in ASCII, at most 80 characters."""

_SIGNS = " ,.:;()/_+=@#*-"
_UNSEEN = frozenset("\u034f\u115f\u1160\u17b4\u17b5\u3164\uffa0\U0001d159")
"""Letters and marks that show nothing; the variation selectors are ``_VARIATIONS``."""
_VARIATIONS = ((0x180B, 0x180F), (0xFE00, 0xFE0F), (0xE0100, 0xE01EF))
_MOST_MARKS = 4
"""Marks on one letter: some scripts have three; more of them would cover the lines above and below."""


def _is_of_description(character: str) -> bool:
    """Letters, the marks on them, and digits of any script; no control, direction or format characters."""
    if character.isascii():
        return character.isalnum() or character in _SIGNS
    code = ord(character)
    if character in _UNSEEN or any(first <= code <= last for first, last in _VARIATIONS):
        return False
    return category(character) in ("Lu", "Ll", "Lt", "Lm", "Lo", "Mn", "Mc", "Nd")


def _description(value: str) -> str:
    text = value if value.isascii() else normalize("NFC", value)
    marks = 0
    for at, character in enumerate(text, 1):
        marks = marks + 1 if category(character).startswith("M") else 0
        if not _is_of_description(character) or marks > _MOST_MARKS or marks == at:
            shown = repr(character) if character.isprintable() else f"U+{ord(character):04X}"
            raise ValueError(
                f"must be up to 80 letters, digits, spaces, ,.:;()/_+=@#*-, and character {at} is {shown}"
            )
    return text


Description = Annotated[
    str, StringConstraints(max_length=80, strip_whitespace=True), AfterValidator(_description)
]
"""Free text of one line: letters and digits of any script, and a few signs; at most 80 characters, 320 bytes
of UTF-8. Its letters are composed (Unicode's form NFC).
"""

Sequence = Annotated[int, Field(ge=1, le=65535)]
"""Order of a rule in its list; lower is evaluated first."""

PermitDeny = Literal["permit", "deny"]


@lru_cache(maxsize=1 << 17)
def network_of(text: str) -> IPv4Network | IPv6Network:
    """A prefix as a network: the code that reads, checks and compiles a document asks for the same thousands
    again.

    Raises ValueError as ``ip_network``, which takes several times as long for a common IPv4 prefix.
    """
    address, slash, length = text.partition("/")
    if slash and len(length) <= 2 and length.isascii() and length.isdecimal():
        try:
            return IPv4Network((inet_pton(AF_INET, address), int(length)))
        except (OSError, ValueError):
            # It is of the other family or invalid: the library says what is wrong.
            pass
    return ip_network(text)


@lru_cache(maxsize=65536)  # a document is read again at each edit, with the same texts
def _canonical_prefix(value: str) -> str:
    try:
        network = network_of(value)
    except ValueError as error:
        raise ValueError(f"{value!r} is not an IP prefix: {error}") from None
    return str(network)


Prefix = Annotated[
    str,
    AfterValidator(_canonical_prefix),
    Field(examples=["198.51.100.0/24", "2001:db8::/32"], max_length=49),
]
"""An IPv4 or IPv6 prefix without host bits, in canonical text (RFC 5952)."""


@lru_cache(maxsize=65536)  # a document is read again at each edit, with the same texts
def _canonical_address(value: str) -> str:
    try:
        address = ip_address(value)
    except ValueError:
        raise ValueError(f"{value!r} is not an IP address") from None
    if isinstance(address, IPv6Address) and address.scope_id:
        raise ValueError("an address with a zone (%) cannot be used here")
    return str(address)


def is_unicast(text: str) -> bool:
    """Whether it can be the address of a host on a network. Not in 0.0.0.0/8, 127.0.0.0/8 and 224.0.0.0/3
    (RFC 1122, RFC 1112), and of IPv6 not ``::``, ``::1`` and multicast.
    """
    address = ip_address(text)
    if address.is_multicast or address.is_unspecified or address.is_loopback:
        return False
    return address.version == 6 or (address.packed[0] != 0 and not address.is_reserved)


Address = Annotated[
    str, AfterValidator(_canonical_address), Field(examples=["192.0.2.1", "2001:db8::1"], max_length=45)
]
"""An IPv4 or IPv6 address in canonical text (RFC 5952)."""

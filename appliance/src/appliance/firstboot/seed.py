"""The settings that a hypervisor may give a new instance. Pure.

Every source (OVF properties, cloud-init, fw_cfg) is reduced to the same named values, which are checked here.
No value ends up in a command, and every text that reaches a file has a closed alphabet.
"""

from __future__ import annotations

import base64
import binascii
import ipaddress
import re
import zlib
from collections.abc import Mapping
from typing import Annotated, Any, Self

from pydantic import (
    BaseModel,
    BeforeValidator,
    ConfigDict,
    Field,
    StringConstraints,
    ValidationError,
    field_validator,
    model_validator,
)

from appliance.errors import Problem, ValidationFailed

# The document's own forms: loading its whole schema would make every boot longer. A test holds them equal.
HostName = Annotated[str, StringConstraints(pattern=r"^[A-Za-z0-9]([A-Za-z0-9-]{0,61}[A-Za-z0-9])?$")]
DomainName = Annotated[
    str,
    StringConstraints(
        pattern=r"^[A-Za-z0-9]([A-Za-z0-9-]{0,61}[A-Za-z0-9])?(\.[A-Za-z0-9]([A-Za-z0-9-]{0,61}[A-Za-z0-9])?)*$",
        max_length=253,
    ),
]
MIN_PASSWORD = 12
"""Characters of the shortest password that the web page takes."""
MAX_DOCUMENT_BYTES = 64 * 1024 * 1024
"""Size of the largest document text."""
_KEY_TYPES = (
    "ssh-ed25519",
    "ssh-rsa",
    "ecdsa-sha2-nistp256",
    "ecdsa-sha2-nistp384",
    "ecdsa-sha2-nistp521",
    "sk-ssh-ed25519@openssh.com",
    "sk-ecdsa-sha2-nistp256@openssh.com",
)
HASH = re.compile(r"\$(?:[56]|y|gy|7|2[aby])\$[./A-Za-z0-9$=,]{8,250}")
"""crypt(3): sha256, sha512, yescrypt, gost-yescrypt, scrypt and bcrypt."""

_FORMS = {
    "hostname": "must be letters, digits and hyphens, at most 63 (RFC 1123)",
    "management_mac": "must be a MAC address such as 52:54:00:00:00:01",
    "search_domains": "must be domain names (RFC 1123)",
    "instance_id": "must be 1 to 128 printable ASCII characters",
}


def _separated(value: object) -> object:
    """Lists come as text from OVF, as lists from YAML."""
    if isinstance(value, str):
        value = re.split(r"[\s,;]+", value.strip(" \t\r\n,;"))
    if isinstance(value, list) and all(isinstance(entry, str) for entry in value):
        # Given twice, as in cloud-init's files (for all and for a subnet), it counts once.
        return list(dict.fromkeys(value))
    return value


def _lines(value: object) -> object:
    if not isinstance(value, str):
        return value
    return [line.strip() for line in re.split(r"[\n;]", value) if line.strip()]


def _not_a_switch(value: object) -> object:
    """YAML 1.1 reads a bare ``off`` as false."""
    return "off" if value is False else value


Servers = Annotated[tuple[str, ...], BeforeValidator(_separated)]


class Seed(BaseModel):
    """The values, under the names they have in OVF properties and in ``millrace:`` of cloud-init."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    instance_id: Annotated[str, StringConstraints(pattern=r"^[ -~]{1,128}$")]
    """A seed is applied once for each id."""
    hostname: HostName | None = None
    """First label of the name (RFC 1123)."""
    management_mac: (
        Annotated[str, StringConstraints(pattern=r"^([0-9A-Fa-f]{2}:){5}[0-9A-Fa-f]{2}$")] | None
    ) = None
    """Management NIC; None is the first in PCI order."""
    management_address: Annotated[str | None, BeforeValidator(_not_a_switch)] = None
    """``dhcp``, ``off`` or an IPv4 address with its length; None was not said, which means DHCP."""
    management_gateway: str | None = None
    """IPv4 next hop of the default route."""
    management_ipv6_address: Annotated[str | None, BeforeValidator(_not_a_switch)] = None
    """``auto`` (RFC 4862, and DHCPv6 where the router asks for it), ``off`` or an address with its length."""
    management_ipv6_gateway: str | None = None
    """IPv6 next hop of the default route."""
    dns_servers: Servers = Field(default=(), max_length=3)
    """Addresses of resolvers."""
    search_domains: Annotated[tuple[DomainName, ...], BeforeValidator(_separated)] = Field(
        default=(), max_length=6
    )
    """Search list; the first is the router's domain."""
    ntp_servers: Servers = Field(default=(), max_length=8)
    """Names or addresses."""
    admin_password: str | None = Field(default=None, repr=False)
    """In clear; kept as a hash only."""
    admin_password_hash: str | None = Field(default=None, repr=False)
    """For crypt(3)."""
    admin_ssh_keys: Annotated[tuple[str, ...], BeforeValidator(_lines)] = Field(default=(), max_length=64)
    """Public keys in OpenSSH's form, without options."""
    configuration: dict[str, Any] | None = Field(default=None, repr=False)
    """A whole configuration document, not yet validated."""

    @field_validator("management_mac")
    @classmethod
    def _small_letters(cls, value: str | None) -> str | None:
        return None if value is None else value.lower()

    @field_validator("management_address")
    @classmethod
    def _ipv4(cls, value: str | None) -> str | None:
        return None if value is None else _interface(value, 4, "dhcp")

    @field_validator("management_ipv6_address")
    @classmethod
    def _ipv6(cls, value: str | None) -> str | None:
        return None if value is None else _interface(value, 6, "auto")

    @field_validator("dns_servers")
    @classmethod
    def _resolvers(cls, value: tuple[str, ...]) -> tuple[str, ...]:
        return tuple(_plain_address(text) for text in value)

    @field_validator("ntp_servers")
    @classmethod
    def _clocks(cls, value: tuple[str, ...]) -> tuple[str, ...]:
        return tuple(_name_or_address(text) for text in value)

    @field_validator("admin_password")
    @classmethod
    def _long_enough(cls, value: str | None) -> str | None:
        if value is not None:
            if len(value) < MIN_PASSWORD or len(value.encode()) > 256:
                raise ValueError(f"has to have {MIN_PASSWORD} to 256 characters")
            if not value.isprintable():
                raise ValueError("has a character that cannot be typed")
        return value

    @field_validator("admin_password_hash")
    @classmethod
    def _is_a_hash(cls, value: str | None) -> str | None:
        if value is not None and not HASH.fullmatch(value):
            raise ValueError("is not a crypt(3) hash such as $6$… or $y$…")
        return value

    @field_validator("admin_ssh_keys")
    @classmethod
    def _are_keys(cls, value: tuple[str, ...]) -> tuple[str, ...]:
        return tuple(public_key(line) for line in value)

    @field_validator("configuration", mode="before")
    @classmethod
    def _is_an_object(cls, value: object) -> object:
        return read_configuration(value) if isinstance(value, str) else value

    @model_validator(mode="after")
    def _fits_together(self) -> Self:
        if self.admin_password is not None and self.admin_password_hash is not None:
            raise ValueError("admin_password: give it or admin_password_hash, not both")
        for name, gateway, address, version in (
            ("management_gateway", self.management_gateway, self.management_address, 4),
            ("management_ipv6_gateway", self.management_ipv6_gateway, self.management_ipv6_address, 6),
        ):
            if gateway is not None:
                _check_gateway(name, gateway, address, version)
        return self


def read(values: Mapping[str, Any]) -> Seed:
    """The seed in named values. Raises ValidationFailed, each problem with the name as its pointer."""
    given = {name: value for name, value in values.items() if value is not None and value != ""}
    try:
        return Seed.model_validate(_split_name(given))
    except ValidationError as error:
        raise ValidationFailed(
            [
                _problem(entry["loc"], entry["msg"], entry["type"])
                for entry in error.errors(include_url=False, include_input=False)
            ]
        ) from None


def public_key(line: str) -> str:
    """The key in one line of OpenSSH's authorized_keys, its comment cleaned. Raises ValueError.

    Options are refused: a user who needs them edits the file on the router.
    """
    words = line.split()
    if len(words) < 2 or words[0] not in _KEY_TYPES:
        raise ValueError("is not an OpenSSH public key such as ssh-ed25519 AAAA… name")
    try:
        blob = base64.b64decode(words[1], validate=True)
    except binascii.Error:
        raise ValueError("is not an OpenSSH public key: its base64 is damaged") from None
    length = int.from_bytes(blob[:4], "big")
    # RFC 4253, 6.6: the blob names its own type first.
    if blob[4 : 4 + length] != words[0].encode() or len(blob) <= 4 + length:
        raise ValueError("is not an OpenSSH public key: its data is of another type")
    comment = re.sub(r"[^A-Za-z0-9@._:+-]", "-", "_".join(words[2:]))[:100]
    return " ".join([words[0], words[1], *([comment] if comment else [])])


def read_configuration(text: str) -> Any:
    """A document in text: JSON, base64 of JSON, or base64 of its gzip. Raises ValueError.

    The parsed value need not be an object, and is not validated.
    """
    from appliance.config.load import parse_json

    raw = text.strip().encode()
    if not raw.startswith(b"{"):
        try:
            raw = base64.b64decode(b"".join(raw.split()), validate=True)
        except binascii.Error:
            raise ValueError("is neither JSON nor base64") from None
        if raw[:2] == b"\x1f\x8b":
            raw = _gunzip(raw)
    try:
        return parse_json(raw)
    except ValidationFailed as failed:
        raise ValueError(failed.problems[0].message) from None


def _gunzip(data: bytes) -> bytes:
    reader = zlib.decompressobj(wbits=31)
    try:
        text = reader.decompress(data, MAX_DOCUMENT_BYTES + 1)
    except zlib.error:
        raise ValueError("is damaged: its gzip does not open") from None
    if len(text) > MAX_DOCUMENT_BYTES:
        raise ValueError(f"is larger than {MAX_DOCUMENT_BYTES // 1024 // 1024} MB")
    if not reader.eof:
        raise ValueError("is damaged: its gzip ends early")
    return text


def _interface(value: str, version: int, automatic: str) -> str:
    text = value.strip().lower()
    if text in (automatic, "off"):
        return text
    message = f"must be {automatic}, off or an IPv{version} address with its length"
    try:
        interface = ipaddress.ip_interface(_without_zone(text))
    except ValueError:
        raise ValueError(message) from None
    if interface.version != version or "/" not in text:
        raise ValueError(message)
    address, network = interface.ip, interface.network
    if address.is_multicast or address.is_unspecified or address.is_loopback:
        raise ValueError(f"{address} cannot be an interface's address")
    if version == 4 and network.prefixlen < 31 and address in (network[0], network[-1]):
        raise ValueError(f"{address} is the network's own or its broadcast address")
    return str(interface)


def _check_gateway(name: str, gateway: str, address: str | None, version: int) -> None:
    try:
        hop = ipaddress.ip_address(_without_zone(gateway))
    except ValueError:
        raise ValueError(f"{name}: must be an IPv{version} address") from None
    if hop.version != version:
        raise ValueError(f"{name}: must be an IPv{version} address")
    if address is None or "/" not in address:
        raise ValueError(f"{name}: goes with a static address only")
    interface = ipaddress.ip_interface(address)
    if hop not in interface.network and not hop.is_link_local:
        raise ValueError(f"{name}: {hop} is not in {interface.network}")
    if hop == interface.ip:
        raise ValueError(f"{name}: is the router's own address")


def _without_zone(text: str) -> str:
    """Python accepts any text as an IPv6 zone, even line breaks. Raises ValueError for one with a zone."""
    if "%" in text:
        raise ValueError("an address here has no zone")
    return text


def _plain_address(text: str) -> str:
    try:
        return str(ipaddress.ip_address(_without_zone(text)))
    except ValueError:
        raise ValueError(f"{text[:64]!r} is not an IP address") from None


def _name_or_address(text: str) -> str:
    try:
        return str(ipaddress.ip_address(_without_zone(text)))
    except ValueError:
        if not re.fullmatch(
            r"(?=.{1,253}$)[A-Za-z0-9]([A-Za-z0-9-]{0,61}[A-Za-z0-9])?"
            r"(\.[A-Za-z0-9]([A-Za-z0-9-]{0,61}[A-Za-z0-9])?)*",
            text,
        ):
            raise ValueError(f"{text[:64]!r} is neither an IP address nor a host name") from None
        return text


def _split_name(given: dict[str, Any]) -> dict[str, Any]:
    """``r1.example.net`` as a host name is host ``r1`` in domain ``example.net``."""
    name = given.get("hostname")
    if isinstance(name, str) and "." in name:
        label, _, domain = name.strip().rstrip(".").partition(".")
        given = {**given, "hostname": label}
        if domain:
            given.setdefault("search_domains", [domain])
    return given


def _problem(location: tuple[int | str, ...], message: str, kind: str) -> Problem:
    text = message.removeprefix("Value error, ")
    if kind == "extra_forbidden":
        text = "there is no such setting"
    elif kind == "string_pattern_mismatch":
        text = _FORMS.get(str(location[0]), text)
    elif kind == "string_type":
        text = "must be text"
    name = "/".join(str(part) for part in location)
    if not name and (match := re.match(r"([a-z0-9_]+): (.+)", text)):
        name, text = match[1], match[2]
    return Problem(f"/{name}", text)

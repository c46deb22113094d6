"""The identity of this instance: decided from the seed once, kept across boots. Pure.

``instance.json`` holds a password hash, so it is readable by root only.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Literal

from pydantic import BaseModel, ConfigDict, Field, ValidationError

from appliance.errors import Problem, ValidationFailed
from appliance.firstboot.crypt import generate_password, hash_password, is_usable
from appliance.firstboot.nics import Card, Choice
from appliance.firstboot.seed import Seed

DEFAULT_HOSTNAME = "millrace"


class _Stored(BaseModel):
    # Fields added by a newer release are no damage to the older one after a return to it.
    model_config = ConfigDict(frozen=True, extra="ignore")


class Management(_Stored):
    """How the management NIC gets its addresses."""

    mac: str | None = None
    """The NIC that was asked for; None is the first, and from then on always the same one."""
    address: str = "dhcp"
    """``dhcp``, ``off`` or an IPv4 address with its length."""
    gateway: str | None = None
    ipv6_address: str = "auto"
    """``auto``, ``off`` or an IPv6 address with its length."""
    ipv6_gateway: str | None = None


class KnownCard(_Stored):
    """The management NIC of the last boot."""

    device: str
    mac: str
    pci: str | None = None


class Instance(_Stored):
    """Contents of ``instance.json``."""

    version: Literal[1] = 1
    instance_id: str | None = None
    """Of the seed that was applied last; None when there was none."""
    source: str | None = None
    """Where that seed was found."""
    awaits_seed: str | None = None
    """The kind of source whose seed had a mistake at the first boot: once corrected, it is applied."""
    machine: str | None = None
    """The hypervisor's id of this machine at the last boot, from SMBIOS."""
    hostname: str = DEFAULT_HOSTNAME
    search_domains: tuple[str, ...] = ()
    dns_servers: tuple[str, ...] = ()
    ntp_servers: tuple[str, ...] = ()
    management: Management = Management()
    password_hash: str = Field(repr=False)
    password_login: bool = True
    """Whether ssh takes a password: not when the seed gave keys alone."""
    ssh_keys: tuple[str, ...] = ()
    card: KnownCard | None = None
    known_macs: tuple[str, ...] = ()
    """MAC addresses of all NICs that were ever seen, but for the management NIC's."""

    @property
    def last_card(self) -> Card | None:
        """The management NIC of the last boot."""
        return Card(self.card.device, self.card.mac, self.card.pci) if self.card else None


@dataclass(frozen=True)
class Decision:
    """An instance after a seed."""

    instance: Instance
    is_new: bool
    """A seed with another id was applied, or this is the first boot."""
    renew_keys: bool
    """The instance is a copy of another one: host keys and certificate are made anew."""
    generated_password: str | None = None
    """To be shown on the console until it is changed."""
    refused: bool = False
    """The seed is another one, and nobody who may asked for it."""


def kind_of(source: str) -> str:
    """A source without its device, which another boot may number otherwise."""
    return source if source.endswith("(guestinfo)") else source.partition(" (")[0]


def decide(
    previous: Instance | None,
    seed: Seed | None,
    source: str | None,
    *,
    again: bool = False,
    machine: str | None = None,
) -> Decision:
    """The instance after this boot. A seed whose id was applied before is not applied again.

    A router that exists takes another seed only when the operator asked for it (`again`), when the hypervisor
    made another machine of it, or when the seed corrects the first one: a process without any right can write
    VMware's guestinfo, and anybody near the machine can insert a disc. Values missing from a new seed stay as
    they are. Raises ValidationFailed for a password hash with which nobody could sign in.
    """
    if seed is None:
        if previous is not None:
            return Decision(previous, is_new=False, renew_keys=False)
        made = generate_password()
        return Decision(Instance(password_hash=hash_password(made)), True, True, made)
    if previous is not None and not again:
        if previous.instance_id == seed.instance_id:
            return Decision(previous, is_new=False, renew_keys=False)
        copied = None not in (previous.machine, machine) and previous.machine != machine
        corrects = source is not None and previous.awaits_seed == kind_of(source)
        if not copied and not corrects:
            return Decision(previous, is_new=False, renew_keys=False, refused=True)
    hashed, password = _password(previous, seed)
    base: dict[str, Any] = previous.model_dump() if previous is not None else {}
    base |= {"instance_id": seed.instance_id, "source": source, "password_hash": hashed}
    base["awaits_seed"] = None
    for name, value in (
        ("hostname", seed.hostname),
        ("search_domains", seed.search_domains),
        ("dns_servers", seed.dns_servers),
        ("ntp_servers", seed.ntp_servers),
        ("ssh_keys", seed.admin_ssh_keys),
        ("management", _management(seed)),
    ):
        if value:
            base[name] = value
    has_password = seed.admin_password is not None or seed.admin_password_hash is not None
    if has_password or seed.admin_ssh_keys:
        base["password_login"] = has_password
    renew = previous is None or previous.instance_id not in (None, seed.instance_id)
    return Decision(Instance.model_validate(base), True, renew, password)


def with_card(instance: Instance, choice: Choice, cards: Sequence[Card]) -> Instance:
    """The instance, with this boot's NICs recorded. A management NIC that is gone stays recorded."""
    card = instance.card
    if choice.card is not None:
        card = KnownCard(device=choice.card.device, mac=choice.card.mac, pci=choice.card.pci)
    others = {*instance.known_macs, *(other.mac for other in cards)} - {card.mac if card else ""}
    return instance.model_copy(update={"card": card, "known_macs": tuple(sorted(others))})


def load(text: str | bytes) -> Instance:
    """The instance in JSON. Raises ValidationFailed."""
    try:
        return Instance.model_validate_json(text)
    except ValidationError as error:
        first = error.errors(include_url=False, include_input=False)[0]
        where = "/".join(str(part) for part in first["loc"])
        raise ValidationFailed([Problem(f"/instance.json/{where}", first["msg"])]) from None


def _password(previous: Instance | None, seed: Seed) -> tuple[str, str | None]:
    """Hash, and the password in clear when it was made here."""
    if seed.admin_password_hash is not None:
        if not is_usable(seed.admin_password_hash):
            raise ValidationFailed(
                [Problem("/admin_password_hash", "is cut off, or its method is not known here")]
            )
        return seed.admin_password_hash, None
    if seed.admin_password is not None:
        return hash_password(seed.admin_password), None
    if previous is not None:
        return previous.password_hash, None
    made = generate_password()
    return hash_password(made), made


def _management(seed: Seed) -> Management | None:
    """The seed's management settings, or None if it has none."""
    said = (seed.management_mac, seed.management_address, seed.management_ipv6_address)
    if all(value is None for value in said):
        return None
    return Management(
        mac=seed.management_mac,
        address=seed.management_address or "dhcp",
        gateway=seed.management_gateway,
        ipv6_address=seed.management_ipv6_address or "auto",
        ipv6_gateway=seed.management_ipv6_gateway,
    )

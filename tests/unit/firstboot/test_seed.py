"""The valid content of a seed, and the messages for invalid content."""

from __future__ import annotations

import base64
import gzip
import json
from typing import Any

import pytest

from appliance.config.load import MAX_BYTES
from appliance.errors import ValidationFailed
from appliance.features.system import model as system
from appliance.firstboot import seed as seed_module
from appliance.firstboot.seed import Seed, public_key, read

KEY = "ssh-ed25519 AAAAC3NzaC1lZDI1NTE5AAAAIAABAgMEBQYHCAkKCwwNDg8QERITFBUWFxgZGhscHR4f someone@there"


def seed(**values: Any) -> Seed:
    return read({"instance_id": "one", **values})


def problems(**values: Any) -> dict[str, str]:
    with pytest.raises(ValidationFailed) as failed:
        seed(**values)
    return {problem.pointer: problem.message for problem in failed.value.problems}


def test_everything_may_be_left_out() -> None:
    assert seed(hostname="", management_address=None) == Seed(instance_id="one")


def test_a_full_name_is_host_and_domain() -> None:
    assert seed(hostname="r1.example.net").hostname == "r1"
    assert seed(hostname="r1.example.net").search_domains == ("example.net",)
    assert seed(hostname="r1.example.net", search_domains="other.net").search_domains == ("other.net",)


def test_lists_come_as_text_or_as_lists() -> None:
    told = seed(dns_servers="192.0.2.1, 2001:db8::1;192.0.2.2", ntp_servers=["pool.example.net"])
    assert told.dns_servers == ("192.0.2.1", "2001:db8::1", "192.0.2.2")
    assert told.ntp_servers == ("pool.example.net",)
    assert seed(admin_ssh_keys=f"{KEY};{KEY}\n").admin_ssh_keys == (KEY, KEY)


def test_static_addresses_keep_their_gateways() -> None:
    told = seed(
        management_address="192.0.2.10/24",
        management_gateway="192.0.2.1",
        management_ipv6_address="2001:DB8::10/64",
        management_ipv6_gateway="fe80::1",
        management_mac="52:54:00:AA:BB:CC",
    )
    assert told.management_address == "192.0.2.10/24"
    assert told.management_ipv6_address == "2001:db8::10/64"
    assert told.management_mac == "52:54:00:aa:bb:cc"


@pytest.mark.parametrize(
    ("values", "pointer", "words"),
    [
        ({"hostname": "r1\nroot"}, "/hostname", "RFC 1123"),
        ({"management_address": "192.0.2.10"}, "/management_address", "with its length"),
        ({"management_address": "192.0.2.0/24"}, "/management_address", "network's own"),
        ({"management_address": "2001:db8::1/64"}, "/management_address", "IPv4"),
        ({"management_address": "127.0.0.1/8"}, "/management_address", "cannot be"),
        ({"management_gateway": "192.0.2.1"}, "/management_gateway", "static address only"),
        (
            {"management_address": "192.0.2.10/24", "management_gateway": "198.51.100.1"},
            "/management_gateway",
            "is not in 192.0.2.0/24",
        ),
        (
            {"management_address": "192.0.2.10/24", "management_gateway": "192.0.2.10"},
            "/management_gateway",
            "own address",
        ),
        ({"management_ipv6_address": "yes"}, "/management_ipv6_address", "auto, off"),
        ({"management_mac": "eth0"}, "/management_mac", "MAC address"),
        ({"dns_servers": "dns.example.net"}, "/dns_servers", "is not an IP address"),
        ({"dns_servers": "192.0.2.1 192.0.2.2 192.0.2.3 192.0.2.4"}, "/dns_servers", "at most 3"),
        ({"ntp_servers": "a b;$(reboot)"}, "/ntp_servers", "neither an IP address nor a host name"),
        ({"admin_password": "short"}, "/admin_password", "12 to 256 characters"),
        ({"admin_password": "twelve\ncharacters"}, "/admin_password", "cannot be typed"),
        ({"admin_password_hash": "$1$old$abcdefgh"}, "/admin_password_hash", "crypt(3)"),
        ({"admin_password_hash": "$6$salt$abc:0:0\nroot"}, "/admin_password_hash", "crypt(3)"),
        (
            {"admin_password": "long enough it is", "admin_password_hash": "$6$salt$abcdefghijk"},
            "/admin_password",
            "not both",
        ),
        ({"admin_ssh_keys": 'command="reboot" ' + KEY}, "/admin_ssh_keys", "OpenSSH public key"),
        ({"configuration": "no json"}, "/configuration", "neither JSON nor base64"),
        ({"configuration": '{"a": 1, "a": 2}'}, "/configuration", "twice"),
        ({"configuration": "[]"}, "/configuration", "JSON"),
        ({"hostnam": "r1"}, "/hostnam", "no such setting"),
    ],
)
def test_a_problem_names_its_setting(values: dict[str, Any], pointer: str, words: str) -> None:
    found = problems(**values)
    assert words in found[pointer], found


def test_no_message_tells_a_password() -> None:
    told = problems(admin_password="hunter2", admin_password_hash="$1$hunter2$hunter2")
    assert set(told) == {"/admin_password", "/admin_password_hash"}
    assert "hunter2" not in json.dumps(told)
    assert "hunter22hunter22" not in repr(seed(admin_password="hunter22hunter22"))


def test_a_document_comes_as_json_base64_or_gzip() -> None:
    document = {"schema_version": 1, "system": {"hostname": "r1"}}
    text = json.dumps(document)
    plain = base64.b64encode(text.encode()).decode()
    small = base64.b64encode(gzip.compress(text.encode())).decode()
    for value in (document, text, plain, "\n".join([plain[:20], plain[20:]]), small):
        assert seed(configuration=value).configuration == document


def test_a_damaged_gzip_is_refused() -> None:
    whole = gzip.compress(b'{"system": {}}' * 100)
    for data in (whole[:-12], whole[:20] + b"\xff" * 20 + whole[40:]):
        assert "damaged" in problems(configuration=base64.b64encode(data).decode())["/configuration"]


def test_a_key_is_what_its_data_says() -> None:
    assert public_key(KEY) == KEY
    assert public_key(KEY + " and $(reboot)").endswith(" someone@there_and_--reboot-")
    for wrong in (
        KEY.replace("ssh-ed25519", "ssh-rsa"),
        "ssh-ed25519 AAAA",
        "ssh-ed25519 !!!!",
        "ssh-dss AAAAB3NzaC1kc3M=",
        "ssh-ed25519",
    ):
        with pytest.raises(ValueError, match="OpenSSH public key"):
            public_key(wrong)


def test_names_have_the_documents_forms() -> None:
    assert seed_module.HostName == system.HostName
    assert seed_module.DomainName == system.DomainName
    assert seed_module.MAX_DOCUMENT_BYTES == MAX_BYTES


@pytest.mark.parametrize(
    "values",
    [
        {"dns_servers": ["fe80::1%x\nnameserver 192.0.2.66"]},
        {"ntp_servers": ["fe80::1%x\ny"]},
        {"management_ipv6_address": "fe80::2%x\nDHCP=yes/64"},
        {"management_ipv6_address": "2001:db8::2/64", "management_ipv6_gateway": "fe80::1%x\n[Link]"},
    ],
)
def test_an_address_brings_no_line_of_its_own(values: dict[str, Any]) -> None:
    with pytest.raises(ValidationFailed):
        read({"instance_id": "one", **values})


def test_a_server_that_is_said_twice_counts_once() -> None:
    servers = ["192.0.2.1", "192.0.2.2", "192.0.2.1", "192.0.2.2"]
    assert read({"instance_id": "one", "dns_servers": servers}).dns_servers == ("192.0.2.1", "192.0.2.2")

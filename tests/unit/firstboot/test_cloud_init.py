"""NoCloud and ConfigDrive, as templates, Proxmox and OpenStack write them."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from appliance.config.load import parse_document
from appliance.errors import ValidationFailed
from appliance.firstboot.cloud_init import config_drive, nocloud, own_form, user_data
from appliance.firstboot.seed import read
from tests.unit.firstboot.test_seed import KEY

PROXMOX_USER = f"""#cloud-config
hostname: r1
manage_etc_hosts: true
fqdn: r1.example.net
user: somebody
password: $5$abcdefgh$01234567890123456789012345678901234567890.1
ssh_authorized_keys:
  - {KEY}
chpasswd:
  expire: False
users:
  - default
package_upgrade: true
"""
PROXMOX_NETWORK = """version: 1
config:
    - type: physical
      name: eth0
      mac_address: '52:54:00:12:34:56'
      subnets:
      - type: static
        address: '192.0.2.10'
        netmask: '255.255.255.0'
        gateway: '192.0.2.1'
      - type: static6
        address: '2001:db8::10/64'
        gateway: '2001:db8::1'
    - type: physical
      name: eth1
      mac_address: '52:54:00:12:34:57'
      subnets:
      - type: dhcp4
    - type: nameserver
      address:
      - '192.0.2.53'
      search:
      - 'example.net'
"""


def test_proxmox() -> None:
    values, remarks = nocloud(
        {
            "user-data": PROXMOX_USER.encode(),
            "meta-data": b"instance-id: 0123abcd\n",
            "network-config": PROXMOX_NETWORK.encode(),
        }
    )
    seed = read(values)
    assert (seed.instance_id, seed.hostname, seed.search_domains) == ("0123abcd", "r1", ("example.net",))
    assert seed.admin_password_hash is not None and seed.admin_password_hash.startswith("$5$")
    assert seed.admin_ssh_keys == (KEY,)
    assert (seed.management_mac, seed.management_address) == ("52:54:00:12:34:56", "192.0.2.10/24")
    assert (seed.management_gateway, seed.management_ipv6_gateway) == ("192.0.2.1", "2001:db8::1")
    assert seed.management_ipv6_address == "2001:db8::10/64"
    assert seed.dns_servers == ("192.0.2.53",)
    assert remarks == [
        "network-config: eth1 not taken over: data interfaces belong to the configuration document"
    ]


def test_netplan_with_the_nic_that_is_asked_for() -> None:
    values, remarks = nocloud(
        {
            "user-data": b"millrace:\n  management_mac: 52:54:00:12:34:56\n",
            "network-config": b"""network:
  version: 2
  ethernets:
    data0:
      match: {macaddress: "52:54:00:00:00:01"}
      dhcp4: true
    management:
      match: {macaddress: 52:54:00:12:34:56}
      addresses: [192.0.2.10/24]
      routes:
        - {to: default, via: 192.0.2.1}
        - {to: 198.51.100.0/24, via: 192.0.2.2}
      nameservers: {addresses: [192.0.2.53], search: [example.net]}
""",
        }
    )
    seed = read(values)
    assert seed.instance_id == "nocloud"
    assert (seed.management_mac, seed.management_address) == ("52:54:00:12:34:56", "192.0.2.10/24")
    assert seed.management_gateway == "192.0.2.1"
    assert seed.management_ipv6_address == "auto"
    assert len(remarks) == 2 and any("198.51.100.0/24" in remark for remark in remarks)


def test_a_mac_address_is_no_number_and_off_is_no_switch() -> None:
    """YAML 1.1 would read them as 41...  and false."""
    values = own_form(b"management_mac: 52:54:00:12:34:56\nmanagement_ipv6_address: off\n", "fw_cfg")
    seed = read(values)
    assert (seed.management_mac, seed.management_ipv6_address) == ("52:54:00:12:34:56", "off")


def test_our_own_part_wins() -> None:
    values, remarks = nocloud(
        {
            "meta-data": b"instance-id: i1\nlocal-hostname: meta\n",
            "user-data": b"""#cloud-config
hostname: generic
password: generic password
packages: [vim]
runcmd: [[reboot]]
ntp: {servers: [192.0.2.123]}
millrace:
  hostname: ours
  admin_password_hash: $6$abcdefgh$0123456789
  configuration: {system: {hostname: ours}}
""",
        }
    )
    seed = read(values)
    assert seed.hostname == "ours"
    assert seed.admin_password is None
    assert seed.configuration == {"system": {"hostname": "ours"}}
    assert seed.ntp_servers == ("192.0.2.123",)
    assert remarks == ["user-data: not done by this appliance: packages, runcmd"]


@pytest.mark.parametrize(
    "text",
    [
        "password: correct horse battery\n",
        "chpasswd: {users: [{name: admin, password: correct horse battery}]}\n",
        "chpasswd:\n  list: |\n    root:x\n    admin:correct horse battery\n",
        "users: [default, {name: admin, plain_text_passwd: correct horse battery}]\n",
    ],
)
def test_passwords_in_all_their_places(text: str) -> None:
    values, _ = user_data(b"#cloud-config\n" + text.encode())
    assert values["admin_password"] == "correct horse battery"


def test_openstack() -> None:
    values, _ = config_drive(
        {
            "meta_data.json": json.dumps(
                {
                    "uuid": "d8e02d56",
                    "hostname": "r2.novalocal",
                    "public_keys": {"mine": KEY},
                    "admin_pass": "made by OpenStack",
                }
            ).encode(),
            "network_data.json": json.dumps(
                {
                    "links": [
                        {"id": "tap1", "type": "ovs", "ethernet_mac_address": "fa:16:3e:00:00:01"},
                        {"id": "tap2", "type": "ovs", "ethernet_mac_address": "fa:16:3e:00:00:02"},
                    ],
                    "networks": [
                        {
                            "link": "tap1",
                            "type": "ipv4",
                            "ip_address": "192.0.2.20",
                            "netmask": "255.255.255.128",
                            "routes": [
                                {"network": "0.0.0.0", "netmask": "0.0.0.0", "gateway": "192.0.2.1"},
                            ],
                        },
                        {"link": "tap2", "type": "ipv4_dhcp"},
                        {
                            "link": "tap1",
                            "type": "ipv6",
                            "ip_address": "2001:db8::20",
                            "netmask": "ffff:ffff:ffff:ffff::",
                        },
                    ],
                    "services": [{"type": "dns", "address": "192.0.2.53"}],
                }
            ).encode(),
        }
    )
    seed = read(values)
    assert (seed.instance_id, seed.hostname) == ("d8e02d56", "r2")
    assert seed.admin_password == "made by OpenStack"
    assert seed.admin_ssh_keys == (KEY,)
    assert (seed.management_address, seed.management_gateway) == ("192.0.2.20/25", "192.0.2.1")
    assert seed.management_ipv6_address == "2001:db8::20/64"
    assert seed.management_mac == "fa:16:3e:00:00:01"
    assert seed.dns_servers == ("192.0.2.53",)


@pytest.mark.parametrize(
    ("files", "pointer"),
    [
        ({"user-data": b"#cloud-config\nusers: [\n"}, "/user-data"),
        ({"user-data": b"#cloud-config\n- a\n"}, "/user-data"),
        ({"user-data": b"#cloud-config\nmillrace: 7\n"}, "/user-data/millrace"),
        ({"user-data": b"#cloud-config\na: &a [1]\nb: [*a]\n"}, "/user-data"),
        ({"user-data": b"#cloud-config\na: !!python/object/apply:os.system [reboot]\n"}, "/user-data"),
        ({"user-data": b"#cloud-config\nssh_authorized_keys: 7\n"}, "/user-data/ssh_authorized_keys"),
        ({"meta-data": b"\xff\xfe\x00"}, "/meta-data"),
        ({"network-config": b"version: 3\n"}, "/network-config/version"),
        ({"network-config": b"version: 1\nconfig: {}\n"}, "/network-config/config"),
        (
            {"network-config": b"version: 1\nconfig: [{type: physical, subnets: [{type: bridge}]}]\n"},
            "/network-config/subnets/type",
        ),
    ],
)
def test_a_broken_file_is_named(files: dict[str, bytes], pointer: str) -> None:
    with pytest.raises(ValidationFailed) as failed:
        nocloud(files)
    assert [problem.pointer for problem in failed.value.problems] == [pointer]


def test_a_script_is_not_run() -> None:
    values, remarks = user_data(b"#!/bin/sh\nreboot\n")
    assert values == {} and "not run" in remarks[0]


def test_the_example_in_the_documentation_is_a_seed() -> None:
    text = (Path(__file__).resolve().parents[3] / "docs" / "first-boot.md").read_text()
    example = text.partition("```yaml\n")[2].partition("```")[0].replace("$6$…", "$6$abcdefgh$01234567")
    values, remarks = user_data(example.encode())
    seed = read({"instance_id": "one", **values})
    assert remarks == [] and seed.configuration is not None
    assert set(parse_document(seed.configuration).interfaces) == {"wan"}

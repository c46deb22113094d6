"""Boots of a machine in a folder: first, second, with a bad seed, with another one, with other NICs."""

from __future__ import annotations

import json
import stat
from itertools import permutations

import pytest
from cryptography import x509
from cryptography.hazmat.primitives.serialization import load_pem_private_key, load_ssh_private_key

from appliance.errors import Problem
from appliance.features.system.model import System
from appliance.firstboot import crypt
from appliance.firstboot.generated_password import shown_password
from appliance.firstboot.host_files import shadow_hash
from appliance.firstboot.instance import load
from appliance.firstboot.nics import Card
from appliance.firstboot.passwords import keep_changed_password, set_password
from appliance.firstboot.sources import Found
from appliance.host.compile import compile_host
from appliance.host.state import HOSTS
from tests.unit.firstboot.conftest import FIRST, SECOND, Host
from tests.unit.firstboot.test_seed import KEY

GOOD = "a long enough password"


def hash_of(host: Host) -> str:
    found = shadow_hash(host.text("etc/shadow"))
    assert found is not None
    return found


def test_without_a_seed_dhcp_and_a_password_on_the_console(host: Host) -> None:
    report = host.boot()
    assert (report.problems, report.applied, report.source) == ([], False, None)
    password = shown_password(host.layout)
    assert password is not None and len(password) >= 12
    assert crypt.verify(password, hash_of(host))
    assert host.text("etc/shadow").startswith("root:*:")
    assert host.text("run/millrace/admin.hash").strip() == hash_of(host)
    network = host.text("etc/systemd/network/10-management.network")
    assert f"MACAddress={FIRST.mac}\n" in network and "DHCP=ipv4\n" in network
    assert "PasswordAuthentication yes\n" in host.text("etc/ssh/sshd_config.d/10-millrace.conf")
    assert json.loads(host.text("run/millrace/management.json")) == {
        "device": "ens3",
        "mac": FIRST.mac,
        "pci": FIRST.pci,
        "ipv4": "dhcp",
        "ipv4_gateway": None,
        "ipv6": "auto",
        "ipv6_gateway": None,
    }
    assert not host.layout.first_document.exists()
    assert host.name == "millrace"


def test_a_seed_becomes_the_instance(host: Host) -> None:
    host.seed(
        hostname="r1.example.net",
        management_address="192.0.2.10/24",
        management_gateway="192.0.2.1",
        management_ipv6_address="off",
        dns_servers="192.0.2.53",
        ntp_servers="192.0.2.123",
        admin_password=GOOD,
        admin_ssh_keys=KEY,
        configuration={"schema_version": 1, "interfaces": {}},
    )
    assert host.boot().applied
    assert crypt.verify(GOOD, hash_of(host))
    assert shown_password(host.layout) is None
    assert host.text("etc/hostname") == "r1\n"
    assert "127.0.1.1 r1.example.net r1\n" in host.text("etc/hosts")
    named = compile_host(System(hostname="r1", domain="example.net"))
    assert host.text("etc/hosts") == named[HOSTS].content, "the agent has nothing to write"
    network = host.text("etc/systemd/network/10-management.network")
    for line in ("DHCP=no", "Address=192.0.2.10/24", "Gateway=192.0.2.1", "IPv6AcceptRA=no",
                 "LinkLocalAddressing=no"):  # fmt: skip
        assert f"{line}\n" in network
    assert "nameserver 192.0.2.53\n" in host.text("etc/resolv.conf")
    assert KEY in host.text("etc/ssh/authorized_keys.d/admin")
    assert json.loads(host.layout.first_document.read_bytes()) == {
        "document": {"schema_version": 1, "interfaces": {}},
        "system": {
            "hostname": "r1",
            "domain": "example.net",
            "dns_servers": ["192.0.2.53"],
            "ntp_servers": ["192.0.2.123"],
        },
    }
    everything = b"".join(path.read_bytes() for path in host.layout.root.rglob("*") if path.is_file())
    assert GOOD.encode() not in everything


def test_a_second_boot_changes_nothing(host: Host) -> None:
    host.seed(hostname="r1", admin_password=GOOD)
    host.boot()
    host.layout.first_document.unlink()
    before = {path: path.read_bytes() for path in host.layout.data.rglob("*") if path.is_file()}
    etc = {path: path.read_bytes() for path in host.layout.etc.rglob("*") if path.is_file()}
    host.seed(hostname="another", admin_password="another password")
    assert not host.boot().applied
    assert {path: path.read_bytes() for path in host.layout.data.rglob("*") if path.is_file()} == before
    assert {path: path.read_bytes() for path in host.layout.etc.rglob("*") if path.is_file()} == etc


def test_keys_are_this_instances_own_and_secret(host: Host) -> None:
    host.seed(hostname="r1", management_address="192.0.2.10/24")
    host.layout.release.parent.mkdir(parents=True)
    host.layout.release.write_text('{"built_s": 1790000000}')
    host.boot()
    for kind in ("ed25519", "ecdsa"):
        path = host.layout.ssh / f"ssh_host_{kind}_key"
        load_ssh_private_key(path.read_bytes(), None)
        assert stat.S_IMODE(path.stat().st_mode) == 0o600
        assert str(path.relative_to(host.layout.root)) in host.text("etc/ssh/sshd_config.d/10-millrace.conf")
    certificate = x509.load_pem_x509_certificate((host.layout.tls / "server.pem").read_bytes())
    key = load_pem_private_key((host.layout.tls / "server.key").read_bytes(), None)
    assert key.public_key() == certificate.public_key()
    assert certificate.not_valid_before_utc.timestamp() == 1790000000 - 86400
    names = certificate.extensions.get_extension_for_class(x509.SubjectAlternativeName).value
    assert names.get_values_for_type(x509.DNSName) == ["r1"]
    assert [str(address) for address in names.get_values_for_type(x509.IPAddress)] == ["192.0.2.10"]
    for secret in (
        host.layout.tls / "server.key",
        host.layout.instance,
        host.layout.run / "admin.hash",
        host.layout.run / "web.env",
    ):
        assert stat.S_IMODE(secret.stat().st_mode) == 0o600
    assert stat.S_IMODE(host.layout.data.stat().st_mode) == 0o700


def test_a_bad_seed_is_told_and_the_boot_goes_on(host: Host) -> None:
    host.seed(hostname="r1", dns_servers="not-an-address")
    report = host.boot()
    assert not report.applied
    assert report.problems == [
        "seed in NoCloud (/dev/sr0): dns_servers: 'not-an-address' is not an IP address"
    ]
    assert json.loads(host.layout.report.read_bytes())["problems"] == report.problems
    assert host.text("etc/hostname") == "millrace\n"
    assert shown_password(host.layout) is not None
    keys = (host.layout.ssh / "ssh_host_ed25519_key").read_bytes()
    # Corrected, it is applied at the next boot; this is the same machine, so its keys stay.
    host.seed(hostname="r1", dns_servers="192.0.2.53", admin_password=GOOD)
    assert host.boot().applied
    assert host.text("etc/hostname") == "r1\n"
    assert shown_password(host.layout) is None
    assert (host.layout.ssh / "ssh_host_ed25519_key").read_bytes() == keys


def test_a_broken_document_costs_only_the_document(host: Host) -> None:
    host.seed(hostname="r1", admin_password=GOOD, configuration="{")
    report = host.boot()
    assert report.applied
    assert "configuration: is not JSON" in report.problems[0]
    assert json.loads(host.layout.first_document.read_bytes())["document"] is None


@pytest.mark.parametrize("hashed", ["$6$abcdefgh$tooshort", "$7$CU..../....abcdefgh$" + "." * 10])
def test_a_hash_that_lets_nobody_in_is_told(host: Host, hashed: str) -> None:
    host.seed(admin_password_hash=hashed)
    report = host.boot()
    assert "admin_password_hash" in report.problems[0]
    assert hashed not in report.problems[0]
    assert shown_password(host.layout) is not None


def test_an_unreadable_source_is_told(host: Host) -> None:
    host.seeds = [Found("ConfigDrive (/dev/sr0)", problems=(Problem("/meta_data.json", "is not JSON"),))]
    assert host.boot().problems == ["seed in ConfigDrive (/dev/sr0): meta_data.json: is not JSON"]


def test_keys_alone_close_the_password_door(host: Host) -> None:
    host.seed(admin_ssh_keys=[KEY])
    host.boot()
    assert "PasswordAuthentication no\n" in host.text("etc/ssh/sshd_config.d/10-millrace.conf")
    assert "NOPASSWD" in host.text("etc/sudoers.d/millrace")
    assert stat.S_IMODE((host.layout.etc / "sudoers.d/millrace").stat().st_mode) == 0o440
    assert shown_password(host.layout) is not None, "the web page still needs one"


def test_a_damaged_instance_is_put_aside(host: Host) -> None:
    host.seed(hostname="r1")
    host.boot()
    host.layout.instance.write_text('{"version": 1')
    report = host.boot()
    assert report.problems[0].startswith("instance: instance.json")
    assert host.layout.instance.with_suffix(".damaged").exists()
    assert load(host.layout.instance.read_bytes()).hostname == "r1"


def test_a_changed_password_outlives_the_boot(host: Host) -> None:
    host.boot()
    assert keep_changed_password(host.layout) is False
    changed = crypt.hash_password("changed with passwd")
    shadow = host.layout.etc / "shadow"
    shadow.write_text(shadow.read_text().replace(hash_of(host), changed))
    assert keep_changed_password(host.layout) is True
    assert shown_password(host.layout) is None
    host.boot()
    assert hash_of(host) == changed
    set_password(host.layout, "set on the console")
    assert crypt.verify("set on the console", hash_of(host))
    host.boot()
    assert crypt.verify("set on the console", hash_of(host))


def test_the_generated_password_goes_when_the_web_page_changes_it(host: Host) -> None:
    host.boot()
    host.layout.web_password_changed.parent.mkdir(parents=True)
    host.layout.web_password_changed.touch()
    assert shown_password(host.layout) is None
    assert not host.layout.generated_password.exists()


def test_management_stays_on_its_nic_in_every_order(host: Host) -> None:
    """The same four cards in all slots: the addresses follow the card, not the slot."""
    host.boot()
    slots = [f"0000:00:0{number}.0" for number in range(3, 7)]
    macs = [FIRST.mac, SECOND.mac, "52:54:00:00:00:05", "52:54:00:00:00:06"]
    for order in permutations(macs):
        host.cards = [Card(f"ens{3 + n}", mac, slots[n]) for n, mac in enumerate(order)]
        host.boot()
        assert json.loads(host.text("run/millrace/management.json"))["mac"] == FIRST.mac


def test_management_does_not_move_to_a_data_nic(host: Host) -> None:
    host.boot()
    # The first card is taken out and the second moves into its slot.
    host.cards = [Card("ens3", SECOND.mac, FIRST.pci)]
    report = host.boot()
    assert json.loads(host.text("run/millrace/management.json"))["device"] is None
    assert report.problems == [f"management: the management NIC {FIRST.mac} is gone"]
    # A card that was never seen, in the old slot: a copied machine, or a replaced card.
    host.cards = [Card("ens3", "52:54:00:00:00:99", FIRST.pci), SECOND]
    host.boot()
    assert json.loads(host.text("run/millrace/management.json"))["mac"] == "52:54:00:00:00:99"


def test_a_nic_that_is_asked_for_and_not_there(host: Host) -> None:
    host.seed(management_mac="52:54:00:00:00:77")
    report = host.boot()
    assert report.problems == ["management: there is no NIC with MAC address 52:54:00:00:00:77"]
    host.cards.append(Card("ens9", "52:54:00:00:00:77", "0000:00:09.0"))
    assert host.boot().problems == []
    assert json.loads(host.text("run/millrace/management.json"))["device"] == "ens9"


def test_a_machine_without_nics_boots(host: Host) -> None:
    host.cards = []
    assert host.boot().problems == ["management: there is no NIC"]


def test_a_broken_document_and_settings_that_do_not_fit_do_not_stop_the_boot(host: Host) -> None:
    host.seed(configuration="{", management_gateway="192.0.2.1")
    report = host.boot()
    assert not report.applied
    assert "configuration: is not JSON" in report.problems[0]
    assert "management_gateway: goes with a static address only" in report.problems[1]
    assert "DHCP=ipv4\n" in host.text("etc/systemd/network/10-management.network")


def test_an_instance_of_a_newer_release_is_not_damaged(host: Host) -> None:
    host.seed(hostname="r1", admin_password=GOOD)
    host.boot()
    keys = (host.layout.ssh / "ssh_host_ed25519_key").read_bytes()
    host.layout.instance.write_text(json.dumps(json.loads(host.layout.instance.read_bytes()) | {"later": 1}))
    report = host.boot()
    assert (report.problems, report.applied) == ([], False)
    assert (host.layout.ssh / "ssh_host_ed25519_key").read_bytes() == keys

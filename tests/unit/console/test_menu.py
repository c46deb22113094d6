"""The console's actions, with keys from a list, on a machine in a folder."""

from __future__ import annotations

import json
import os
import pty
import ssl
from collections.abc import Sequence
from pathlib import Path
from typing import Any, ClassVar, TypeVar

import pytest

from appliance.client import StatusAnswer
from appliance.console.menu import Menu
from appliance.console.status import Status, gather
from appliance.console.terminal import Gone, PlainTerminal
from appliance.errors import AgentUnavailable
from appliance.firstboot import crypt
from appliance.firstboot.generated_password import shown_password
from appliance.firstboot.host_files import shadow_hash
from appliance.firstboot.instance import load
from appliance.programs import Ran
from appliance.state import Answer, Part, Question
from tests.unit.firstboot.conftest import FIRST, Host, host

A = TypeVar("A", bound=Answer)
Q = TypeVar("Q", bound=Question)

__all__ = ["host"]


class Keys:
    """A terminal whose user types what the list says, then hangs up."""

    def __init__(self, *typed: str | None) -> None:
        self.typed = list(typed)
        self.screens: list[list[str]] = []
        self.said: list[str] = []
        self.asked: list[str] = []

    def size(self) -> tuple[int, int]:
        return 80, 24

    def show(self, lines: Sequence[str]) -> None:
        self.screens.append(list(lines))

    def say(self, text: str) -> None:
        self.said.append(text)

    def key(self, timeout_s: float) -> str | None:
        return self._next()

    def ask(self, prompt: str, *, hidden: bool = False) -> str | None:
        self.asked.append(prompt)
        return self._next()

    def _next(self) -> str | None:
        if not self.typed:
            raise Gone
        return self.typed.pop(0)


def use(host: Host, *typed: str | None) -> Keys:
    """Type at the console until the list is used up."""
    keys = Keys(*typed)
    with pytest.raises(Gone):
        Menu(host.layout, host.programs, keys, lambda: Status(hostname="r1"), "ttyS0").run()
    return keys


@pytest.fixture
def booted(host: Host) -> Host:
    """Up, with the NIC in /sys."""
    net = host.layout.root / "sys/class/net/ens3"
    device = host.layout.root / "sys/devices/pci0000:00/0000:00:03.0"
    device.mkdir(parents=True)
    net.mkdir(parents=True)
    (net / "device").symlink_to(device)
    (net / "type").write_text("1\n")
    (net / "address").write_text(f"{FIRST.mac}\n")
    host.boot()
    host.programs.ran.clear()
    return host


def test_the_screen_is_drawn_again_only_when_it_changes(booted: Host) -> None:
    assert len(use(booted, None, None, None).screens) == 1
    assert len(use(booted, None, "x", None).screens) == 2


def test_a_static_management_address(booted: Host) -> None:
    keys = use(booted, "1", "", "192.0.2.10/24", "", "off", "192.0.2.53", "")
    assert "[192.0.2.1]" in keys.asked[2], "the first host is proposed"
    instance = load(booted.layout.instance.read_bytes())
    assert instance.management.address == "192.0.2.10/24"
    assert (instance.management.gateway, instance.management.mac) == ("192.0.2.1", None)
    network = booted.text("etc/systemd/network/10-management.network")
    assert "Address=192.0.2.10/24\n" in network and "Gateway=192.0.2.1\n" in network
    assert "nameserver 192.0.2.53\n" in booted.text("etc/resolv.conf")
    assert json.loads(booted.text("run/millrace/management.json"))["ipv4"] == "192.0.2.10/24"
    assert booted.programs.ran == [["networkctl", "reload"], ["networkctl", "reconfigure", "--", "ens3"]]
    booted.boot()
    assert booted.text("etc/systemd/network/10-management.network") == network


def test_dns_servers_of_the_configuration_are_not_asked_for(booted: Host) -> None:
    text = "# Written by Millrace from its configuration document.\nnameserver 192.0.2.1\n"
    (booted.layout.etc / "resolv.conf").write_text(text)
    before = load(booted.layout.instance.read_bytes()).dns_servers
    keys = use(booted, "1", "", "192.0.2.10/24", "", "off", "")
    assert any("set in the configuration, under System" in line for line in keys.said)
    instance = load(booted.layout.instance.read_bytes())
    assert (instance.management.address, instance.dns_servers) == ("192.0.2.10/24", before)
    assert booted.text("etc/resolv.conf") == text


def test_a_wrong_address_is_named_and_changes_nothing(booted: Host) -> None:
    before = booted.layout.instance.read_bytes()
    keys = use(booted, "1", "", "192.0.2.300/24", "", "auto", "", "")
    assert any("address: must be dhcp, off or an IPv4 address" in line for line in keys.said)
    assert booted.layout.instance.read_bytes() == before
    assert booted.programs.ran == []


def test_another_nic_waits_for_a_restart(booted: Host) -> None:
    use(booted, "1", "52:54:00:00:00:04", "dhcp", "auto", "", "n")
    assert json.loads(booted.text("run/millrace/management.json"))["mac"] == FIRST.mac
    assert booted.programs.ran == []
    booted.boot()
    assert json.loads(booted.text("run/millrace/management.json"))["device"] == "ens4"


def test_escape_leaves_without_a_change(booted: Host) -> None:
    before = booted.layout.instance.read_bytes()
    use(booted, "1", "", None, "2", None, "3", None, "4", None, "5", "n")
    assert booted.layout.instance.read_bytes() == before
    assert booted.programs.ran == []
    assert not booted.layout.factory_reset.exists()


def test_a_new_password_for_host_and_web(booted: Host) -> None:
    place = booted.layout.run / "new-web-password"
    seen: list[tuple[str, int]] = []

    class Watching(type(booted.programs)):  # type: ignore[misc]
        def run(self, argv: Any, timeout_s: float = 30.0, text: str | None = None) -> Ran:
            seen.append((place.read_text(), place.stat().st_mode & 0o777))
            return super().run(argv, timeout_s, text)  # type: ignore[no-any-return]

    booted.programs = Watching()
    use(booted, "2", "typed on the console", "typed on the console", "")
    hashed = shadow_hash(booted.text("etc/shadow"))
    assert hashed is not None and crypt.verify("typed on the console", hashed)
    assert shown_password(booted.layout) is None
    assert booted.programs.ran == [["systemctl", "start", "millrace-web-password.service"]]
    assert seen == [("typed on the console\n", 0o600)]
    assert not place.exists()


@pytest.mark.parametrize(
    ("first", "second"), [("typed on the console", "typed otherwise"), ("short", "short")]
)
def test_a_password_that_will_not_do(booted: Host, first: str, second: str) -> None:
    before = booted.text("etc/shadow")
    keys = use(booted, "2", first, second, "")
    assert any("Nothing was changed" in line for line in keys.said)
    assert booted.text("etc/shadow") == before
    assert booted.programs.ran == []


def test_a_web_page_that_does_not_answer_is_told(booted: Host) -> None:
    booted.programs.answers["systemctl"] = Ran(1, "", "Job for millrace-web-password.service failed")
    keys = use(booted, "2", "typed on the console", "typed on the console", "")
    assert any("Job for millrace-web-password.service failed" in line for line in keys.said)
    assert not (booted.layout.run / "new-web-password").exists()


def test_a_seed_is_taken_again_after_a_word(booted: Host) -> None:
    use(booted, "8", "seed", "", "8", None)
    assert not booted.layout.seed_again.exists()
    use(booted, "8", "SEED", "n")
    assert booted.layout.seed_again.exists()
    booted.seed(instance_id="two", hostname="r2")
    assert booted.boot().applied and booted.text("etc/hostname") == "r2\n"


def test_a_factory_reset_asks_for_a_word(booted: Host) -> None:
    use(booted, "3", "reset", "")
    assert not booted.layout.factory_reset.exists()
    use(booted, "3", "RESET", "")
    assert booted.layout.factory_reset.exists()
    assert booted.programs.ran == [["systemctl", "reboot"]]


def test_restart_shut_down_and_shell(booted: Host) -> None:
    use(booted, "4", "y", "", "5", "yes", "", "6", "")
    assert booted.programs.ran == [
        ["systemctl", "reboot"],
        ["systemctl", "poweroff"],
        ["systemctl", "start", "--no-block", "millrace-shell@ttyS0.service"],
    ]


class LivingAgent:
    """An agent that answers."""

    def status(self) -> StatusAnswer:
        return StatusAnswer(revision=7, dataplane="vpp", pending_confirm=None, drift=[])

    health: ClassVar = {"frr": {"state": "up"}, "vpp": {"state": "down"}}

    def state(self, part: Part[Q, A], question: Q | None = None) -> A:
        return part.answer.model_validate({"parts": self.health})


class DeadAgent(LivingAgent):
    """An agent that does not answer."""

    def status(self) -> StatusAnswer:
        raise AgentUnavailable("no")


def test_the_status_is_gathered(booted: Host) -> None:
    address = {"ifname": "ens3", "operstate": "UP", "addr_info": [
        {"local": "192.0.2.10", "prefixlen": 24, "scope": "global"},
        {"local": "fe80::1", "prefixlen": 64, "scope": "link"},
    ]}  # fmt: skip
    booted.programs.answers |= {
        "ip": Ran(0, json.dumps([address]), ""),
        "systemctl is-active": Ran(3, "active\nactive\ninactive\nactive\nactive\n", ""),
        "systemctl list-units": Ran(
            0,
            "millrace-console@ttyS0.service loaded failed failed Millrace: status screen\n"
            "millrace-web-prepare.service loaded failed failed Millrace: prepare the web half\n",
            "",
        ),
    }
    booted.layout.release.parent.mkdir(parents=True)
    booted.layout.release.write_text('{"version": "1.2.3", "dataplane": "linux"}')
    (booted.layout.run / "slots.json").write_text(
        '{"slot": "b", "good": "a", "trying": true, "versions": {"a": "1.2.2", "b": "1.2.3"}}'
    )
    booted.layout.report.write_text('{"problems": [], "remarks": ["user-data was passed over"]}')
    status = gather(booted.layout, booted.programs, LivingAgent())
    assert status.remarks == ("user-data was passed over",)
    assert (status.version, status.device, status.link) == ("1.2.3", "ens3", "up")
    assert status.addresses == ("192.0.2.10/24",)
    assert status.agent == "revision 7 on vpp, not well: vpp"
    assert status.services[:3] == (("agent", "active"), ("FRR", "active"), ("web", "inactive"))
    why = "millrace-web-prepare.service failed: journalctl -b -u millrace-web-prepare.service"
    assert [problem for problem in status.problems if " failed: " in problem] == [why]
    assert status.slots == "a: 1.2.2 (trusted)  b: 1.2.3 (running); on trial: goes back to a unless healthy"
    assert status.password == shown_password(booted.layout)
    assert status.fingerprint is not None and status.fingerprint.count(":") == 31


def test_damage_stands_first_among_the_problems(host: Host) -> None:
    told = "revision 9 is damaged (it was altered); revision 8 runs instead"

    class DamagedAgent(LivingAgent):
        def status(self) -> StatusAnswer:
            return StatusAnswer(
                revision=8, dataplane="vpp", pending_confirm=None, drift=[], damage=[told, "2", "3", "4"]
            )

        health: ClassVar = {"frr": {"state": "up"}, "revisions": {"state": "damaged"}}

    host.programs.answers |= {"ip": Ran(1, "", "no such device"), "systemctl": Ran(1, "", "no bus")}
    status = gather(host.layout, host.programs, DamagedAgent())
    assert status.problems[:3] == (told, "2", "3")
    assert status.agent == "revision 8 on vpp, not well: revisions"


def test_a_router_on_which_nothing_answers_still_has_a_screen(tmp_path: Path, host: Host) -> None:
    host.programs.answers |= {"ip": Ran(1, "", "no such device"), "systemctl": Ran(1, "", "no bus")}
    status = gather(host.layout, host.programs, DeadAgent())
    assert (status.agent, status.device, status.addresses) == ("the agent does not answer", None, ())
    host.boot()
    assert gather(host.layout, host.programs, DeadAgent()).link == "not there"


def test_a_real_terminal() -> None:
    ours, theirs = pty.openpty()
    terminal = PlainTerminal(theirs, theirs)
    with terminal.raw():
        assert terminal.size() == (80, 24)
        assert terminal.key(0.0) is None
        os.write(ours, b"1")
        assert terminal.key(5.0) == "1"
        os.write(ours, b"ab\x7fc\r")
        assert terminal.ask("> ") == "ac"
        os.write(ours, b"secret\n")
        assert terminal.ask("> ", hidden=True) == "secret"
        os.write(ours, b"ab\x1b[A")
        assert terminal.ask("> ") is None
        assert terminal.key(0.0) is None
        os.write(ours, b"ab\x03")
        assert terminal.ask("> ") is None
        terminal.show(["one", "two"])
        shown = b""
        while not shown.endswith(b"two\r\n"):
            shown += os.read(ours, 4096)
        assert b"secret" not in shown and shown.endswith(b"one\r\ntwo\r\n")
        os.close(ours)
        with pytest.raises(Gone):
            terminal.key(5.0)
    os.close(theirs)


@pytest.mark.parametrize("typed", [FIRST.mac, "-"])
def test_a_mistyped_nic_is_left_again(booted: Host, typed: str) -> None:
    use(booted, "1", "52:54:00:00:00:99", "dhcp", "auto", "", "n")
    booted.boot()
    assert json.loads(booted.text("run/millrace/management.json"))["device"] is None
    keys = use(booted, "1", typed, "dhcp", "auto", "", "n")
    assert "[52:54:00:00:00:99]" in keys.asked[0]
    booted.boot()
    assert json.loads(booted.text("run/millrace/management.json"))["device"] == FIRST.device


def test_the_fingerprint_is_the_pages_own_where_a_chain_follows(booted: Host) -> None:
    # Of a length without padding in base64, which would end the reading.
    own, issuer = (ssl.DER_cert_to_PEM_cert(octets * 30) for octets in (b"own", b"iss"))
    certificate = booted.layout.tls / "server.pem"
    certificate.write_text(own)
    alone = gather(booted.layout, booted.programs, DeadAgent()).fingerprint
    certificate.write_text(own + issuer)
    assert gather(booted.layout, booted.programs, DeadAgent()).fingerprint == alone

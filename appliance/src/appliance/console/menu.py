"""The actions of the console. A user at it has the machine: it asks for no password, only for a word."""

from __future__ import annotations

import ipaddress
import itertools
from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING

from appliance.console import screen
from appliance.console.status import Status
from appliance.console.terminal import Terminal
from appliance.engine import durable
from appliance.errors import MillraceError, ValidationFailed
from appliance.firstboot.layout import Layout
from appliance.firstboot.reset import factory_reset, seed_again
from appliance.programs import Programs, must

if TYPE_CHECKING:
    from appliance.firstboot.instance import Instance

WEB_PASSWORD_UNIT = "millrace-web-password.service"
_REFRESH_S = 10.0
_REDRAW_EVERY = 12
_READ_S = 600.0


@dataclass
class Menu:
    """The console of one terminal, ``tty`` being its name, such as ``ttyS0``."""

    layout: Layout
    programs: Programs
    terminal: Terminal
    look: Callable[[], Status]
    tty: str

    def run(self) -> None:
        """Show the status and carry out requests, until the terminal hangs up (Gone)."""
        shown: list[str] = []
        for look in itertools.count():
            status = self.look()
            lines = screen.lines(status, *self.terminal.size())
            # Kernel messages may have overwritten it: it is redrawn from time to time, and at any key.
            if lines != shown or look % _REDRAW_EVERY == 0:
                self.terminal.show(lines)
                shown = lines
            key = self.terminal.key(_REFRESH_S)
            if key is not None:
                shown = []
                self.do(key, status)

    def do(self, key: str, status: Status) -> None:
        """One action. An error it raises is shown, and the menu goes on."""
        actions: dict[str, Callable[[], None]] = {
            "1": self._management,
            "2": self._password,
            "3": self._factory_reset,
            "4": lambda: self._power("reboot", "Restart this router?"),
            "5": lambda: self._power("poweroff", "Shut this router down?"),
            "6": self._shell,
            "7": lambda: self._messages(status),
            "8": self._seed_again,
        }
        if (action := actions.get(key)) is None:
            return
        try:
            action()
        except ValidationFailed as failed:
            for problem in failed.problems:
                name = problem.pointer.strip("/").removeprefix("management_").replace("_", " ")
                self.terminal.say(screen.plain(f"  {name}: {problem.message}"))
            self._pause("Nothing was changed.")
        except (MillraceError, OSError) as error:
            self._pause(screen.plain(str(error)))

    # The modules of an action are loaded with it: two consoles are idle most of a router's life.

    def _management(self) -> None:
        from appliance.firstboot.instance import load
        from appliance.firstboot.management_change import change_management, document_names_resolvers

        instance = load(self.layout.instance.read_bytes())
        wanted = instance.management
        self.terminal.show(
            [
                "Management network",
                "",
                "Enter keeps the value in brackets, - removes it, Escape leaves without a change.",
                "",
            ]
        )
        values: dict[str, str] = {}
        of_document = document_names_resolvers(self.layout)
        for name, prompt, now in _questions(instance):
            if name == "dns_servers" and of_document:
                self.terminal.say("  DNS servers: set in the configuration, under System")
                continue
            default = now
            if name.endswith("_gateway"):
                address = values[name.replace("_gateway", "_address")]
                if "/" not in address:
                    continue
                default = _gateway_for(address, now)
            answer = self.terminal.ask(f"  {prompt} [{default}]: ")
            if answer is None:
                return
            values[name] = default if not answer.strip() else "" if answer.strip() == "-" else answer.strip()
        if wanted.mac is None and instance.card and values["management_mac"] == instance.card.mac:
            # Nobody chose this NIC: it stays the one that is also found by its place.
            values["management_mac"] = ""
        if change_management(self.layout, self.programs, values):
            self.terminal.say("Another NIC becomes the management NIC at the next start.")
            self._power("reboot", "Restart now?")
            return
        self._pause("Done.")

    def _password(self) -> None:
        from appliance.firstboot.passwords import set_password

        self.terminal.show(["New password of admin, for ssh, the shell and the web page", ""])
        first = self.terminal.ask("  New password (12 characters or more): ", hidden=True)
        if first is None:
            return
        if self.terminal.ask("  Once more: ", hidden=True) != first:
            self._pause("The two passwords differ. Nothing was changed.")
            return
        set_password(self.layout, first)
        self.terminal.say("Changed for ssh and the shell; now the web page ...")
        self._web_password(first)
        self._pause("Done.")

    def _web_password(self, password: str) -> None:
        """Handed over through a file that systemd gives to the web half's user."""
        place = self.layout.run / "new-web-password"
        durable.write(place, f"{password}\n".encode())
        try:
            must(self.programs, ["systemctl", "start", WEB_PASSWORD_UNIT], timeout_s=600)
        finally:
            place.unlink(missing_ok=True)

    def _factory_reset(self) -> None:
        self.terminal.show(
            [
                "Factory reset",
                "",
                "Everything is removed: configuration and its history, users, keys, logs, addresses.",
                "The software stays as it is. A seed that is still attached is applied again.",
                "",
            ]
        )
        if self.terminal.ask("  Type RESET to go on: ") != "RESET":
            self._pause("Nothing was changed.")
            return
        factory_reset(self.layout, self.programs)
        self._pause("The router restarts.")

    def _seed_again(self) -> None:
        self.terminal.show(
            [
                "Apply the seed again",
                "",
                "At the next start the seed that is attached then is applied: its addresses, its password,",
                "its configuration. Settings that it leaves out stay.",
                "",
            ]
        )
        if self.terminal.ask("  Type SEED to go on: ") != "SEED":
            self._pause("Nothing was changed.")
            return
        seed_again(self.layout)
        self._power("reboot", "Restart now?")

    def _power(self, verb: str, question: str) -> None:
        if (self.terminal.ask(f"{question} [y/N] ") or "").strip().lower() in ("y", "yes"):
            must(self.programs, ["systemctl", verb])
            self._pause("One moment.")

    def _shell(self) -> None:
        """A login on this terminal; systemd restarts the console at its end."""
        must(self.programs, ["systemctl", "start", "--no-block", f"millrace-shell@{self.tty}.service"])
        self._pause("Sign in as admin; the status screen comes back when you leave the shell.")

    def _messages(self, status: Status) -> None:
        columns, rows = self.terminal.size()
        lines = screen.messages(status, columns)
        step = max(1, rows - 3)
        for start in range(0, len(lines), step):
            self.terminal.show(lines[start : start + step])
            self._pause("")

    def _pause(self, text: str) -> None:
        if text:
            self.terminal.say(text)
        self.terminal.say("Press a key.")
        self.terminal.key(_READ_S)


def _questions(instance: Instance) -> list[tuple[str, str, str]]:
    """Name of the value, question, and present value."""
    wanted = instance.management
    return [
        (
            "management_mac",
            "NIC, by its MAC address",
            wanted.mac or (instance.card.mac if instance.card else ""),
        ),
        ("management_address", "IPv4 address with its length, dhcp or off", wanted.address),
        ("management_gateway", "IPv4 gateway", wanted.gateway or ""),
        ("management_ipv6_address", "IPv6 address with its length, auto or off", wanted.ipv6_address),
        ("management_ipv6_gateway", "IPv6 gateway", wanted.ipv6_gateway or ""),
        ("dns_servers", "DNS servers", " ".join(instance.dns_servers)),
    ]


def _gateway_for(address: str, before: str) -> str:
    """The gateway to propose: the previous one, or for IPv4 the first host, as in most networks."""
    try:
        interface = ipaddress.ip_interface(address)
        if before and ipaddress.ip_address(before) in interface.network:
            return before
    except ValueError:
        return ""
    first = interface.network[1] if interface.network.num_addresses > 2 else interface.ip
    return str(first) if interface.version == 4 and first != interface.ip else ""

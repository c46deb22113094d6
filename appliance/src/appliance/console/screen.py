"""The status screen as lines of text. Pure.

It has to fit 80 columns and 24 lines, on a terminal that may lack colours. Some texts come from outside:
anything that a terminal could take for a command is replaced.
"""

from __future__ import annotations

import textwrap

from appliance.console.status import Status

MENU = (
    ("1", "Management network"),
    ("2", "New password"),
    ("3", "Factory reset"),
    ("4", "Restart"),
    ("5", "Shut down"),
    ("6", "Shell"),
    ("7", "All messages"),
    ("8", "Apply the seed again"),
)
_LABEL = 14
_MAX_PROBLEMS = 4
"""Lines of problems on the status screen; the rest is under All messages."""


def lines(status: Status, columns: int = 80, rows: int = 24) -> list[str]:
    """The screen, at most ``rows`` lines of at most ``columns`` characters; the menu is always whole."""
    width = max(columns, 40)
    head = f"Millrace {status.version}"
    parts = f" ({status.made_of})" if status.made_of else ""
    if len(head + parts) + len(status.hostname) < width:
        head += parts
    body = [f"{head}{status.hostname:>{max(1, width - len(head))}}", "-" * width, ""]
    for label, text in _facts(status):
        body += _entry(label, text, width)
    menu = ["", *_menu(width)]
    room = max(0, rows - len(menu) - 1)
    if len(body) > room:
        body = body[:room]
    return [plain(line)[:columns] for line in [*body, *menu]]


def messages(status: Status, columns: int = 80) -> list[str]:
    """All problems, and then what else the boot noticed, wrapped."""
    told = (*status.problems, *status.remarks)
    if not told:
        return ["There are no messages."]
    return [line for message in told for line in textwrap.wrap(plain(message), columns) or [""]]


def plain(text: str) -> str:
    """Printable ASCII only."""
    return "".join(letter if " " <= letter <= "~" else "?" for letter in text)


def _facts(status: Status) -> list[tuple[str, str]]:
    facts = []
    hosts = [address.partition("/")[0] for address in status.addresses]
    urls = [f"https://[{host}]/" if ":" in host else f"https://{host}/" for host in hosts]
    facts.append(("Web page", "  ".join(urls) or "no address yet"))
    if status.password is not None:
        facts.append(("Sign in", f"admin / {status.password}"))
        facts.append(("", "(generated for this router and shown until it is changed)"))
    else:
        facts.append(("Sign in", "admin"))
    if status.device is None:
        facts.append(("Management", "no NIC"))
    else:
        facts.append(("Management", f"{status.device} {status.mac} {status.link}, {status.method}"))
        facts.append(("", "  ".join(status.addresses)))
    facts.append(("Router", status.agent))
    facts.append(("Services", ", ".join(f"{word} {state}" for word, state in status.services)))
    if status.slots is not None:
        facts.append(("System", status.slots))
    if status.fingerprint is not None:
        pairs = status.fingerprint.split(":")
        facts.append(("Certificate", f"SHA-256 {':'.join(pairs[:16])}"))
        facts.append(("", f"        {':'.join(pairs[16:])}"))
    if status.problems:
        facts.append(("", ""))
        facts.append(("Problems", " | ".join(status.problems)))
    return facts


def _entry(label: str, text: str, width: int) -> list[str]:
    wrapped = textwrap.wrap(plain(text), width - _LABEL, break_on_hyphens=False) or [""]
    if label == "Problems":
        wrapped = wrapped[:_MAX_PROBLEMS]
    return [f"{label if number == 0 else '':<{_LABEL}}{line}" for number, line in enumerate(wrapped)]


def _menu(width: int) -> list[str]:
    cells = [f"{key}  {text}" for key, text in MENU]
    across = max(1, min(3, width // 26))
    rows = [cells[start : start + across] for start in range(0, len(cells), across)]
    return ["".join(f"{cell:<26}" for cell in row).rstrip() for row in rows]

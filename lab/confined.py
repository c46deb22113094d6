"""The programs of the router that are nobody's but their own user's, as on the appliance.

On the appliance each has a user of its own; in a lab they share the machine's account `daemon`, which nothing
else uses.
"""

import pwd
from collections.abc import Callable, Sequence
from pathlib import Path

from lab import accounts, rust_program
from lab.accounts import Account
from lab.frr_daemons import USER as FRR_USER
from lab.layout import Layout

USER = "daemon"
"""Its group is VPP's in a lab, and may so open VPP's API socket."""

__all__ = ["FRR_USER", "USER", "command"]


def command(
    layout: Layout,
    name: rust_program.Name,
    socket: Path,
    argv: Callable[[Path], Sequence[str]],
    say: Callable[[str], None],
) -> list[str]:
    """The argument vector that runs the program `name` as USER, with `argv` made from its path.

    The program is copied into the lab, and `socket` gets a folder of its own: a checkout may be closed to
    other users. Where the lab is closed to them, too, root runs the program.
    """
    program = rust_program.copy(rust_program.build(name, rust_program.TOOLS), layout.bin / name)
    account = Account.of(pwd.getpwnam(USER).pw_uid)
    socket.parent.mkdir(exist_ok=True)
    socket.parent.chmod(0o700)
    closed = accounts.can_reach(account, layout.bin)
    if closed is not None:
        say(f"NOTE: root runs {name}: {closed}")
        return list(argv(program))
    accounts.own(socket.parent, account)
    return accounts.as_account(account, list(argv(program)))

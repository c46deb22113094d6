"""The size of a test's case: full, or a part of it where the machine is emulated."""

import os

_DIVISOR = "MILLRACE_SIZES_DIVIDED_BY"


def at_size(whole: int) -> int:
    """``whole``, or what the environment variable ``MILLRACE_SIZES_DIVIDED_BY`` leaves of it."""
    return whole // int(os.environ.get(_DIVISOR, "") or 1)


def divided_by(number: int) -> str:
    """The setting of the environment by which every size is divided."""
    return f"{_DIVISOR}={number}"

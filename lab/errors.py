"""Named errors of the lab; every one of them is a sentence the person at the terminal can act on."""

from collections.abc import Sequence


class LabError(Exception):
    """Base of everything the lab raises on purpose."""


class CommandFailed(LabError):
    """A program ended with a status other than zero."""

    def __init__(self, argv: Sequence[str], status: int, output: str) -> None:
        self.argv = tuple(argv)
        self.status = status
        self.output = output.strip()
        super().__init__(f"`{' '.join(argv)}` ended with {status}: {self.output or 'no output'}")


class NotReady(LabError):
    """Something did not reach its expected state in time; the message says what was seen last."""


class MissingProgram(LabError):
    """A program the lab needs is not installed."""


class DataplaneUnavailable(LabError):
    """The data plane asked for cannot be had on this machine."""


class LabConflict(LabError):
    """The lab that exists differs from the one asked for."""

"""Named errors of the lab; each is a sentence that the person at the terminal can act on."""

from collections.abc import Sequence


class LabError(Exception):
    """Base of all errors that the lab raises on purpose."""


class CommandFailed(LabError):
    """A program ended with a status other than zero."""

    def __init__(self, argv: Sequence[str], status: int, output: str) -> None:
        self.argv = tuple(argv)
        self.status = status
        self.output = output.strip()
        super().__init__(f"`{' '.join(argv)}` ended with {status}: {self.output or 'no output'}")


class NotReady(LabError):
    """Something did not reach its expected state in time; the message says what was last observed."""


class MissingProgram(LabError):
    """A program that the lab needs is not installed."""


class DataplaneUnavailable(LabError):
    """The requested data plane is not available on this machine."""


class LabConflict(LabError):
    """The existing lab differs from the requested one."""

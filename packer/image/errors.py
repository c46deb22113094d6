"""Named errors of the image build; each is a sentence the person at the terminal can act on."""

from collections.abc import Sequence


class BuildError(Exception):
    """Base of all errors that the build raises on purpose."""


class CommandFailed(BuildError):
    """A program ended with a status other than zero, or ran out of time."""

    def __init__(self, argv: Sequence[str], status: int, output: str) -> None:
        self.argv = tuple(argv)
        self.status = status
        self.output = output.strip()
        super().__init__(f"`{' '.join(argv)}` ended with {status}: {self.output[-4000:] or 'no output'}")


class MissingProgram(BuildError):
    """A program that the build needs is not installed."""


class SourceUnavailable(BuildError):
    """Requested packages are not available; the build never continues without them."""


class DoesNotFit(BuildError):
    """Something is larger than the space reserved for it."""


class BadSetting(BuildError):
    """A setting of the build has a value that cannot be used; the message names the setting."""

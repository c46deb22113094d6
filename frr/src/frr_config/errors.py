"""The errors of this package."""

from __future__ import annotations


class FrrError(Exception):
    """Base of every error of this package."""


class FrrConfigError(FrrError):
    """A stored configuration, step or version cannot be read."""


class RenderError(FrrError):
    """A document cannot be rendered: a secret is still sealed."""


class FrrUnavailable(FrrError):
    """A daemon does not answer on its socket."""

    def __init__(self, daemon: str, reason: str) -> None:
        super().__init__(f"{daemon} does not answer: {reason}")
        self.daemon = daemon
        self.reason = reason


class FrrCommandError(FrrError):
    """A daemon refused a line. ``line`` and ``output`` hold no secret."""

    def __init__(self, daemon: str, line: str, output: str) -> None:
        super().__init__(f"{daemon} refused {line!r}: {output}")
        self.daemon = daemon
        self.line = line
        self.output = output

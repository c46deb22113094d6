"""The errors this package raises. Everything derives from :class:`VppError`."""

from __future__ import annotations


class VppError(Exception):
    """Base of all errors of this package."""


class VppUnavailable(VppError):
    """VPP does not answer on its API socket, or disconnected during a call. It is unknown whether the
    call was carried out.
    """


class VppApiError(VppError):
    """VPP refused a call.

    ``call`` is the API message's name, ``retval`` VPP's own number (``vnet/error.h``), ``message`` its
    meaning.
    """

    def __init__(self, call: str, retval: int, message: str) -> None:
        super().__init__(f"{call}: {message} ({retval})")
        self.call = call
        self.retval = retval
        self.message = message


class ObjectMissing(VppError):
    """VPP does not have, or no longer has, an object that a step builds on."""


class PlanError(VppError):
    """The desired state contradicts itself: it lacks something that it needs, or something does not fit
    it.
    """


class StateFormatError(VppError):
    """A state in JSON cannot be read. ``pointer`` is a JSON pointer (RFC 6901) to the invalid value."""

    def __init__(self, pointer: str, message: str) -> None:
        super().__init__(f"{pointer or '/'}: {message}")
        self.pointer = pointer
        self.message = message


class StatsUnavailable(VppError):
    """VPP's stats segment cannot be attached or read."""
